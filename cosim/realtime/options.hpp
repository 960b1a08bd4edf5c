#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hyphos/time.hpp"

namespace hyphos::config {
class Problems;
class Section;
}  // namespace hyphos::config

namespace hyphos::cosim {

/// The limits of a valid real-time run. A later run does not represent its scenario.
struct LagLimits {
  Duration p99{};  ///< limit for 99 % of all windows, deliveries and reads
  Duration longest = Duration::from_ms(20);  ///< limit for each of them
};

/// The section `realtime` of a scenario, for `hyphos cosim emulate` only.
struct RealTimeOptions {
  LagLimits limits{};
  std::uint32_t first_address = 0;  ///< of the subnet, in host order. Robot k has this + 1 + k
  unsigned prefix = 24;
  std::array<std::uint8_t, 16> first_address6{};  ///< of the IPv6 subnet
  unsigned prefix6 = 0;                           ///< 0: the robots have no IPv6
  unsigned mtu = 1500;                            ///< of the devices, without the Ethernet header
  /// Busy-wait before an event, because a wake-up can be tens of µs late.
  Duration spin = Duration::from_us(60);
  int priority = 1;          ///< of SCHED_FIFO. 0: normal scheduling
  bool hold_senders = true;  ///< block programs that send more than the radio can
  /// Pairs of robots between which the emulation measures the connection.
  std::vector<std::pair<std::size_t, std::size_t>> probes{};
  Duration probe_interval = Duration::from_ms(100);

  /// The address of a robot as text: "10.231.77.1".
  [[nodiscard]] std::string address(std::size_t robot) const;
  /// The global IPv6 address: "fd48:5900:77::1". Empty if the robots have no IPv6.
  [[nodiscard]] std::string address6(std::size_t robot) const;
  /// The MAC address, the same in every run: 02:48:59, then the number of the robot from 1.
  [[nodiscard]] static std::array<std::uint8_t, 6> mac(std::size_t robot);
};

/// Reads the section. `step` is the default of limits.p99. The subnet must have room for `robots`.
[[nodiscard]] RealTimeOptions read_realtime(const config::Section& root, Duration step,
                                            const std::vector<std::string>& robots,
                                            config::Problems& problems);
/// The words of the command in `run` of a robot. Empty if the robot has none.
[[nodiscard]] std::vector<std::string> read_command(const config::Section& robot);

}  // namespace hyphos::cosim
