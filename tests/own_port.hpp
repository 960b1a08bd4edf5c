#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace hyphos::test {

/// Claims one of `count` numbers that no other running test has: the first free one from the
/// process number on. The claim is the name of an abstract socket, which has the scope of ports and
/// ends with the process. tests/soak/claims.py claims with the same names.
inline int claim(const char* what, int count) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  for (int tried = 0; tried < count; ++tried) {
    const int number = (::getpid() + tried) % count;
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
                                     "hyphos-test-%s-%d", what, number);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                             static_cast<std::size_t>(length));
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&name), size) == 0) return number;
  }
  throw std::runtime_error("other test processes have claimed all numbers");
}

/// The first of 32 ports that no other running test uses. They are above the ports of the
/// laboratory and of the DDS domains of tests, and below the ports that the kernel gives to
/// connections.
inline std::uint16_t own_port() {
  static const int block = claim("ports", 49);
  return static_cast<std::uint16_t>(31'200 + block * 32);
}

}  // namespace hyphos::test
