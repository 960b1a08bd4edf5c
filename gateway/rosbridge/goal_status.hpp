#pragma once

#include <cstdint>
#include <optional>

#include "gateway/facade/graph_facade.hpp"

namespace hyphos::gateway::rosbridge {

/// How action_msgs/GoalStatus numbers the ends of goals.
[[nodiscard]] inline int status_of(GoalEnd end) {
  switch (end) {
    case GoalEnd::succeeded:
      return 4;
    case GoalEnd::canceled:
      return 5;
    default:
      return 6;
  }
}
/// What a client that leaves the status out means: it has succeeded.
[[nodiscard]] inline std::optional<GoalEnd> end_of(std::int64_t status) {
  switch (status) {
    case 0:
    case 4:
      return GoalEnd::succeeded;
    case 5:
      return GoalEnd::canceled;
    case 6:
      return GoalEnd::aborted;
    default:
      return std::nullopt;
  }
}

}  // namespace hyphos::gateway::rosbridge
