#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hyphos/result.hpp"

/// What transports that connect by address have in common beside the seam of transport.hpp.
namespace hyphos::transport {

/// CURVE keys in Z85 (40 characters, as `zmq_curve_keypair` makes them). A process has one pair,
/// with which it serves and connects.
struct CurveKeys {
  std::string public_key;
  std::string secret_key;
  /// Public keys of the processes that may connect here. Everyone else is refused.
  std::vector<std::string> allowed;
};

/// An endpoint to bind, and what is offered there.
struct BindPoint {
  std::string endpoint;                              ///< "tcp://*:5553", "tcp://127.0.0.1:*"
  std::optional<std::vector<std::string>> channels;  ///< nullopt: all that are open
};

/// A process to connect to.
struct PeerAddress {
  std::string endpoint;  ///< "tcp://10.0.0.2:5553", "ipc:///run/robot/mapper"
  /// Subscribe to these channels only; nullopt: to all that are open in this process.
  std::optional<std::vector<std::string>> channels;
  /// The peer's public key; required exactly when this process has keys.
  std::optional<std::string> server_key;
};

/// The side of a transport that knows its peers by address: they may be connected, disconnected
/// and denied single channels while it runs. Thread-safe.
class Peering {
 public:
  /// Connects one more peer. Code::already_exists if it is connected, invalid_config if the
  /// endpoint is malformed.
  virtual Result<void> add_peer(const PeerAddress& peer) = 0;
  virtual Result<void> remove_peer(const std::string& endpoint) = 0;

  /// Permits or forbids that a channel leaves this process, towards one peer or (empty) all. A peer
  /// is named by its process name or by the endpoint at which this process connects to it; it need
  /// not be connected yet. A setting for one peer outweighs one for all. A peer may be named by its
  /// process, which two robots may share, and by its endpoint: the latest setting counts.
  virtual void publish_channel(const std::string& channel, bool open,
                               const std::string& peer = {}) = 0;
  /// Subscribes to or unsubscribes from a channel, at one peer or (empty) all.
  virtual void subscribe_channel(const std::string& channel, bool open,
                                 const std::string& peer = {}) = 0;
  /// Is a process or endpoint of this name known here, whatever channels it has open?
  [[nodiscard]] virtual bool has_peer(const std::string& peer) const = 0;

  /// Where this process can be reached, in the order in which it was told to bind, with the ports
  /// that "tcp://…:*" was given. After start().
  [[nodiscard]] virtual std::vector<std::string> endpoints() const = 0;
  /// Identifies this transport object on the network.
  [[nodiscard]] virtual std::uint64_t session() const = 0;

 protected:
  ~Peering() = default;
};

}  // namespace hyphos::transport
