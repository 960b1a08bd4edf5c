#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "gateway/rosbridge/context.hpp"

namespace hyphos::gateway::rosbridge {

/// The goals that one client sends to actions: send_action_goal, cancel_action_goal. For use by one
/// thread at a time. Feedback and results arrive on threads of the pool.
class Goals {
 public:
  Goals(Context& context, std::shared_ptr<ContextGate> gate)
      : context_(context), gate_(std::move(gate)) {}
  /// Requests to cancel all goals. Close the call gate first.
  void end();

  /// A later failure is reported with `result: false`, as in the original rosbridge. Errors: faults
  /// of the request itself.
  Result<void> send(const Request& request);
  /// Errors: not_found (no active goal has this id).
  Result<void> cancel(const Request& request);

 private:
  /// The active goals by id. Shared with callbacks, which may run while a goal is being sent. The
  /// entry of that goal is then null.
  struct Open {
    Mutex mutex;
    std::map<std::string, std::shared_ptr<SentGoal>> goals HYPHOS_GUARDED_BY(mutex);
  };

  Result<void> start(const Request& request, const std::string& key, const Shape& shape);
  [[nodiscard]] GoalCallbacks callbacks(const Request& request, const std::string& key,
                                        const Shape& shape);

  Context& context_;
  const std::shared_ptr<ContextGate> gate_;
  const std::shared_ptr<Open> open_ = std::make_shared<Open>();
  std::uint64_t nameless_ = 0;
};

}  // namespace hyphos::gateway::rosbridge
