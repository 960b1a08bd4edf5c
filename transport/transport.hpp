#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/latched_cache.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/envelope.hpp"
#include "hyphos/policy.hpp"
#include "hyphos/result.hpp"
#include "transport/ready_list.hpp"

/// The interface between the graph and a component that carries messages out of the process.
///
/// A transport is one file that implements `Transport`, and one line in plan/transport_list.hpp.
/// The further interface of transports that reach their peers by address is in
/// transport/peering.hpp. All messages cross this interface as an Envelope: encoded once, with
/// reference-counted memory.
namespace hyphos::transport {

/// The description of a channel on which both endpoints must agree.
struct ChannelSpec {
  std::string name;
  TypeId type;
  Policy policy;
  /// Match only the endpoints of *tools*: processes without a plan. The plan's own processes
  /// receive the channel on another transport. Only the shared-memory transport receives such a
  /// spec.
  bool tools_only = false;
  /// The node of the first endpoint here, for errors. May be empty.
  std::string node = {};
};

inline std::uint64_t sender_of(const Envelope& message) { return message.meta.sender; }
/// The latched cache of one publishing port.
using LatchedEnvelopes = LatchedCache<Envelope, sender_of>;

/// Why a transport lost a message. Each has its own counter, `drop.<transport>.<reason>`.
enum class Drop : std::uint8_t {
  overflow,      ///< the queue to one receiver was full (drop_oldest, drop_newest)
  timeout,       ///< `block` waited until its limit
  no_memory,     ///< no slot or buffer was available
  disconnected,  ///< the receiver disconnected while messages were in flight
  gap,           ///< seen by the receiver: sequence numbers are missing
  corrupt,       ///< seen by the receiver: the bytes failed a check
  type,          ///< seen by the receiver: the type id differs
  injected,      ///< the `faulty` transport was configured to lose it
  too_many,      ///< the transport has no room for another receiver of this process's messages
  too_large,     ///< the message can never fit, however long the sender waits
};
inline constexpr std::size_t kDropReasons = 10;
[[nodiscard]] std::string_view to_string(Drop reason);

/// The receiving endpoint of one channel in this process. The graph implements it.
class ReceiveSink {
 public:
  /// Delivers one message. The transport's own threads call it, at most one at a time per channel
  /// and sender. Returns false only when a `block` queue is full, and leaves `message` untouched in
  /// that case. The transport then keeps this message and all later messages of that sender, reads
  /// no more messages for this channel, and tries again after on_space(). Never blocks for long,
  /// although `inline` callbacks run inside this call. `ready`: the list of the polling thread, to
  /// which the graph adds the callback that is due. Null on the transport's own threads: the pool
  /// then gets the callback.
  virtual bool deliver(Envelope& message, ReadyList* ready) = 0;
  /// The transport lost `count` messages of this channel on the receiving side.
  virtual void dropped(std::string_view transport, Drop reason, std::uint64_t count) = 0;
  /// A publisher of this channel in another process appeared (true) or disappeared (false). Its
  /// messages arrive between the two reports. `id` is the Meta::peer of its messages and is never
  /// 0.
  virtual void peer(std::string_view transport, std::string_view who, std::uint64_t id,
                    bool present) = 0;
  /// A publisher was refused at connect. The error names both types and both processes.
  virtual void refused(std::string_view transport, const Error& why) = 0;

 protected:
  ~ReceiveSink() = default;
};

/// The sending endpoint of one channel in this process. The graph implements it.
class SendEvents {
 public:
  /// Reports the number of receivers that this transport now has for the channel. While the number
  /// is 0, the graph neither encodes messages nor calls send(). Called by the transport from any
  /// thread.
  virtual void listeners(std::string_view transport, std::uint32_t count) = 0;
  virtual void dropped(std::string_view transport, Drop reason, std::uint64_t count) = 0;
  virtual void refused(std::string_view transport, const Error& why) = 0;

 protected:
  ~SendEvents() = default;
};

/// A channel's handle within one transport. Cheap to copy. 0 is invalid.
using PortId = std::uint32_t;

/// The outcome of one message: the number of receivers that accepted it, and that lost it.
struct SendReport {
  std::uint32_t accepted = 0;
  std::uint32_t dropped = 0;
  /// Set when `reliable` or `block` could not deliver to some receiver.
  std::optional<Code> failure;
};

/// For `hyphos channel info`, `node list` and `doctor`.
struct PeerStatus {
  std::string channel;
  std::string who;       ///< node or process name, as the peer reports it
  std::string endpoint;  ///< its address: "shm:<id>", "tcp://10.0.0.2:5553"
  bool is_publisher = false;
};

class Transport {
 public:
  /// `name` must live as long as the program.
  explicit Transport(std::string_view name) : name_(name) {}
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// "shm", "zmq": the name in plans, counters and tables.
  [[nodiscard]] std::string_view name() const { return name_; }

  /// Binds, maps and starts threads. After an error, the object may only be destroyed.
  virtual Result<void> start() = 0;
  /// Returns the function by which threads of the caller receive from this call on, instead of a
  /// thread of the transport. Empty if the transport has only threads of its own. Call it at most
  /// once, after start() and before the first open(). The polls may go on until stop() returns, and
  /// a poll after that returns `over`.
  [[nodiscard]] virtual PollFunction receive_by_polling() { return {}; }
  /// Ends all threads. After the return, the transport calls no ReceiveSink or SendEvents. Before
  /// that, it flushes accepted messages of reliable channels for at most `linger_ms`. Idempotent.
  virtual void stop(std::int64_t linger_ms) = 0;

  /// Joins a channel. Exactly one of `sink` and `send_events` is given. It must outlive the port.
  /// Thread-safe. May be called before and after start().
  virtual Result<PortId> open(const ChannelSpec& spec, ReceiveSink* sink,
                              SendEvents* send_events) = 0;
  /// Leaves the channel. After the return, no call into the port's ReceiveSink or SendEvents runs
  /// or will start. Must not be called from inside an ReceiveSink or SendEvents call.
  virtual void close(PortId port) = 0;

  /// Sends to every receiver of the port. If Meta::to is set, sends only to the receiver in that
  /// process. If that receiver does not exist, the report counts neither accepted nor dropped
  /// messages. Takes its own references, so the caller may drop the envelope at once. Thread-safe.
  /// Blocks only under `block`, for at most block_timeout_ms. With Meta::no_wait it never blocks: a
  /// receiver without room loses the message, and the failure is Code::overloaded.
  ///
  /// Latched channels: the transport caches the last Meta::latched_depth envelopes of each
  /// Meta::sender (LatchedEnvelopes) and sends the cached envelopes to each late receiver, before
  /// later ones and also beyond the depth of its queue. An envelope with Latch::gone is not a
  /// message: the transport drops the cached envelopes of this sender and sends the notice to every
  /// receiver after all messages of the sender. Such a send never waits and counts nothing.
  virtual SendReport send(PortId port, const Envelope& message) = 0;
  /// False if send() of a message of `size` bytes would now wait (`block` channels) or make a full
  /// queue drop a message (other channels). Only other sends of this process can use up the room in
  /// the meantime. Not for the data path: it may request memory from the system.
  [[nodiscard]] virtual bool has_room(PortId, std::size_t) { return true; }
  /// The size in bytes of the largest message that send() on this port can ever carry. Not for the
  /// data path.
  [[nodiscard]] virtual std::uint64_t largest(PortId) const { return ~std::uint64_t{0}; }
  /// Memory in which a message for this port needs no further copy. Empty if none is available.
  virtual WritableBuffer loan(PortId port, std::size_t size) = 0;
  /// The queue of the receive sink behind this port has room again (after deliver() returned
  /// false).
  virtual void on_space(PortId port) = 0;
  /// The currently known peers. Not for the data path: takes locks and allocates.
  virtual std::vector<PeerStatus> peers() const = 0;

 private:
  const std::string_view name_;
};

}  // namespace hyphos::transport
