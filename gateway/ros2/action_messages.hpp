#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hyphos/time.hpp"

/// The messages of ROS 2 actions in XCDR1 (design.ros2.org, "Actions"): a goal, its feedback and
/// its result inside the messages that carry them. Pure functions over bytes.
namespace hyphos::gateway::ros2 {

/// The identity of a goal: unique_identifier_msgs/msg/UUID.
using GoalId = std::array<std::uint8_t, 16>;

/// The numbers of action_msgs/msg/GoalStatus.
enum class GoalStatus : std::int8_t {
  unknown = 0,
  accepted = 1,
  executing = 2,
  canceling = 3,
  succeeded = 4,
  canceled = 5,
  aborted = 6,
};

/// action_msgs/msg/GoalInfo.
struct GoalInfo {
  GoalId id{};
  Time stamp;
  bool operator==(const GoalInfo&) const = default;
};

/// action_msgs/msg/GoalStatus.
struct GoalRecord {
  GoalInfo info;
  GoalStatus status = GoalStatus::unknown;
  bool operator==(const GoalRecord&) const = default;
};

/// A message with the goal that it belongs to: NAME_SendGoal_Request, NAME_FeedbackMessage.
struct OfGoal {
  GoalId id{};
  std::vector<std::byte> message;  ///< the goal or the feedback, in CDR
};
/// nullopt if the bytes are too few. The message itself is not parsed.
[[nodiscard]] std::optional<OfGoal> take_goal_id(std::span<const std::byte> bytes);
/// `message` must have at least its encapsulation header.
[[nodiscard]] std::vector<std::byte> put_goal_id(const GoalId& id,
                                                 std::span<const std::byte> message);

/// NAME_SendGoal_Response.
[[nodiscard]] std::vector<std::byte> write_acceptance(bool accepted, Time stamp);
[[nodiscard]] std::optional<bool> read_acceptance(std::span<const std::byte> bytes);

/// NAME_GetResult_Request.
[[nodiscard]] std::vector<std::byte> write_goal_id(const GoalId& id);
[[nodiscard]] std::optional<GoalId> read_goal_id(std::span<const std::byte> bytes);

/// The status in NAME_GetResult_Response, which stands before the result. nullopt: too few bytes,
/// or another number.
[[nodiscard]] std::optional<GoalStatus> status_of_result(std::span<const std::byte> bytes);
/// A reply with this status, from a result in Form::cdr_after_status.
[[nodiscard]] std::vector<std::byte> put_status(GoalStatus status,
                                                std::span<const std::byte> result);

/// action_msgs/srv/CancelGoal_Request. All zeros means all goals. A stamp without an id means the
/// goals that are not younger.
[[nodiscard]] std::vector<std::byte> write_cancel(const GoalInfo& which);
[[nodiscard]] std::optional<GoalInfo> read_cancel(std::span<const std::byte> bytes);
/// True if a request to cancel `which` includes this goal.
[[nodiscard]] bool includes(const GoalInfo& which, const GoalInfo& goal);

/// action_msgs/srv/CancelGoal_Response.
enum class CancelCode : std::int8_t { none = 0, rejected = 1, unknown_goal = 2, terminated = 3 };
[[nodiscard]] std::vector<std::byte> write_canceling(CancelCode code,
                                                     const std::vector<GoalInfo>& goals);
[[nodiscard]] std::optional<CancelCode> read_cancel_code(std::span<const std::byte> bytes);

/// action_msgs/msg/GoalStatusArray.
[[nodiscard]] std::vector<std::byte> write_states(const std::vector<GoalRecord>& states);
[[nodiscard]] std::optional<std::vector<GoalRecord>> read_states(std::span<const std::byte> bytes);

}  // namespace hyphos::gateway::ros2
