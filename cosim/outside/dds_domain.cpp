#include "cosim/outside/dds_domain.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <initializer_list>

namespace hyphos::cosim {
namespace {

// RTPS 2.5, 9.6.2.3: the ports of a domain begin at 7400 + 250 d. Beyond domain 101 they reach the
// ephemeral ports of Linux. The low domains are those that people choose by hand.
constexpr std::uint32_t kFirst = 20;
constexpr std::uint32_t kCount = 80;

/// True if the ports of the first participant of a domain are free.
bool is_free(std::uint32_t domain) {
  for (const std::uint32_t offset : {10U, 11U}) {  // unicast: discovery and data
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    address.sin_port = htons(static_cast<std::uint16_t>(7400 + 250 * domain + offset));
    const bool bound =
        ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    if (!bound) return false;
  }
  return true;
}

}  // namespace

std::uint32_t free_dds_domain(std::uint32_t robot) {
  // Robot k takes the k-th free domain.
  const std::uint32_t start = static_cast<std::uint32_t>(::getpid()) * 7;
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const std::uint32_t domain = kFirst + (start + i) % kCount;
    if (is_free(domain) && found++ == robot) return domain;
  }
  return 0;
}

}  // namespace hyphos::cosim
