#include "node/runtime/domain_watch.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/node/child.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

/// The endpoints that a watch has reported and not closed: "process: channel".
class Seen {
 public:
  explicit Seen(const std::string& domain) : watch_(domain) {}

  const std::set<std::string>& look() {
    const DomainWatch::Changes changes = watch_.look();
    for (const std::uint64_t participant : changes.ended) {
      EXPECT_EQ(processes_.erase(participant), 1U);
      std::erase_if(ends_, [&](const auto& end) { return end.first.first == participant; });
    }
    for (const auto& process : changes.started) processes_[process.participant] = process.name;
    for (const auto& place : changes.closed) EXPECT_EQ(ends_.erase(place), 1U);
    for (const auto& [participant, info] : changes.opened) {
      EXPECT_TRUE(processes_.contains(participant));
      EXPECT_TRUE(ends_.emplace(std::pair(participant, info.id), info.channel).second);
    }
    shown_.clear();
    for (const auto& [place, channel] : ends_) {
      shown_.insert(processes_[place.first] + ": " + channel);
    }
    return shown_;
  }
  [[nodiscard]] bool has(const std::string& end) { return look().contains(end); }
  [[nodiscard]] std::size_t processes() const { return processes_.size(); }
  [[nodiscard]] const DomainWatch::Cost& cost() const { return watch_.cost(); }

 private:
  DomainWatch watch_;
  std::map<std::uint64_t, std::string> processes_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> ends_;
  std::set<std::string> shown_;
};

/// Waits until the folder of the domain has not changed for so long that its time proves it.
void settle(Seen& seen) {
  EXPECT_TRUE(eventually([&] {
    seen.look();
    const std::uint64_t before = seen.cost().system_calls;
    seen.look();
    return seen.cost().system_calls == before + 1;
  }));
}

TEST(DomainWatch, the_next_look_shows_every_change) {
  const std::string domain = fresh_domain();
  Seen seen(domain);
  EXPECT_TRUE(seen.look().empty()) << "no such domain yet";
  Runtime first = open_runtime(domain, "first");
  const Node laser = first.node("laser").or_throw();
  for (int i = 0; i < 50; ++i) {
    const std::string channel = "scan" + std::to_string(i);
    std::optional<Publisher<Number>> publisher = laser.publisher<Number>(channel);
    ASSERT_TRUE(seen.has("first: " + channel)) << i;
    publisher.reset();
    ASSERT_FALSE(seen.has("first: " + channel)) << i;
  }
}

TEST(DomainWatch, the_next_look_shows_a_process_that_starts_or_ends) {
  const std::string domain = fresh_domain();
  Seen seen(domain);
  const Runtime stays = open_runtime(domain, "stays");
  for (int i = 0; i < 20; ++i) {
    const std::string name = "p" + std::to_string(i);
    {
      Runtime other = open_runtime(domain, name);
      const auto publisher = other.node("node").or_throw().publisher<Number>("scan");
      ASSERT_TRUE(seen.has(name + ": scan")) << i;
    }
    ASSERT_FALSE(seen.has(name + ": scan")) << i;
  }
}

TEST(DomainWatch, a_killed_process_is_forgotten) {
  const std::string domain = fresh_domain();
  const Runtime survivor = open_runtime(domain, "survivor");
  Seen seen(domain);
  Child peer({TEST_SERVICE_PEER, "server", domain});
  ASSERT_TRUE(peer.started());
  EXPECT_TRUE(eventually([&] { return seen.has("server: hyphos/service/square/request"); }));
  peer.stop(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !seen.has("server: hyphos/service/square/request"); }));
  EXPECT_EQ(seen.processes(), 1U);
}

TEST(DomainWatch, more_endpoints_than_the_first_blocks_hold_are_seen) {
  const std::string domain = fresh_domain();
  Runtime large = open_runtime(domain, "large");
  Seen seen(domain);
  const Node node = large.node("node").or_throw();
  seen.look();
  std::vector<Publisher<Number>> publishers;
  for (int i = 0; i < 700; ++i) {
    publishers.push_back(node.publisher<Number>("channel" + std::to_string(i)));
  }
  const auto& all = seen.look();
  for (int i = 0; i < 700; ++i) {
    ASSERT_TRUE(all.contains("large: channel" + std::to_string(i))) << i;
  }
}

TEST(DomainWatch, a_look_without_a_change_costs_one_system_call) {
  const std::string domain = fresh_domain();
  std::vector<Runtime> robots;
  std::vector<Publisher<Number>> publishers;
  Seen seen(domain);
  std::vector<std::uint64_t> bytes;
  for (const int count : {1, 8}) {
    while (static_cast<int>(robots.size()) < count) {
      robots.push_back(open_runtime(domain, "robot" + std::to_string(robots.size())));
      const Node node = robots.back().node("node").or_throw();
      for (int i = 0; i < 60; ++i) {
        publishers.push_back(node.publisher<Number>("c" + std::to_string(publishers.size())));
      }
    }
    settle(seen);
    const DomainWatch::Cost before = seen.cost();
    for (int i = 0; i < 100; ++i) seen.look();
    EXPECT_EQ(seen.cost().system_calls - before.system_calls, 100U) << count;
    bytes.push_back((seen.cost().bytes - before.bytes) / 100);
  }
  EXPECT_EQ(bytes, (std::vector<std::uint64_t>{12, 8 * 12})) << "twelve bytes a process";
}

TEST(DomainWatch, a_folder_that_is_removed_and_made_again_is_followed) {
  const std::string domain = fresh_domain();
  Seen seen(domain);
  for (int i = 0; i < 3; ++i) {
    Runtime one = open_runtime(domain, "one");
    const auto publisher = one.node("node").or_throw().publisher<Number>("scan");
    EXPECT_TRUE(seen.has("one: scan")) << i;
  }
  EXPECT_TRUE(seen.look().empty());
}

}  // namespace
}  // namespace hyphos::test
