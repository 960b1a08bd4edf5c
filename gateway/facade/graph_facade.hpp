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
  std::string topic;  ///< "/camera/image"
  std::string type;   ///< in ROS; empty if ROS has none for what the channel carries
  std::vector<std::string> publishers;  ///< nodes; clients by their names
  std::vector<std::string> subscribers;
  bool latched = false;  ///< who comes late gets the last message
  // What its publishers keep to, all of them; of `depth` the most.
  bool reliable = false;
  std::uint32_t depth = 0;
  std::int64_t deadline_ms = 0;  ///< 0: none
  std::string carries = {};      ///< its type in the graph
};

struct ServiceInfo {
  std::string name;
  std::string type;          ///< in ROS; empty if ROS has no corresponding type
  std::string node;          ///< its server; the gateway's own node for its clients
  std::string carries = {};  ///< its type in the graph
};
using ActionInfo = ServiceInfo;

/// A message that leaves, converted once for all clients of a form.
struct OutgoingMessage {
  EncodedMessage bytes;
  std::int64_t publish_ns = 0;  ///< CLOCK_MONOTONIC, when it was published
  bool replayed = false;        ///< latched: it was published before the client came
  std::uint64_t sender = 0;     ///< which publisher, and which of its messages, counted from 1
  std::uint64_t sequence = 0;
};

/// A client's publisher. Dropping it ends it. Thread-safe, but for flush().
class ClientPublisher {
 public:
  virtual ~ClientPublisher() = default;
  /// Converts and publishes. `within`: what `message` lies in, if that may be kept, and what of it
  /// has been read already: large arrays of bytes are then passed on where they are. Errors:
  /// corrupt (the message says which field and where), overloaded and exhausted (nobody could take
  /// it), permission (over the limits of the client). If the channel makes its publishers wait
  /// and its queue is full, this keeps the message for flush() instead, and the next one waits.
  /// With ClientPublisherOptions::spread it does so for some milliseconds in a burst.
  virtual Result<void> publish(std::span<const std::byte> message, const DecodeHint& within) = 0;
  /// There is such a message: its client should be held up.
  [[nodiscard]] virtual bool keeps() const { return false; }
  /// Tries again; false if there is no room yet. One thread at a time, which does not publish
  /// meanwhile. Errors: as publish(); timeout: it has waited as long as the channel lets it.
  virtual Result<bool> flush() { return true; }
  /// The number of messages that went to full queues, which then drop one: their subscribers are
  /// too slow. Counted as `slow_subscriber`.
  [[nodiscard]] virtual std::uint64_t overruns() const { return 0; }
  Result<void> publish(std::span<const std::byte> message) { return publish(message, {}); }
  /// Memory for a message that is then published as lying `within` it, or for what is read of it
  /// before, so that it can stay there. Empty: it would be copied from there anyway.
  virtual WritableBuffer loan(std::size_t size) { return WritableBuffer::on_heap(size); }
  [[nodiscard]] virtual const TypeInfo& type() const = 0;
};

/// A client's subscription. After its end the callback is not running and is not called again,
/// unless it was ended from inside it.
class ClientSubscription {
 public:
  virtual ~ClientSubscription() = default;
  [[nodiscard]] virtual const TypeInfo& type() const = 0;
};

/// A service that a client answers. Dropping it ends the service: what is not answered then fails.
class Server {
 public:
  virtual ~Server() = default;
  [[nodiscard]] virtual const ServiceTypeInfo& type() const = 0;
};

/// The answer to a call that a client serves, or the end of one that it made.
using Answer = std::function<void(Result<Buffer>)>;

/// How a goal ended, if it did not fail.
enum class GoalEnd : std::uint8_t { succeeded, canceled, aborted };
struct GoalResult {
  GoalEnd end = GoalEnd::succeeded;
  Buffer result;
};

/// A goal that a client sent. Dropping it asks to cancel, and nothing of it is told any more.
class SentGoal {
 public:
  virtual ~SentGoal() = default;
  virtual void cancel() = 0;
};
struct GoalCallbacks {
  std::function<void(const Buffer& feedback)> feedback;  ///< may be empty; in order
  std::function<void(Result<GoalResult>)> end;           ///< once; errors: also a rejection
};

/// A goal that a client carries out. Thread-safe. Dropping it before its end aborts it.
class ServedGoal {
 public:
  virtual ~ServedGoal() = default;
  /// Errors: corrupt, and disconnected or overloaded (nobody takes it).
  virtual Result<void> feedback(std::span<const std::byte> message) = 0;
  /// Errors: corrupt, which leaves it as it was; already_exists (it has ended).
  virtual Result<void> finish(GoalEnd end, std::span<const std::byte> result) = 0;
  virtual void fail(const Error& error) = 0;
};
using ServedGoalRef = std::shared_ptr<ServedGoal>;
struct ActionCallbacks {
  std::function<void(const Buffer& goal, const ServedGoalRef& handle)> execute;
  std::function<void(const ServedGoalRef& handle)> cancel;  ///< it should end
};
/// An action that a client carries out. Dropping it ends the action: its goals are aborted.
class ActionServer {
 public:
  virtual ~ActionServer() = default;
};

struct ClientPublisherOptions {
  bool latched = false;
  std::uint32_t depth = 0;  ///< 0: the channel's
  bool reliable = false;    ///< what the transports lose they send again; a full queue drops still
  std::int64_t deadline_ms = 0;  ///< 0: none
  /// Bursts are spread (pace.hpp): of a client that is held up while its inlet keeps a message.
  bool spread = false;
  /// If nobody has opened the channel yet, it carries what comes as CDR as it is (carrier.hpp).
  bool raw = false;
};

struct ClientSubscriptionOptions {
  std::uint32_t depth = 0;  ///< messages that may wait before they are converted; 0: the channel's
};

/// The robot's graph as the clients of a gateway see it: topics and services of ROS, in the forms
/// of ROS. Topic `/camera/image` is channel `camera/image`.
///
/// Thread-safe. Callbacks come on the thread pool of the process and must not block. Errors of
/// opening: not_found (no such type; what would be right), type_mismatch (the channel carries
/// something else), permission (the rules do not let this client).
class GraphFacade {
 public:
  virtual ~GraphFacade() = default;

  virtual Result<std::unique_ptr<ClientPublisher>> open_publisher(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientPublisherOptions& options) = 0;
  /// An empty `type`: that of the channel, which then has to exist.
  virtual Result<std::unique_ptr<ClientSubscription>> open_subscription(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientSubscriptionOptions& options,
      std::function<void(const OutgoingMessage&)> callback) = 0;

  /// A client answers a service. `callback` gets a request and answers it, now or later.
  virtual Result<std::unique_ptr<Server>> open_server(
      const Client& client, const std::string& service, const std::string& type, Form form,
      std::function<void(const Buffer& request, Answer answer)> callback) = 0;
  /// A client asks. An empty `type`: that of the server, which then has to exist. The answer comes
  /// once, on the pool; errors as Client::call (hyphos/service.hpp).
  virtual void call(const Client& client, const std::string& service, const std::string& type,
                    Form form, std::span<const std::byte> request, Duration timeout,
                    Answer answer) = 0;

  /// A client sends a goal, as open_server() and call() have it for services. The error is of the
  /// request alone: what becomes of the goal, the callbacks tell.
  virtual Result<std::unique_ptr<SentGoal>> send_goal(const Client& client,
                                                      const std::string& action,
                                                      const std::string& type, Form form,
                                                      std::span<const std::byte> goal,
                                                      GoalCallbacks callbacks) = 0;
  /// A client carries out an action.
  virtual Result<std::unique_ptr<ActionServer>> open_action(const Client& client,
                                                            const std::string& action,
                                                            const std::string& type, Form form,
                                                            ActionCallbacks callbacks) = 0;

  [[nodiscard]] virtual Result<TypeInfo> type(std::string_view name) const = 0;
  [[nodiscard]] virtual Result<ServiceTypeInfo> service_type(std::string_view name) const = 0;
  /// The blank reply of a service: numbers are 0, texts and arrays are empty. Errors: not_found (no
  /// such type).
  [[nodiscard]] virtual Result<Buffer> blank_reply(std::string_view type, Form form) const = 0;
  [[nodiscard]] virtual Result<ActionTypeInfo> action_type(std::string_view name) const = 0;
  /// What there is now, of this machine and of those that are linked. Reads shared memory only.
  [[nodiscard]] virtual std::vector<TopicInfo> topics() const = 0;
  [[nodiscard]] virtual std::vector<ServiceInfo> services() const = 0;
  [[nodiscard]] virtual std::vector<ActionInfo> actions() const = 0;
  [[nodiscard]] virtual std::vector<std::string> nodes() const = 0;

  /// Whether the rules let the client, of "/camera/image". These lists are not bound by it.
  [[nodiscard]] virtual bool lets(const Client& client, Use use, std::string_view name) const = 0;
  /// Names of all types that are known, of messages, services and actions; where both flavours of
  /// ROS have one, its names in both.
  [[nodiscard]] virtual std::vector<std::string> interfaces() const = 0;
  /// Whose names the lists above have for types: 2 if nothing but ROS 2's types are known, else 1.
  [[nodiscard]] virtual int ros_version() const = 0;

  /// Counts something lost or refused, as `drop.gateway.<why>`, and tells it at most once a second.
  virtual void count(const Client& client, std::string_view why, std::string_view detail) = 0;
  /// The same for a fact that the caller reports once: its line is always logged.
  virtual void note(const Client& client, std::string_view why, std::string_view detail) = 0;

  /// Parameters. `changed` is called after a value has changed, of a node or of what is shown;
  /// look() and show() are the caller's to call. One at a time: it is the own node's.
  virtual std::unique_ptr<NodeParams> open_params(std::function<void()> changed) = 0;
};

}  // namespace hyphos::gateway
