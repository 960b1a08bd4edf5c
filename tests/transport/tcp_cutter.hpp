#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hyphos::transport::testing {

/// A connection between a client and a server on loopback that can be cut and restored.
class TcpCutter {
 public:
  explicit TcpCutter(std::uint16_t target) : target_(target), event_(eventfd(0, EFD_CLOEXEC)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 16);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~TcpCutter() {
    ending_ = true;
    poke();
    thread_.join();
    ::close(listener_);
    ::close(event_);
  }
  TcpCutter(const TcpCutter&) = delete;
  TcpCutter& operator=(const TcpCutter&) = delete;

  [[nodiscard]] std::string endpoint() const { return "tcp://127.0.0.1:" + std::to_string(port_); }
  /// Ends all connections. New ones are accepted at once.
  void cut() {
    cuts_wanted_ += 1;
    poke();
  }
  /// While down, new connections are closed on arrival.
  void set_down(bool down) {
    down_ = down;
    if (down) cut();
  }

 private:
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  void poke() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto n = ::write(event_, &one, sizeof one);
  }
  void accept_one() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(target_);
    if (down_ ||
        ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(client);
      ::close(server);
      return;
    }
    pairs_.emplace_back(client, server);
  }
  static bool copy(int from, int to) {
    std::array<char, 65536> bytes;
    const ssize_t n = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n < 0) return true;
    for (ssize_t done = 0; done < n;) {
      const ssize_t sent =
          ::send(to, bytes.data() + done, static_cast<std::size_t>(n - done), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      done += sent;
    }
    return n > 0;
  }
  void close_all() {
    for (const auto& [client, server] : pairs_) {
      ::close(client);
      ::close(server);
    }
    pairs_.clear();
  }
  void run() {
    int cuts = 0;
    while (!ending_) {
      std::vector<pollfd> fds = {{event_, POLLIN, 0}, {listener_, POLLIN, 0}};
      for (const auto& [client, server] : pairs_) {
        fds.push_back({client, POLLIN, 0});
        fds.push_back({server, POLLIN, 0});
      }
      ::poll(fds.data(), fds.size(), -1);
      if (fds[0].revents != 0) {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto n = ::read(event_, &count, sizeof count);
      }
      if (std::exchange(cuts, cuts_wanted_.load()) != cuts_wanted_) {
        close_all();
        continue;
      }
      for (std::size_t i = pairs_.size(); i-- > 0;) {
        const auto [client, server] = pairs_[i];
        const bool alive = (fds[2 + 2 * i].revents == 0 || copy(client, server)) &&
                           (fds[3 + 2 * i].revents == 0 || copy(server, client));
        if (alive) continue;
        ::close(client);
        ::close(server);
        pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (fds[1].revents != 0) accept_one();
    }
    close_all();
  }

  const std::uint16_t target_;
  const int event_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> ending_{false};
  std::atomic<bool> down_{false};
  std::atomic<int> cuts_wanted_{0};
  std::vector<std::pair<int, int>> pairs_;
  std::thread thread_;
};

/// The port at the end of "tcp://127.0.0.1:5553".
inline std::uint16_t port_of(const std::string& endpoint) {
  return static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
}

}  // namespace hyphos::transport::testing
