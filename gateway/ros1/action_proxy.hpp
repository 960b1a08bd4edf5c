#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "gateway/facade/graph_facade.hpp"
#include "gateway/ros1/action_messages.hpp"

namespace hyphos::gateway::ros1 {

/// One action server of ROS (actionlib) as an action of the robot. It uses the five topics of the
/// server through the graph, to which the gateway joins them as any other topics.
///
/// Threads: open(), look() and end() belong to one thread. Goals and messages arrive on the thread
/// pool.
class ActionProxy : public std::enable_shared_from_this<ActionProxy> {
 public:
  /// Maximum time until the server has reported a goal.
  static constexpr Duration kAccepted = Duration::from_seconds(10);

  /// `type`: "count_msgs/Count". `server`: the node in ROS, as a client of the graph. `self`: the
  /// gateway's node, from which the names of goals begin.
  ActionProxy(GraphFacade& facade, std::string action, std::string type, Client server,
              std::string self);
  ActionProxy(const ActionProxy&) = delete;
  ActionProxy& operator=(const ActionProxy&) = delete;

  /// Opens the topics. Errors: as those of opening a topic.
  Result<void> open();
  /// Becomes an action of the robot while the server is joined. If the server is lost, its goals
  /// end with an error.
  Result<void> look(bool joined) HYPHOS_EXCLUDES(mutex_);
  void end() HYPHOS_EXCLUDES(mutex_);

 private:
  struct Goal {
    ServedGoalRef handle;
    Time since;
    bool accepted = false;  ///< the server has reported it in any way
    bool listed = false;    ///< a status of the server has contained it
  };

  /// True for a goal that a status of the server does not contain and no later one will.
  [[nodiscard]] static bool is_lost(const Goal& goal);
  void execute(const Buffer& goal, const ServedGoalRef& handle) HYPHOS_EXCLUDES(mutex_);
  void cancel(const ServedGoalRef& handle) HYPHOS_EXCLUDES(mutex_);
  void on_status(const OutgoingMessage& message) HYPHOS_EXCLUDES(mutex_);
  void on_feedback(const OutgoingMessage& message) HYPHOS_EXCLUDES(mutex_);
  void on_result(const OutgoingMessage& message) HYPHOS_EXCLUDES(mutex_);
  ServedGoalRef find(const std::string& id) HYPHOS_EXCLUDES(mutex_);
  ServedGoalRef take(const std::string& id) HYPHOS_EXCLUDES(mutex_);
  void fail_all(const Error& error) HYPHOS_EXCLUDES(mutex_);
  void count(std::string_view why, const std::string& detail);

  GraphFacade& facade_;
  const std::string action_;
  const std::string type_;
  const Client server_client_;
  const std::string self_;
  const Client client_;
  std::unique_ptr<ClientPublisher> goal_;
  std::unique_ptr<ClientPublisher> cancel_;
  Mutex mutex_;
  std::uint64_t last_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Goal> goals_ HYPHOS_GUARDED_BY(mutex_);
  std::unique_ptr<ClientSubscription> status_;
  std::unique_ptr<ClientSubscription> feedback_;
  std::unique_ptr<ClientSubscription> result_;
  std::unique_ptr<ActionServer> server_;
};

}  // namespace hyphos::gateway::ros1
