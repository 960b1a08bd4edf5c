#pragma once

#include <cstdint>

#include "wire/packet.hpp"

namespace hyphos::transport {

/// Identity and clock offset of this machine, for packet headers. The offset is measured at most
/// once a second, because the wall clock may be set or slewed. Thread-safe, about 30 ns.
[[nodiscard]] wire::ClockInfo local_clock();

/// The identity alone: a hash of the kernel's boot id. It is the same in all processes and
/// containers of one running kernel, except in time namespaces, which have their own clocks.
[[nodiscard]] std::uint64_t local_host();

/// A random number from the kernel, unique across calls and machines.
[[nodiscard]] std::uint64_t random_id();

}  // namespace hyphos::transport
