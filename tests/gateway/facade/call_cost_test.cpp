// The work of one call: it does not depend on the size of a robot that does nothing.

#include <gtest/gtest.h>

#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/gateway/facade/hyphos_graph_test.hpp"
#include "tests/gateway/heard.hpp"

namespace hyphos::gateway {
namespace {

struct Nothing {
  static constexpr std::string_view hyphos_type = "test.Nothing";
  std::int64_t value = 0;
};

class CallCost : public HyphosGraphTest {
 protected:
  static constexpr int kCalls = 50;

  CallCost() {
    server_ = facade_.services()
                  .open_server(client_, "/add", "made/Add", Form::json,
                               [](const Buffer& request, const Answer& answer) { answer(request); })
                  .or_throw();
  }
  /// Adds robots until there are `count`, each a process of its own for the view.
  void be_beside(std::size_t count) {
    while (robots_.size() < count) {
      RuntimeOptions options;
      options.domain = robot_.runtime().domain();
      options.process = "idle" + std::to_string(robots_.size());
      robots_.push_back(Node::open(options.process, options).or_throw());
      for (int i = 0; i < 60; ++i) {
        publishers_.push_back(robots_.back().publisher<Nothing>(
            "idle" + std::to_string(robots_.size()) + "_" + std::to_string(i)));
      }
    }
  }
  Result<Buffer> call(const std::string& service, const std::string& type) {
    std::promise<Result<Buffer>> end;
    facade_.services().call(client_, service, type, Form::json, bytes_of(R"({"x":7})"),
                            Duration::from_seconds(30),
                            [&](Result<Buffer> reply) { end.set_value(std::move(reply)); });
    return end.get_future().get();
  }
  /// The work of a call, once the folder of the domain has settled.
  DomainWatch::Cost cost_of_a_call(const std::string& service, const std::string& type) {
    for (;;) {
      const DomainWatch::Cost before = facade_.view().cost();
      (void)facade_.view().version();
      if (facade_.view().cost().system_calls == before.system_calls + 1) break;
      std::this_thread::yield();
    }
    const DomainWatch::Cost before = facade_.view().cost();
    for (int i = 0; i < kCalls; ++i) (void)call(service, type);
    const DomainWatch::Cost after = facade_.view().cost();
    return {(after.system_calls - before.system_calls) / kCalls,
            (after.bytes - before.bytes) / kCalls};
  }

  std::unique_ptr<Server> server_;
  std::vector<Node> robots_;
  std::vector<Publisher<Nothing>> publishers_;
};

TEST_F(CallCost, it_is_the_same_beside_a_large_robot) {
  be_beside(1);
  ASSERT_TRUE(call("/add", "made/Add"));  // opens the call client
  const DomainWatch::Cost small = cost_of_a_call("/add", "made/Add");
  be_beside(12);
  const DomainWatch::Cost large = cost_of_a_call("/add", "made/Add");
  EXPECT_EQ(small.system_calls, 1U);
  EXPECT_EQ(large.system_calls, 1U);
  EXPECT_EQ(small.bytes, 2 * 12U) << "the gateway's process and one robot, twelve bytes each";
  EXPECT_EQ(large.bytes, 13 * 12U);
}

TEST_F(CallCost, a_server_that_has_just_come_or_gone_is_seen_at_once) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = "/add" + std::to_string(i);
    EXPECT_FALSE(facade_.services().find(name));
    auto server =
        facade_.services()
            .open_server(client_, name, "made/Add", Form::json,
                         [](const Buffer& request, const Answer& answer) { answer(request); })
            .or_throw();
    const auto found = facade_.services().find(name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->type, "made/Add");
    EXPECT_EQ(found->node, "/gateway");
    ASSERT_TRUE(call(name, ""));
    server.reset();
    EXPECT_FALSE(facade_.services().find(name));
  }
}

TEST(LearnedTypes, the_source_is_read_again_only_after_a_change) {
  const auto types = sample_types();
  int reads = 0;
  std::uint64_t version = 1;
  types->set_announced(
      [&] {
        ++reads;
        return std::vector<std::string>();
      },
      [&] { return version; });
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(types->message("no/Such"));
  EXPECT_EQ(reads, 1);
  version = 2;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(types->message("no/Such"));
  EXPECT_EQ(reads, 2);
  EXPECT_TRUE(types->message("made/Part"));
  EXPECT_EQ(reads, 2);
}

}  // namespace
}  // namespace hyphos::gateway
