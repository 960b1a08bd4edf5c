// Two gateways in one DDS domain: the action of one robot reaches the other as an action of ROS 2.
#include <gtest/gtest.h>

#include <algorithm>

#include "gateway/ros2/action_messages.hpp"
#include "tests/gateway/action_ends.hpp"
#include "tests/gateway/ros2/gateway.hpp"

namespace hyphos::gateway::ros2 {
namespace {

const std::string kCount = "made/action/Count";
constexpr std::size_t kEncapsulation = 4;

/// A text as the only content of a CDR message.
std::string wrap(std::string_view text) { return std::string("\0\1\0\0", 4) + std::string(text); }
std::string unwrap(std::string_view cdr) { return std::string(cdr.substr(kEncapsulation)); }
/// The same after one byte for the status.
std::string wrap_result(std::string_view text) {
  return std::string("\0\1\0\0\0", 5) + std::string(text);
}

class Robot : public Gateway {
 public:
  explicit Robot(const std::string& node) : Gateway(with({{"node", node}})) {
    facade.types().add_action({kCount, "made/action/Count_Goal", "made/action/Count_Feedback",
                               "made/action/Count_Result"});
  }
  [[nodiscard]] bool has_action() const {
    return std::ranges::any_of(facade.actions().list(),
                               [](const ActionInfo& info) { return info.name == kCountAction; });
  }
};

class Ros2Actions : public ::testing::Test {
 protected:
  Ros2Actions()
      : server(std::make_unique<CountServer>(here.facade, kCount, Form::cdr, &wrap, &unwrap,
                                             &wrap_result)) {
    EXPECT_TRUE(eventually([&] { return there.has_action(); }));
  }
  CountGoal send(const std::string& goal) { return {there.facade, kCount, Form::cdr, wrap(goal)}; }
  static std::string text_of_result(const Result<GoalResult>& end) {
    return std::string(end->result.text().substr(kEncapsulation + 1));
  }

  Robot here{"/here"};
  Robot there{"/there"};
  std::unique_ptr<CountServer> server;
};

TEST_F(Ros2Actions, a_goal_gets_its_feedback_and_its_result) {
  CountGoal goal = send("count 3");
  const auto end = goal.end();
  ASSERT_TRUE(end.ok()) << end.error().to_string();
  EXPECT_EQ(end->end, GoalEnd::succeeded);
  EXPECT_EQ(text_of_result(end), "counted");
}

TEST_F(Ros2Actions, feedback_arrives_before_the_end) {
  CountGoal goal = send("wait");
  const auto feedback = goal.feedback(1);
  ASSERT_EQ(feedback.size(), 1U);
  EXPECT_TRUE(feedback[0].starts_with(wrap("waiting"))) << "DDS pads to a multiple of four bytes";
}

TEST_F(Ros2Actions, a_canceled_goal_ends_and_the_others_go_on) {
  CountGoal stays = send("wait");
  CountGoal leaves = send("wait");
  EXPECT_EQ(stays.feedback(1).size(), 1U);
  EXPECT_EQ(leaves.feedback(1).size(), 1U);
  leaves.cancel();
  const auto end = leaves.end();
  ASSERT_TRUE(end.ok()) << end.error().to_string();
  EXPECT_EQ(end->end, GoalEnd::canceled);
  EXPECT_EQ(text_of_result(end), "stopped");
  EXPECT_TRUE(eventually([&] { return server->waiting() == 1; }));
  EXPECT_EQ(send("count 1").end().or_throw().end, GoalEnd::succeeded);
}

TEST_F(Ros2Actions, a_failed_goal_is_aborted) {
  const auto end = send("fail").end();
  ASSERT_TRUE(end.ok()) << end.error().to_string();
  EXPECT_EQ(end->end, GoalEnd::aborted);
}

TEST_F(Ros2Actions, goals_end_when_their_server_is_gone) {
  CountGoal goal = send("wait");
  EXPECT_EQ(goal.feedback(1).size(), 1U);
  here.protocol.reset();  // its process ends
  const auto end = goal.end();
  EXPECT_TRUE(!end || end->end == GoalEnd::aborted);
  EXPECT_TRUE(eventually([&] { return !there.has_action(); }));
}

TEST_F(Ros2Actions, goals_are_canceled_when_their_client_is_gone) {
  CountGoal goal = send("wait");
  EXPECT_EQ(goal.feedback(1).size(), 1U);
  ASSERT_EQ(server->waiting(), 1U);
  there.protocol.reset();  // its process ends
  EXPECT_TRUE(eventually([&] { return server->waiting() == 0; }));
}

// DDS announces readers and writers in two streams, so this is also the view of a server that
// discovers a client of rclcpp.
TEST(Ros2ActionsOfRos, feedback_waits_for_the_reader_of_a_new_client) {
  Robot robot("/robot");
  CountServer server(robot.facade, kCount, Form::cdr, &wrap, &unwrap, &wrap_result);
  RosSide ros;
  const std::string type = "made::action::dds_::Count_";
  auto& replies = ros.reader("rr/count/_action/send_goalReply", type + "SendGoal_Response_");
  auto& requests = ros.writer("rq/count/_action/send_goalRequest", type + "SendGoal_Request_");
  ASSERT_TRUE(requests.wait_matched(1));
  ASSERT_TRUE(replies.wait_matched(1));
  const auto goal = put_goal_id(GoalId{1}, bytes_of(wrap("wait")));
  rtps::SampleIdentity related;
  related.writer_guid(replies.guid());
  requests.write({reinterpret_cast<const char*>(goal.data()), goal.size()}, related);
  auto& feedback = ros.reader("rt/count/_action/feedback", type + "FeedbackMessage_");
  const auto heard = feedback.wait(1);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_NE(heard[0].bytes.find("waiting"), std::string::npos);
}

TEST(Ros2ActionMessages, all_messages_keep_their_values) {
  GoalId id{};
  for (std::size_t i = 0; i < id.size(); ++i) id[i] = static_cast<std::uint8_t>(i + 1);
  const std::string message = wrap("the goal");
  const auto taken = take_goal_id(put_goal_id(id, bytes_of(message)));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->id, id);
  EXPECT_TRUE(std::ranges::equal(taken->message, bytes_of(message)));
  EXPECT_EQ(read_acceptance(write_acceptance(true, Time{5'000'000'006})), true);
  EXPECT_EQ(read_acceptance(write_acceptance(false, {})), false);
  EXPECT_EQ(read_goal_id(write_goal_id(id)), id);
  const GoalInfo info{id, Time{12'000'000'345}};
  EXPECT_EQ(read_cancel(write_cancel(info)), info);
  EXPECT_EQ(read_cancel_code(write_canceling(CancelCode::rejected, {info})), CancelCode::rejected);
  const std::vector<GoalRecord> records{{info, GoalStatus::executing}, {{}, GoalStatus::aborted}};
  EXPECT_EQ(read_states(write_states(records)), records);
  const auto reply = put_status(GoalStatus::canceled, bytes_of(wrap_result("x")));
  EXPECT_EQ(status_of_result(reply), GoalStatus::canceled);
}

TEST(Ros2ActionMessages, cut_messages_are_refused) {
  const auto whole = write_states({{{}, GoalStatus::executing}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_states(std::span(whole).first(size))) << size;
  }
  EXPECT_FALSE(take_goal_id(std::span(whole).first(12)));
  EXPECT_FALSE(status_of_result(put_status(static_cast<GoalStatus>(9), bytes_of(wrap_result("")))));
}

TEST(Ros2ActionMessages, a_request_to_cancel_names_goals_by_id_and_time) {
  const GoalId a{1};
  const GoalId b{2};
  const GoalInfo goal{a, Time{10}};
  EXPECT_TRUE(includes({}, goal));
  EXPECT_TRUE(includes({a, {}}, goal));
  EXPECT_FALSE(includes({b, {}}, goal));
  EXPECT_TRUE(includes({{}, Time{10}}, goal));
  EXPECT_FALSE(includes({{}, Time{9}}, goal));
  EXPECT_TRUE(includes({b, Time{11}}, goal));
}

}  // namespace
}  // namespace hyphos::gateway::ros2
