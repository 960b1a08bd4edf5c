#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "gateway/rosbridge/context.hpp"

namespace hyphos::gateway::rosbridge {

/// The actions that one client executes: advertise_action, unadvertise_action, action_feedback,
/// action_result. For use by one thread at a time. Goals arrive on threads of the pool.
class ServedActions {
 public:
  ServedActions(Context& context, std::shared_ptr<ContextGate> gate)
      : context_(context), gate_(std::move(gate)) {}
  /// Ends the actions, and aborts all active goals.
  void end();

  Result<void> advertise(const Request& request);
  Result<void> unadvertise(const Request& request);
  /// Errors: not_found (no active goal has this id), corrupt (not of the action's type).
  Result<void> feedback(const Request& request);
  Result<void> result(const Request& request);

 private:
  struct Goal {
    std::string action;
    ServedGoalRef handle;
  };
  /// Shared with callbacks, which may run while the session ends.
  struct Pending {
    Mutex mutex;
    std::map<std::string, Goal> goals HYPHOS_GUARDED_BY(mutex);  ///< by id, as JSON
    std::uint64_t next HYPHOS_GUARDED_BY(mutex) = 0;

    [[nodiscard]] std::map<std::string, Goal> take_all(const std::string& action);
  };
  [[nodiscard]] ActionCallbacks callbacks(const std::string& action, const std::string& type) const;
  void abort_all(const std::string& action);

  Context& context_;
  const std::shared_ptr<ContextGate> gate_;
  const std::shared_ptr<Pending> pending_ = std::make_shared<Pending>();
  std::map<std::string, std::unique_ptr<ActionServer>> servers_;
};

}  // namespace hyphos::gateway::rosbridge
