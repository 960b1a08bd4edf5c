#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <stdexcept>

namespace hyphos::lab {

// A block of ports that no other run in this network namespace uses. The claim is the name of an
// abstract socket, which has the scope of ports and ends with the process.
class PortBlock {
 public:
  static constexpr int kSize = 600;
  static constexpr int kBlocks = 32;

  // Searches from the process number on, so that a run seldom meets ports that the run before left
  // in TIME_WAIT. Blocks with different names do not exclude each other.
  explicit PortBlock(const char* name = "hyphos-lab-ports")
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    for (int tried = 0; tried < kBlocks; ++tried) {
      block_ = (getpid() + tried) % kBlocks;
      if (claim(name)) return;
    }
    ::close(socket_);
    throw std::runtime_error(
        "all port blocks of the laboratory are in use: wait for the other "
        "runs on this machine");
  }
  ~PortBlock() { ::close(socket_); }
  PortBlock(const PortBlock&) = delete;
  PortBlock& operator=(const PortBlock&) = delete;

  [[nodiscard]] int first() const { return 12'000 + block_ * kSize; }
  /// From 0 to kBlocks - 1, different for the blocks that begin with different ports.
  [[nodiscard]] static int number_of(int first) { return first / kSize % kBlocks; }

 private:
  bool claim(const char* name) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int length =
        std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s-%d", name, block_);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                             static_cast<std::size_t>(length));
    return ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) == 0;
  }

  int socket_;
  int block_ = 0;
};

}  // namespace hyphos::lab
