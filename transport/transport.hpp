#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/buffer.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/envelope.hpp"
#include "hyphos/policy.hpp"
#include "hyphos/result.hpp"
#include "transport/crew.hpp"

/// The seam between the graph and whatever carries messages out of the process.
///
/// A transport is one file that implements `Transport` and one line in transport/registry.cpp:
/// eight functions. What transports that know their peers by address can do besides is in
/// transport/peering.hpp.
/// Everything that passes here is an Envelope: encoded once, its memory reference-counted.
namespace hyphos::transport {

/// A channel as both ends must agree on it.
struct ChannelSpec {
  std::string name;
  TypeId type;
  Policy policy;
  /// To be joined only with ends of *guests*: processes without a plan, as tools are. The plan's
  /// own processes get the channel in another way. Only shared memory is ever asked for this.
  bool tools_only = false;
};

/// Why a transport lost a message. Each has its own counter, `drop.<transport>.<reason>`.
enum class Drop : std::uint8_t {
  overflow,      ///< the queue towards one receiver was full (drop_oldest, drop_newest)
  timeout,       ///< `block` waited for its limit
  no_memory,     ///< no slot or buffer could be had
  disconnected,  ///< the receiver went away with messages on their way to it
  gap,           ///< seen by the receiver: sequence numbers are missing
  corrupt,       ///< seen by the receiver: the bytes failed a check
  type,          ///< seen by the receiver: the type id is another one
  injected,      ///< the `faulty` transport was asked to
  too_many,      ///< the transport has no place for another receiver of this process's messages
  too_large,     ///< the message can never fit, however long the sender waits
};
inline constexpr std::size_t kDropReasons = 10;
[[nodiscard]] std::string_view to_string(Drop reason);

/// The receiving end of one channel in this process; implemented by the graph.
class ReceiveSink {
 public:
  /// Hands one message over. Called by the transport's own thread(s), at most one at a time per
  /// channel and sender. Returns false, leaving `message` untouched, only when a `block` queue is
  /// full: the transport then keeps the message and all after it of that sender, reads nothing
  /// more for this channel, and tries again after `on_space` was called. Never blocks for long:
  /// `inline` callbacks run in here.
  virtual bool deliver(Envelope& message) = 0;
  /// The transport lost `count` messages of this channel on the receiving side.
  virtual void dropped(std::string_view transport, Drop reason, std::uint64_t count) = 0;
  /// A publisher of this channel in another process appeared (true) or went (false); went comes
  /// after all that it sent. `id` is the Meta::peer of its messages, never 0.
  virtual void peer(std::string_view transport, std::string_view who, std::uint64_t id,
                    bool present) = 0;
  /// A publisher was refused at connect: the message names both types and both sides.
  virtual void refused(std::string_view transport, const Error& why) = 0;

 protected:
  ~ReceiveSink() = default;
};

/// The sending end of one channel in this process; implemented by the graph.
class SendEvents {
 public:
  /// The number of receivers that this transport now has for the channel. While it is 0 the graph
  /// neither encodes nor calls send(). Set by the transport from any thread.
  virtual void listeners(std::string_view transport, std::uint32_t count) = 0;
  virtual void dropped(std::string_view transport, Drop reason, std::uint64_t count) = 0;
  virtual void refused(std::string_view transport, const Error& why) = 0;

 protected:
  ~SendEvents() = default;
};

/// A channel's handle within one transport; cheap to pass, 0 is invalid.
using PortId = std::uint32_t;

/// What became of one message: per receiver, taken or dropped.
struct SendReport {
  std::uint32_t accepted = 0;
  std::uint32_t dropped = 0;
  /// Set when `reliable`/`block` could not keep its promise to some receiver.
  std::optional<Code> failure;
};

/// For `hyphos channel info`, `node list` and `doctor`.
struct PeerStatus {
  std::string channel;
  std::string who;       ///< node or process name as the peer gives it
  std::string endpoint;  ///< where it is: "shm:<id>", "tcp://10.0.0.2:5553"
  bool is_publisher = false;
};

class Transport {
 public:
  /// `name` lives as long as the program.
  explicit Transport(std::string_view name) : name_(name) {}
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// "shm", "zmq": the name in plans, counters and tables.
  [[nodiscard]] std::string_view name() const { return name_; }

  /// Binds, maps and starts threads. After an error the object may only be destroyed.
  virtual Result<void> start() = 0;
  /// From here on `crew` may receive instead of a thread of the transport's own. At most once,
  /// after start() and before the first open(); the crew outlives stop().
  virtual void receive_with(Crew&) {}
  /// Ends all threads; afterwards no ReceiveSink or SendEvents is called. Messages already accepted
  /// by reliable channels are flushed for at most `linger_ms`. Idempotent.
  virtual void stop(std::int64_t linger_ms) = 0;

  /// Joins a channel. Exactly one of `inlet` and `outlet` is given; it must outlive the port.
  /// Thread-safe; may be called before and after start().
  virtual Result<PortId> open(const ChannelSpec& spec, ReceiveSink* sink,
                              SendEvents* send_events) = 0;
  /// Leaves it. On return no call into the port's ReceiveSink/SendEvents is running or will come.
  /// Must not be called from inside ReceiveSink/SendEvents calls.
  virtual void close(PortId port) = 0;

  /// Sends to every receiver of the port, or only to that in the process Meta::to (none, if it is
  /// not there: nothing taken, nothing dropped). Takes its own references; the caller may drop the
  /// envelope at once. Thread-safe; blocks only under `block`, for at most block_timeout_ms.
  /// Latched channels: the transport keeps the last envelope of each Meta::sender (Kept), and sends
  /// them to each late receiver, also beyond the depth of its queue. An envelope with Latch::gone
  /// is not a message: the transport drops the kept envelope of this sender, and sends this one to
  /// every receiver after all messages of the sender. It never waits for that, and counts nothing.
  virtual SendReport send(PortId port, const Envelope& message) = 0;
  /// False if send() of so many bytes would now wait (`block` channels) or make a full queue drop
  /// (other channels). Only sends of this process can take the room.
  /// Not for the data path: it may request memory from the system.
  [[nodiscard]] virtual bool has_room(PortId, std::size_t) { return true; }
  /// Bytes of the largest message that send() on this port can ever carry. Not for the data path.
  [[nodiscard]] virtual std::uint64_t largest(PortId) const { return ~std::uint64_t{0}; }
  /// Memory in which a message for this port needs no further copy. Empty if it has none.
  virtual WritableBuffer loan(PortId port, std::size_t size) = 0;
  /// The queue of the inlet behind this port has room again (after deliver() returned false).
  virtual void on_space(PortId port) = 0;
  /// The peers known now. Not for the data path: takes locks and allocates.
  virtual std::vector<PeerStatus> peers() const = 0;

 private:
  const std::string_view name_;
};

}  // namespace hyphos::transport
