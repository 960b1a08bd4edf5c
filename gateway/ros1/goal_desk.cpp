#include "gateway/ros1/goal_desk.hpp"

#include <algorithm>
#include <utility>

#include "gateway/types/limits.hpp"

namespace hyphos::gateway::ros1 {
namespace {

/// actionlib reports states five times per second. So do we while there are goals.
constexpr Duration kReport = Duration::from_ms(200);
/// Interval of checks if the robot has accepted a goal.
constexpr Duration kAcceptance = Duration::from_ms(4);
/// A goal comes from a publisher. The list of publishers shows it within this time, or it has
/// already left.
constexpr Duration kAppearance = Duration::from_seconds(2);
constexpr std::uint32_t kGoalDepth = 256;

/// The state of a goal that ended. `accepted`: the robot had accepted it.
GoalStatus status_of(const Result<GoalResult>& end, bool accepted) {
  if (!end) {
    if (end.error().code == Code::canceled) {
      return accepted ? GoalStatus::preempted : GoalStatus::recalled;
    }
    return accepted ? GoalStatus::aborted : GoalStatus::rejected;
  }
  switch (end->end) {
    case GoalEnd::succeeded:
      return GoalStatus::succeeded;
    case GoalEnd::canceled:
      return GoalStatus::preempted;
    default:
      return GoalStatus::aborted;
  }
}

}  // namespace

GoalDesk::GoalDesk(GraphFacade& facade, std::string action, std::string type, std::size_t most,
                   std::function<void()> wake)
    : facade_(facade),
      action_(std::move(action)),
      type_(std::move(type)),
      most_(most),
      wake_(std::move(wake)),
      client_{.name = "ros1 " + action_, .group = "actionlib"} {}

Result<void> GoalDesk::open() {
  auto blank = facade_.actions().blank_result(type_, Form::ros1);
  if (!blank) return blank.error();
  blank_ = std::move(*blank);
  Topics& topics = facade_.topics();
  const auto publisher = [&](const std::string& topic, const std::string& type, bool latched,
                             std::unique_ptr<ClientPublisher>& to) -> Result<void> {
    auto opened = topics.open_publisher(
        client_, action_ + topic, type, Form::ros1,
        {.latched = latched, .depth = latched ? 1 : kGoalDepth, .reliable = true});
    if (!opened) return opened.error();
    to = std::move(*opened);
    return success();
  };
  auto opened = publisher("/status", "actionlib_msgs/GoalStatusArray", true, status_);
  if (opened) opened = publisher("/feedback", type_ + "ActionFeedback", false, feedback_);
  if (opened) opened = publisher("/result", type_ + "ActionResult", false, result_);
  if (!opened) return opened;
  const auto weak = weak_from_this();
  auto goal =
      topics.open_subscription(client_, action_ + "/goal", type_ + "ActionGoal", Form::ros1,
                               {.depth = kGoalDepth}, [weak](const OutgoingMessage& message) {
                                 if (const auto desk = weak.lock()) desk->on_goal(message);
                               });
  if (!goal) return goal.error();
  goal_ = std::move(*goal);
  auto cancel =
      topics.open_subscription(client_, action_ + "/cancel", "actionlib_msgs/GoalID", Form::ros1,
                               {.depth = kGoalDepth}, [weak](const OutgoingMessage& message) {
                                 if (const auto desk = weak.lock()) desk->on_cancel(message);
                               });
  if (!cancel) return cancel.error();
  cancel_ = std::move(*cancel);
  publish_states();
  return success();
}

void GoalDesk::publish(ClientPublisher& publisher, const std::vector<std::byte>& message) {
  // The facade counts a message that it refuses.
  (void)publisher.publish(message);
}

bool GoalDesk::enter(GoalRecord record) {
  const MutexLock lock(mutex_);
  if (ended_ || goals_.contains(record.goal.id)) return false;  // actionlib ignores a repeated goal
  if (goals_.size() >= most_) {
    facade_.clients().count(client_, "overloaded",
                            at_limit("action " + action_, most_, "goals", "--max-calls"));
    return false;
  }
  Goal& goal = goals_[record.goal.id];
  goal.client = client_of(record.goal.id);
  goal.record = std::move(record);
  goal.arrived = monotonic_now();
  return true;
}

// Clients of actionlib name their goals "NODE-NUMBER-TIME".
std::string GoalDesk::client_of(const std::string& goal_id) const {
  std::string found;
  for (const std::string& name : clients_) {
    if (name.size() > found.size() && goal_id.starts_with(name + "-")) found = name;
  }
  return found;
}

void GoalDesk::on_goal(const OutgoingMessage& message) {
  const Buffer bytes = message.bytes.joined();
  auto arrived = read_goal(bytes.bytes());
  if (!arrived) return facade_.clients().count(client_, "corrupt", action_ + ": not a goal");
  GoalRecord record;
  record.goal = std::move(arrived->goal);
  if (record.goal.stamp.ns == 0) record.goal.stamp = wall_now();
  if (record.goal.id.empty()) {
    const MutexLock lock(mutex_);
    record.goal.id = "hyphos" + action_ + "-" + std::to_string(++nameless_);
  }
  const std::string id = record.goal.id;
  if (!enter(std::move(record))) return;
  if (const auto recalled = recall(id); !recalled.empty()) {
    publish(*result_, recalled);
    publish_states();
    return wake_();
  }
  auto sent = facade_.actions().send_goal(client_, action_, type_, Form::ros1, arrived->message,
                                          callbacks(id));
  std::shared_ptr<SentGoal> released;  // destroyed after the lock, because its destructor waits
  std::vector<std::byte> result;
  bool canceled = false;
  {
    const MutexLock lock(mutex_);
    const auto found = goals_.find(id);
    if (sent) released = std::move(*sent);
    if (found == goals_.end()) return;
    if (!sent) {
      result = finish(found->second, sent.error());
    } else {
      Goal& goal = found->second;
      goal.sent = released;
      canceled = goal.canceled;
      if (goal.early) result = finish(goal, *std::exchange(goal.early, std::nullopt));
    }
  }
  if (canceled) released->cancel();
  if (!result.empty()) publish(*result_, result);
  publish_states();
  wake_();
}

// Goals and requests to cancel have connections of their own, so a request may arrive first.
std::vector<std::byte> GoalDesk::recall(const std::string& id) {
  const MutexLock lock(mutex_);
  const auto found = goals_.find(id);
  if (found == goals_.end()) return {};
  Goal& goal = found->second;
  std::erase_if(cancels_, [&](const auto& entry) { return entry.first + kKept < goal.arrived; });
  const auto which = std::ranges::find_if(
      cancels_, [&](const auto& entry) { return includes(entry.second, goal.record.goal); });
  if (which == cancels_.end()) return {};
  goal.record.status = GoalStatus::recalled;
  goal.record.text = "a client canceled the goal before it arrived";
  goal.ended = goal.arrived;
  return write_outcome(goal.record, blank_.bytes(), wall_now());
}

GoalCallbacks GoalDesk::callbacks(const std::string& id) {
  GoalCallbacks callbacks;
  callbacks.feedback = [weak = weak_from_this(), id](const Buffer& feedback) {
    if (const auto desk = weak.lock()) desk->on_feedback(id, feedback);
  };
  callbacks.end = [weak = weak_from_this(), id](Result<GoalResult> end) {
    if (const auto desk = weak.lock()) desk->on_end(id, std::move(end));
  };
  return callbacks;
}

void GoalDesk::on_feedback(const std::string& id, const Buffer& feedback) {
  GoalRecord record;
  bool changed = false;
  {
    const MutexLock lock(mutex_);
    const auto found = goals_.find(id);
    if (ended_ || found == goals_.end()) return;
    GoalStatus& status = found->second.record.status;
    changed = status == GoalStatus::pending;
    if (changed) status = GoalStatus::active;
    record = found->second.record;
  }
  if (changed) publish_states();
  publish(*feedback_, write_outcome(record, feedback.bytes(), wall_now()));
}

void GoalDesk::on_end(const std::string& id, Result<GoalResult> end) {
  std::shared_ptr<SentGoal> released;  // destroyed after the lock, because its destructor waits
  std::vector<std::byte> result;
  {
    const MutexLock lock(mutex_);
    const auto found = goals_.find(id);
    if (ended_ || found == goals_.end()) return;
    released = found->second.sent;
    if (!released) {
      // Only the sent goal shows if the error is a rejection.
      found->second.early = std::move(end);
      return;
    }
    result = finish(found->second, end);
  }
  publish(*result_, result);
  publish_states();
  wake_();
}

std::vector<std::byte> GoalDesk::finish(Goal& goal, const Result<GoalResult>& end) {
  const bool accepted =
      goal.record.status != GoalStatus::pending || (goal.sent && goal.sent->accepted());
  goal.record.status = status_of(end, accepted);
  if (!end) {
    goal.record.text = end.error().message;
    facade_.clients().count(client_, accepted ? "goal_failed" : "goal_rejected",
                            action_ + ": " + end.error().to_string());
  }
  goal.sent = nullptr;
  goal.ended = monotonic_now();
  return write_outcome(goal.record, end ? end->result.bytes() : blank_.bytes(), wall_now());
}

void GoalDesk::on_cancel(const OutgoingMessage& message) {
  const Buffer bytes = message.bytes.joined();
  const auto which = read_cancel(bytes.bytes());
  if (!which) return facade_.clients().count(client_, "corrupt", action_ + ": not a GoalID");
  std::vector<std::shared_ptr<SentGoal>> goals;
  {
    const MutexLock lock(mutex_);
    for (auto& [id, goal] : goals_) {
      GoalStatus& status = goal.record.status;
      if (!includes(*which, goal.record.goal) || is_terminal(status)) continue;
      status = status == GoalStatus::pending || status == GoalStatus::recalling
                   ? GoalStatus::recalling
                   : GoalStatus::preempting;
      goal.canceled = true;
      if (goal.sent) goals.push_back(goal.sent);
    }
    remember(*which);
  }
  for (const auto& goal : goals) goal->cancel();
  if (!goals.empty()) publish_states();
}

void GoalDesk::remember(const GoalId& which) {
  // A request for all goals concerns those that are known now.
  const bool all = which.id.empty() && which.stamp.ns == 0;
  if (all || goals_.contains(which.id)) return;
  const Time now = monotonic_now();
  std::erase_if(cancels_, [&](const auto& entry) { return entry.first + kKept < now; });
  if (cancels_.size() >= most_) {
    facade_.clients().count(
        client_, "overloaded",
        at_limit("action " + action_, most_, "requests to cancel before a goal", "--max-calls"));
    cancels_.erase(cancels_.begin());
  }
  cancels_.emplace_back(now, which);
}

void GoalDesk::look(const std::vector<std::string>& clients) {
  std::vector<std::shared_ptr<SentGoal>> lonely;
  {
    const MutexLock lock(mutex_);
    clients_ = {clients.begin(), clients.end()};
    const Time now = monotonic_now();
    for (auto& [id, goal] : goals_) {
      if (!goal.sent) continue;
      // A node may have become visible after its goal arrived.
      if (goal.client.empty()) goal.client = client_of(id);
      const bool there = goal.client.empty() ? !clients_.empty() : clients_.contains(goal.client);
      goal.client_was_there = goal.client_was_there || there;
      const bool gone = !there && (goal.client_was_there || goal.arrived + kAppearance < now);
      if (gone && !std::exchange(goal.abandoned, true)) lonely.push_back(goal.sent);
    }
  }
  for (const auto& goal : lonely) {
    facade_.clients().count(client_, "client_gone",
                            action_ + ": a goal is canceled, because its client has left ROS");
    goal->cancel();
  }
}

std::optional<Duration> GoalDesk::tick() {
  bool waits = false;
  {
    const MutexLock lock(mutex_);
    const Time now = monotonic_now();
    std::erase_if(goals_, [&](const auto& entry) {
      return is_terminal(entry.second.record.status) && entry.second.ended + kKept < now;
    });
    for (auto& [id, goal] : goals_) {
      if (goal.record.status != GoalStatus::pending || !goal.sent) continue;
      if (goal.sent->accepted()) {
        goal.record.status = GoalStatus::active;
      } else {
        waits = true;
      }
    }
    if (goals_.empty() || ended_) waits = false;
    if (waits) return kAcceptance;
  }
  publish_states();
  const MutexLock lock(mutex_);
  return goals_.empty() || ended_ ? std::nullopt : std::optional(kReport);
}

void GoalDesk::publish_states() {
  const MutexLock publishing(publishing_);
  std::vector<GoalRecord> records;
  {
    const MutexLock lock(mutex_);
    if (ended_) return;
    for (const auto& [id, goal] : goals_) records.push_back(goal.record);
  }
  publish(*status_, write_records(records, wall_now()));
}

void GoalDesk::end() {
  std::map<std::string, Goal> goals;  // destroyed after the lock, because destructors wait
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    goals.swap(goals_);
  }
  for (auto& [id, goal] : goals) {
    if (is_terminal(goal.record.status)) continue;
    goal.record.status = GoalStatus::aborted;
    goal.record.text = "the action of the robot has ended";
    publish(*result_, write_outcome(goal.record, blank_.bytes(), wall_now()));
  }
  goals.clear();
  goal_.reset();
  cancel_.reset();
}

}  // namespace hyphos::gateway::ros1
