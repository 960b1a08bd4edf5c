#include "cosim/mavlink/link.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace hyphos::cosim::mavlink {
namespace {

constexpr std::size_t kMostDatagram = 2048;

bool same(const sockaddr_in& a, const sockaddr_in& b) {
  return a.sin_addr.s_addr == b.sin_addr.s_addr && a.sin_port == b.sin_port;
}

}  // namespace

Result<sockaddr_in> Link::checked(const std::string& remote) {
  const std::size_t colon = remote.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  std::uint16_t number = 0;
  const std::string address = remote.substr(0, colon);
  const char* const begin = remote.data() + std::min(remote.size(), colon + 1);
  const auto [end, error] = std::from_chars(begin, remote.data() + remote.size(), number);
  if (colon == std::string::npos || error != std::errc{} || end != remote.data() + remote.size() ||
      number == 0 || ::inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) {
    return Error{Code::invalid_config,
                 "'" + remote + "' is not ADDRESS:PORT, such as 127.0.0.1:14550", "mavlink"};
  }
  to.sin_port = htons(number);
  return to;
}

Result<Link> Link::open(const std::string& remote, std::uint16_t port) {
  auto to = checked(remote);
  if (!to) return to.error();
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return Error{Code::io, std::strerror(errno), "mavlink"};
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(INADDR_ANY);
  from.sin_port = htons(port);
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) {
    const std::string why = std::strerror(errno);
    ::close(socket);
    return Error{Code::io,
                 "cannot bind UDP port " + std::to_string(port) + ": " + why +
                     ": end the program that has it, or choose another `port`",
                 "mavlink"};
  }
  return Link(socket, *to);
}

Link::Link(Link&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      peers_(std::move(other.peers_)),
      dropped_(other.dropped_) {}

Link::~Link() {
  if (socket_ >= 0) ::close(socket_);
}

void Link::poll(const std::function<void(std::span<const std::byte>)>& f) {
  std::array<std::byte, kMostDatagram> bytes{};
  for (int i = 0; i < kMostAtOnce; ++i) {
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t count = ::recvfrom(socket_, bytes.data(), bytes.size(), 0,
                                     reinterpret_cast<sockaddr*>(&from), &size);
    if (count < 0) {
      if (errno == ECONNREFUSED || errno == EINTR) continue;  // an earlier send found no listener
      return;
    }
    const bool known =
        std::ranges::any_of(peers_, [&](const sockaddr_in& peer) { return same(peer, from); });
    if (!known) {
      if (peers_.size() == kMostPeers) peers_.erase(peers_.begin() + 1);
      peers_.push_back(from);
    }
    f(std::span(bytes).first(static_cast<std::size_t>(count)));
  }
}

void Link::send(std::span<const std::byte> datagram) {
  for (const sockaddr_in& peer : peers_) {
    const ssize_t sent = ::sendto(socket_, datagram.data(), datagram.size(), MSG_NOSIGNAL,
                                  reinterpret_cast<const sockaddr*>(&peer), sizeof peer);
    if (sent < 0 && errno != ECONNREFUSED) ++dropped_;
  }
}

}  // namespace hyphos::cosim::mavlink
