#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cosim/core/packet.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// A packet of IP that a program on a robot has sent, header and all.
struct Captured {
  NodeId from = 0;
  NodeId to = 0;  ///< or kEveryone
  Buffer bytes{};
};

/// What a real-time run has instead of programs: a clock that does not wait, and devices whose
/// packets are those of real programs. The seam at which tests stand in for both. One thread.
class Outside {
 public:
  Outside() = default;
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  virtual ~Outside() = default;

  /// Of the machine; never goes back.
  [[nodiscard]] virtual Time now() = 0;
  /// Returns when `until` has come, or something can be read, or somebody wants something else of
  /// this program. `exact`: stays awake for the last of it.
  [[nodiscard]] virtual Result<void> wait(Time until, bool exact) = 0;
  /// Appends what waits at the devices, a few packets of each.
  virtual void read(std::vector<Captured>& packets) = 0;
  /// False if the device of `to` took no more.
  [[nodiscard]] virtual bool write(NodeId to, std::span<const std::byte> packet) = 0;
  /// Packets that the kernel dropped before they were read.
  [[nodiscard]] virtual std::uint64_t overrun() = 0;
  /// Packets that were read and have no receiver among the robots.
  [[nodiscard]] virtual std::uint64_t to_nobody() = 0;
};

}  // namespace hyphos::cosim
