#pragma once

#include <cstdint>
#include <string_view>

#include "hyphos/export.hpp"

namespace hyphos {

/// `best_effort`: a full queue drops and counts. `reliable`: delivered, or an error the publisher
/// sees.
enum class Reliability : std::uint8_t { best_effort, reliable };

/// What a full queue does with one message more.
enum class Overflow : std::uint8_t {
  drop_oldest,  ///< the oldest waiting message makes room; best for state: the newest counts
  drop_newest,  ///< the new message is not taken; best for history
  block,        ///< the publisher waits until there is room (bounded by `block_timeout_ms`)
};

/// How a subscription's callback is run.
enum class Mode : std::uint8_t {
  serial,      ///< one at a time, in order, on the thread pool
  concurrent,  ///< in parallel, on the thread pool; order of start is kept, of finish is not
  inline_,     ///< in the thread that delivers: shortest path, must be short and must not block
};
inline constexpr Mode serial = Mode::serial;
inline constexpr Mode concurrent = Mode::concurrent;
inline constexpr Mode inlined = Mode::inline_;

/// How far a channel's messages may travel.
enum class Scope : std::uint8_t {
  local,    ///< this process only (the paper's ToGraph/FromGraph)
  network,  ///< wherever the plan lets them (ToAny/FromAny)
};

enum class Priority : std::uint8_t { low, normal, high };

/// What a channel promises. Part of the plan; both ends of a channel follow the same policy.
struct Policy {
  Reliability reliability = Reliability::best_effort;
  Overflow overflow = Overflow::drop_oldest;
  Priority priority = Priority::normal;
  bool latched = false;          ///< a late subscriber gets the last message at once
  std::uint32_t depth = 10;      ///< messages that may wait in each queue, 1..65536
  std::int64_t deadline_ms = 0;  ///< counts `deadline_missed` if nothing comes for so long; 0: off
  std::int64_t block_timeout_ms = 0;  ///< for `block`: give up with Code::timeout; 0: wait for ever

  bool operator==(const Policy&) const = default;
};

/// `reliable` never drops silently: the overflow rule it implies unless the plan names another.
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
