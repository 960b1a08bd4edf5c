#include <map>

#include "tests/clients/c_harness.hpp"

namespace hyphos::test {
namespace {

const hyphos_action_types kCount{kNumber, kNumber, kNumber};

/// A server that keeps each goal until the test ends it. Goals of the policy parallel begin in any
/// order, so the tests find them by their values.
struct Server {
  explicit Server(hyphos_node* node, std::int32_t policy = HYPHOS_GOALS_PARALLEL) {
    hyphos_action_options options{sizeof options, HYPHOS_POLLED, policy, 0, 0};
    hyphos_error error;
    EXPECT_EQ(
        hyphos_action_serve(node, "count", &kCount, &options, &execute, this, &action, &error),
        HYPHOS_OK)
        << error.message;
  }
  ~Server() {
    for (const auto& [value, goal] : goals) hyphos_goal_drop(goal);
    hyphos_action_close(action);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  static void execute(void* user, hyphos_goal* goal, const hyphos_message* message) {
    auto& server = *static_cast<Server*>(user);
    std::int64_t value = 0;
    std::memcpy(&value, message->payload.data, sizeof value);
    server.goals.emplace(value, goal);
  }
  hyphos_goal* take(std::int64_t of) { return goals.extract(of).mapped(); }
  void finish(std::int64_t of, std::int64_t value,
              hyphos_goal_state state = HYPHOS_GOAL_SUCCEEDED) {
    hyphos_error error;
    EXPECT_EQ(hyphos_goal_finish(take(of), state, &value, sizeof value, nullptr, 0, &error),
              HYPHOS_OK)
        << error.message;
  }

  hyphos_action* action = nullptr;
  std::map<std::int64_t, hyphos_goal*> goals;
};

/// A goal at its client, with everything that came back.
struct Sent {
  Sent(hyphos_action_client* client, std::int64_t value) {
    const hyphos_goal_callbacks callbacks{sizeof callbacks, &hear, &end, this};
    hyphos_error fault;
    EXPECT_EQ(hyphos_goal_send(client, &value, sizeof value, nullptr, 0, kLong, &callbacks, &goal,
                               &fault),
              HYPHOS_OK)
        << fault.message;
  }
  ~Sent() { hyphos_sent_goal_release(goal); }
  Sent(const Sent&) = delete;
  Sent& operator=(const Sent&) = delete;

  static void hear(void* user, const hyphos_message* message) {
    std::int64_t value = 0;
    std::memcpy(&value, message->payload.data, sizeof value);
    static_cast<Sent*>(user)->feedback.push_back(value);
  }
  static void end(void* user, hyphos_goal_state state, const hyphos_message* result,
                  const hyphos_error* error) {
    auto& sent = *static_cast<Sent*>(user);
    ++sent.ends;
    sent.state = state;
    if (result != nullptr) std::memcpy(&sent.result, result->payload.data, sizeof sent.result);
    if (error != nullptr) sent.error = *error;
  }

  hyphos_sent_goal* goal = nullptr;
  std::vector<std::int64_t> feedback;
  int ends = 0;
  hyphos_goal_state state = HYPHOS_GOAL_SENT;
  std::int64_t result = 0;
  hyphos_error error{};
};

class CAction : public ::testing::Test {
 protected:
  CAction() : node(open_node(fresh_domain())) {
    hyphos_error error;
    EXPECT_EQ(hyphos_action_client_open(node, "count", &kCount, nullptr, &client, &error),
              HYPHOS_OK)
        << error.message;
  }
  ~CAction() override { hyphos_action_client_close(client); }
  template <typename Condition>
  void poll_until(Condition condition) {
    while (!condition()) {
      ASSERT_EQ(hyphos_poll(node, kLong, 0, nullptr, nullptr), HYPHOS_OK);
    }
  }

  CNode node;
  hyphos_action_client* client = nullptr;
};

TEST_F(CAction, a_goal_gets_its_feedback_and_then_its_result) {
  Server server(node);
  Sent sent(client, 7);
  poll_until([&] { return server.goals.size() == 1; });
  hyphos_goal* const goal = server.goals.at(7);
  for (std::int64_t value = 1; value <= 3; ++value) {
    EXPECT_EQ(hyphos_goal_feedback(goal, &value, sizeof value, nullptr, 0, nullptr), HYPHOS_OK);
  }
  server.finish(7, 14);
  poll_until([&] { return sent.ends > 0; });
  EXPECT_EQ(sent.feedback, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(sent.state, HYPHOS_GOAL_SUCCEEDED);
  EXPECT_EQ(sent.result, 14);
  EXPECT_EQ(sent.ends, 1);
  EXPECT_EQ(hyphos_sent_goal_state(sent.goal), HYPHOS_GOAL_SUCCEEDED);
}

TEST_F(CAction, a_goal_can_be_canceled_while_another_one_goes_on) {
  Server server(node);
  Sent first(client, 1);
  Sent second(client, 2);
  poll_until([&] { return server.goals.size() == 2; });
  EXPECT_EQ(hyphos_goal_wait(server.goals.at(1), 0), 0);
  EXPECT_EQ(hyphos_sent_goal_cancel(first.goal, nullptr), HYPHOS_OK);
  EXPECT_EQ(hyphos_goal_wait(server.goals.at(1), kLong), 1);
  EXPECT_EQ(hyphos_goal_cancel_requested(server.goals.at(1)), 1);
  EXPECT_EQ(hyphos_goal_cancel_requested(server.goals.at(2)), 0);
  server.finish(1, -1, HYPHOS_GOAL_CANCELED);
  poll_until([&] { return first.ends > 0; });
  EXPECT_EQ(first.state, HYPHOS_GOAL_CANCELED);
  EXPECT_EQ(first.result, -1);
  EXPECT_EQ(second.ends, 0);
  server.finish(2, 4);
  poll_until([&] { return second.ends > 0; });
  EXPECT_EQ(second.result, 4);
}

TEST_F(CAction, a_goal_preempts_another_one) {
  Server server(node, HYPHOS_GOALS_PREEMPT);
  Sent first(client, 1);
  poll_until([&] { return server.goals.size() == 1; });
  Sent second(client, 2);
  EXPECT_EQ(hyphos_goal_wait(server.goals.at(1), kLong), 1);
  server.finish(1, -1, HYPHOS_GOAL_CANCELED);
  poll_until([&] { return first.ends > 0 && server.goals.size() == 1; });
  EXPECT_EQ(first.state, HYPHOS_GOAL_CANCELED);
  server.finish(2, 4);
  poll_until([&] { return second.ends > 0; });
  EXPECT_EQ(second.state, HYPHOS_GOAL_SUCCEEDED);
}

TEST_F(CAction, a_failed_goal_has_the_reason) {
  Server server(node);
  Sent sent(client, 1);
  poll_until([&] { return server.goals.size() == 1; });
  EXPECT_EQ(hyphos_goal_fail(server.take(1), HYPHOS_OUT_OF_RANGE, "only upwards", nullptr),
            HYPHOS_OK);
  poll_until([&] { return sent.ends > 0; });
  EXPECT_EQ(sent.state, HYPHOS_GOAL_ABORTED);
  EXPECT_EQ(sent.error.code, HYPHOS_OUT_OF_RANGE);
  EXPECT_NE(std::string(sent.error.message).find("only upwards"), std::string::npos);
}

TEST_F(CAction, goals_end_with_their_server) {
  auto server = std::make_unique<Server>(node);
  Sent sent(client, 1);
  poll_until([&] { return server->goals.size() == 1; });
  server.reset();
  poll_until([&] { return sent.ends > 0; });
  EXPECT_EQ(sent.state, HYPHOS_GOAL_ABORTED);
}

TEST_F(CAction, feedback_beyond_the_queue_is_counted) {
  Server server(node);
  Sent sent(client, 1);
  poll_until([&] { return server.goals.size() == 1; });
  constexpr std::int64_t kMany = 500;
  std::int64_t accepted = 0;
  for (std::int64_t value = 1; value <= kMany; ++value) {
    if (hyphos_goal_feedback(server.goals.at(1), &value, sizeof value, nullptr, 0, nullptr) ==
        HYPHOS_OK) {
      ++accepted;
    }
  }
  server.finish(1, 1);
  poll_until([&] { return sent.ends > 0; });
  const auto dropped = static_cast<std::int64_t>(hyphos_sent_goal_feedback_dropped(sent.goal));
  EXPECT_GT(dropped, 0);
  EXPECT_EQ(static_cast<std::int64_t>(sent.feedback.size()) + dropped, accepted);
}

TEST_F(CAction, wrong_arguments_are_named) {
  Server server(node);
  hyphos_error error;
  hyphos_action* action = nullptr;
  hyphos_action_options options{sizeof options, HYPHOS_POLLED, 9, 0, 0};
  EXPECT_EQ(hyphos_action_serve(node, "other", &kCount, &options, &Server::execute, &server,
                                &action, &error),
            HYPHOS_INVALID_CONFIG);
  EXPECT_NE(std::string(error.message).find("options.policy"), std::string::npos);
  EXPECT_EQ(hyphos_action_serve(node, "other", nullptr, nullptr, &Server::execute, &server, &action,
                                &error),
            HYPHOS_INVALID_CONFIG);
  EXPECT_EQ(hyphos_goal_feedback(nullptr, nullptr, 0, nullptr, 0, &error), HYPHOS_INVALID_CONFIG);
  Sent sent(client, 1);
  poll_until([&] { return server.goals.size() == 1; });
  const std::int64_t value = 1;
  EXPECT_EQ(hyphos_goal_finish(server.take(1), HYPHOS_GOAL_CANCELING, &value, sizeof value, nullptr,
                               0, &error),
            HYPHOS_INVALID_CONFIG);
  poll_until([&] { return sent.ends > 0; });
  EXPECT_EQ(sent.state, HYPHOS_GOAL_ABORTED) << "a goal without an end is aborted";
}

}  // namespace
}  // namespace hyphos::test
