#pragma once

#include <unistd.h>

#include <cstdint>

namespace hyphos::test {

/// A port that no other test which runs now uses: below those that the kernel gives to connections.
inline std::uint16_t own_port() { return static_cast<std::uint16_t>(12'000 + getpid() % 20'000); }

}  // namespace hyphos::test
