#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
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
  /// "127.0.0.1", "::1"
  [[nodiscard]] std::string host() const;
  /// "127.0.0.1:10000", "[::1]:10000"
  [[nodiscard]] std::string text() const;
  /// True if both addresses are of one host. The ports may differ. An IPv4 address equals its IPv6
  /// form ("::ffff:192.0.2.1").
  [[nodiscard]] bool same_host(const Address& other) const;
  /// True for a loopback address, and for an address of a network interface of this machine.
  [[nodiscard]] bool is_own() const;
};

/// Reads "192.0.2.1" and "2001:db8::1", without a port. Nothing for other text, such as a name.
[[nodiscard]] std::optional<Address> numeric_address(const std::string& host);

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
