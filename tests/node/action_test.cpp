#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/node/child.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

constexpr Duration kForEver = Duration::from_seconds(3600);

using Handle = GoalHandle<Number, Words, Number>;

Words words(const std::string& text) {
  Words w;
  text.copy(w.text, sizeof(w.text) - 1);
  return w;
}

struct Two {
  std::string domain = fresh_domain();
  Runtime a = open_runtime(domain, "a");
  Runtime b = open_runtime(domain, "b");
  Node server = a.node("server").or_throw();
  Node client = b.node("client").or_throw();

  template <typename F>
  Action action(ActionOptions options, F execute,
                std::function<Result<void>(const Number&)> accept = {}) {
    return server.action<Number, Words, Number>("count", options, std::move(execute),
                                                std::move(accept));
  }
  ActionClient<Number, Words, Number> client_of() {
    return client.action_client<Number, Words, Number>("count");
  }
};

/// Handles of goals that a test ends itself.
class Goals {
 public:
  void operator()(const Handle& goal) {
    const std::lock_guard lock(mutex_);
    goals_.push_back(goal);
    came_.add(goal->value);
  }
  Handle wait(std::size_t index) {
    EXPECT_TRUE(came_.wait_for(index + 1));
    const std::lock_guard lock(mutex_);
    return goals_.at(index);
  }
  std::vector<std::int64_t> order() { return came_.values(); }

 private:
  std::mutex mutex_;
  std::vector<Handle> goals_;
  Arrivals came_;
};

TEST(Action, the_client_gets_progress_and_result) {
  Two two;
  two.action({}, [](const Handle& goal) {
    EXPECT_EQ(goal.state(), GoalState::executing);
    for (std::int64_t i = 0; i < goal->value; ++i) {
      EXPECT_TRUE(goal.feedback(words(std::to_string(i))).ok());
    }
    return Number{goal->value * 2};
  });
  const auto client = two.client_of();
  std::vector<std::string> heard;
  const auto goal =
      client.send({5}, [&](const Message<Words>& w) { heard.emplace_back(w->text); }, kForEver);
  EXPECT_TRUE(goal.accepted(kForEver).ok());
  std::promise<GoalResult<Number>> told;
  goal.on_result([&](const Result<GoalResult<Number>>& r) { told.set_value(*r); });
  const auto result = goal.result(kForEver);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_TRUE(result->succeeded());
  EXPECT_EQ(result->value.value, 10);
  EXPECT_EQ(goal.state(), GoalState::succeeded);
  // on_result runs after all feedback.
  EXPECT_EQ(told.get_future().get().value.value, 10);
  EXPECT_EQ(heard, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
}

TEST(Action, a_goal_is_rejected_with_a_reason_or_fails_with_a_result) {
  Two two;
  two.action(
      {},
      [](const Handle& goal) {
        if (goal->value == 1) return (void)goal.abort({-1});
        if (goal->value == 2)
          return (void)goal.abort({Code::exhausted, "the battery is empty", ""});
        throw std::runtime_error("a wheel came off");
      },
      [](const Number& n) -> Result<void> {
        if (n.value >= 0) return success();
        return Error{Code::unsupported, "cannot drive backwards", "count"};
      });
  const auto client = two.client_of();
  const auto rejected = client.send({-1}, kForEver);
  EXPECT_EQ(rejected.accepted(kForEver).error().message, "cannot drive backwards");
  EXPECT_EQ(rejected.result(kForEver).error().code, Code::unsupported);
  EXPECT_EQ(rejected.state(), GoalState::aborted);
  const auto aborted = client.send({1}, kForEver).result(kForEver);
  ASSERT_TRUE(aborted.ok());
  EXPECT_EQ(aborted->state, GoalState::aborted);
  EXPECT_EQ(aborted->value.value, -1);
  EXPECT_EQ(client.send({2}, kForEver).result(kForEver).error().message, "the battery is empty");
  EXPECT_NE(client.send({3}, kForEver).result(kForEver).error().message.find("a wheel came off"),
            std::string::npos);
}

TEST(Action, the_client_cancels_a_goal) {
  Arrivals hooked;
  Arrivals begun;
  Two two;
  two.action({}, [&](const Handle& goal) {
    goal.on_cancel([&] { hooked.add(); });
    EXPECT_TRUE(goal.feedback(words("begun")).ok());
    while (!goal.wait_for(Duration::from_seconds(3600))) {
    }
    EXPECT_EQ(goal.state(), GoalState::canceling);
    EXPECT_FALSE(goal.preempted());
    EXPECT_TRUE(goal.canceled({7}).ok());
    EXPECT_EQ(goal.succeed({8}).error().code, Code::already_exists);
  });
  const auto client = two.client_of();
  const auto goal = client.send({1}, [&](const Message<Words>&) { begun.add(); }, kForEver);
  ASSERT_TRUE(begun.wait_for(1));
  EXPECT_EQ(goal.result(Duration::from_ms(1)).error().code, Code::timeout);
  goal.cancel();
  const auto result = goal.result(kForEver);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->state, GoalState::canceled);
  EXPECT_EQ(result->value.value, 7);
  EXPECT_TRUE(hooked.wait_for(1));
}

TEST(Action, goals_are_queued_and_queued_goals_can_be_canceled) {
  Two two;
  Goals goals;
  ActionOptions options;
  options.depth = 3;
  const Action action = two.action(options, std::ref(goals));
  const auto client = two.client_of();
  const auto first = client.send({1}, kForEver);
  const auto second = client.send({2}, kForEver);
  const auto third = client.send({3}, kForEver);
  ASSERT_TRUE(third.accepted(kForEver).ok());
  const auto fourth = client.send({4}, kForEver);
  EXPECT_EQ(fourth.accepted(kForEver).error().code, Code::overloaded);
  EXPECT_EQ(action.pending(), 3U);
  EXPECT_EQ(second.state(), GoalState::accepted);
  second.cancel();
  EXPECT_EQ(second.result(kForEver).error().code, Code::canceled);
  EXPECT_EQ(second.state(), GoalState::canceled);
  EXPECT_TRUE(goals.wait(0).succeed({10}).ok());
  EXPECT_EQ(first.result(kForEver).or_throw().value.value, 10);
  EXPECT_TRUE(goals.wait(1).succeed({30}).ok());
  EXPECT_EQ(third.result(kForEver).or_throw().value.value, 30);
  EXPECT_EQ(goals.order(), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(action.pending(), 0U);
}

// The goal waits for a server, and a thread of the pool sends it while this thread cancels it.
TEST(Action, a_cancel_does_not_overtake_its_goal) {
  Two two;
  const auto client = two.client_of();
  for (int round = 0; round < 200; ++round) {
    const auto goal = client.send({round}, kForEver);
    Action action = two.action({}, [](const Handle& its) {
      while (!its.cancel_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_TRUE(its.canceled({0}).ok());
    });
    ASSERT_TRUE(client.wait_for_server(kForEver).ok());
    for (int turn = 0; turn < 50 * (round % 40); ++turn)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    goal.cancel();
    const auto ended = goal.result(Duration::from_seconds(20));
    ASSERT_TRUE(ended.ok() || ended.error().code == Code::canceled) << round;
    action.close();
    ASSERT_TRUE(eventually([&] { return !client.ready(); }));
  }
}

TEST(Action, a_newer_goal_preempts_an_older_one) {
  Two two;
  Goals goals;
  ActionOptions options;
  options.policy = GoalPolicy::preempt;
  two.action(options, std::ref(goals));
  const auto client = two.client_of();
  const auto first = client.send({1}, kForEver);
  const Handle one = goals.wait(0);
  const auto second = client.send({2}, kForEver);
  ASSERT_TRUE(second.accepted(kForEver).ok());
  const auto third = client.send({3}, kForEver);
  EXPECT_EQ(second.result(kForEver).error().code, Code::canceled);  // it never started
  EXPECT_TRUE(eventually([&] { return one.cancel_requested(); }));
  EXPECT_TRUE(one.preempted());
  EXPECT_TRUE(one.canceled({11}).ok());
  EXPECT_EQ(first.result(kForEver).or_throw().state, GoalState::canceled);
  EXPECT_TRUE(goals.wait(1).succeed({33}).ok());
  EXPECT_EQ(third.result(kForEver).or_throw().value.value, 33);
}

TEST(Action, reject_refuses_while_busy_and_parallel_runs_all) {
  for (const GoalPolicy policy : {GoalPolicy::reject, GoalPolicy::parallel}) {
    Two two;
    Goals goals;
    ActionOptions options;
    options.policy = policy;
    options.depth = 2;
    two.action(options, std::ref(goals));
    const auto client = two.client_of();
    const auto first = client.send({1}, kForEver);
    const Handle one = goals.wait(0);
    const auto second = client.send({2}, kForEver);
    if (policy == GoalPolicy::reject) {
      EXPECT_EQ(second.accepted(kForEver).error().code, Code::overloaded);
    } else {
      EXPECT_TRUE(goals.wait(1).succeed({22}).ok());
      EXPECT_EQ(second.result(kForEver).or_throw().value.value, 22);
    }
    EXPECT_TRUE(one.succeed({11}).ok());
    EXPECT_EQ(first.result(kForEver).or_throw().value.value, 11);
  }
}

TEST(Action, a_goal_without_handles_fails_at_once) {
  Two two;
  two.action({}, [](const Handle&) {});
  const auto result = two.client_of().send({1}, kForEver).result(kForEver);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("without a result"), std::string::npos);
}

TEST(Action, a_closed_server_and_no_server_are_errors) {
  Two two;
  const auto client = two.client_of();
  const auto nobody = client.send({1}, Duration::from_ms(1));
  EXPECT_EQ(nobody.accepted(kForEver).error().code, Code::not_found);
  Goals goals;
  const Action action = two.action({}, std::ref(goals));
  const auto goal = client.send({1}, kForEver);
  const Handle handle = goals.wait(0);
  action.close();
  EXPECT_EQ(goal.result(kForEver).error().code, Code::disconnected);
  EXPECT_TRUE(handle.cancel_requested());
}

TEST(Action, a_dead_client_cancels_its_goals_unless_configured_not_to) {
  for (const bool cancel : {true, false}) {
    const std::string domain = fresh_domain();
    const Node node = open_runtime(domain).node("server").or_throw();
    Goals goals;
    ActionOptions options;
    options.cancel_if_unwatched = cancel;
    node.action<Number, Words, Number>("count", options, std::ref(goals));
    Child client({TEST_SERVICE_PEER, "goal", domain});
    ASSERT_TRUE(client.started());
    const Handle goal = goals.wait(0);
    client.stop(SIGKILL);
    if (cancel) {
      EXPECT_TRUE(eventually([&] { return goal.cancel_requested(); }));
    } else {
      ASSERT_TRUE(eventually([&] { return !goal.feedback(words("x")).ok(); }));
      EXPECT_FALSE(goal.cancel_requested());
      // The goal continues, and the next one starts after its end.
      const auto other = node.action_client<Number, Words, Number>("count").send({2}, kForEver);
      ASSERT_TRUE(other.accepted(kForEver).ok());
      (void)goal.succeed({1});
      EXPECT_TRUE(goals.wait(1).succeed({4}).ok());
      EXPECT_EQ(other.result(kForEver).or_throw().value.value, 4);
    }
  }
}

TEST(Action, a_killed_server_ends_its_goals_at_once) {
  const std::string domain = fresh_domain();
  const Node node = open_runtime(domain).node("client").or_throw();
  Child server({TEST_SERVICE_PEER, "server", domain});
  ASSERT_TRUE(server.started());
  const auto client = node.action_client<Number, Words, Number>("count");
  const auto goal = client.send({1}, kForEver);
  ASSERT_TRUE(goal.accepted(kForEver).ok());
  server.stop(SIGKILL);
  EXPECT_EQ(goal.result(kForEver).error().code, Code::disconnected);
}

TEST(Action, feedback_that_is_not_consumed_is_dropped_and_counted) {
  graph::test::Gate gate;
  Arrivals told;
  std::atomic<int> heard{0};
  Two two;
  two.action({}, [](const Handle& goal) {
    for (int i = 0; i < 100; ++i) (void)goal.feedback(words(std::to_string(i)));
    return Number{1};
  });
  const auto client = two.client_of();
  const auto goal = client.send(
      {1},
      [&](const Message<Words>&) {
        gate.pass();
        ++heard;
      },
      kForEver);
  ASSERT_TRUE(goal.result(kForEver).ok());
  goal.on_result([&](const Result<GoalResult<Number>>&) { told.add(); });
  gate.open();
  ASSERT_TRUE(told.wait_for(1));
  EXPECT_EQ(static_cast<std::uint64_t>(heard) + goal.feedback_dropped(), 100U);
  EXPECT_GT(goal.feedback_dropped(), 0U);
}

}  // namespace
}  // namespace hyphos::test
