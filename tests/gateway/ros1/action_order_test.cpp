// The messages of an action of ROS 1 travel on five connections, so they may overtake each other.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gateway/ros1/action_messages.hpp"
#include "gateway/ros1/action_proxy.hpp"
#include "gateway/ros1/goal_desk.hpp"
#include "tests/gateway/raw_client.hpp"
#include "tests/gateway/ros1/action_types.hpp"

namespace hyphos::gateway::ros1 {
namespace {

const Client kPeer{.name = "peer"};
const std::string kGoalId = "/peer-1-12.000000345";

/// Messages of one topic as whole copies.
class Messages {
 public:
  Messages(FakeGraph& facade, const std::string& topic, const std::string& type)
      : subscription_(facade.topics()
                          .open_subscription(kPeer, topic, type, Form::ros1, {}, heard_.take())
                          .or_throw()) {}
  std::string wait(std::size_t count) {
    const auto all = heard_.wait(count);
    EXPECT_GE(all.size(), count);
    return all.size() < count ? std::string() : all[count - 1];
  }

 private:
  Heard heard_;
  std::unique_ptr<ClientSubscription> subscription_;
};

/// The publishers of the other side.
class Peer {
 public:
  explicit Peer(FakeGraph& facade) : facade_(facade) {}
  void publish(const std::string& topic, const std::string& type,
               const std::vector<std::byte>& message) {
    auto& publisher = publishers_[topic];
    if (!publisher) {
      publisher = facade_.topics().open_publisher(kPeer, topic, type, Form::ros1, {}).or_throw();
    }
    publisher->publish(message).or_throw();
  }

 private:
  FakeGraph& facade_;
  std::map<std::string, std::unique_ptr<ClientPublisher>> publishers_;
};

class Ros1ActionProxyOrder : public ::testing::Test {
 protected:
  Ros1ActionProxyOrder() {
    add_types(facade);
    add_action_types(facade);
    goals = std::make_unique<Messages>(facade, "/count/goal", "made/CountActionGoal");
    proxy = std::make_shared<ActionProxy>(facade, kCountAction, kCount, kPeer, "/gateway");
    proxy->open().or_throw();
    proxy->look(true).or_throw();
    goal = std::make_unique<CountGoal>(facade, kCount, Form::ros1, "wait");
    const std::string bytes = goals->wait(1);
    if (const auto arrived = read_goal(bytes_of(bytes))) sent = arrived->goal;
  }
  ~Ros1ActionProxyOrder() override { proxy->end(); }
  void feedback() {
    peer.publish("/count/feedback", "made/CountActionFeedback",
                 write_outcome({sent, GoalStatus::active, ""}, bytes_of("one"), Time{1}));
  }
  void status(const std::vector<GoalRecord>& records) {
    peer.publish("/count/status", "actionlib_msgs/GoalStatusArray",
                 write_records(records, Time{1}));
  }
  void result() {
    peer.publish("/count/result", "made/CountActionResult",
                 write_outcome({sent, GoalStatus::succeeded, ""}, bytes_of("two"), Time{1}));
  }

  FakeGraph facade;
  Peer peer{facade};
  std::unique_ptr<Messages> goals;
  std::shared_ptr<ActionProxy> proxy;
  std::unique_ptr<CountGoal> goal;
  GoalId sent;
};

TEST_F(Ros1ActionProxyOrder, a_status_from_before_the_goal_does_not_end_it) {
  feedback();
  ASSERT_EQ(goal->feedback(1).size(), 1U);
  status({});  // sent before the server got the goal
  result();
  const auto end = goal->end();
  ASSERT_TRUE(end.ok()) << end.error().to_string();
  EXPECT_EQ(end->end, GoalEnd::succeeded);
}

TEST_F(Ros1ActionProxyOrder, a_goal_that_a_status_no_longer_contains_is_lost) {
  status({{sent, GoalStatus::active, ""}});
  status({});
  const auto end = goal->end();
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, Code::disconnected);
}

/// Calls the subscriber to requests to cancel in the thread of the caller.
class DirectTopics final : public Topics {
 public:
  explicit DirectTopics(Topics& topics) : topics_(topics) {}
  void deliver_cancel(const GoalId& which) {
    OutgoingMessage message;
    message.bytes = Buffer::copy_of(write_cancel(which));
    cancel_(message);
  }

  Result<std::unique_ptr<ClientPublisher>> open_publisher(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientPublisherOptions& options) override {
    return topics_.open_publisher(client, topic, type, form, options);
  }
  Result<std::unique_ptr<ClientSubscription>> open_subscription(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientSubscriptionOptions& options,
      std::function<void(const OutgoingMessage&)> callback) override {
    if (topic.ends_with("/cancel")) cancel_ = callback;
    return topics_.open_subscription(client, topic, type, form, options, std::move(callback));
  }
  [[nodiscard]] std::vector<TopicInfo> list() const override { return topics_.list(); }
  [[nodiscard]] std::vector<std::string> nodes() const override { return topics_.nodes(); }

 private:
  Topics& topics_;
  std::function<void(const OutgoingMessage&)> cancel_;
};

/// Calls `after_send` before send_goal() returns.
class HookedActions final : public Actions {
 public:
  explicit HookedActions(Actions& actions) : actions_(actions) {}
  std::function<void()> after_send = [] {};

  Result<std::unique_ptr<SentGoal>> send_goal(const Client& client, const std::string& action,
                                              const std::string& type, Forms forms,
                                              std::span<const std::byte> goal,
                                              GoalCallbacks callbacks) override {
    auto sent = actions_.send_goal(client, action, type, forms, goal, std::move(callbacks));
    after_send();
    return sent;
  }
  Result<std::unique_ptr<ActionServer>> open_server(const Client& client, const std::string& action,
                                                    const std::string& type, Forms forms,
                                                    ActionCallbacks callbacks) override {
    return actions_.open_server(client, action, type, forms, std::move(callbacks));
  }
  [[nodiscard]] Result<Buffer> blank_result(const std::string& type, Form form) const override {
    return actions_.blank_result(type, form);
  }
  [[nodiscard]] std::vector<ActionInfo> list() const override { return actions_.list(); }

 private:
  Actions& actions_;
};

/// An in-memory graph that shows what happens while a goal is sent.
class HookedGraph final : public GraphFacade {
 public:
  explicit HookedGraph(FakeGraph& graph) : graph_(graph) {}
  [[nodiscard]] DirectTopics& topics() const override { return topics_; }
  [[nodiscard]] HookedActions& actions() const override { return actions_; }
  [[nodiscard]] Services& services() const override { return graph_.services(); }
  [[nodiscard]] Parameters& parameters() const override { return graph_.parameters(); }
  [[nodiscard]] const TypeLookup& types() const override { return graph_.types(); }
  [[nodiscard]] Clients& clients() const override { return graph_.clients(); }

 private:
  FakeGraph& graph_;
  mutable DirectTopics topics_{graph_.topics()};
  mutable HookedActions actions_{graph_.actions()};
};

class Ros1GoalDeskOrder : public ::testing::Test {
 protected:
  static constexpr std::size_t kMost = 4;

  Ros1GoalDeskOrder() {
    add_types(graph);
    add_action_types(graph);
    server = std::make_unique<CountServer>(graph, kCount, Form::ros1, &same, &same, &same);
    results = std::make_unique<Messages>(graph, "/count/result", "made/CountActionResult");
    desk = std::make_shared<GoalDesk>(facade, kCountAction, kCount, kMost, [] {});
    desk->open().or_throw();
  }
  ~Ros1GoalDeskOrder() override { desk->end(); }
  void send(const std::string& text, const GoalId& id) {
    peer.publish("/count/goal", "made/CountActionGoal", write_goal(id, bytes_of(text), id.stamp));
  }
  void cancel(const GoalId& which) {
    peer.publish("/count/cancel", "actionlib_msgs/GoalID", write_cancel(which));
  }
  /// The state in the message number `count` with a result.
  GoalRecord ended(std::size_t count) {
    const std::string bytes = results->wait(count);
    const auto outcome = read_outcome(bytes_of(bytes));
    EXPECT_TRUE(outcome.has_value());
    return outcome ? outcome->record : GoalRecord{};
  }

  FakeGraph graph;
  HookedGraph facade{graph};
  Peer peer{graph};
  std::unique_ptr<CountServer> server;
  std::unique_ptr<Messages> results;
  std::shared_ptr<GoalDesk> desk;
};

TEST_F(Ros1GoalDeskOrder, a_request_to_cancel_that_overtakes_its_goal_recalls_it) {
  cancel({Time{}, kGoalId});
  send("wait", {Time{20}, kGoalId});
  const GoalRecord record = ended(1);
  EXPECT_EQ(record.goal.id, kGoalId);
  EXPECT_EQ(record.status, GoalStatus::recalled);
  EXPECT_EQ(record.text, "a client canceled the goal before it arrived");
  EXPECT_EQ(server->waiting(), 0U);
}

TEST_F(Ros1GoalDeskOrder, a_request_to_cancel_by_time_includes_goals_that_arrive_later) {
  cancel({Time{50}, ""});
  send("wait", {Time{50}, "old"});
  EXPECT_EQ(ended(1).status, GoalStatus::recalled);
  send("count 1", {Time{51}, "new"});
  EXPECT_EQ(ended(2).status, GoalStatus::succeeded);
}

TEST_F(Ros1GoalDeskOrder, a_request_to_cancel_all_goals_spares_later_ones) {
  cancel({Time{}, ""});
  send("count 1", {Time{20}, kGoalId});
  EXPECT_EQ(ended(1).status, GoalStatus::succeeded);
}

TEST_F(Ros1GoalDeskOrder, a_goal_that_is_canceled_while_it_is_sent_is_canceled) {
  facade.actions().after_send = [&] { facade.topics().deliver_cancel({Time{}, kGoalId}); };
  send("wait", {Time{20}, kGoalId});
  const GoalRecord record = ended(1);
  EXPECT_EQ(record.goal.id, kGoalId);
  EXPECT_EQ(record.status, GoalStatus::preempted);
}

TEST_F(Ros1GoalDeskOrder, requests_to_cancel_that_wait_for_goals_are_limited) {
  for (std::size_t i = 0; i <= kMost; ++i) cancel({Time{}, "goal " + std::to_string(i)});
  EXPECT_TRUE(eventually([&] { return graph.clients().counted("overloaded") == 1; }));
  send("count 1", {Time{20}, "goal 0"});  // its request was dropped
  EXPECT_EQ(ended(1).status, GoalStatus::succeeded);
  send("wait", {Time{20}, "goal 1"});
  EXPECT_EQ(ended(2).status, GoalStatus::recalled);
}

}  // namespace
}  // namespace hyphos::gateway::ros1
