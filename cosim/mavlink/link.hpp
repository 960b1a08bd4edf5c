#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hyphos/result.hpp"

namespace hyphos::cosim::mavlink {

/// A UDP socket that sends to one given address and to each address that it has received from.
/// It never blocks.
class Link {
 public:
  /// `remote` is ADDRESS:PORT, with an IPv4 address. `port` 0: any local port. Errors:
  /// invalid_config, io.
  [[nodiscard]] static Result<Link> open(const std::string& remote, std::uint16_t port);

  /// Reads ADDRESS:PORT. Errors: invalid_config.
  [[nodiscard]] static Result<sockaddr_in> checked(const std::string& remote);

  Link(Link&& other) noexcept;
  Link& operator=(Link&&) = delete;
  ~Link();

  /// Calls `f` for each datagram that has arrived, at most `kMostAtOnce`.
  void poll(const std::function<void(std::span<const std::byte>)>& f);
  void send(std::span<const std::byte> datagram);
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  static constexpr int kMostAtOnce = 256;
  static constexpr std::size_t kMostPeers = 8;

 private:
  Link(int socket, sockaddr_in remote) : socket_(socket), peers_{remote} {}

  int socket_;
  std::vector<sockaddr_in> peers_;
  std::uint64_t dropped_ = 0;  // datagrams that could not be sent
};

}  // namespace hyphos::cosim::mavlink
