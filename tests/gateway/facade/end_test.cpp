// The end of a gateway while calls and goals of its clients are in flight.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tests/gateway/facade/hyphos_graph_test.hpp"
#include "tests/gateway/heard.hpp"

namespace hyphos::gateway {
namespace {

/// A gateway in the process of a robot that outlives it, and that has the slow servers.
class EndTest : public HyphosGraphTest {
 protected:
  /// A facade whose node goes on.
  std::unique_ptr<HyphosGraph> open(const std::shared_ptr<Types>& types) {
    return std::make_unique<HyphosGraph>(node_, types, Rules());
  }
  std::unique_ptr<HyphosGraph> open() { return open(types_); }
  /// Waits until the last copy of a callback is gone: it has run, or it will never run.
  static void wait_for_end(const std::weak_ptr<int>& held) {
    while (!held.expired()) std::this_thread::yield();
  }
  /// The node keeps the endpoints of a goal until the last callback of the goal is gone.
  [[nodiscard]] bool has_endpoints() const {
    const auto all = robot_.runtime().endpoints();
    return std::ranges::any_of(all, [&](const EndpointInfo& end) {
      return end.node == node_.name() && end.channel.find("count") != std::string::npos;
    });
  }

  const Node node_ = robot_.runtime().node("short").or_throw();
};

TEST_F(EndTest, a_reply_after_the_end_does_not_reach_the_client) {
  // Types that end with the facade, too: the reply would be converted with freed ones.
  for (const auto& types : {types_, std::shared_ptr<Types>()}) {
    std::promise<Answer> arrived;
    const auto server = facade_.services()
                            .open_server(client_, "/slow", "made/Add", Form::json,
                                         [&](const Buffer&, Answer answer) {
                                           arrived.set_value(std::move(answer));
                                         })
                            .or_throw();
    auto facade = open(types ? types : sample_types());
    std::atomic<int> answers = 0;
    auto token = std::make_shared<int>();
    facade->services().call(client_, "/slow", "made/Add", Form::json, bytes_of(R"({"x":7})"),
                            Duration::from_seconds(600),
                            [&answers, token](const Result<Buffer>&) { ++answers; });
    const std::weak_ptr<int> held = std::exchange(token, nullptr);
    const Answer answer = arrived.get_future().get();
    facade.reset();
    EXPECT_FALSE(held.expired()) << "the call is still in flight";
    answer(Buffer::copy_of(std::string_view(R"({"x":8})")));
    wait_for_end(held);
    EXPECT_EQ(answers, 0);
  }
}

TEST_F(EndTest, feedback_and_a_result_after_the_end_do_not_reach_the_client) {
  for (const bool keeps_goal : {true, false}) {
    std::promise<ServedGoalRef> arrived;
    const auto server =
        facade_.actions()
            .open_server(
                client_, "/count", "made/Count", Form::json,
                {[&](const Buffer&, const ServedGoalRef& goal) { arrived.set_value(goal); },
                 [](const ServedGoalRef&) {}})
            .or_throw();
    auto facade = open(sample_types());
    std::atomic<int> calls = 0;
    GoalCallbacks callbacks{[&](const Buffer&) { ++calls; },
                            [&](const Result<GoalResult>&) { ++calls; }};
    auto sent = facade->actions()
                    .send_goal(client_, "/count", "made/Count", Form::json, bytes_of(R"({"x":7})"),
                               std::move(callbacks))
                    .or_throw();
    const ServedGoalRef goal = arrived.get_future().get();
    facade->end_calls();
    if (!keeps_goal) {
      sent.reset();
      facade.reset();
    }
    (void)goal->feedback(bytes_of(R"({"x":1})"));
    (void)goal->finish(GoalEnd::succeeded, bytes_of(R"({"x":2})"));
    sent.reset();
    facade.reset();
    while (has_endpoints()) std::this_thread::yield();
    EXPECT_EQ(calls, 0) << keeps_goal;
  }
}

TEST_F(EndTest, a_call_after_the_end_fails) {
  auto facade = open();
  facade->end_calls();
  std::promise<Code> end;
  facade->services().call(client_, "/slow", "made/Add", Form::json, bytes_of("{}"),
                          Duration::from_seconds(600),
                          [&](const Result<Buffer>& reply) { end.set_value(reply.error().code); });
  EXPECT_EQ(end.get_future().get(), Code::disconnected);
  const auto sent =
      facade->actions().send_goal(client_, "/count", "made/Count", Form::json, bytes_of("{}"), {});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::disconnected);
}

TEST_F(EndTest, the_end_waits_for_a_callback_that_runs) {
  const auto server =
      facade_.services()
          .open_server(client_, "/echo", "made/Add", Form::json,
                       [](const Buffer& request, const Answer& answer) { answer(request); })
          .or_throw();
  for (int round = 0; round < 20; ++round) {
    auto facade = open();
    std::atomic<bool> alive = true;
    std::promise<void> inside;
    facade->services().call(client_, "/echo", "made/Add", Form::json, bytes_of(R"({"x":7})"),
                            Duration::from_seconds(600), [&](const Result<Buffer>&) {
                              inside.set_value();
                              for (int i = 0; i < 100; ++i) {
                                std::this_thread::yield();
                                EXPECT_TRUE(alive);
                              }
                            });
    inside.get_future().wait();
    facade->end_calls();
    alive = false;
  }
}

}  // namespace
}  // namespace hyphos::gateway
