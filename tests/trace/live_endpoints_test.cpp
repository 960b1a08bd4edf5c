#include "trace/live_endpoints.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "trace/record.hpp"

namespace hyphos::trace {
namespace {

class LiveEndpointsTest : public testing::Test {
 protected:
  static constexpr std::size_t kAlign = 64;
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{kAlign}); }
  };

  LiveEndpointsTest()
      : memory_(
            static_cast<std::byte*>(::operator new(Registry::kMinArea, std::align_val_t{kAlign}))) {
    std::memset(memory_.get(), 0, Registry::kMinArea);
  }
  [[nodiscard]] std::span<std::byte> area() const { return {memory_.get(), Registry::kMinArea}; }
  void begin() { registry_ = std::make_unique<Registry>(area(), nullptr, "sense", 42); }
  [[nodiscard]] std::unique_ptr<Endpoint> add(const std::string& channel) const {
    EndpointId id;
    id.channel = channel;
    id.node = "laser";
    id.type.name = "Scan of " + channel;
    id.is_publisher = true;
    id.policy.depth = 7;
    return registry_->add(id);
  }
  LiveEndpoints::Changes read() {
    LiveEndpoints::Changes changes;
    live_.read(area(), changes);
    return changes;
  }

  std::unique_ptr<std::byte, Free> memory_;
  std::unique_ptr<Registry> registry_;
  LiveEndpoints live_;
};

TEST_F(LiveEndpointsTest, only_the_difference_is_reported) {
  begin();
  const auto first = add("a");
  auto second = add("b");
  EXPECT_TRUE(live_.changed(area()));
  auto changes = read();
  ASSERT_EQ(changes.opened.size(), 2U);
  EXPECT_EQ(changes.opened[0].channel, "a");
  EXPECT_EQ(changes.opened[0].node, "laser");
  EXPECT_EQ(changes.opened[0].type_name, "Scan of a");
  EXPECT_TRUE(changes.opened[0].is_publisher);
  EXPECT_EQ(changes.opened[0].policy.depth, 7U);
  EXPECT_FALSE(live_.changed(area()));

  const std::uint64_t id = second->id();
  second.reset();
  const auto third = add("c");  // takes the record of "b"
  EXPECT_TRUE(live_.changed(area()));
  changes = read();
  ASSERT_EQ(changes.opened.size(), 1U);
  EXPECT_EQ(changes.opened[0].channel, "c");
  EXPECT_EQ(changes.closed, std::vector<std::uint64_t>{id});
}

TEST_F(LiveEndpointsTest, messages_are_no_change) {
  begin();
  const auto endpoint = add("a");
  (void)read();
  (*endpoint)->count(Counter::sent);
  (*endpoint)->last_ns.store(5);
  EXPECT_FALSE(live_.changed(area()));
}

TEST_F(LiveEndpointsTest, unchanged_records_are_not_read_again) {
  begin();
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (int i = 0; i < 100; ++i) endpoints.push_back(add("a" + std::to_string(i)));
  EXPECT_GE(read().bytes, 100 * sizeof(Record));
  endpoints.push_back(add("b"));
  EXPECT_LE(read().bytes, sizeof(Record) + 101 * LiveEndpoints::kLookedAt);
}

TEST_F(LiveEndpointsTest, an_area_is_read_once_it_begins_and_closed_when_it_ends) {
  EXPECT_FALSE(live_.changed(area()));
  EXPECT_TRUE(read().opened.empty());
  begin();
  auto endpoint = add("a");
  ASSERT_TRUE(live_.changed(area()));
  EXPECT_EQ(read().opened.size(), 1U);
  const std::uint64_t id = endpoint->id();
  endpoint.reset();
  registry_.reset();
  EXPECT_TRUE(live_.changed(area()));
  EXPECT_EQ(read().closed, std::vector<std::uint64_t>{id});
  EXPECT_FALSE(live_.changed(area()));
}

TEST_F(LiveEndpointsTest, an_area_of_another_version_is_left_alone) {
  begin();
  const auto endpoint = add("a");
  memory_.get()[sizeof(std::uint64_t)] ^= std::byte{0x40};
  EXPECT_TRUE(live_.changed(area()));
  EXPECT_TRUE(read().opened.empty());
  EXPECT_FALSE(live_.changed(area()));
  memory_.get()[sizeof(std::uint64_t)] ^= std::byte{0x40};
}

TEST_F(LiveEndpointsTest, a_reader_beside_a_writer_gets_whole_records) {
  begin();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 20'000; ++i) {
      const auto one = add("short" + std::to_string(i % 7));
      const auto other = add("a_much_longer_name_of_a_channel" + std::to_string(i % 5));
    }
    done = true;
  });
  std::map<std::uint64_t, EndpointInfo> known;
  const auto take = [&] {
    auto changes = read();
    for (const std::uint64_t id : changes.closed) ASSERT_EQ(known.erase(id), 1U);
    for (EndpointInfo& info : changes.opened) {
      EXPECT_EQ(info.type_name, "Scan of " + info.channel);
      ASSERT_TRUE(known.emplace(info.id, info).second);
    }
  };
  while (!done) {
    if (live_.changed(area())) take();
  }
  writer.join();
  take();
  EXPECT_TRUE(known.empty());
}

}  // namespace
}  // namespace hyphos::trace
