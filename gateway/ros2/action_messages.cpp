#include "gateway/ros2/action_messages.hpp"

#include <algorithm>
#include <type_traits>

#include "gateway/ros2/cdr.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr std::size_t kActionEncapsulation = 4;
constexpr std::int64_t kSecond = 1'000'000'000;

void put_id(CdrWriter& writer, const GoalId& id) {
  for (const std::uint8_t byte : id) writer.number(byte);
}

GoalId take_id(CdrReader& reader) {
  GoalId id{};
  for (std::uint8_t& byte : id) byte = reader.number<std::uint8_t>();
  return id;
}

void put_stamp(CdrWriter& writer, Time stamp) {
  writer.number(static_cast<std::int32_t>(stamp.ns / kSecond));
  writer.number(static_cast<std::uint32_t>(stamp.ns % kSecond));
}

Time take_stamp(CdrReader& reader) {
  const std::int64_t seconds = reader.number<std::int32_t>();
  const std::int64_t nanoseconds = reader.number<std::uint32_t>();
  return {seconds * kSecond + nanoseconds};
}

void put_info(CdrWriter& writer, const GoalInfo& info) {
  put_id(writer, info.id);
  put_stamp(writer, info.stamp);
}

GoalInfo take_info(CdrReader& reader) {
  GoalInfo info;
  info.id = take_id(reader);
  info.stamp = take_stamp(reader);
  return info;
}

/// The result of `take`. nullopt: too few bytes.
template <typename Take>
auto read(std::span<const std::byte> bytes, Take take)
    -> std::optional<std::invoke_result_t<Take, CdrReader&>> {
  CdrReader reader(bytes);
  auto value = take(reader);
  if (reader.failed()) return std::nullopt;
  return value;
}

/// nullopt: too few bytes, or a number outside 0 to `last`.
template <typename Enum>
std::optional<Enum> read_enum(std::span<const std::byte> bytes, Enum last) {
  const auto number = read(bytes, [](CdrReader& reader) { return reader.number<std::int8_t>(); });
  if (!number || *number < 0 || *number > static_cast<std::int8_t>(last)) return std::nullopt;
  return static_cast<Enum>(*number);
}

}  // namespace

// The id has 16 bytes, a multiple of every alignment. So the message keeps its padding.
std::optional<OfGoal> take_goal_id(std::span<const std::byte> bytes) {
  CdrReader reader(bytes);
  OfGoal goal;
  goal.id = take_id(reader);
  if (reader.failed()) return std::nullopt;
  const auto head = bytes.first(kActionEncapsulation);
  const auto body = bytes.subspan(kActionEncapsulation + goal.id.size());
  goal.message.reserve(head.size() + body.size());
  goal.message.insert(goal.message.end(), head.begin(), head.end());
  goal.message.insert(goal.message.end(), body.begin(), body.end());
  return goal;
}

std::vector<std::byte> put_goal_id(const GoalId& id, std::span<const std::byte> message) {
  std::vector<std::byte> bytes;
  bytes.reserve(message.size() + id.size());
  const auto head = message.first(kActionEncapsulation);
  const auto body = message.subspan(kActionEncapsulation);
  bytes.insert(bytes.end(), head.begin(), head.end());
  for (const std::uint8_t byte : id) bytes.push_back(std::byte{byte});
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

std::vector<std::byte> write_acceptance(bool accepted, Time stamp) {
  CdrWriter writer;
  writer.flag(accepted);
  put_stamp(writer, stamp);
  return writer.take();
}

std::optional<bool> read_acceptance(std::span<const std::byte> bytes) {
  return read(bytes, [](CdrReader& reader) { return reader.flag(); });
}

std::vector<std::byte> write_goal_id(const GoalId& id) {
  CdrWriter writer;
  put_id(writer, id);
  return writer.take();
}

std::optional<GoalId> read_goal_id(std::span<const std::byte> bytes) {
  return read(bytes, take_id);
}

std::optional<GoalStatus> status_of_result(std::span<const std::byte> bytes) {
  return read_enum(bytes, GoalStatus::aborted);
}

std::vector<std::byte> put_status(GoalStatus status, std::span<const std::byte> result) {
  std::vector<std::byte> reply(result.begin(), result.end());
  if (reply.size() > kActionEncapsulation)
    reply[kActionEncapsulation] = static_cast<std::byte>(status);
  return reply;
}

std::vector<std::byte> write_cancel(const GoalInfo& which) {
  CdrWriter writer;
  put_info(writer, which);
  return writer.take();
}

std::optional<GoalInfo> read_cancel(std::span<const std::byte> bytes) {
  return read(bytes, take_info);
}

bool includes(const GoalInfo& which, const GoalInfo& goal) {
  const bool names_none = which.id == GoalId{};
  if (names_none && which.stamp.ns == 0) return true;
  if (!names_none && which.id == goal.id) return true;
  return which.stamp.ns != 0 && goal.stamp.ns <= which.stamp.ns;
}

std::vector<std::byte> write_canceling(CancelCode code, const std::vector<GoalInfo>& goals) {
  CdrWriter writer;
  writer.number(static_cast<std::int8_t>(code));
  writer.count(goals.size());
  for (const GoalInfo& goal : goals) put_info(writer, goal);
  return writer.take();
}

std::optional<CancelCode> read_cancel_code(std::span<const std::byte> bytes) {
  return read_enum(bytes, CancelCode::terminated);
}

std::vector<std::byte> write_states(const std::vector<GoalRecord>& states) {
  CdrWriter writer;
  writer.count(states.size());
  for (const GoalRecord& state : states) {
    put_info(writer, state.info);
    writer.number(static_cast<std::int8_t>(state.status));
  }
  return writer.take();
}

std::optional<std::vector<GoalRecord>> read_states(std::span<const std::byte> bytes) {
  return read(bytes, [](CdrReader& reader) {
    const std::size_t count = reader.count();
    std::vector<GoalRecord> states;
    for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
      GoalRecord state;
      state.info = take_info(reader);
      state.status = static_cast<GoalStatus>(reader.number<std::int8_t>());
      states.push_back(state);
    }
    return states;
  });
}

}  // namespace hyphos::gateway::ros2
