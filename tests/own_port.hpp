#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace hyphos::test {

/// The first of 32 ports that no other running test uses. The claim is the name of an abstract
/// socket, which has the scope of ports and ends with the process. tests/soak/claims.py claims the
/// same blocks. They are above the ports of the laboratory and of the DDS domains of tests, and
/// below the ports that the kernel gives to connections.
inline std::uint16_t own_port() {
  static const std::uint16_t own = [] {
    constexpr int kFirst = 31'200;
    constexpr int kSize = 32;
    constexpr int kBlocks = 49;
    const int claim = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (int tried = 0; tried < kBlocks; ++tried) {
      const int block = (::getpid() + tried) % kBlocks;
      sockaddr_un name{};
      name.sun_family = AF_UNIX;
      const int length =
          std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "hyphos-test-ports-%d", block);
      const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                               static_cast<std::size_t>(length));
      if (::bind(claim, reinterpret_cast<const sockaddr*>(&name), size) == 0) {
        return static_cast<std::uint16_t>(kFirst + block * kSize);
      }
    }
    throw std::runtime_error("other test processes use all 49 blocks of ports");
  }();
  return own;
}

}  // namespace hyphos::test
