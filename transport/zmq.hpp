#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/transport.hpp"

/// Between processes and machines: ZeroMQ over ipc:// and tcp://. docs/wire.md is the protocol.
namespace hyphos::transport {

/// CURVE keys in Z85 (40 characters, as `zmq_curve_keypair` makes them). A process has one pair,
/// with which it serves and connects.
struct CurveKeys {
  std::string public_key;
  std::string secret_key;
  /// Public keys of the processes that may connect here. Everyone else is refused.
  std::vector<std::string> allowed;
};

struct ZmqPeer {
  std::string endpoint;  ///< "tcp://10.0.0.2:5553", "ipc:///run/robot/mapper"
  /// Subscribe to these channels only; nullopt: to all that are open in this process.
  std::optional<std::vector<std::string>> channels;
  /// The peer's public key; required exactly when this process has keys.
  std::optional<std::string> server_key;
};

struct ZmqConfig {
  std::string process_name;
  std::vector<std::string> bind;  ///< nothing is bound that is not named here
  std::vector<ZmqPeer> connect;
  std::optional<CurveKeys> curve;
  std::optional<std::vector<std::string>> publish_channels;  ///< nullopt: all
  std::uint64_t max_message_bytes = std::uint64_t{256} << 20;
  /// How long a TCP peer that vanished may take to come back before its messages count as lost and
  /// a blocked publisher goes on. (An ipc peer whose connection ends is dead and gone at once.)
  std::int64_t reconnect_window_ms = 3000;
  /// TCP peers that are silent for three times so long are disconnected; 0: never.
  std::int64_t heartbeat_ms = 5000;
};

/// What went wrong at the door, for `doctor` and tests.
struct ZmqCounters {
  std::uint64_t malformed = 0;    ///< messages that could not be read
  std::uint64_t refused = 0;      ///< peers without an allowed key, or without encryption
  std::uint64_t disconnects = 0;  ///< connections that ended
};

/// The ZeroMQ transport.
///
/// Threads: one of ours waits for the sockets and calls inlets and outlets; libzmq adds one that
/// moves bytes. send() writes to the socket in the caller's thread (one thread hop less than
/// handing over), under a lock that is held for the microseconds this takes and never while
/// waiting. Payloads and attached buffers are neither copied on the way out nor on the way in.
///
/// Flow: for each channel and subscriber at most `depth` messages or 256 KiB, whichever is more,
/// are under way unconfirmed; behind them waits a queue of `depth` with the channel's overflow
/// rule. `reliable` keeps messages until they are confirmed and sends them again over a new
/// connection.
///
/// send() from inside an inlet's call is allowed, under `block` too: it then serves subscribers
/// while it waits. Messages on reliable channels arrive exactly once and in order as long as both
/// processes live and the connection returns within reconnect_window_ms.
class ZmqTransport : public Transport {
 public:
  /// Connects one more peer at run time. Code::already_exists if it is connected, invalid_config
  /// if the endpoint is malformed.
  virtual Result<void> add_peer(const ZmqPeer& peer) = 0;
  virtual Result<void> remove_peer(const std::string& endpoint) = 0;

  /// Permits or forbids that a channel leaves this process, towards one peer or (empty) all. A peer
  /// is named by its process name or its endpoint; it need not be connected yet. What was said
  /// about one peer outweighs what is said about all.
  virtual void publish_channel(const std::string& channel, bool open,
                               const std::string& peer = {}) = 0;
  /// Subscribes to or unsubscribes from a channel, at one peer or (empty) all.
  virtual void subscribe_channel(const std::string& channel, bool open,
                                 const std::string& peer = {}) = 0;
  /// Is a process or endpoint of this name known here, whatever channels it has open?
  [[nodiscard]] virtual bool has_peer(const std::string& peer) const = 0;

  /// Where this process can be reached, with the ports that "tcp://…:*" was given. After start().
  [[nodiscard]] virtual std::vector<std::string> endpoints() const = 0;
  [[nodiscard]] virtual ZmqCounters counters() const = 0;
  /// Identifies this transport object on the network.
  [[nodiscard]] virtual std::uint64_t session() const = 0;
};

[[nodiscard]] std::unique_ptr<ZmqTransport> make_zmq(ZmqConfig config);

/// A fresh key pair; Code::unsupported if libzmq was built without CURVE.
[[nodiscard]] HYPHOS_EXPORT Result<CurveKeys> make_curve_keys();

}  // namespace hyphos::transport
