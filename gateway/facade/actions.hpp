#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gateway/convert/form.hpp"
#include "gateway/facade/services.hpp"
#include "gateway/types/client.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

using ActionInfo = ServiceInfo;

/// The end of a goal that did not fail.
enum class GoalEnd : std::uint8_t { succeeded, canceled, aborted };
struct GoalResult {
  GoalEnd end = GoalEnd::succeeded;
  Buffer result;
};

/// A goal that a client sent. Dropping it requests to cancel the goal, and no callback runs
/// afterwards.
class SentGoal {
 public:
  virtual ~SentGoal() = default;
  virtual void cancel() = 0;
  /// True once the server has accepted the goal, also after the end. Stays false for a rejected
  /// goal. Does not wait.
  [[nodiscard]] virtual bool accepted() const = 0;
};
struct GoalCallbacks {
  std::function<void(const Buffer& feedback)> feedback;  ///< may be empty, called in order
  std::function<void(Result<GoalResult>)> end;           ///< called once, a rejection is an error
};

/// A goal that a client executes. Thread-safe. Dropping it before its end aborts the goal.
class ServedGoal {
 public:
  virtual ~ServedGoal() = default;
  /// Errors: corrupt, disconnected or overloaded (no client accepts it).
  virtual Result<void> feedback(std::span<const std::byte> message) = 0;
  /// Errors: corrupt (the goal stays active), already_exists (the goal has ended).
  virtual Result<void> finish(GoalEnd end, std::span<const std::byte> result) = 0;
  virtual void fail(const Error& error) = 0;
};
using ServedGoalRef = std::shared_ptr<ServedGoal>;
struct ActionCallbacks {
  std::function<void(const Buffer& goal, const ServedGoalRef& handle)> execute;
  std::function<void(const ServedGoalRef& handle)> cancel;  ///< the goal should end
};
/// An action that a client executes. Dropping it ends the action and aborts its goals.
class ActionServer {
 public:
  virtual ~ActionServer() = default;
};

/// The actions of the graph, in the encodings of ROS. With Form::cdr, a result has
/// Form::cdr_after_status, as in the reply of ROS 2's service `get_result`. Thread-safe. Errors of
/// opening: see GraphFacade.
class Actions {
 public:
  virtual ~Actions() = default;

  /// Sends a goal for a client. An empty `type` means the type of the server, which must exist. The
  /// returned error concerns the request only. The callbacks report the outcome of the goal.
  virtual Result<std::unique_ptr<SentGoal>> send_goal(const Client& client,
                                                      const std::string& action,
                                                      const std::string& type, Forms forms,
                                                      std::span<const std::byte> goal,
                                                      GoalCallbacks callbacks) = 0;
  /// Lets a client execute an action.
  virtual Result<std::unique_ptr<ActionServer>> open_server(const Client& client,
                                                            const std::string& action,
                                                            const std::string& type, Forms forms,
                                                            ActionCallbacks callbacks) = 0;

  /// The result of an action with default values: numbers are 0, strings and arrays are empty.
  /// Errors: not_found (no such type).
  [[nodiscard]] virtual Result<Buffer> blank_result(const std::string& type, Form form) const = 0;
  /// The actions that are open now. Reads shared memory only, and ignores the rules.
  [[nodiscard]] virtual std::vector<ActionInfo> list() const = 0;
};

}  // namespace hyphos::gateway
