#pragma once

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "gateway/net/connection.hpp"

namespace hyphos::gateway {

/// Waits until `holds` returns true, for effects of other threads. Returns false after a timeout.
[[nodiscard]] inline bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 20'000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// A passive TCP client for tests.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port)
      : connection_(net::connect("127.0.0.1", port, Duration::from_seconds(10)).or_throw()) {}
  explicit RawClient(UniqueFd fd) { connection_.fd = std::move(fd); }

  [[nodiscard]] int fd() const { return connection_.fd.get(); }

  /// Returns false if the peer is gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (done < 0 && errno == EAGAIN) {
        pollfd waited{.fd = fd(), .events = POLLOUT, .revents = 0};
        if (::poll(&waited, 1, 20'000) <= 0) return false;
        continue;
      }
      if (done < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
    return true;
  }

  /// Returns `size` bytes, or fewer if the peer closes or no data arrives for 20 s.
  std::string receive(std::size_t size) {
    std::string bytes;
    while (bytes.size() < size) {
      const std::string more = some(size - bytes.size());
      if (more.empty()) break;
      bytes += more;
    }
    return bytes;
  }

  /// The sent bytes of which the peer's kernel has not acknowledged the arrival.
  [[nodiscard]] int unacknowledged() const {
    int bytes = 0;
    EXPECT_EQ(::ioctl(fd(), SIOCOUTQ, &bytes), 0);
    return bytes;
  }

  /// Waits for data and returns at most `most` bytes. Returns an empty string at the end.
  std::string some(std::size_t most) {
    pollfd waited{.fd = fd(), .events = POLLIN, .revents = 0};
    if (::poll(&waited, 1, 20'000) <= 0) return {};
    std::string bytes(std::min<std::size_t>(most, 1 << 20), '\0');
    const ssize_t got = ::recv(fd(), bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }

  /// Returns true once the peer has closed. Discards all data before that.
  bool sees_end() {
    pollfd waited{.fd = fd(), .events = POLLIN, .revents = 0};
    while (::poll(&waited, 1, 20'000) > 0) {
      char passed[4096];
      if (::recv(fd(), passed, sizeof passed, 0) <= 0) return true;
    }
    return false;
  }

  void close() { connection_.fd = UniqueFd(); }
  /// Closes with a reset, as the kernel does for a process that dies with unread data.
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

 private:
  net::Connection connection_;
};

}  // namespace hyphos::gateway
