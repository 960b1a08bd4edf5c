#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/time.hpp"

/// The messages of actionlib in the encoding of ROS 1 (wiki.ros.org/actionlib): a goal, its
/// feedback and its result inside the messages that carry them. Pure functions over bytes.
namespace hyphos::gateway::ros1 {

/// actionlib_msgs/GoalID.
struct GoalId {
  Time stamp;
  std::string id;
  bool operator==(const GoalId&) const = default;
};

/// The numbers of actionlib_msgs/GoalStatus.
enum class GoalStatus : std::uint8_t {
  pending = 0,
  active = 1,
  preempted = 2,
  succeeded = 3,
  aborted = 4,
  rejected = 5,
  preempting = 6,
  recalling = 7,
  recalled = 8,
  lost = 9,
};
/// True for a goal that has ended.
[[nodiscard]] bool is_terminal(GoalStatus status);

/// actionlib_msgs/GoalStatus.
struct GoalRecord {
  GoalId goal;
  GoalStatus status = GoalStatus::pending;
  std::string text;
  bool operator==(const GoalRecord&) const = default;
};

using BytesView = std::span<const std::byte>;

/// NAMEActionGoal.
struct ArrivedGoal {
  GoalId goal;
  BytesView message;  ///< the NAMEGoal, inside the parsed bytes
};
[[nodiscard]] std::optional<ArrivedGoal> read_goal(BytesView bytes);
[[nodiscard]] std::vector<std::byte> write_goal(const GoalId& goal, BytesView message, Time now);

/// NAMEActionFeedback and NAMEActionResult.
struct Outcome {
  GoalRecord record;
  BytesView message;  ///< the feedback or the result, inside the parsed bytes
};
[[nodiscard]] std::optional<Outcome> read_outcome(BytesView bytes);
[[nodiscard]] std::vector<std::byte> write_outcome(const GoalRecord& record, BytesView message,
                                                   Time now);

/// GoalID alone: a request to cancel.
[[nodiscard]] std::optional<GoalId> read_cancel(BytesView bytes);
[[nodiscard]] std::vector<std::byte> write_cancel(const GoalId& which);
/// True if a request to cancel `which` includes this goal: an empty id and a stamp of 0 mean all
/// goals. Any other stamp also means the goals that are not younger.
[[nodiscard]] bool includes(const GoalId& which, const GoalId& goal);

/// GoalStatusArray.
[[nodiscard]] std::optional<std::vector<GoalRecord>> read_records(BytesView bytes);
[[nodiscard]] std::vector<std::byte> write_records(const std::vector<GoalRecord>& records,
                                                   Time now);

}  // namespace hyphos::gateway::ros1
