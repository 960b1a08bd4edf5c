#pragma once

#include <fastdds/rtps/transport/TransportDescriptorInterface.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "gateway/ros2/reach.hpp"

namespace hyphos::gateway::ros2 {

struct TransportSettings {
  std::string host;  ///< as in Settings
  std::uint32_t domain_id = 0;
  std::uint32_t socket_buffer =
      0;  ///< bytes in each direction, the kernel grants less if its limit is lower
};

/// The UDP transport of Fast DDS, with four additions:
///
/// - Fast DDS 2.9 built with statistics ends the process when it sends to a locator that it has not
///   opened before. Here each locator is opened before the first datagram goes to it.
/// - Reach::machine: it listens on all interfaces, as ROS 2 programs with the range LOCALHOST do.
///   It neither accepts datagrams from another machine nor sends any to one.
/// - A large message to a best-effort reader is sent at a limited rate (Pace). The socket buffer of
///   the reader holds only a part of the message, and a best-effort reader does not request the
///   lost part again.
/// - The first large message to a volatile reader comes after a heartbeat: greeting_before().
[[nodiscard]] std::shared_ptr<eprosima::fastdds::rtps::TransportDescriptorInterface> make_transport(
    const TransportSettings& settings);

/// RTPS 2.5, 9.6.2.3: the port at which participants of a domain announce themselves by multicast.
[[nodiscard]] constexpr std::uint16_t announcement_port(std::uint32_t domain_id) {
  return static_cast<std::uint16_t>(7400 + 250 * domain_id);
}

/// While it exists, its thread sends at most `bytes_per_second`. 0: unlimited. At most one may
/// exist per thread. A burst of kBurst bytes passes at once. `greets`: the thread sends a greeting
/// before each sample.
class Pace {
 public:
  /// The capacity of a socket's receive buffer under the default limit of the kernel.
  static constexpr std::size_t kBurst = 128U << 10U;

  explicit Pace(std::uint64_t bytes_per_second, bool greets = false);
  ~Pace();
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;

  /// Sleeps until this thread may send this number of bytes.
  static void wait_for(std::size_t bytes);
  /// True while this thread sends greetings.
  static bool greets();
};

}  // namespace hyphos::gateway::ros2
