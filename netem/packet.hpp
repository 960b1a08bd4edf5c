#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "hyphos/time.hpp"

namespace hyphos::lab {

/// The number of a host in the network, from 0.
using Station = std::uint16_t;
inline constexpr Station kEveryone = 0xffff;
inline constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};

/// The properties of a packet that the models need. The bytes are in buffer `buffer` of the program
/// that reads and writes the devices.
struct Packet {
  std::uint32_t buffer = 0;
  std::uint32_t bytes = 0;  ///< size of the IP packet
  Station from = 0;
  Station to = 0;  ///< or kEveryone: all except `from`
};

/// The reason of a drop.
enum class Drop : std::uint8_t {
  queue,           ///< the queue of a transmitter was full
  loss,            ///< lost by the configured loss
  retries,         ///< retry limit reached without an acknowledgement
  collision,       ///< a frame to everyone, never repeated, met another frame
  buffers,         ///< more packets in flight than buffers
  no_host,         ///< the receiver is not in this network
  device_refused,  ///< refused by the device of the receiver
};
inline constexpr std::size_t kDrops = 7;
[[nodiscard]] std::string_view to_string(Drop why);

/// Counters of a station: copies = delivered + Σ drops + copies still inside.
struct Counters {
  std::uint64_t packets = 0;  ///< read from its device
  std::uint64_t bytes = 0;
  std::uint64_t copies = 0;     ///< packets × receivers
  std::uint64_t delivered = 0;  ///< copies that reached a receiver
  std::uint64_t received = 0;   ///< copies that this station received
  std::uint64_t received_bytes = 0;
  std::array<std::uint64_t, kDrops> drops{};  ///< copies that this station sent, by cause
  // Shared medium only:
  std::uint64_t attempts = 0;    ///< frames on the air, including repetitions
  std::uint64_t collisions = 0;  ///< frames that met another frame
  Duration airtime;              ///< of its frames, without acknowledgements

  void drop(Drop why, std::uint64_t count = 1) { drops[static_cast<std::size_t>(why)] += count; }
  [[nodiscard]] std::uint64_t dropped(Drop why) const {
    return drops[static_cast<std::size_t>(why)];
  }
  [[nodiscard]] std::uint64_t dropped() const;
};

/// The buffers in use. Their fixed number bounds the packets in flight.
class Buffers {
 public:
  explicit Buffers(std::uint32_t count);

  /// Returns a free buffer with one reference. The buffer released last comes first, because it is
  /// still in the cache.
  [[nodiscard]] std::optional<std::uint32_t> acquire();
  void hold(std::uint32_t buffer, std::uint32_t more) { holders_[buffer] += more; }
  void release(std::uint32_t buffer);
  [[nodiscard]] std::uint32_t in_use() const;

 private:
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> holders_;
};

}  // namespace hyphos::lab
