#pragma once

#include <unistd.h>

#include <cstdint>

namespace hyphos::test {

/// The first of 32 ports that no other running test uses. They are below the ports that the kernel
/// gives to connections.
inline std::uint16_t own_port() { return static_cast<std::uint16_t>(12'000 + getpid() % 625 * 32); }

}  // namespace hyphos::test
