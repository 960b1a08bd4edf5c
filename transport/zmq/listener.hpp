#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/peering.hpp"
#include "transport/zmq/auth.hpp"
#include "transport/zmq/socket.hpp"
#include "transport/zmq/zmq.hpp"

namespace hyphos::transport::zmq {

/// What is offered at the endpoints of a process. libzmq does not tell through which endpoint of a
/// socket a message came, so endpoints that offer different channels need sockets of their own;
/// those that offer the same share one, a *door*.
struct EndpointMap {
  using Offer = std::optional<std::vector<std::string>>;
  std::vector<Offer> offers;           ///< by door
  std::vector<EndpointIndex> of_bind;  ///< by index of the bind point
  bool too_many = false;               ///< more than a session number can tell apart

  [[nodiscard]] static EndpointMap of(const std::vector<BindPoint>& binds);
};

/// The bound sockets of a process: one ROUTER for each door, and who may come in.
///
/// A connection is named by one byte for its door and libzmq's name for it. Threads: bind() and
/// close() from one; write(), receive(), readable() and set_linger() under one lock, the owner's;
/// the rest from the thread that waits for the sockets.
class Listener {
 public:
  /// Code::already_exists if an endpoint is taken. After an error only close() may be called.
  Result<void> bind(const Context& context, const ZmqConfig& config, const EndpointMap& endpoints);
  void close();
  /// In the order of the bind points, with the ports that "tcp://…:*" was given.
  [[nodiscard]] const std::vector<std::string>& endpoints() const { return endpoints_; }
  [[nodiscard]] std::size_t endpoint_count() const { return routers_.size(); }

  /// Sends all frames as one message to `connection`, or returns false if it is gone.
  bool write(const std::string& connection, std::span<Frame> frames);
  /// The next message that came through `door`; false if none is waiting. `count` frames of it are
  /// kept, as many as there is space for; the rest is taken and dropped.
  [[nodiscard]] bool receive(EndpointIndex endpoint_index, std::string& connection,
                             std::span<Frame> frames, std::size_t& count);
  [[nodiscard]] bool readable(EndpointIndex endpoint_index) const;
  [[nodiscard]] static EndpointIndex endpoint_of(const std::string& connection) {
    return connection.empty() ? EndpointIndex{0} : static_cast<EndpointIndex>(connection[0]);
  }
  void set_linger(int linger_ms);

  /// Descriptors that are ready when messages came, and when serve_events() has something to do.
  void add_data_fds(std::vector<pollfd>& to) const;
  void add_event_fds(std::vector<pollfd>& to) const;
  /// Answers those who knock. Counts who was refused and which connections have ended.
  struct Events {
    std::uint64_t refused = 0;
    std::uint64_t lost = 0;
  };
  [[nodiscard]] Events serve_events();

 private:
  struct Room {
    Socket router;
    int fd = -1;
    Monitor monitor;
  };
  Result<void> open_room(const Context& context, const ZmqConfig& config, bool tcp);

  std::vector<Room> routers_;  // by door
  Gatekeeper gatekeeper_;
  std::vector<std::string> endpoints_;
};

}  // namespace hyphos::transport::zmq
