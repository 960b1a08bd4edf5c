#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "transport/zmq/socket.hpp"
#include "transport/zmq/zmq.hpp"

/// Authentication: keys, the ZAP handler, and the events of a socket's connections.
namespace hyphos::transport::zmq {

/// Decides for libzmq whether the owner of a public key may connect (ZAP, ZeroMQ RFC 27). Used from
/// one thread.
class Gatekeeper {
 public:
  /// Must be bound before any socket of the context sends a request.
  Result<void> open(const Context& context, const CurveKeys& keys);
  [[nodiscard]] const Socket& socket() const { return socket_; }
  /// Replies to all waiting requests. Returns the number of refusals.
  std::uint64_t serve();

 private:
  Socket socket_;
  std::set<std::string> allowed_;  // 32 bytes each
};

/// Configures encryption: as the server if `server_key` is empty, else as a client of that server.
/// Call before bind and connect.
[[nodiscard]] Result<void> use_curve(Socket& socket, const CurveKeys& keys,
                                     const std::optional<std::string>& server_key);

/// Reports disconnects and refusals of a socket's connections.
class Monitor {
 public:
  enum class Event { none, disconnected, refused };
  Monitor() = default;
  /// `watched` must stay open while the monitor exists.
  Monitor(const Context& context, Socket& watched, const std::string& name);
  Monitor(Monitor&& other) noexcept
      : watched_(std::exchange(other.watched_, nullptr)), socket_(std::move(other.socket_)) {}
  Monitor& operator=(Monitor&& other) noexcept {
    std::swap(watched_, other.watched_);
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~Monitor();
  [[nodiscard]] const Socket& socket() const { return socket_; }
  /// The next relevant event, or `none` if no more are waiting.
  [[nodiscard]] Event next();

 private:
  void* watched_ = nullptr;
  Socket socket_;
};

/// libzmq takes over the path of an ipc socket even if another process listens there. True if
/// another process listens.
[[nodiscard]] bool ipc_in_use(std::string_view endpoint);

}  // namespace hyphos::transport::zmq
