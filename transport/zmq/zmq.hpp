#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyphos/inspect.hpp"
#include "transport/peering.hpp"
#include "transport/transport.hpp"

/// Between processes and machines: ZeroMQ over ipc:// and tcp://. docs/wire.md is the protocol.
namespace hyphos::transport {

struct ZmqConfig {
  std::string process_name;
  std::vector<BindPoint> bind;  ///< nothing is bound that is not named here
  std::vector<PeerAddress> connect;
  std::optional<CurveKeys> curve;
  std::uint64_t max_message_bytes = std::uint64_t{256} << 20;
  /// How long a TCP peer that vanished may take to come back before its messages count as lost and
  /// a blocked publisher goes on. (An ipc peer whose connection ends is dead and gone at once.)
  std::int64_t reconnect_window_ms = 3000;
  /// TCP peers that are silent for three times so long are disconnected; 0: never.
  std::int64_t heartbeat_ms = 5000;
  /// Called by the I/O thread after every exchange of stamps with another machine; may be empty.
  /// Must be quick, and must outlive the transport.
  std::function<void(const PeerClock&)> on_peer_clock;
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
class ZmqTransport : public Transport, public Peering {
 public:
  using Transport::Transport;
  [[nodiscard]] virtual ZmqCounters counters() const = 0;
};

[[nodiscard]] std::unique_ptr<ZmqTransport> make_zmq(ZmqConfig config);

/// A fresh key pair; Code::unsupported if libzmq was built without CURVE.
[[nodiscard]] HYPHOS_EXPORT Result<CurveKeys> make_curve_keys();

}  // namespace hyphos::transport
