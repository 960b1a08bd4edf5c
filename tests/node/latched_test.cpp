#include <algorithm>
#include <memory>
#include <mutex>

#include "tests/node/latched_orders.hpp"

namespace hyphos::test {
namespace {

enum class Way { same_process, other_process, other_host };

std::string name_of(Way way) {
  switch (way) {
    case Way::same_process:
      return "same_process";
    case Way::other_process:
      return "other_process";
    default:
      return "other_host";
  }
}

/// The publishers are nodes of one runtime, the subscriptions nodes of another or of the same.
class CppEnds final : public LatchedEnds {
 public:
  CppEnds(Runtime from, Runtime to, std::string channel, std::optional<Policy> policy,
          std::optional<Policy> wish)
      : from_(from.node("from").or_throw()),
        to_(to.node("to").or_throw()),
        channel_(std::move(channel)),
        policy_(policy),
        wish_(wish) {}
  ~CppEnds() override {
    for (const Subscription& subscription : subscriptions_) subscription.close();
  }

  void open_publisher() override {
    publishers_.push_back(from_.publisher<Number>(channel_, {.policy = policy_}));
  }
  void publish(std::size_t publisher, std::int64_t value) override {
    EXPECT_TRUE(publishers_[publisher]->publish({value}));
  }
  void close_publisher(std::size_t publisher) override { publishers_[publisher].reset(); }
  void subscribe() override {
    inboxes_.push_back(std::make_unique<Arrivals>());
    subscriptions_.push_back(to_.subscribe<Number>(
        channel_, {.policy = wish_},
        [inbox = inboxes_.back().get()](const Message<Number>& m) { inbox->add(m->value); }));
  }
  void unsubscribe(std::size_t subscription) override { subscriptions_[subscription].close(); }
  std::vector<std::int64_t> heard(std::size_t subscription) override {
    return inboxes_[subscription]->values();
  }
  std::uint32_t publishers(std::size_t subscription) override {
    return subscriptions_[subscription].publishers();
  }
  std::uint32_t listeners(std::size_t publisher) override {
    return publishers_[publisher]->listeners();
  }

 private:
  Node from_;
  Node to_;
  const std::string channel_;
  const std::optional<Policy> policy_;
  const std::optional<Policy> wish_;
  std::vector<std::optional<Publisher<Number>>> publishers_;
  std::vector<std::unique_ptr<Arrivals>> inboxes_;
  std::vector<Subscription> subscriptions_;
};

class Latched : public ::testing::TestWithParam<Way> {
 protected:
  static constexpr int kChannels = 100;

  void SetUp() override {
    const std::string domain = fresh_domain();
    if (GetParam() != Way::other_host) {
      from_.emplace(open_runtime(domain, "from"));
      to_.emplace(GetParam() == Way::same_process ? *from_ : open_runtime(domain, "to"));
      return;
    }
    const int port = own_port();
    std::string channels;
    for (int number = 0; number < kChannels; ++number) {
      channels += "  n" + std::to_string(number) +
                  ": {publishers: [from], subscribers: [to], latched: true, depth: 2, "
                  "latched_depth: " +
                  std::to_string(depth_of(number)) + "}\n";
    }
    file_.emplace("hyphos: 1\ndomain: " + domain + R"(
hosts: {ugv: {address: 127.0.0.1}, base: {address: 127.0.0.2}}
processes:
  p1: {host: ugv, nodes: [from], endpoint: "tcp://127.0.0.1:)" +
                  std::to_string(port) + R"("}
  p2: {host: base, nodes: [to]}
nodes: {from: {}, to: {}}
channels:
)" + channels);
    from_.emplace(Runtime::open(file_->options("p1")).or_throw());
    to_.emplace(Runtime::open(file_->options("p2")).or_throw());
  }

  /// The latched_depth of the channel with this number.
  static std::uint32_t depth_of(int number) { return number % 3 == 2 ? 3 : 1; }

  void run(const std::string& steps, std::uint64_t seed) {
    const std::uint32_t depth = depth_of(next_);
    Policy policy;
    policy.latched = true;
    policy.latched_depth = depth;
    policy.depth = 1 + static_cast<std::uint32_t>(seed % 3);
    // A subscription need not request it.
    const std::optional<Policy> wish = seed % 2 == 0 ? std::optional(policy) : std::nullopt;
    CppEnds ends(*from_, *to_, "n" + std::to_string(next_++), policy, wish);
    LatchedModel(ends, GetParam() == Way::same_process, seed, depth).run(steps);
  }

  std::optional<PlanFile> file_;
  std::optional<Runtime> from_;
  std::optional<Runtime> to_;
  int next_ = 0;
};

TEST_P(Latched, every_order_of_the_ends_gives_each_value_once) {
  for (const std::string& steps : orders_of("PSSCS")) {
    run(steps, static_cast<std::uint64_t>(next_));
    if (HasFailure()) return;
  }
  for (const std::string& steps : orders_of("PPSX")) {
    run(steps + "S", static_cast<std::uint64_t>(next_));
    if (HasFailure()) return;
  }
}

/// More values than a late subscription gets.
TEST_P(Latched, late_subscriptions_get_the_last_values_in_order) {
  for (const std::string steps : {"PppppSpS", "PPpppppppSXS", "PpSppSppppS", "OpppCSpppppS"}) {
    next_ += 2 - next_ % 3;
    run(steps, 2 + static_cast<std::uint64_t>(next_));
    if (HasFailure()) return;
  }
}

TEST_P(Latched, ends_that_come_and_go_at_random_get_each_value_once) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    run(random_steps(seed, 40), seed);
    if (HasFailure()) return;
  }
}

/// Subscriptions join while values are published.
TEST_P(Latched, a_subscription_that_joins_meanwhile_gets_no_older_value) {
  const std::string channel = "n" + std::to_string(next_);
  const Node from = from_->node("from").or_throw();
  const Node to = to_->node("to").or_throw();
  Policy policy;
  policy.latched = true;
  policy.reliability = Reliability::reliable;
  policy.overflow = Overflow::block;
  const auto publisher = from.publisher<Number>(channel, {.policy = policy});
  std::atomic<std::int64_t> published{0};
  std::atomic<bool> enough{false};
  std::thread talker([&] {
    while (!enough) {
      publisher.publish({published + 1});
      ++published;
    }
  });
  std::vector<std::unique_ptr<Arrivals>> inboxes;
  std::vector<Subscription> subscriptions;
  EXPECT_TRUE(eventually([&] { return published > 0; }));
  for (int number = 0; number < 20; ++number) {
    inboxes.push_back(std::make_unique<Arrivals>());
    Arrivals* const inbox = inboxes.back().get();
    subscriptions.push_back(to.subscribe<Number>(
        channel, {.policy = policy}, [inbox](const Message<Number>& m) { inbox->add(m->value); }));
    EXPECT_TRUE(inbox->wait_for(1));
  }
  enough = true;
  talker.join();
  for (const auto& inbox : inboxes) {
    EXPECT_TRUE(eventually([&] { return inbox->values().back() == published; }));
  }
  for (const Subscription& subscription : subscriptions) subscription.close();
  for (const auto& inbox : inboxes) {
    const auto values = inbox->values();
    EXPECT_EQ(std::ranges::adjacent_find(values, std::greater_equal()), values.end())
        << "none twice, and in order";
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Latched,
                         ::testing::Values(Way::same_process, Way::other_process, Way::other_host),
                         [](const auto& one) { return name_of(one.param); });

/// A queue of depth 1 accepts the last values of all publishers, and then respects its depth.
TEST(LatchedQueue, values_of_many_publishers_find_room_beyond_the_depth) {
  const std::string domain = fresh_domain();
  Runtime from = open_runtime(domain, "from");
  Runtime to = open_runtime(domain, "to");
  const Node talker = from.node("talker").or_throw();
  const Node listener = to.node("listener").or_throw();
  Policy policy;
  policy.latched = true;
  policy.depth = 1;
  std::vector<Publisher<Number>> publishers;
  std::vector<std::int64_t> expected;
  for (std::int64_t value = 0; value < 60; ++value) {
    publishers.push_back(talker.publisher<Number>("n", {.policy = policy}));
    publishers.back().publish({value});
    expected.push_back(value);
  }
  graph::test::Gate gate;
  std::array<Arrivals, 2> got;
  const auto hear = [&](Arrivals& to_here) {
    return listener.subscribe<Number>("n", {.policy = policy}, [&](const Message<Number>& m) {
      gate.pass();
      to_here.add(m->value);
    });
  };
  const Subscription first = hear(got[0]);
  gate.wait_for_waiting(1);
  const Subscription second = hear(got[1]);
  gate.wait_for_waiting(2);
  ASSERT_TRUE(eventually([&] {
    return std::ranges::all_of(publishers, [](const auto& one) { return one.listeners() == 1; });
  }));
  // A live message replaces a live message of its publisher, never a latched value.
  for (std::int64_t value = 1000; value < 1010; ++value) publishers.front().publish({value});
  gate.open();
  for (Arrivals& arrivals : got) {
    // The messages of two publishers come in any order.
    EXPECT_TRUE(eventually([&] {
      const auto values = arrivals.values();
      return values.size() > expected.size() && std::ranges::count(values, 1009) == 1;
    }));
    auto values = arrivals.values();
    std::erase_if(values, [](std::int64_t value) { return value >= 1000; });
    std::ranges::sort(values);  // publishers are matched in any order
    EXPECT_EQ(values, expected);
  }
}

}  // namespace
}  // namespace hyphos::test
