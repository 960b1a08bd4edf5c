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

/// The channels that the endpoints of a process offer. libzmq does not report the endpoint through
/// which a message arrived. So endpoints with different offers need separate sockets. Endpoints
/// with the same offer share one socket and form an *endpoint group*.
struct EndpointMap {
  using Offer = std::optional<std::vector<std::string>>;
  std::vector<Offer> offers;           ///< by endpoint group
  std::vector<EndpointIndex> of_bind;  ///< by index of the bind point
  bool too_many = false;               ///< more than a session number can distinguish

  [[nodiscard]] static EndpointMap of(const std::vector<BindPoint>& binds);
};

/// The bound sockets of a process: one ROUTER for each endpoint group, with authentication.
///
/// A connection is named by one byte for its endpoint group, followed by libzmq's name for it.
/// Threads: bind() and close() from one thread. write(), receive(), readable() and set_linger()
/// under the owner's lock. All other functions from the thread that waits for the sockets.
class Listener {
 public:
  /// Code::already_exists if an endpoint is in use. After an error, only close() may be called.
  Result<void> bind(const Context& context, const ZmqConfig& config, const EndpointMap& endpoints);
  void close();
  /// In the order of the bind points. Ports requested by "tcp://…:*" are filled in.
  [[nodiscard]] const std::vector<std::string>& endpoints() const { return endpoints_; }
  [[nodiscard]] std::size_t endpoint_count() const { return routers_.size(); }

  /// Sends all frames as one message to `connection`, or returns false if it is gone.
  bool write(const std::string& connection, std::span<Frame> frames);
  /// Receives the next message of an endpoint group. Returns false if none is waiting. Keeps as
  /// many frames as `frames` has space for, and stores their number in `count`. Further frames are
  /// read and discarded.
  [[nodiscard]] bool receive(EndpointIndex endpoint_index, std::string& connection,
                             std::span<Frame> frames, std::size_t& count);
  [[nodiscard]] bool readable(EndpointIndex endpoint_index) const;
  [[nodiscard]] static EndpointIndex endpoint_of(const std::string& connection) {
    return connection.empty() ? EndpointIndex{0} : static_cast<EndpointIndex>(connection[0]);
  }
  void set_linger(int linger_ms);

  /// Descriptors that become ready when messages arrive, and when serve_events() has work to do.
  void add_data_fds(std::vector<pollfd>& to) const;
  void add_event_fds(std::vector<pollfd>& to) const;
  /// Replies to authentication requests. Counts refused peers and ended connections.
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

  std::vector<Room> routers_;  // by endpoint group
  Gatekeeper gatekeeper_;
  std::vector<std::string> endpoints_;
};

}  // namespace hyphos::transport::zmq
