#include "gateway/net/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "gateway/net/address.hpp"

namespace hyphos::gateway::net {
namespace {

/// Bytes of SO_SNDBUF between sockets of one machine. The kernel reserves twice as many
/// (socket(7)). The kernel's own choice is 4 MB, which seem to leave the caches before the receiver
/// reads them. With this value, 10 MB through loopback take 1/1.2 to 1/1.5 of the time, and a slow
/// client gets newer messages. With 1 MB the gain is half as large, and with 256 KB there is none.
/// To another machine, the kernel must size the buffer by the data in flight.
constexpr int kWithinMachine = 512 << 10;

void set(int fd, int level, int option, int value) {
  // A socket that lacks one of these options still works.
  (void)::setsockopt(fd, level, option, &value, sizeof value);
}

/// 0 if connected, otherwise an errno.
int try_address(const Address& address, Time until, UniqueFd& fd) {
  fd = UniqueFd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return errno;
  if (::connect(fd.get(), address.get(), address.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  while (true) {
    const std::int64_t left_ms = (until - monotonic_now()).ns / 1'000'000;
    if (left_ms < 0) return ETIMEDOUT;
    pollfd waited{.fd = fd.get(), .events = POLLOUT, .revents = 0};
    const int ready =
        ::poll(&waited, 1, static_cast<int>(std::min<std::int64_t>(left_ms, 60'000)) + 1);
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return errno;
  }
  int failed = 0;
  socklen_t size = sizeof failed;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failed, &size);
  return failed;
}

}  // namespace

void prepare(int fd) {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, 6);
  if (local_address(fd).same_host(peer_address(fd))) {
    set(fd, SOL_SOCKET, SO_SNDBUF, kWithinMachine);
  }
}

Result<Connection> connect(const std::string& host, std::uint16_t port, Duration timeout) {
  const Time until = monotonic_now() + timeout;
  const auto addresses = resolve(host, port, false);
  if (!addresses) return addresses.error();
  const std::string where = host + ":" + std::to_string(port);
  int failed = 0;
  for (const Address& address : *addresses) {
    Connection made;
    failed = try_address(address, until, made.fd);
    if (failed != 0) continue;
    prepare(made.fd.get());
    made.peer = address.text();
    return made;
  }
  if (failed == ETIMEDOUT) {
    return Error{Code::timeout,
                 "no connection within " + std::to_string(timeout.ns / 1'000'000) + " ms", where};
  }
  return Error{Code::disconnected, std::string("cannot connect: ") + std::strerror(failed), where};
}

}  // namespace hyphos::gateway::net
