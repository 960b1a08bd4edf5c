#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "gateway/facade/graph_facade.hpp"
#include "gateway/ros1/action_messages.hpp"

namespace hyphos::gateway::ros1 {

/// One action of the robot as an action server of actionlib: five topics of the graph, which the
/// gateway passes to ROS 1 as any other topics. So clients of rosbridge that use these topics
/// (ROSLIB.ActionClient) reach the action, too.
///
/// Threads: open(), look() and end() belong to one thread. Messages arrive on the thread pool. At
/// most Limits::calls goals are known. A goal is forgotten kKept after its end, as in actionlib.
class GoalDesk : public std::enable_shared_from_this<GoalDesk> {
 public:
  static constexpr Duration kKept = Duration::from_seconds(5);

  /// `type`: "count_msgs/Count". `most`: goals that are known at once. `wake` is called when tick()
  /// has work. It must not block.
  GoalDesk(GraphFacade& facade, std::string action, std::string type, std::size_t most,
           std::function<void()> wake);
  GoalDesk(const GoalDesk&) = delete;
  GoalDesk& operator=(const GoalDesk&) = delete;

  /// Errors: as those of opening a topic.
  Result<void> open();
  /// Cancels goals whose clients are gone. `clients`: the publishers of goals.
  void look(const std::vector<std::string>& clients) HYPHOS_EXCLUDES(mutex_);
  /// Reports accepted goals, and the states of all goals. Returns the time until the next call is
  /// due. nullopt: not before the next goal.
  std::optional<Duration> tick() HYPHOS_EXCLUDES(mutex_);
  /// Cancels all goals. No message is published afterwards.
  void end() HYPHOS_EXCLUDES(mutex_);

  [[nodiscard]] const std::string& type() const { return type_; }

 private:
  struct Goal {
    GoalRecord record;
    std::string client;  ///< the node of its sender, empty if unknown
    Time arrived;
    bool client_was_there = false;
    bool abandoned = false;                   ///< its client is gone
    bool canceled = false;                    ///< a client canceled it before `sent` was known
    std::shared_ptr<SentGoal> sent;           ///< null before send_goal() has returned
    std::optional<Result<GoalResult>> early;  ///< an end before send_goal() has returned
    Time ended;
  };

  void on_goal(const OutgoingMessage& message) HYPHOS_EXCLUDES(mutex_);
  void on_cancel(const OutgoingMessage& message) HYPHOS_EXCLUDES(mutex_);
  void on_feedback(const std::string& id, const Buffer& feedback) HYPHOS_EXCLUDES(mutex_);
  void on_end(const std::string& id, Result<GoalResult> end) HYPHOS_EXCLUDES(mutex_);
  GoalCallbacks callbacks(const std::string& id);
  /// Returns false, and reports the reason, if the goal must be refused.
  bool enter(GoalRecord record) HYPHOS_EXCLUDES(mutex_);
  /// Ends a goal that was canceled before it arrived. Returns the message with the result, or
  /// nothing if the goal was not canceled.
  [[nodiscard]] std::vector<std::byte> recall(const std::string& id) HYPHOS_EXCLUDES(mutex_);
  /// Keeps a request to cancel for goals that arrive after it.
  void remember(const GoalId& which) HYPHOS_REQUIRES(mutex_);
  /// Returns the message with the result.
  [[nodiscard]] std::vector<std::byte> finish(Goal& goal, const Result<GoalResult>& end)
      HYPHOS_REQUIRES(mutex_);
  void publish_states() HYPHOS_EXCLUDES(mutex_);
  void publish(ClientPublisher& publisher, const std::vector<std::byte>& message);
  [[nodiscard]] std::string client_of(const std::string& goal_id) const HYPHOS_REQUIRES(mutex_);

  GraphFacade& facade_;
  const std::string action_;
  const std::string type_;
  const std::size_t most_;
  const std::function<void()> wake_;
  const Client client_;
  Buffer blank_;  ///< a result with default values
  std::unique_ptr<ClientPublisher> status_;
  std::unique_ptr<ClientPublisher> feedback_;
  std::unique_ptr<ClientPublisher> result_;
  Mutex publishing_;  ///< keeps the order of the published states. Locked before mutex_
  Mutex mutex_;
  bool ended_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::uint64_t nameless_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::set<std::string> clients_ HYPHOS_GUARDED_BY(mutex_);
  std::map<std::string, Goal> goals_ HYPHOS_GUARDED_BY(mutex_);
  /// Requests to cancel that may have overtaken their goals, with the times of their arrivals.
  std::vector<std::pair<Time, GoalId>> cancels_ HYPHOS_GUARDED_BY(mutex_);
  std::unique_ptr<ClientSubscription> goal_;
  std::unique_ptr<ClientSubscription> cancel_;
};

}  // namespace hyphos::gateway::ros1
