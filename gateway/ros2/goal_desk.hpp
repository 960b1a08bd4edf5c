#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "gateway/facade/actions.hpp"
#include "gateway/ros2/action_messages.hpp"
#include "gateway/ros2/context.hpp"
#include "gateway/ros2/endpoint.hpp"
#include "gateway/ros2/services_out.hpp"

namespace hyphos::gateway::ros2 {

/// The goals that ROS clients sent to one action of the robot, with the replies of the three
/// services of its server. Thread-safe.
///
/// A goal is known from its request until its result has been kept for a minute. At most
/// Limits::calls goals are known. A new goal replaces the oldest one that has ended.
class GoalDesk : public std::enable_shared_from_this<GoalDesk> {
 public:
  /// Maximum number of requests for one result.
  static constexpr std::size_t kMostWaiting = 16;
  static constexpr Duration kKept = Duration::from_seconds(60);

  struct Outputs {
    std::function<void(const GoalId& id, const Buffer& feedback)> feedback;
    std::function<void(const std::vector<GoalRecord>& goals)> states;
  };

  /// `context` must outlive it. `type`: "count_msgs/action/Count".
  GoalDesk(const Context& context, std::string action, std::string type, Outputs outputs);
  GoalDesk(const GoalDesk&) = delete;
  GoalDesk& operator=(const GoalDesk&) = delete;

  void send_goal(const ServicesOut::Caller& caller, std::span<const std::byte> request,
                 const Answer& answer) HYPHOS_EXCLUDES(mutex_);
  void get_result(std::span<const std::byte> request, const Answer& answer) HYPHOS_EXCLUDES(mutex_);
  void cancel_goal(std::span<const std::byte> request, const Answer& answer)
      HYPHOS_EXCLUDES(mutex_);

  /// Replies to accepted goals. Returns true if goals still wait.
  bool drain() HYPHOS_EXCLUDES(mutex_);
  /// Forgets old goals, and cancels those whose clients are gone.
  void look(const std::function<bool(const GUID_t&)>& is_there) HYPHOS_EXCLUDES(mutex_);
  /// Cancels all goals. No output runs afterwards.
  void end() HYPHOS_EXCLUDES(mutex_);

 private:
  struct Goal {
    ServicesOut::Caller caller;
    Time arrived;
    bool client_was_there = false;
    bool abandoned = false;  ///< its client is gone
    GoalInfo info;
    GoalStatus status = GoalStatus::unknown;  ///< unknown: not accepted yet
    Answer acceptance;                        ///< empty after the reply
    std::shared_ptr<SentGoal> sent;           ///< null before send_goal() has returned
    std::optional<Result<GoalResult>> early;  ///< an end before send_goal() has returned
    std::vector<Answer> waiting;              ///< for the result
    std::vector<std::byte> result;            ///< the reply with the result, after the end
    Time ended;
  };
  /// Work to do without the lock: replies to send, and goals to release.
  struct Work {
    std::vector<std::function<void()>> replies;
    std::vector<std::shared_ptr<SentGoal>> released;
    bool changed = false;
  };

  GoalCallbacks callbacks(const GoalId& id);
  void on_feedback(const GoalId& id, const Buffer& feedback);
  void on_end(const GoalId& id, Result<GoalResult> end);
  void accept(Goal& goal, Work& work) HYPHOS_REQUIRES(mutex_);
  /// Returns false if the goal was rejected, so that it must be erased.
  bool finish(Goal& goal, Result<GoalResult> end, Work& work) HYPHOS_REQUIRES(mutex_);
  /// Makes room for one goal. Returns false if all goals are active.
  bool make_room(Work& work) HYPHOS_REQUIRES(mutex_);
  void perform(Work work) HYPHOS_EXCLUDES(mutex_);
  void publish_states() HYPHOS_EXCLUDES(mutex_);

  const Context& context_;
  const std::string action_;
  const std::string type_;
  const Buffer blank_;  ///< a result with default values
  Mutex publishing_;    ///< keeps the order of the published states. Locked before mutex_
  Outputs outputs_ HYPHOS_GUARDED_BY(publishing_);
  Mutex mutex_;
  bool ended_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::map<GoalId, Goal> goals_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::gateway::ros2
