#pragma once

#include <cstdint>
#include <string_view>

#include "hyphos/export.hpp"

namespace hyphos {

/// `best_effort`: a full queue drops and counts. `reliable`: the message is delivered, or the
/// publisher gets an error.
enum class Reliability : std::uint8_t { best_effort, reliable };

/// The reaction of a full queue to a further message.
enum class Overflow : std::uint8_t {
  drop_oldest,  ///< the oldest waiting message is dropped: for state, where the newest value counts
  drop_newest,  ///< the new message is dropped: for history
  block,        ///< the publisher waits for room, at most `block_timeout_ms`
};

/// How a subscription's callback runs.
enum class Mode : std::uint8_t {
  serial,      ///< one at a time, in order, on the thread pool
  concurrent,  ///< in parallel, on the thread pool: callbacks start in order, but may end in any
               ///< order
  inline_,     ///< in the delivering thread: the shortest path, must be short and must not block
};
inline constexpr Mode serial = Mode::serial;
inline constexpr Mode concurrent = Mode::concurrent;
inline constexpr Mode inlined = Mode::inline_;

/// How far the messages of a channel are sent.
enum class Scope : std::uint8_t {
  local,    ///< this process only (the paper's ToGraph/FromGraph)
  network,  ///< wherever the plan allows it (ToAny/FromAny)
};

/// The order in which free threads of the pool take callbacks: strictly `high`, then `normal`, then
/// `low`. A running callback is not interrupted.
enum class Priority : std::uint8_t { low, normal, high };

/// The guarantees of a channel. Part of the plan: all endpoints of a channel use the same policy.
struct Policy {
  Reliability reliability = Reliability::best_effort;
  Overflow overflow = Overflow::drop_oldest;
  Priority priority = Priority::normal;
  bool latched = false;      ///< a late subscriber gets the last message immediately
  std::uint32_t depth = 10;  ///< capacity of each queue in messages, 1..65536
  /// Counts `deadline_missed` after this time without a message. 0: off.
  std::int64_t deadline_ms = 0;
  std::int64_t block_timeout_ms = 0;  ///< for `block`: then Code::timeout. 0: no limit

  bool operator==(const Policy&) const = default;
};

/// A reliable policy that never drops silently: its overflow rule is `block`, unless the plan names
/// another.
[[nodiscard]] constexpr Policy reliable_policy(std::uint32_t depth = 10) {
  Policy policy;
  policy.reliability = Reliability::reliable;
  policy.overflow = Overflow::block;
  policy.depth = depth;
  return policy;
}

[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Reliability value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Overflow value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Mode value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Priority value);

}  // namespace hyphos
