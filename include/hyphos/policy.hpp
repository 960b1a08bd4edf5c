#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hyphos/export.hpp"

namespace hyphos {

/// `best_effort`: a full queue drops and counts. `reliable`: the message is delivered, or the
/// publisher gets an error. Cost of `reliable`: nothing within a machine. Between machines the
/// sender keeps each message until it is acknowledged, at most `depth` messages or 256 KiB per
/// subscriber.
enum class Reliability : std::uint8_t { best_effort, reliable };

/// The reaction of a full queue to a further message. The rules cost the same while there is room.
enum class Overflow : std::uint8_t {
  drop_oldest,  ///< the oldest waiting message is dropped: for state, where the newest value counts
  drop_newest,  ///< the new message is dropped: for history
  block,        ///< the publisher waits for room, at most `block_timeout_ms`. Occupies its thread
};

/// How a subscription's callback runs. The same words are used in Python, in the C interface and
/// on the command line. In C++ `inline` is a keyword, so it has an underscore here.
enum class Mode : std::uint8_t {
  /// One at a time and in order, on the thread pool. Cost: a place in a queue and, if no thread of
  /// the pool is awake, one wake-up (5 to 50 us).
  serial,
  /// In parallel, on the thread pool: callbacks start in order, but may end in any order. Cost: as
  /// `serial`. A burst can occupy every thread of the pool.
  concurrent,
  /// In the delivering thread: the shortest path, without a queue and a wake-up. The callback must
  /// be short and must not block, because it delays the publisher, or all messages of a transport.
  inline_,
};
inline constexpr Mode serial = Mode::serial;
inline constexpr Mode concurrent = Mode::concurrent;
inline constexpr Mode inline_ = Mode::inline_;
[[gnu::unavailable("write hyphos::inline_")]] inline constexpr Mode inlined = Mode::inline_;

/// How far the messages of a channel are sent.
enum class Scope : std::uint8_t {
  local,    ///< this process only (the paper's ToGraph/FromGraph). Never encodes a message
  network,  ///< wherever the plan allows it (ToAny/FromAny). Encodes once if others subscribe
};

/// The places at which a channel is open. Each message goes to the open places only.
enum class Where : std::uint8_t {
  nowhere = 0,
  inside = 1,   ///< from publishers to subscriptions of this process
  outside = 2,  ///< between this process and others, in both directions
  both = 3,
};
/// True if `place`, inside or outside, is among `places`.
[[nodiscard]] constexpr bool is_among(Where place, Where places) {
  return (static_cast<std::uint8_t>(places) & static_cast<std::uint8_t>(place)) != 0;
}

/// The order in which free threads of the pool take callbacks: strictly `high`, then `normal`, then
/// `low`. A running callback is not interrupted. Cost: none. A pool that is busy with `high` never
/// runs `low`.
enum class Priority : std::uint8_t { low, normal, high };

/// The reason for which a synchronizer passed a message to no callback. Each is a counter of the
/// subscription, `unmatched.<reason>`.
enum class Unmatched : std::uint8_t {
  queue_full,     ///< no complete set before SyncOptions::queue was exceeded
  too_far_apart,  ///< approximate: the others were more than SyncOptions::max_interval away
  superseded,     ///< approximate: a later message of its channel was closer to the others
  after_loss,     ///< approximate: not provably the best set, because of `queue_full` before
  incomplete,     ///< exact: a set with a later stamp was complete first
  repeated,       ///< exact: a later message of its channel had the same stamp
  clock_jump,     ///< the clock was set back
  closed,         ///< the synchronizer was closed
};
inline constexpr std::size_t kUnmatchedReasons = 8;

inline constexpr std::uint32_t kMaxLatchedDepth = 256;

/// The guarantees of a channel. Part of the plan: all endpoints of a channel use the same policy.
struct Policy {
  Reliability reliability = Reliability::best_effort;
  Overflow overflow = Overflow::drop_oldest;
  Priority priority = Priority::normal;
  /// A late subscriber gets the last messages immediately. Cost: each message is encoded, also
  /// without a subscriber elsewhere, and the last ones of each publisher stay in memory.
  bool latched = false;
  /// Capacity of each queue in messages, 1..65536. Cost: 40 bytes per message and subscription, and
  /// up to `depth` messages kept alive by a slow subscriber.
  std::uint32_t depth = 10;
  /// Counts `deadline_missed` after this time without a message. 0: off. Cost: one wake-up per
  /// deadline.
  std::int64_t deadline_ms = 0;
  /// For `block`: after this time publish() fails with Code::timeout. 0: no limit.
  std::int64_t block_timeout_ms = 0;
  /// A message that was published longer ago is dropped before its callback, and counted as
  /// `drop.queue.expired`. Real time, also in a simulation. Lock-step ignores it. 0: no limit.
  /// Cost: a comparison.
  std::int64_t lifespan_ms = 0;
  /// For `latched`: the number of messages of each publisher for late subscribers,
  /// 1..kMaxLatchedDepth. Cost: that many messages stay in memory.
  std::uint32_t latched_depth = 1;

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
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Where value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Priority value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Unmatched value);

}  // namespace hyphos
