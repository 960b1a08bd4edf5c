#include <gtest/gtest.h>

#include <memory>

#include "tests/gateway/rosbridge/fake_client.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

class ActionTest : public Robot {
 protected:
  ActionTest() : server(facade), client(facade) {
    facade.types().add_message({"made/CountGoal", "", "", "int32 to\nint32 step\n"});
    facade.types().add_action(
        {"made/Count", "made/CountGoal", "made/CountFeedback", "made/CountResult"});
  }
  void advertise(FakeClient& by) {
    by.say(R"({"op":"advertise_action","action":"/count","type":"made/Count"})");
  }
  void send(const std::string& more = R"(,"args":{"to":3})") {
    client.say(R"({"op":"send_action_goal","id":"g","action":"/count","action_type":"made/Count")" +
               more + "}");
  }
  /// Checks the goal that the server receives. `args` are its arguments.
  void expect_goal(const std::string& args, const std::string& id = "action_goal:0") {
    EXPECT_EQ(server.on_message(), R"({"op":"send_action_goal","id":")" + id +
                                       R"(","action":"/count","action_type":"made/Count","args":)" +
                                       args + R"(,"feedback":true})");
  }
  static std::string end(const std::string& values, int status, bool result) {
    return R"({"op":"action_result","action":"/count","values":)" + values + R"(,"status":)" +
           std::to_string(status) + R"(,"result":)" + (result ? "true" : "false") + R"(,"id":"g"})";
  }
  FakeClient server;
  FakeClient client;
};

TEST_F(ActionTest, a_goal_gets_its_feedback_and_its_result) {
  advertise(server);
  send(R"(,"args":{"to":3},"feedback":true)");
  expect_goal(R"({"to":3})");
  server.say(
      R"({"op":"action_feedback","id":"action_goal:0","action":"/count","values":{"at":1}})");
  EXPECT_EQ(client.on_message(),
            R"({"op":"action_feedback","action":"/count","values":{"at":1},"id":"g"})");
  server.say(R"({"op":"action_result","id":"action_goal:0","action":"/count",)"
             R"("values":{"sum":6},"status":4,"result":true})");
  EXPECT_EQ(client.on_message(), end(R"({"sum":6})", 4, true));
  EXPECT_TRUE(client.hears_nothing());
  server.say(R"({"op":"action_feedback","id":"action_goal:0","action":"/count","values":{}})");
  EXPECT_EQ(server.on_message(),
            R"({"op":"status","level":"error","msg":"action_feedback: no goal )"
            R"j(with this id is active (/count)","id":"action_goal:0"})j");
}

TEST_F(ActionTest, feedback_is_sent_only_on_request) {
  advertise(server);
  send();
  expect_goal(R"({"to":3})");
  server.say(R"({"op":"action_feedback","id":"action_goal:0","values":{"at":1}})");
  server.say(R"({"op":"action_result","id":"action_goal:0","values":{},"status":4})");
  EXPECT_EQ(client.on_message(), end("{}", 4, true));
}

TEST_F(ActionTest, arguments_in_a_list_get_their_names_from_the_type) {
  advertise(server);
  send(R"(,"args":[3,1])");
  expect_goal(R"({"to":3,"step":1})");
}

TEST_F(ActionTest, a_canceled_goal_ends_with_the_result_of_its_server) {
  advertise(server);
  send();
  expect_goal(R"({"to":3})");
  client.say(R"({"op":"cancel_action_goal","id":"g","action":"/count"})");
  EXPECT_EQ(server.on_message(),
            R"({"op":"cancel_action_goal","id":"action_goal:0","action":"/count"})");
  server.say(R"({"op":"action_result","id":"action_goal:0","values":{"sum":1},"status":5})");
  EXPECT_EQ(client.on_message(), end(R"({"sum":1})", 5, true));
  client.say(R"({"op":"cancel_action_goal","id":"g","action":"/count"})");
  EXPECT_EQ(client.on_message(),
            R"({"op":"status","level":"error","msg":"cancel_action_goal: no goal )"
            R"j(with this id is active (/count)","id":"g"})j");
}

TEST_F(ActionTest, a_failure_is_reported_with_its_text) {
  advertise(server);
  send();
  expect_goal(R"({"to":3})");
  server.say(R"({"op":"action_result","id":"action_goal:0","values":"no way","result":false})");
  EXPECT_EQ(client.on_message(), end(R"("the action failed: no way")", 6, false));
}

TEST_F(ActionTest, a_goal_of_an_action_without_a_server_fails) {
  send();
  EXPECT_EQ(client.on_message(), end(R"j("the graph has no action '/count' (/count)")j", 6, false));
  EXPECT_EQ(facade.clients().counted("goal"), 1U);
  send();
  EXPECT_EQ(client.on_message(), end(R"j("the graph has no action '/count' (/count)")j", 6, false))
      << "the id is free again";
}

TEST_F(ActionTest, goals_end_when_their_server_leaves) {
  auto gone = std::make_unique<FakeClient>(facade);
  advertise(*gone);
  send();
  (void)gone->on_message();
  gone.reset();
  EXPECT_TRUE(client.on_message().ends_with(R"("status":6,"result":false,"id":"g"})"));
  advertise(server);
  send();
  expect_goal(R"({"to":3})");
  server.say(R"({"op":"unadvertise_action","action":"/count"})");
  EXPECT_TRUE(client.on_message().ends_with(R"("status":6,"result":false,"id":"g"})"));
  EXPECT_EQ(facade.open(), 0U);
}

TEST_F(ActionTest, the_goals_of_a_client_that_leaves_are_canceled) {
  advertise(server);
  auto gone = std::make_unique<FakeClient>(facade);
  gone->say(R"({"op":"send_action_goal","action":"/count","args":{"to":9}})");
  expect_goal(R"({"to":9})");
  gone.reset();
  EXPECT_EQ(server.on_message(),
            R"({"op":"cancel_action_goal","id":"action_goal:0","action":"/count"})");
}

TEST_F(ActionTest, faulty_requests_get_an_error) {
  const auto told = [&](const std::string& text) {
    client.say(text);
    return client.on_message();
  };
  EXPECT_NE(told(R"({"op":"send_action_goal"})").find("'action' is missing"), std::string::npos);
  EXPECT_NE(told(R"({"op":"advertise_action","action":"/a"})").find("'type' is missing"),
            std::string::npos);
  EXPECT_NE(told(R"({"op":"advertise_action","action":"/a","type":"no/Such"})").find("no/Such"),
            std::string::npos);
  EXPECT_NE(
      told(R"({"op":"action_result","id":"x","status":9})").find("'status' of a result must be"),
      std::string::npos);
  EXPECT_NE(told(R"({"op":"send_action_goal","action":"/a","args":[1]})").find("'action_type'"),
            std::string::npos);
  advertise(server);
  send();
  expect_goal(R"({"to":3})");
  send();
  EXPECT_NE(client.on_message().find("a goal with this id is already active"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::gateway::rosbridge
