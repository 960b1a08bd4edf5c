#pragma once

#include <cstdint>

#include "hyphos/result.hpp"

namespace hyphos::lab {

/// A token bucket of the kernel (the queueing discipline `tbf`) in front of a device. Packets that
/// wait in it count for the send buffer of their socket. So a full buffer blocks the sender, as
/// with a device that is busy.
struct Bucket {
  double bytes_per_second = 0;
  std::uint32_t burst = 0;     ///< bytes, at least one packet with `overhead`
  std::uint32_t limit = 0;     ///< bytes that may wait. The kernel drops and counts further packets
  std::uint32_t overhead = 0;  ///< bytes added to the size of each packet
};

/// Sets or changes the bucket of a device. `route` is a NETLINK_ROUTE socket in the network
/// namespace of the device. Waiting packets stay.
[[nodiscard]] Result<void> set_bucket(int route, unsigned device, const Bucket& bucket);

}  // namespace hyphos::lab
