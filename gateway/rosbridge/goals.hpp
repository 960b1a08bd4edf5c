#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/rosbridge/context.hpp"

namespace hyphos::gateway::rosbridge {

/// The goals that one client sends to actions: send_action_goal, cancel_action_goal. One thread at
/// a time; what becomes of them comes on threads of the pool.
class Goals {
 public:
  static constexpr std::size_t kMax = 256;

  Goals(Context& context, std::shared_ptr<Gate> gate) : context_(context), gate_(std::move(gate)) {}
  /// Asks all to cancel. The gate is closed by then.
  void end();

  /// What fails later is answered with `result: false`, as the original does. Errors: of the
  /// request itself.
  Result<void> send(const Request& request);
  /// Errors: not_found (no goal of this id is under way).
  Result<void> cancel(const Request& request);

 private:
  /// Of goals that have not ended, by their ids. Shared with callbacks, which may come while a goal
  /// is being sent: its place is empty then.
  struct Open {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<SentGoal>> goals;
  };

  Result<void> start(const Request& request, const std::string& key, const Shape& shape);
  [[nodiscard]] GoalCallbacks callbacks(const Request& request, const std::string& key,
                                        const Shape& shape);

  Context& context_;
  const std::shared_ptr<Gate> gate_;
  const std::shared_ptr<Open> open_ = std::make_shared<Open>();
  std::uint64_t nameless_ = 0;
};

}  // namespace hyphos::gateway::rosbridge
