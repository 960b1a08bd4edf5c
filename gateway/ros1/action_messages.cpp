#include "gateway/ros1/action_messages.hpp"

#include <bit>
#include <cstring>

namespace hyphos::gateway::ros1 {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::int64_t kSecond = 1'000'000'000;
/// The encoded size of a GoalRecord with empty texts.
constexpr std::size_t kLeastRecord = 8 + 4 + 1 + 4;

/// After the first read beyond the end, all values are 0 and failed() is true.
class Input {
 public:
  explicit Input(BytesView bytes) : left_(bytes) {}
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] BytesView left() const { return left_; }

  template <typename Number>
  Number number() {
    Number value{};
    const BytesView bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text() {
    const BytesView bytes = take(number<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  Time time() {
    const auto seconds = number<std::uint32_t>();
    const auto nanoseconds = number<std::uint32_t>();
    return {static_cast<std::int64_t>(seconds) * kSecond + nanoseconds};
  }
  void header() {
    (void)number<std::uint32_t>();  // the sequence number
    (void)time();
    (void)text();
  }
  GoalId goal() {
    GoalId goal;
    goal.stamp = time();
    goal.id = text();
    return goal;
  }
  GoalRecord record() {
    GoalRecord record;
    record.goal = goal();
    record.status = static_cast<GoalStatus>(number<std::uint8_t>());
    record.text = text();
    return record;
  }

 private:
  BytesView take(std::size_t size) {
    if (failed_ || size > left_.size()) {
      failed_ = true;
      return {};
    }
    const BytesView taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }

  BytesView left_;
  bool failed_ = false;
};

class Output {
 public:
  template <typename Number>
  void number(Number value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void raw(BytesView bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    raw(std::as_bytes(std::span(text)));
  }
  void time(Time time) {
    number(static_cast<std::uint32_t>(time.ns / kSecond));
    number(static_cast<std::uint32_t>(time.ns % kSecond));
  }
  void header(Time now) {
    number(std::uint32_t{0});
    time(now);
    text("");
  }
  void goal(const GoalId& goal) {
    time(goal.stamp);
    text(goal.id);
  }
  void record(const GoalRecord& record) {
    goal(record.goal);
    number(static_cast<std::uint8_t>(record.status));
    text(record.text);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

bool is_terminal(GoalStatus status) {
  switch (status) {
    case GoalStatus::pending:
    case GoalStatus::active:
    case GoalStatus::preempting:
    case GoalStatus::recalling:
      return false;
    default:
      return true;
  }
}

std::optional<ArrivedGoal> read_goal(BytesView bytes) {
  Input in(bytes);
  in.header();
  GoalId goal = in.goal();
  if (in.failed()) return std::nullopt;
  return ArrivedGoal{std::move(goal), in.left()};
}

std::vector<std::byte> write_goal(const GoalId& goal, BytesView message, Time now) {
  Output out;
  out.header(now);
  out.goal(goal);
  out.raw(message);
  return out.take();
}

std::optional<Outcome> read_outcome(BytesView bytes) {
  Input in(bytes);
  in.header();
  GoalRecord record = in.record();
  if (in.failed()) return std::nullopt;
  return Outcome{std::move(record), in.left()};
}

std::vector<std::byte> write_outcome(const GoalRecord& record, BytesView message, Time now) {
  Output out;
  out.header(now);
  out.record(record);
  out.raw(message);
  return out.take();
}

std::optional<GoalId> read_cancel(BytesView bytes) {
  Input in(bytes);
  GoalId which = in.goal();
  if (in.failed()) return std::nullopt;
  return which;
}

std::vector<std::byte> write_cancel(const GoalId& which) {
  Output out;
  out.goal(which);
  return out.take();
}

bool includes(const GoalId& which, const GoalId& goal) {
  if (which.id.empty() && which.stamp.ns == 0) return true;
  if (!which.id.empty() && which.id == goal.id) return true;
  return which.stamp.ns != 0 && goal.stamp.ns <= which.stamp.ns;
}

std::optional<std::vector<GoalRecord>> read_records(BytesView bytes) {
  Input in(bytes);
  in.header();
  const std::size_t count = in.number<std::uint32_t>();
  if (in.failed() || count > in.left().size() / kLeastRecord) return std::nullopt;
  std::vector<GoalRecord> records;
  for (std::size_t i = 0; i < count; ++i) records.push_back(in.record());
  if (in.failed()) return std::nullopt;
  return records;
}

std::vector<std::byte> write_records(const std::vector<GoalRecord>& records, Time now) {
  Output out;
  out.header(now);
  out.number(static_cast<std::uint32_t>(records.size()));
  for (const GoalRecord& record : records) out.record(record);
  return out.take();
}

}  // namespace hyphos::gateway::ros1
