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

/// Between processes and machines: ZeroMQ over ipc:// and tcp://. Protocol:
/// docs/reference/wire_links.md.
namespace hyphos::transport {

struct ZmqConfig {
  std::string process_name;
  std::vector<BindPoint> bind;  ///< only these endpoints are bound
  std::vector<PeerAddress> connect;
  std::optional<CurveKeys> curve;
  std::uint64_t max_message_bytes = std::uint64_t{256} << 20;
  /// The time in which a vanished TCP peer may return. After it, the peer's messages count as lost,
  /// and a blocked publisher continues. (An ipc peer whose connection ends is dead, so it is
  /// removed at once.)
  std::int64_t reconnect_window_ms = 3000;
  /// TCP peers that are silent for three times this long are disconnected. 0: never.
  std::int64_t heartbeat_ms = 5000;
  /// Called by the I/O thread after every exchange of stamps with another machine. May be empty.
  /// Must be quick, and must outlive the transport.
  std::function<void(const PeerClock&)> on_peer_clock;
};

/// Failures of connections and messages, for `doctor` and tests.
struct ZmqCounters {
  std::uint64_t malformed = 0;    ///< messages that could not be parsed
  std::uint64_t refused = 0;      ///< peers without an allowed key, or without encryption
  std::uint64_t disconnects = 0;  ///< connections that ended
};

/// The ZeroMQ transport.
///
/// Threads: one thread of this class waits for the sockets and calls receive sinks and send events.
/// libzmq adds one thread that moves bytes. send() writes to the socket in the caller's thread,
/// which saves one thread hop. It holds a lock for the microseconds of the write and never while it
/// waits. Payloads and attached buffers are copied neither on sending nor on receiving.
///
/// Flow control: for each channel and subscriber, at most `depth` messages or 256 KiB, whichever is
/// more, are in flight without acknowledgement. Behind them is a queue of `depth` messages with the
/// channel's overflow rule. `reliable` keeps messages until they are acknowledged and sends them
/// again over a new connection.
///
/// send() from inside a receive sink's call is allowed, also under `block`: it then serves
/// subscribers while it waits. Messages on reliable channels arrive exactly once and in order, as
/// long as both processes live and the connection returns within reconnect_window_ms.
class ZmqTransport : public Transport, public Peering {
 public:
  using Transport::Transport;
  [[nodiscard]] virtual ZmqCounters counters() const = 0;
};

[[nodiscard]] std::unique_ptr<ZmqTransport> make_zmq(ZmqConfig config);

/// A new key pair. Code::unsupported if libzmq was built without CURVE.
[[nodiscard]] HYPHOS_EXPORT Result<CurveKeys> make_curve_keys();

}  // namespace hyphos::transport
