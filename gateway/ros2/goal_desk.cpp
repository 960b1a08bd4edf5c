#include "gateway/ros2/goal_desk.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::gateway::ros2 {
namespace {

/// The domain shows the client of a goal within this time, or the client has already left.
constexpr Duration kAppearance = Duration::from_seconds(2);

bool is_active(GoalStatus status) {
  return status == GoalStatus::unknown || status < GoalStatus::succeeded;
}

GoalStatus status_of(GoalEnd end) {
  switch (end) {
    case GoalEnd::succeeded:
      return GoalStatus::succeeded;
    case GoalEnd::canceled:
      return GoalStatus::canceled;
    default:
      return GoalStatus::aborted;
  }
}

Result<Buffer> bytes_of(std::vector<std::byte> bytes) { return Buffer::adopt(std::move(bytes)); }

Error not_cdr(const std::string& action) {
  return {Code::corrupt, "the request is not CDR of the type of the action", action};
}

}  // namespace

GoalDesk::GoalDesk(const Context& context, std::string action, std::string type, Outputs outputs)
    : context_(context),
      action_(std::move(action)),
      type_(std::move(type)),
      blank_([&] {
        auto blank = context.facade.actions().blank_result(type_, Form::cdr);
        return blank ? std::move(*blank) : Buffer();
      }()),
      outputs_(std::move(outputs)) {}

void GoalDesk::send_goal(const ServicesOut::Caller& caller, std::span<const std::byte> request,
                         const Answer& answer) {
  auto asked = take_goal_id(request);
  if (!asked) return answer(not_cdr(action_));
  const GoalId id = asked->id;
  Work work;
  std::string refusal;
  {
    const MutexLock lock(mutex_);
    if (ended_) {
      refusal = "the action has ended";
    } else if (goals_.contains(id)) {
      refusal = "a goal with this id is already known";
    } else if (!make_room(work)) {
      refusal = at_limit("it", context_.settings.limits.calls, "active goals", "--max-calls");
    } else {
      Goal& goal = goals_[id];
      goal.caller = caller;
      goal.arrived = monotonic_now();
      goal.info = {id, wall_now()};
      goal.acceptance = answer;
    }
  }
  perform(std::move(work));
  if (!refusal.empty()) {
    context_.facade.clients().count(caller.client, "overloaded", action_ + ": " + refusal);
    return answer(bytes_of(write_acceptance(false, wall_now())));
  }
  auto sent = context_.facade.actions().send_goal(caller.client, action_, type_, Form::cdr,
                                                  asked->message, callbacks(id));
  Work after;
  std::shared_ptr<SentGoal> goal_sent;
  if (sent) goal_sent = std::move(*sent);
  {
    const MutexLock lock(mutex_);
    const auto found = goals_.find(id);
    if (found == goals_.end()) {
      after.released.push_back(std::move(goal_sent));
    } else if (!sent) {
      if (!finish(found->second, sent.error(), after)) goals_.erase(found);
    } else {
      Goal& goal = found->second;
      goal.sent = std::move(goal_sent);
      if (goal.early && !finish(goal, *std::exchange(goal.early, std::nullopt), after)) {
        goals_.erase(found);
      }
    }
  }
  perform(std::move(after));
  context_.drain();
}

GoalCallbacks GoalDesk::callbacks(const GoalId& id) {
  GoalCallbacks callbacks;
  callbacks.feedback = [weak = weak_from_this(), id](const Buffer& feedback) {
    if (const auto desk = weak.lock()) desk->on_feedback(id, feedback);
  };
  callbacks.end = [weak = weak_from_this(), id](Result<GoalResult> end) {
    if (const auto desk = weak.lock()) desk->on_end(id, std::move(end));
  };
  return callbacks;
}

void GoalDesk::on_feedback(const GoalId& id, const Buffer& feedback) {
  Work work;
  {
    const MutexLock lock(mutex_);
    const auto found = goals_.find(id);
    if (found == goals_.end()) return;
    accept(found->second, work);
  }
  perform(std::move(work));
  const MutexLock lock(publishing_);
  if (outputs_.feedback) outputs_.feedback(id, feedback);
}

void GoalDesk::on_end(const GoalId& id, Result<GoalResult> end) {
  Work work;
  {
    const MutexLock lock(mutex_);
    const auto found = goals_.find(id);
    if (found == goals_.end()) return;
    if (!found->second.sent) {
      // Only the sent goal shows if the error is a rejection.
      found->second.early = std::move(end);
      return;
    }
    if (!finish(found->second, std::move(end), work)) goals_.erase(found);
  }
  perform(std::move(work));
}

void GoalDesk::accept(Goal& goal, Work& work) {
  if (!goal.acceptance) return;
  goal.status = GoalStatus::executing;
  work.changed = true;
  work.replies.emplace_back(
      [answer = std::exchange(goal.acceptance, nullptr), stamp = goal.info.stamp] {
        answer(bytes_of(write_acceptance(true, stamp)));
      });
}

bool GoalDesk::finish(Goal& goal, Result<GoalResult> end, Work& work) {
  const bool rejected = goal.acceptance && !end && !(goal.sent && goal.sent->accepted());
  work.released.push_back(std::exchange(goal.sent, nullptr));
  if (!end) {
    context_.facade.clients().count(goal.caller.client, rejected ? "goal_rejected" : "goal_failed",
                                    action_ + ": " + end.error().to_string());
  }
  if (rejected) {
    work.replies.emplace_back([answer = std::exchange(goal.acceptance, nullptr)] {
      answer(bytes_of(write_acceptance(false, wall_now())));
    });
    return false;
  }
  accept(goal, work);
  goal.status = end ? status_of(end->end) : GoalStatus::aborted;
  goal.result = put_status(goal.status, end ? end->result.bytes() : blank_.bytes());
  goal.ended = monotonic_now();
  work.changed = true;
  for (Answer& answer : std::exchange(goal.waiting, {})) {
    work.replies.emplace_back(
        [answer = std::move(answer), result = goal.result] { answer(bytes_of(result)); });
  }
  return true;
}

bool GoalDesk::make_room(Work& work) {
  if (goals_.size() < context_.settings.limits.calls) return true;
  auto oldest = goals_.end();
  for (auto at = goals_.begin(); at != goals_.end(); ++at) {
    if (is_active(at->second.status)) continue;
    if (oldest == goals_.end() || at->second.ended < oldest->second.ended) oldest = at;
  }
  if (oldest == goals_.end()) return false;
  goals_.erase(oldest);
  work.changed = true;
  return true;
}

void GoalDesk::get_result(std::span<const std::byte> request, const Answer& answer) {
  const auto id = read_goal_id(request);
  if (!id) return answer(not_cdr(action_));
  std::vector<std::byte> reply;
  {
    const MutexLock lock(mutex_);
    const auto found = goals_.find(*id);
    if (found == goals_.end()) {
      reply = put_status(GoalStatus::unknown, blank_.bytes());
    } else if (!found->second.result.empty()) {
      reply = found->second.result;
    } else if (found->second.waiting.size() < kMostWaiting) {
      found->second.waiting.push_back(answer);
      return;
    }
  }
  if (!reply.empty()) return answer(bytes_of(std::move(reply)));
  answer(Error{Code::overloaded,
               std::to_string(kMostWaiting) + " requests already wait for this result", action_});
}

void GoalDesk::cancel_goal(std::span<const std::byte> request, const Answer& answer) {
  const auto which = read_cancel(request);
  if (!which) return answer(not_cdr(action_));
  std::vector<GoalInfo> canceling;
  std::vector<std::shared_ptr<SentGoal>> goals;
  auto code = which->id == GoalId{} ? CancelCode::none : CancelCode::unknown_goal;
  {
    const MutexLock lock(mutex_);
    for (auto& [id, goal] : goals_) {
      const bool active = is_active(goal.status);
      // The robot cannot cancel a goal that is on its way to it.
      if (id == which->id) code = active ? CancelCode::rejected : CancelCode::terminated;
      if (!includes(*which, goal.info) || !active || !goal.sent) continue;
      if (!goal.acceptance) goal.status = GoalStatus::canceling;
      canceling.push_back(goal.info);
      goals.push_back(goal.sent);
    }
  }
  for (const auto& goal : goals) goal->cancel();
  if (!canceling.empty()) code = CancelCode::none;
  answer(bytes_of(write_canceling(code, canceling)));
  if (!canceling.empty()) publish_states();
}

bool GoalDesk::drain() {
  Work work;
  bool waits = false;
  {
    const MutexLock lock(mutex_);
    for (auto& [id, goal] : goals_) {
      if (!goal.acceptance) continue;
      if (goal.sent && goal.sent->accepted()) {
        accept(goal, work);
      } else {
        waits = true;
      }
    }
  }
  perform(std::move(work));
  return waits;
}

void GoalDesk::look(const std::function<bool(const GUID_t&)>& is_there) {
  Work work;
  std::vector<std::shared_ptr<SentGoal>> lonely;
  {
    const MutexLock lock(mutex_);
    const Time now = monotonic_now();
    work.changed = std::erase_if(goals_, [&](const auto& entry) {
                     return !is_active(entry.second.status) && entry.second.ended + kKept < now;
                   }) > 0;
    for (auto& [id, goal] : goals_) {
      if (!is_active(goal.status) || !goal.sent) continue;
      const bool there = is_there(goal.caller.guid);
      goal.client_was_there = goal.client_was_there || there;
      const bool gone = !there && (goal.client_was_there || goal.arrived + kAppearance < now);
      if (gone && !std::exchange(goal.abandoned, true)) lonely.push_back(goal.sent);
    }
  }
  for (const auto& goal : lonely) {
    context_.facade.clients().count(client_of(action_), "client_gone",
                                    "a goal is canceled, because its client has left ROS");
    goal->cancel();
  }
  perform(std::move(work));
}

void GoalDesk::end() {
  std::map<GoalId, Goal> goals;
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    goals.swap(goals_);
  }
  for (auto& [id, goal] : goals) {
    if (goal.acceptance) goal.acceptance(bytes_of(write_acceptance(false, wall_now())));
    for (const Answer& answer : goal.waiting) {
      answer(bytes_of(put_status(GoalStatus::aborted, blank_.bytes())));
    }
  }
  const MutexLock lock(publishing_);
  outputs_ = {};
}

void GoalDesk::perform(Work work) {
  for (const auto& reply : work.replies) reply();
  if (work.changed) publish_states();
}

void GoalDesk::publish_states() {
  const MutexLock publishing(publishing_);
  std::vector<GoalRecord> states;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, goal] : goals_) {
      if (goal.status != GoalStatus::unknown) states.push_back({goal.info, goal.status});
    }
  }
  if (outputs_.states) outputs_.states(states);
}

}  // namespace hyphos::gateway::ros2
