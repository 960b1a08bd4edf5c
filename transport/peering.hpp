#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hyphos/result.hpp"

/// The interface that transports with addressed peers add to transport.hpp.
namespace hyphos::transport {

/// CURVE keys in Z85 (40 characters, the format of `zmq_curve_keypair`). A process uses one key
/// pair both to serve and to connect.
struct CurveKeys {
  std::string public_key;
  std::string secret_key;
  /// Public keys of the processes that may connect here. All others are refused.
  std::vector<std::string> allowed;
};

/// An endpoint to bind, and the channels that are offered there.
struct BindPoint {
  std::string endpoint;                              ///< "tcp://*:5553", "tcp://127.0.0.1:*"
  std::optional<std::vector<std::string>> channels;  ///< nullopt: all open channels
};

/// A process to connect to.
struct PeerAddress {
  std::string endpoint;  ///< "tcp://10.0.0.2:5553", "ipc:///run/robot/mapper"
  /// Subscribe only to these channels. nullopt: to all channels that are open in this process.
  std::optional<std::vector<std::string>> channels;
  /// The peer's public key. Required exactly when this process has keys.
  std::optional<std::string> server_key;
};

/// The part of a transport that reaches its peers by address. Peers can be connected, disconnected,
/// and denied single channels at run time. Thread-safe.
class Peering {
 public:
  /// Connects one more peer. Returns Code::already_exists if it is connected, and invalid_config if
  /// the endpoint is malformed.
  virtual Result<void> add_peer(const PeerAddress& peer) = 0;
  virtual Result<void> remove_peer(const std::string& endpoint) = 0;

  /// Permits or forbids that a channel leaves this process, towards one peer or (empty) all peers.
  /// A peer is named by its process name, or by the endpoint to which this process connects. It
  /// need not be connected yet. A setting for one peer overrides the setting for all peers. Two
  /// robots may share a process name. If a peer was named both by process and by endpoint, the
  /// latest setting applies.
  virtual void publish_channel(const std::string& channel, bool open,
                               const std::string& peer = {}) = 0;
  /// Subscribes to a channel or unsubscribes from it, at one peer or (empty) all peers.
  virtual void subscribe_channel(const std::string& channel, bool open,
                                 const std::string& peer = {}) = 0;
  /// True if a process or endpoint of this name is known, with any channels or none.
  [[nodiscard]] virtual bool has_peer(const std::string& peer) const = 0;

  /// The endpoints of this process, in the order in which they were bound. Ports requested by
  /// "tcp://…:*" are filled in. Valid after start().
  [[nodiscard]] virtual std::vector<std::string> endpoints() const = 0;
  /// Identifies this transport object on the network.
  [[nodiscard]] virtual std::uint64_t session() const = 0;

 protected:
  ~Peering() = default;
};

}  // namespace hyphos::transport
