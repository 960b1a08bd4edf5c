#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gateway/convert/decode_hint.hpp"
#include "gateway/convert/encoded_message.hpp"
#include "gateway/convert/form.hpp"
#include "gateway/types/client.hpp"
#include "gateway/types/type_info.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

struct TopicInfo {
  std::string topic;                    ///< "/camera/image"
  std::string type;                     ///< the ROS type, empty if ROS has no type for the channel
  std::vector<std::string> publishers;  ///< names of nodes and of clients
  std::vector<std::string> subscribers;
  bool latched = false;  ///< a late subscriber gets the last `latched_depth` messages
  std::uint32_t latched_depth = 1;
  // The guarantees that all publishers give. `depth` is their maximum.
  bool reliable = false;
  std::uint32_t depth = 0;
  std::int64_t deadline_ms = 0;  ///< 0: none
  std::int64_t lifespan_ms = 0;  ///< the longest one. 0: none, or a publisher has none
  std::string carries = {};      ///< type of the channel in the graph
};

/// A message on its way to clients, converted once for all clients that use the same encoding.
struct OutgoingMessage {
  EncodedMessage bytes;
  std::int64_t publish_ns = 0;  ///< publish time, CLOCK_MONOTONIC
  bool replayed = false;        ///< latched: it was published before the client subscribed
  std::uint64_t sender = 0;     ///< the publisher, and the number of its message, counted from 1
  std::uint64_t sequence = 0;
};

/// A client's publisher. Dropping it closes it. Thread-safe, except for flush().
class ClientPublisher {
 public:
  virtual ~ClientPublisher() = default;
  /// Converts and publishes a message.
  ///
  /// `within`: the memory that holds `message`, if it may be kept, and the fields that have been
  /// read already. Large arrays of bytes are then passed on without a copy.
  ///
  /// If the channel blocks its publishers and its queue is full, this function does not block. It
  /// keeps the message for flush(), and the call after that blocks. With
  /// ClientPublisherOptions::spread it also keeps a message for some milliseconds in a burst.
  ///
  /// Errors: corrupt (the text names the field and the position), overloaded and exhausted (no
  /// subscriber could accept it), permission (the client exceeds its limits).
  virtual Result<void> publish(std::span<const std::byte> message, const DecodeHint& within) = 0;
  /// True if a message is kept for flush(). The caller should stop reading from the client.
  [[nodiscard]] virtual bool keeps() const { return false; }
  /// Tries to publish the kept message again. Returns false if there is no room yet. Call it from
  /// one thread at a time, and do not publish meanwhile. Errors: as publish(), and timeout (the
  /// wait exceeded the timeout of the channel).
  virtual Result<bool> flush() { return true; }
  /// The number of messages that met a full queue, which then dropped one: a subscriber is too
  /// slow. Counted as `slow_subscriber`.
  [[nodiscard]] virtual std::uint64_t overruns() const { return 0; }
  Result<void> publish(std::span<const std::byte> message) { return publish(message, {}); }
  /// Memory to receive a message into, or the parts of it that arrive first. Publish it with this
  /// memory as `within`, so that it need not be copied. Empty: the message would be copied anyway.
  virtual WritableBuffer loan(std::size_t size) { return WritableBuffer::on_heap(size); }
  [[nodiscard]] virtual const TypeInfo& type() const = 0;
};

/// A client's subscription. After its destructor has returned, the callback does not run. The
/// exception is a destructor that was called from inside the callback.
class ClientSubscription {
 public:
  virtual ~ClientSubscription() = default;
  [[nodiscard]] virtual const TypeInfo& type() const = 0;
};

struct ClientPublisherOptions {
  bool latched = false;
  std::uint32_t depth = 0;       ///< 0: depth of the channel
  bool reliable = false;         ///< transports resend lost messages, a full queue still drops
  std::int64_t deadline_ms = 0;  ///< 0: none
  std::int64_t lifespan_ms = 0;  ///< 0: none
  /// Spreads bursts (pace.hpp). Only for a client that the caller pauses while keeps() is true.
  bool spread = false;
  /// If no endpoint has opened the channel yet, it becomes a raw channel: CDR passes unchanged
  /// (channel_codec.hpp).
  bool raw = false;
};

struct ClientSubscriptionOptions {
  std::uint32_t depth = 0;  ///< messages that may wait for conversion, 0: depth of the channel
  /// An older message is dropped before its conversion, and counted as `drop.queue.expired`. A late
  /// client does not get an older latched message. 0: no limit.
  std::int64_t lifespan_ms = 0;
};

/// The topics of the graph, in the encodings of ROS. Topic `/camera/image` is channel
/// `camera/image`. Thread-safe. Errors of opening: see GraphFacade.
class Topics {
 public:
  virtual ~Topics() = default;

  virtual Result<std::unique_ptr<ClientPublisher>> open_publisher(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientPublisherOptions& options) = 0;
  /// An empty `type` means the type of the channel, which must exist.
  virtual Result<std::unique_ptr<ClientSubscription>> open_subscription(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientSubscriptionOptions& options,
      std::function<void(const OutgoingMessage&)> callback) = 0;

  /// The topics that are open now. Reads shared memory only, and ignores the rules.
  [[nodiscard]] virtual std::vector<TopicInfo> list() const = 0;
  /// The nodes with an endpoint in the graph: "/camera". Reads shared memory only.
  [[nodiscard]] virtual std::vector<std::string> nodes() const = 0;
};

}  // namespace hyphos::gateway
