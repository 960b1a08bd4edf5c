#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cosim/core/packet.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// An Ethernet frame that a robot has sent.
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
  /// Appends the packets waiting at the devices, a few from each device and never more than its
  /// room.
  virtual void read(std::vector<Captured>& packets) = 0;
  /// Limits the number of packets that may be read from a device until the next call. 0: none. They
  /// wait in the device, as with a driver whose radio is full.
  virtual void set_room(NodeId from, std::uint32_t packets) = 0;
  /// Limits the rate at which the device of a robot passes packets, in bytes per second with
  /// EmulatorOptions::overhead for each packet. Programs that send more are held back.
  virtual void set_rate(NodeId from, double bytes_per_second) = 0;
  /// Returns false if the device of `to` refused the packet.
  [[nodiscard]] virtual bool write(NodeId to, std::span<const std::byte> packet) = 0;

  struct Losses {
    std::uint64_t overrun = 0;      ///< dropped by the kernel because nothing read them in time
    std::uint64_t device_full = 0;  ///< dropped by the kernel because the radio had no room
    std::uint64_t to_nobody = 0;    ///< read, and to a MAC address of no robot
    std::uint64_t malformed = 0;    ///< read, and not an Ethernet frame of the device's size
  };
  [[nodiscard]] virtual Losses losses() = 0;
};

}  // namespace hyphos::cosim
