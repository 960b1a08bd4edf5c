#include "gateway/ros1/action_proxy.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace hyphos::gateway::ros1 {
namespace {

constexpr std::uint32_t kDepth = 256;
constexpr std::int64_t kNsInSecond = 1'000'000'000;

/// "NODE-NUMBER-SECONDS.NANOSECONDS", as clients of actionlib name their goals.
std::string name_of(const std::string& node, std::uint64_t number, Time now) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%09lld", static_cast<long long>(now.ns % kNsInSecond));
  return node + "-" + std::to_string(number) + "-" + std::to_string(now.ns / kNsInSecond) + "." +
         digits;
}

Error lost(const std::string& action) {
  return {Code::disconnected, "the server in ROS is no longer available", action};
}

}  // namespace

ActionProxy::ActionProxy(GraphFacade& facade, std::string action, std::string type, Client server,
                         std::string self)
    : facade_(facade),
      action_(std::move(action)),
      type_(std::move(type)),
      server_client_(std::move(server)),
      self_(std::move(self)),
      client_{.name = "ros1 " + action_, .group = "actionlib"} {}

Result<void> ActionProxy::open() {
  Topics& topics = facade_.topics();
  const ClientPublisherOptions publisher{.depth = kDepth, .reliable = true};
  auto goal = topics.open_publisher(client_, action_ + "/goal", type_ + "ActionGoal", Form::ros1,
                                    publisher);
  if (!goal) return goal.error();
  goal_ = std::move(*goal);
  auto cancel = topics.open_publisher(client_, action_ + "/cancel", "actionlib_msgs/GoalID",
                                      Form::ros1, publisher);
  if (!cancel) return cancel.error();
  cancel_ = std::move(*cancel);
  using Hear = void (ActionProxy::*)(const OutgoingMessage&);
  const auto subscribe = [&](const std::string& topic, const std::string& type, Hear hear,
                             std::unique_ptr<ClientSubscription>& to) -> Result<void> {
    auto opened =
        topics.open_subscription(client_, action_ + topic, type, Form::ros1, {.depth = kDepth},
                                 [weak = weak_from_this(), hear](const OutgoingMessage& message) {
                                   if (const auto proxy = weak.lock())
                                     (proxy.get()->*hear)(message);
                                 });
    if (!opened) return opened.error();
    to = std::move(*opened);
    return success();
  };
  auto opened =
      subscribe("/status", "actionlib_msgs/GoalStatusArray", &ActionProxy::on_status, status_);
  if (opened) {
    opened = subscribe("/feedback", type_ + "ActionFeedback", &ActionProxy::on_feedback, feedback_);
  }
  if (opened) {
    opened = subscribe("/result", type_ + "ActionResult", &ActionProxy::on_result, result_);
  }
  return opened;
}

void ActionProxy::count(std::string_view why, const std::string& detail) {
  facade_.clients().count(client_, why, action_ + ": " + detail);
}

Result<void> ActionProxy::look(bool joined) {
  if (!joined) {
    if (!server_) return success();
    fail_all(lost(action_));
    server_.reset();
    return success();
  }
  std::vector<ServedGoalRef> late;
  {
    const MutexLock lock(mutex_);
    const Time now = monotonic_now();
    std::erase_if(goals_, [&](const auto& entry) {
      if (entry.second.accepted || now < entry.second.since + kAccepted) return false;
      late.push_back(entry.second.handle);
      return true;
    });
  }
  for (const auto& handle : late) {
    handle->fail({Code::timeout, "the server in ROS did not accept the goal in time", action_});
  }
  if (server_) return success();
  ActionCallbacks callbacks;
  callbacks.execute = [weak = weak_from_this()](const Buffer& goal, const ServedGoalRef& handle) {
    if (const auto proxy = weak.lock()) return proxy->execute(goal, handle);
    handle->fail({Code::disconnected, "the gateway is shut down", {}});
  };
  callbacks.cancel = [weak = weak_from_this()](const ServedGoalRef& handle) {
    if (const auto proxy = weak.lock()) proxy->cancel(handle);
  };
  auto server = facade_.actions().open_server(server_client_, action_, type_, Form::ros1,
                                              std::move(callbacks));
  if (!server) return server.error();
  server_ = std::move(*server);
  return success();
}

void ActionProxy::end() {
  fail_all(lost(action_));
  server_.reset();
  status_.reset();
  feedback_.reset();
  result_.reset();
}

void ActionProxy::fail_all(const Error& error) {
  std::map<std::string, Goal> goals;
  {
    const MutexLock lock(mutex_);
    goals.swap(goals_);
  }
  for (const auto& [id, goal] : goals) goal.handle->fail(error);
}

void ActionProxy::execute(const Buffer& goal, const ServedGoalRef& handle) {
  GoalId id;
  id.stamp = wall_now();
  {
    const MutexLock lock(mutex_);
    id.id = name_of(self_, ++last_, id.stamp);
    goals_[id.id] = {handle, monotonic_now()};
  }
  const auto sent = goal_->publish(write_goal(id, goal.bytes(), id.stamp));
  if (sent) return;
  if (const ServedGoalRef refused = take(id.id)) refused->fail(sent.error());
}

void ActionProxy::cancel(const ServedGoalRef& handle) {
  GoalId id;
  {
    const MutexLock lock(mutex_);
    const auto found =
        std::ranges::find_if(goals_, [&](const auto& one) { return one.second.handle == handle; });
    if (found == goals_.end()) return;
    id.id = found->first;
  }
  (void)cancel_->publish(write_cancel(id));
}

ServedGoalRef ActionProxy::find(const std::string& id) {
  const MutexLock lock(mutex_);
  const auto found = goals_.find(id);
  if (found == goals_.end()) return nullptr;
  found->second.accepted = true;
  return found->second.handle;
}

ServedGoalRef ActionProxy::take(const std::string& id) {
  const MutexLock lock(mutex_);
  const auto found = goals_.find(id);
  if (found == goals_.end()) return nullptr;
  ServedGoalRef handle = std::move(found->second.handle);
  goals_.erase(found);
  return handle;
}

// A server reports a goal for five seconds after its end. So a goal that disappears before its
// result is lost, for example because the server has started again. Topics have connections of
// their own: a status from before the goal may arrive after the feedback to the goal.
bool ActionProxy::is_lost(const Goal& goal) {
  return goal.listed || (goal.accepted && goal.since + kAccepted < monotonic_now());
}

void ActionProxy::on_status(const OutgoingMessage& message) {
  const Buffer bytes = message.bytes.joined();
  const auto records = read_records(bytes.bytes());
  if (!records) return count("corrupt", "not a GoalStatusArray");
  std::vector<ServedGoalRef> gone;
  {
    const MutexLock lock(mutex_);
    for (auto at = goals_.begin(); at != goals_.end();) {
      Goal& goal = at->second;
      const bool listed = std::ranges::any_of(
          *records, [&](const GoalRecord& record) { return record.goal.id == at->first; });
      if (listed) goal.accepted = goal.listed = true;
      if (listed || !is_lost(goal)) {
        ++at;
        continue;
      }
      gone.push_back(std::move(goal.handle));
      at = goals_.erase(at);
    }
  }
  for (const auto& handle : gone) {
    handle->fail({Code::disconnected, "the server in ROS has lost the goal", action_});
  }
}

void ActionProxy::on_feedback(const OutgoingMessage& message) {
  const Buffer bytes = message.bytes.joined();
  const auto outcome = read_outcome(bytes.bytes());
  if (!outcome) return count("corrupt", "not a feedback");
  const ServedGoalRef handle = find(outcome->record.goal.id);
  if (!handle) return;  // the goal of another client
  const auto sent = handle->feedback(outcome->message);
  if (!sent && sent.error().code != Code::already_exists) {
    count(to_string(sent.error().code), "feedback: " + sent.error().to_string());
  }
}

void ActionProxy::on_result(const OutgoingMessage& message) {
  const Buffer bytes = message.bytes.joined();
  const auto outcome = read_outcome(bytes.bytes());
  if (!outcome) return count("corrupt", "not a result");
  const ServedGoalRef handle = take(outcome->record.goal.id);
  if (!handle) return;  // the goal of another client
  const std::string& text = outcome->record.text;
  GoalEnd end = GoalEnd::aborted;
  switch (outcome->record.status) {
    case GoalStatus::succeeded:
      end = GoalEnd::succeeded;
      break;
    case GoalStatus::preempted:
    case GoalStatus::recalled:
      end = GoalEnd::canceled;
      break;
    case GoalStatus::rejected:
      return handle->fail(
          {Code::unsupported,
           "the server in ROS rejected the goal" + (text.empty() ? "" : ": " + text), action_});
    default:
      break;
  }
  const auto done = handle->finish(end, outcome->message);
  if (!done && done.error().code == Code::corrupt) handle->fail(done.error());
}

}  // namespace hyphos::gateway::ros1
