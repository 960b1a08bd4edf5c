#pragma once

#include <cstdint>
#include <optional>

#include "gateway/facade/actions.hpp"

namespace hyphos::gateway::rosbridge {

/// The numbers of action_msgs/GoalStatus for the ends of goals.
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
/// The end of a goal by its number. 0, a missing status, means succeeded.
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
