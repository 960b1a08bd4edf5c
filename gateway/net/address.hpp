#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hyphos/result.hpp"

namespace hyphos::gateway::net {

/// The address that a TCP socket is bound or connected to.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] std::uint16_t port() const;
  /// "127.0.0.1:10000", "[::1]:10000"
  [[nodiscard]] std::string text() const;
  /// True if both addresses are of one host. The ports may differ.
  [[nodiscard]] bool same_host(const Address& other) const;
};

/// The addresses of a host, given as a name or a number. For a name, it asks the system's resolver
/// and blocks meanwhile. When listening, an empty host means all addresses. Errors: not_found.
[[nodiscard]] Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port,
                                                   bool to_listen);

[[nodiscard]] Address local_address(int fd);
[[nodiscard]] Address peer_address(int fd);

/// The process that listens on a port of this machine: "process 812 (roscore)". Empty if no process
/// does, or if it belongs to another user.
[[nodiscard]] std::string who_listens(std::uint16_t port);

}  // namespace hyphos::gateway::net
