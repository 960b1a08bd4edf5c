#pragma once

#include <poll.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "transport/peering.hpp"
#include "transport/zmq/auth.hpp"
#include "transport/zmq/receiver.hpp"
#include "transport/zmq/socket.hpp"
#include "transport/zmq/zmq.hpp"

namespace hyphos::transport::zmq {

/// The connected sockets of a process: one DEALER for each configured peer.
///
/// Threads: connect(), forget() and has() from any thread. All other functions from the thread that
/// waits for the sockets. That thread takes over a connected link by calling add().
class Dialer {
 public:
  struct Connection {
    LinkId id = 0;
    std::string endpoint;
    Socket dealer;
    Monitor monitor;
  };

  Dialer(const Context& context, const ZmqConfig& config) : context_(context), config_(config) {}

  /// Returns Code::already_exists if there is a link to this endpoint. Returns invalid_config if
  /// the endpoint or a key is malformed, or if only one side has keys.
  Result<std::shared_ptr<Connection>> connect(const PeerAddress& peer);
  /// Returns the link to an endpoint, which may then be connected again. Code::not_found.
  Result<LinkId> forget(const std::string& endpoint);
  /// True from connect() to forget().
  [[nodiscard]] bool has(const std::string& endpoint) const;

  void add(std::shared_ptr<Connection> link);
  /// Ends a link. The last messages have `linger_ms` to leave.
  void remove(LinkId id, int linger_ms);
  void set_linger(int linger_ms);
  void close() { links_.clear(); }
  [[nodiscard]] const std::map<LinkId, std::shared_ptr<Connection>>& links() const {
    return links_;
  }
  [[nodiscard]] Connection* find(LinkId id) const;
  void add_event_fds(std::vector<pollfd>& to) const;
  /// False, with `to` incomplete, if a message is already waiting.
  [[nodiscard]] bool add_data_fds(std::vector<pollfd>& to) const;

 private:
  Result<std::shared_ptr<Connection>> open(const PeerAddress& peer, LinkId id) const;

  const Context& context_;
  const ZmqConfig& config_;
  mutable Mutex mutex_;
  std::map<std::string, LinkId> by_endpoint_ HYPHOS_GUARDED_BY(mutex_);
  LinkId next_id_ HYPHOS_GUARDED_BY(mutex_) = 1;
  std::map<LinkId, std::shared_ptr<Connection>> links_;
};

}  // namespace hyphos::transport::zmq
