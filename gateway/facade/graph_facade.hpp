#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/convert/decode_hint.hpp"
#include "gateway/convert/encoded_message.hpp"
#include "gateway/convert/form.hpp"
#include "gateway/facade/node_params.hpp"
#include "gateway/types/client.hpp"
#include "gateway/types/type_info.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway {

struct TopicInfo {
  std::string topic;                    ///< "/camera/image"
  std::string type;                     ///< the ROS type, empty if ROS has no type for the channel
  std::vector<std::string> publishers;  ///< names of nodes and of clients
  std::vector<std::string> subscribers;
  bool latched = false;  ///< a late subscriber gets the last message
  // The guarantees that all publishers give. `depth` is their maximum.
  bool reliable = false;
  std::uint32_t depth = 0;
  std::int64_t deadline_ms = 0;  ///< 0: none
  std::string carries = {};      ///< type of the channel in the graph
};

struct ServiceInfo {
  std::string name;
  std::string type;          ///< the ROS type, empty if ROS has no corresponding type
  std::string node;          ///< the server, the gateway's own node if a client serves it
  std::string carries = {};  ///< type in the graph
};
using ActionInfo = ServiceInfo;

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

/// A service that a client serves. Dropping it ends the service: calls without a reply fail.
class Server {
 public:
  virtual ~Server() = default;
  [[nodiscard]] virtual const ServiceTypeInfo& type() const = 0;
};

/// The reply to a call that a client serves, or the end of a call that a client made.
using Answer = std::function<void(Result<Buffer>)>;

/// The end of a goal that did not fail.
enum class GoalEnd : std::uint8_t { succeeded, canceled, aborted };
struct GoalResult {
  GoalEnd end = GoalEnd::succeeded;
  Buffer result;
};

/// A goal that a client sent. Dropping it requests to cancel the goal, and no callback runs
/// afterwards.
class SentGoal {
 public:
  virtual ~SentGoal() = default;
  virtual void cancel() = 0;
};
struct GoalCallbacks {
  std::function<void(const Buffer& feedback)> feedback;  ///< may be empty, called in order
  std::function<void(Result<GoalResult>)> end;           ///< called once, a rejection is an error
};

/// A goal that a client executes. Thread-safe. Dropping it before its end aborts the goal.
class ServedGoal {
 public:
  virtual ~ServedGoal() = default;
  /// Errors: corrupt, disconnected or overloaded (no client accepts it).
  virtual Result<void> feedback(std::span<const std::byte> message) = 0;
  /// Errors: corrupt (the goal stays active), already_exists (the goal has ended).
  virtual Result<void> finish(GoalEnd end, std::span<const std::byte> result) = 0;
  virtual void fail(const Error& error) = 0;
};
using ServedGoalRef = std::shared_ptr<ServedGoal>;
struct ActionCallbacks {
  std::function<void(const Buffer& goal, const ServedGoalRef& handle)> execute;
  std::function<void(const ServedGoalRef& handle)> cancel;  ///< the goal should end
};
/// An action that a client executes. Dropping it ends the action and aborts its goals.
class ActionServer {
 public:
  virtual ~ActionServer() = default;
};

struct ClientPublisherOptions {
  bool latched = false;
  std::uint32_t depth = 0;       ///< 0: depth of the channel
  bool reliable = false;         ///< transports resend lost messages, a full queue still drops
  std::int64_t deadline_ms = 0;  ///< 0: none
  /// Spreads bursts (pace.hpp). Only for a client that the caller pauses while keeps() is true.
  bool spread = false;
  /// If no endpoint has opened the channel yet, it becomes a raw channel: CDR passes unchanged
  /// (carrier.hpp).
  bool raw = false;
};

struct ClientSubscriptionOptions {
  std::uint32_t depth = 0;  ///< messages that may wait for conversion, 0: depth of the channel
};

/// The facade of the robot's graph for the clients of a gateway: topics and services of ROS, in the
/// encodings of ROS. Topic `/camera/image` is channel `camera/image`.
///
/// Threads: thread-safe. Callbacks run on the thread pool of the process and must not block. Errors
/// of opening: not_found (no such type, with similar names), type_mismatch (the channel carries
/// another type), permission (the rules refuse this client).
class GraphFacade {
 public:
  virtual ~GraphFacade() = default;

  virtual Result<std::unique_ptr<ClientPublisher>> open_publisher(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientPublisherOptions& options) = 0;
  /// An empty `type` means the type of the channel, which must exist.
  virtual Result<std::unique_ptr<ClientSubscription>> open_subscription(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientSubscriptionOptions& options,
      std::function<void(const OutgoingMessage&)> callback) = 0;

  /// Lets a client serve a service. `callback` gets a request and replies to it, now or later.
  virtual Result<std::unique_ptr<Server>> open_server(
      const Client& client, const std::string& service, const std::string& type, Form form,
      std::function<void(const Buffer& request, Answer answer)> callback) = 0;
  /// Calls a service for a client. An empty `type` means the type of the server, which must exist.
  /// The reply comes once, on the thread pool. Errors: as Client::call (hyphos/service.hpp).
  virtual void call(const Client& client, const std::string& service, const std::string& type,
                    Form form, std::span<const std::byte> request, Duration timeout,
                    Answer answer) = 0;

  /// Sends a goal for a client. Types and errors work as in open_server() and call(). The returned
  /// error concerns the request only. The callbacks report the outcome of the goal.
  virtual Result<std::unique_ptr<SentGoal>> send_goal(const Client& client,
                                                      const std::string& action,
                                                      const std::string& type, Form form,
                                                      std::span<const std::byte> goal,
                                                      GoalCallbacks callbacks) = 0;
  /// Lets a client execute an action.
  virtual Result<std::unique_ptr<ActionServer>> open_action(const Client& client,
                                                            const std::string& action,
                                                            const std::string& type, Form form,
                                                            ActionCallbacks callbacks) = 0;

  [[nodiscard]] virtual Result<TypeInfo> type(std::string_view name) const = 0;
  [[nodiscard]] virtual Result<ServiceTypeInfo> service_type(std::string_view name) const = 0;
  /// The reply of a service with default values: numbers are 0, strings and arrays are empty.
  /// Errors: not_found (no such type).
  [[nodiscard]] virtual Result<Buffer> blank_reply(std::string_view type, Form form) const = 0;
  [[nodiscard]] virtual Result<ActionTypeInfo> action_type(std::string_view name) const = 0;
  /// The present state of the graph on this machine and on linked machines. Reads shared memory
  /// only.
  [[nodiscard]] virtual std::vector<TopicInfo> topics() const = 0;
  [[nodiscard]] virtual std::vector<ServiceInfo> services() const = 0;
  [[nodiscard]] virtual std::vector<ActionInfo> actions() const = 0;
  [[nodiscard]] virtual std::vector<std::string> nodes() const = 0;

  /// True if the rules allow the use of `name` ("/camera/image") by this client. The lists above
  /// ignore the rules.
  [[nodiscard]] virtual bool lets(const Client& client, Use use, std::string_view name) const = 0;
  /// Names of all known messages, services and actions. A type that both ROS versions have is
  /// listed under both names.
  [[nodiscard]] virtual std::vector<std::string> interfaces() const = 0;
  /// The ROS version whose type names the lists above use: 2 if only ROS 2 types are known, else 1.
  [[nodiscard]] virtual int ros_version() const = 0;

  /// Counts a loss or a refusal as `drop.gateway.<why>`, and logs it at most once per second.
  virtual void count(const Client& client, std::string_view why, std::string_view detail) = 0;
  /// The same for an event that the caller reports once: each call is logged.
  virtual void note(const Client& client, std::string_view why, std::string_view detail) = 0;

  /// Opens the parameters. `changed` is called after a value of a node, or a shown value, has
  /// changed. The caller must call look() and show(). Only one may be open at a time, because it
  /// uses the gateway's own node.
  virtual std::unique_ptr<NodeParams> open_params(std::function<void()> changed) = 0;
};

}  // namespace hyphos::gateway
