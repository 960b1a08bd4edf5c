#pragma once

#include <cstdint>

#include "wire/packet.hpp"

namespace hyphos::transport {

/// Identity and clock offset of this machine for the heads of packets. The offset is measured again
/// at most once a second (the wall clock may be set or slewed). Thread-safe, ~30 ns.
[[nodiscard]] wire::ClockInfo local_clock();

/// The identity alone: a hash of the kernel's boot id, the same in all processes and containers of
/// one running kernel (but for time namespaces, which have clocks of their own).
[[nodiscard]] std::uint64_t local_host();

/// A number that no other call on any machine will return: from the kernel's random source.
[[nodiscard]] std::uint64_t random_id();

}  // namespace hyphos::transport
