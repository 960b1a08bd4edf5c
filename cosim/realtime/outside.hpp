#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cosim/core/packet.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// An IP packet, with its header, that a program on a robot has sent.
struct Captured {
  NodeId from = 0;
  NodeId to = 0;  ///< or kEveryone
  Buffer bytes{};
};

/// The outside of a real-time run, in place of programs: a clock that does not wait, and devices
/// with the packets of real programs. Tests replace both through this interface. Threads: one.
class Outside {
 public:
  Outside() = default;
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  virtual ~Outside() = default;

  /// The clock of the machine. It never goes back.
  [[nodiscard]] virtual Time now() = 0;
  /// Returns when `until` has come, when packets can be read, or when the process is asked to end.
  /// With `exact`, busy-waits for the last part.
  [[nodiscard]] virtual Result<void> wait(Time until, bool exact) = 0;
  /// Appends the packets waiting at the devices, a few from each device.
  virtual void read(std::vector<Captured>& packets) = 0;
  /// Returns false if the device of `to` refused the packet.
  [[nodiscard]] virtual bool write(NodeId to, std::span<const std::byte> packet) = 0;
  /// Packets that the kernel dropped before the read.
  [[nodiscard]] virtual std::uint64_t overrun() = 0;
  /// Packets that were read and have no receiver among the robots.
  [[nodiscard]] virtual std::uint64_t to_nobody() = 0;
};

}  // namespace hyphos::cosim
