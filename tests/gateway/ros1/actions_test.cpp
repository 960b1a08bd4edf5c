// Two gateways in one ROS graph: the action of one robot reaches the other as an action server of
// actionlib.
#include <gtest/gtest.h>

#include <algorithm>

#include "gateway/ros1/action_messages.hpp"
#include "gateway/ros1/ros1.hpp"
#include "tests/gateway/raw_client.hpp"
#include "tests/gateway/ros1/action_types.hpp"
#include "tests/gateway/ros1/master_host.hpp"

namespace hyphos::gateway::ros1 {
namespace {

class Robot {
 public:
  Robot(const std::string& master, const std::string& node) {
    add_types(facade);
    add_action_types(facade);
    options.own = {{"master_uri", master}, {"node", node}};
    gateway = open_ros1(facade, options).or_throw();
  }
  [[nodiscard]] bool has_action() const {
    return std::ranges::any_of(facade.actions().list(),
                               [](const ActionInfo& info) { return info.name == kCountAction; });
  }

  FakeGraph facade;
  Options options;
  std::unique_ptr<Protocol> gateway;
};

class Ros1Actions : public ::testing::Test {
 protected:
  Ros1Actions()
      : here(master.uri(), "/here"),
        there(master.uri(), "/there"),
        server(
            std::make_unique<CountServer>(here.facade, kCount, Form::ros1, &same, &same, &same)) {
    EXPECT_TRUE(eventually([&] { return there.has_action(); }));
  }
  CountGoal send(const std::string& goal) { return {there.facade, kCount, Form::ros1, goal}; }

  MasterHost master;
  Robot here;
  Robot there;
  std::unique_ptr<CountServer> server;
};

TEST_F(Ros1Actions, a_goal_gets_its_result) {
  CountGoal goal = send("count 3");
  const auto end = goal.end();
  ASSERT_TRUE(end.ok()) << end.error().to_string();
  EXPECT_EQ(end->end, GoalEnd::succeeded);
  EXPECT_EQ(end->result.text(), "counted");
}

// Feedback and results have connections of their own in ROS 1. Feedback that arrives after the
// result is ignored, as by the clients of actionlib.
TEST_F(Ros1Actions, feedback_arrives_before_the_end) {
  CountGoal goal = send("wait");
  EXPECT_EQ(goal.feedback(1), std::vector<std::string>{"waiting"});
}

TEST_F(Ros1Actions, a_canceled_goal_ends_and_the_others_go_on) {
  CountGoal stays = send("wait");
  CountGoal leaves = send("wait");
  EXPECT_EQ(stays.feedback(1).size(), 1U);
  EXPECT_EQ(leaves.feedback(1).size(), 1U);
  leaves.cancel();
  const auto end = leaves.end();
  ASSERT_TRUE(end.ok()) << end.error().to_string();
  EXPECT_EQ(end->end, GoalEnd::canceled);
  EXPECT_EQ(end->result.text(), "stopped");
  EXPECT_TRUE(eventually([&] { return server->waiting() == 1; }));
  EXPECT_EQ(send("count 1").end().or_throw().end, GoalEnd::succeeded);
}

TEST_F(Ros1Actions, a_failed_goal_is_aborted) {
  const auto end = send("fail").end();
  ASSERT_TRUE(end.ok()) << end.error().to_string();
  EXPECT_EQ(end->end, GoalEnd::aborted);
}

TEST_F(Ros1Actions, goals_end_when_their_server_is_gone) {
  CountGoal goal = send("wait");
  EXPECT_EQ(goal.feedback(1).size(), 1U);
  here.gateway.reset();  // its process ends
  const auto end = goal.end();
  EXPECT_TRUE(!end || end->end == GoalEnd::aborted);
  EXPECT_TRUE(eventually([&] { return !there.has_action(); }));
}

TEST_F(Ros1Actions, goals_are_canceled_when_their_client_is_gone) {
  CountGoal goal = send("wait");
  EXPECT_EQ(goal.feedback(1).size(), 1U);
  ASSERT_EQ(server->waiting(), 1U);
  there.gateway.reset();  // its process ends
  EXPECT_TRUE(eventually([&] { return server->waiting() == 0; }));
}

TEST_F(Ros1Actions, an_action_that_ros_cannot_name_is_reported_once) {
  auto odd =
      here.facade.actions().open_server({"robot"}, "/count up", kCount, Form::ros1, {}).or_throw();
  EXPECT_TRUE(eventually([&] { return here.facade.clients().counted("unsupported") == 1; }));
  EXPECT_NE(here.facade.clients().last("unsupported").find("the action is left out"),
            std::string::npos);
}

TEST(Ros1ActionMessages, all_messages_keep_their_values) {
  const GoalId id{Time{12'000'000'345}, "/node-1-12.000000345"};
  const std::string body = "the goal";
  const auto goal = write_goal(id, bytes_of(body), Time{7});
  const auto arrived = read_goal(goal);
  ASSERT_TRUE(arrived);
  EXPECT_EQ(arrived->goal, id);
  EXPECT_EQ(arrived->message.size(), body.size());
  const GoalRecord record{id, GoalStatus::aborted, "too far"};
  const auto outcome_bytes = write_outcome(record, bytes_of(body), Time{7});
  const auto outcome = read_outcome(outcome_bytes);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->record, record);
  EXPECT_EQ(read_records(write_records({record, record}, Time{7})),
            (std::vector<GoalRecord>{record, record}));
  EXPECT_EQ(read_cancel(write_cancel(id)), id);
}

TEST(Ros1ActionMessages, cut_messages_are_refused) {
  const GoalRecord record{{Time{5}, "id"}, GoalStatus::active, "text"};
  const auto whole = write_records({record}, Time{7});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_records(std::span(whole).first(size))) << size;
  }
  auto many = whole;
  std::fill(many.begin() + 16, many.begin() + 20, std::byte{0xff});  // the number of records
  EXPECT_FALSE(read_records(many));
}

TEST(Ros1ActionMessages, a_request_to_cancel_names_goals_by_id_and_time) {
  const GoalId goal{Time{10}, "a"};
  EXPECT_TRUE(includes({}, goal));
  EXPECT_TRUE(includes({Time{0}, "a"}, goal));
  EXPECT_FALSE(includes({Time{0}, "b"}, goal));
  EXPECT_TRUE(includes({Time{10}, ""}, goal));
  EXPECT_FALSE(includes({Time{9}, ""}, goal));
  EXPECT_TRUE(includes({Time{11}, "b"}, goal));
}

}  // namespace
}  // namespace hyphos::gateway::ros1
