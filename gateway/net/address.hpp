#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hyphos/result.hpp"

namespace hyphos::gateway::net {

/// Where a TCP socket is bound or connected to.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] std::uint16_t port() const;
  /// "127.0.0.1:10000", "[::1]:10000"
  [[nodiscard]] std::string text() const;
  /// Whether both are of one host, whatever their ports.
  [[nodiscard]] bool same_host(const Address& other) const;
};

/// The addresses of a host, which is a name or a number; asks the system's resolver for a name, and
/// then blocks. For listening, an empty host is all addresses. Errors: not_found.
[[nodiscard]] Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port,
                                                   bool to_listen);

[[nodiscard]] Address local_address(int fd);
[[nodiscard]] Address peer_address(int fd);

/// Who listens on a port of this machine, as far as that can be seen: "process 812 (roscore)".
/// Empty if nobody does, or if it is another user's.
[[nodiscard]] std::string who_listens(std::uint16_t port);

}  // namespace hyphos::gateway::net
