#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "hyphos/time.hpp"

namespace hyphos::lab {

/// Number of a host of the network, from 0.
using Station = std::uint16_t;
inline constexpr Station kEveryone = 0xffff;
inline constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};

/// What the models know of a packet. The bytes themselves lie in buffer `buffer` of the one who
/// reads and writes the devices.
struct Packet {
  std::uint32_t buffer = 0;
  std::uint32_t bytes = 0;  ///< as IP counts them
  Station from = 0;
  Station to = 0;  ///< or kEveryone: all but `from`
};

/// Why a packet did not arrive.
enum class Drop : std::uint8_t {
  queue,           ///< the queue of a transmitter was full
  loss,            ///< lost on the way, as asked
  retries,         ///< sent as often as the retry limit allows, never acknowledged
  collision,       ///< sent to everyone, which is not repeated, at the same time as another
  buffers,         ///< more packets on the way than the program keeps
  no_host,         ///< addressed to nobody of this network
  device_refused,  ///< the receiver's device took no more
};
inline constexpr std::size_t kDrops = 7;
[[nodiscard]] std::string_view to_string(Drop why);

/// For each station: copies = delivered + Σ drops + what is still inside.
struct Counters {
  std::uint64_t packets = 0;  ///< taken from its device
  std::uint64_t bytes = 0;
  std::uint64_t copies = 0;     ///< packets × receivers
  std::uint64_t delivered = 0;  ///< copies that reached a receiver
  std::uint64_t received = 0;   ///< copies that reached it as the receiver
  std::uint64_t received_bytes = 0;
  std::array<std::uint64_t, kDrops> drops{};  ///< copies that it sent, by cause
  // Of a shared medium alone:
  std::uint64_t attempts = 0;    ///< frames on the air, repetitions included
  std::uint64_t collisions = 0;  ///< of those, how many met another
  Duration airtime;              ///< of its frames; acknowledgements are not in it

  void drop(Drop why, std::uint64_t count = 1) { drops[static_cast<std::size_t>(why)] += count; }
  [[nodiscard]] std::uint64_t dropped(Drop why) const {
    return drops[static_cast<std::size_t>(why)];
  }
  [[nodiscard]] std::uint64_t dropped() const;
};

/// Which buffers are in use. Their number is fixed: it bounds all that is on the way.
class Buffers {
 public:
  explicit Buffers(std::uint32_t count);

  /// A free one, held once. The one freed last comes first: it is still in the cache.
  [[nodiscard]] std::optional<std::uint32_t> acquire();
  void hold(std::uint32_t buffer, std::uint32_t more) { holders_[buffer] += more; }
  void release(std::uint32_t buffer);
  [[nodiscard]] std::uint32_t in_use() const;

 private:
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> holders_;
};

}  // namespace hyphos::lab
