#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "transport/transport.hpp"
#include "transport/zmq/permissions.hpp"
#include "transport/zmq/socket.hpp"
#include "wire/control.hpp"
#include "wire/packet.hpp"

namespace hyphos::transport::zmq {

/// The output for the sender's frames: the ROUTER sockets, or a test. Called under the sender's
/// lock.
class Wire {
 public:
  /// Sends all frames as one message to `connection`. Returns false if it is gone.
  virtual bool write(const std::string& connection, std::span<Frame> frames) = 0;

 protected:
  ~Wire() = default;
};

/// The publishing half of the ZeroMQ transport, without sockets or threads of its own.
///
/// It manages the published channels (ports), the connected processes (subscribers), and a *stream*
/// for every channel to which a subscriber subscribes. A stream is a numbered sequence of messages
/// with a bounded window in flight and a bounded queue before it. Protocol:
/// docs/reference/wire_links.md, "Links".
///
/// Invariants, for every stream attached to a port:
///   1. taken <= sent, and the messages taken+1 … sent are in `in_flight`, oldest first.
///   2. `queue` holds messages without a number yet. It is empty unless the window is full, or the
///      subscriber is disconnected or not yet accepted.
///   3. Each offered message is eventually counted exactly once: as taken, or under one Drop
///      reason.
///
/// Thread-safe. Send events are called without the lock, one call at a time per port.
class Sender {
 public:
  struct Settings {
    std::uint64_t session = 0;
    std::string process;
    /// The channels offered by each endpoint group. nullopt: all. A group beyond the list offers
    /// all.
    std::vector<std::optional<std::vector<std::string>>> offers;
    std::uint64_t max_message_bytes = 0;
    std::int64_t reconnect_window_ns = 0;
  };
  Sender(Settings settings, Wire& wire);
  ~Sender();

  Result<void> open(PortId id, const ChannelSpec& spec, SendEvents* send_events)
      HYPHOS_EXCLUDES(mutex_);
  void close(PortId id) HYPHOS_EXCLUDES(mutex_);
  /// `pump(deadline_ns)` replaces the wait when the caller is the thread that would have to make
  /// room. Each call processes one round of subscriber messages.
  SendReport send(PortId id, const Envelope& message,
                  const std::function<void(std::int64_t)>& pump = nullptr) HYPHOS_EXCLUDES(mutex_);
  /// False if send() would wait now.
  [[nodiscard]] bool has_room(PortId id) const HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t largest() const { return settings_.max_message_bytes; }
  /// Permits or forbids a channel from now on, for one peer or (empty) for all. A peer is named by
  /// the endpoint to which this process connects, by its process name, or by the endpoint to which
  /// the peer connected. The latest setting for one of its names applies, and overrides a setting
  /// for all.
  void allow(const std::string& channel, const std::string& peer, bool allowed)
      HYPHOS_EXCLUDES(mutex_);
  /// Records that this process connects to `endpoint` and that process `session` replied there.
  void reached(const std::string& endpoint, std::uint64_t session) HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] bool knows(const std::string& peer) const HYPHOS_EXCLUDES(mutex_);

  /// Processes one whole message from a subscriber that arrived through `door`. Returns false if it
  /// was malformed.
  bool receive(EndpointIndex endpoint_index, const std::string& connection,
               std::span<const Frame> frames) HYPHOS_EXCLUDES(mutex_);
  /// Finds the connections that are gone. Call it after the socket has reported a disconnect.
  void probe() HYPHOS_EXCLUDES(mutex_);
  /// Removes subscribers that were disconnected for too long. Returns the time of the next call, or
  /// 0. All messages that had arrived by `heard_ns` were passed to receive(). A subscriber that
  /// left later may have sent acknowledgements, so it is removed only after these were read.
  std::int64_t expire(std::int64_t now_ns, std::int64_t heard_ns) HYPHOS_EXCLUDES(mutex_);

  /// Waits until all reliable streams are acknowledged, at most until `deadline_ns`.
  void flush(std::int64_t deadline_ns) HYPHOS_EXCLUDES(mutex_);
  /// Wakes every waiting send(), sends goodbyes, counts the rest as lost and removes all ports.
  void shut_down() HYPHOS_EXCLUDES(mutex_);

  [[nodiscard]] std::vector<PeerStatus> peers() const HYPHOS_EXCLUDES(mutex_);
  /// For the owner of the socket, which uses the same lock for receiving and sending.
  [[nodiscard]] Mutex& mutex() HYPHOS_RETURN_CAPABILITY(mutex_) { return mutex_; }

  static constexpr std::size_t kMaxSubscribers = 1024;
  static constexpr std::size_t kMaxStreamsPerSubscriber = 8192;
  static constexpr std::size_t kMaxInFlight = 65536;

 private:
  struct EncodedFrame;
  struct Port;
  struct Stream;
  struct Subscriber;
  struct Notice;
  class Notices;
  struct Outgoing;
  using PortPtr = std::shared_ptr<Port>;

  /// A process that connected through two endpoint groups is two subscribers with separate streams.
  using SubscriberName = std::pair<std::uint64_t, EndpointIndex>;  // session, endpoint group
  struct StreamName {
    SubscriberName who;
    std::uint32_t stream = 0;
  };

  PortPtr find_port(PortId id) const HYPHOS_REQUIRES(mutex_);
  bool is_allowed(const std::string& channel, const Subscriber& who) const HYPHOS_REQUIRES(mutex_);
  /// Attaches and detaches streams of `channel` (all if empty) according to is_allowed() now.
  void review(const std::string& channel, Notices& notices) HYPHOS_REQUIRES(mutex_);
  Stream* find_stream(const StreamName& name) HYPHOS_REQUIRES(mutex_);

  enum class Offer { taken, dropped, full };
  Offer offer(Stream& stream, Outgoing& message, Notices& notices) HYPHOS_REQUIRES(mutex_);
  void wait_for_room(UniqueLock<Mutex>& lock, const PortPtr& port, Outgoing& message,
                     std::vector<StreamName> full, const std::function<void(std::int64_t)>& pump,
                     SendReport& report, Notices& notices) HYPHOS_REQUIRES(mutex_, lock);
  static bool window_open(const Stream& stream, std::uint64_t bytes);
  bool transmit(Stream& stream, Outgoing& message) HYPHOS_REQUIRES(mutex_);
  bool write(Stream& stream, std::uint64_t sequence, EncodedFrame& encoded) HYPHOS_REQUIRES(mutex_);
  static void take(Stream& stream, std::uint64_t taken);
  void flush_queue(Stream& stream) HYPHOS_REQUIRES(mutex_);

  bool say(Subscriber& to, const wire::Control& message) HYPHOS_REQUIRES(mutex_);
  void welcome(EndpointIndex endpoint_index, const std::string& connection) HYPHOS_REQUIRES(mutex_);
  void say_too_many(std::size_t limit, const std::string& of_what) HYPHOS_REQUIRES(mutex_);
  void handle(EndpointIndex endpoint_index, const std::string& connection, const wire::Hello& hello,
              Notices& notices) HYPHOS_REQUIRES(mutex_);
  void replace_predecessor(EndpointIndex endpoint_index, const wire::Hello& hello, Notices& notices)
      HYPHOS_REQUIRES(mutex_);
  void handle(Subscriber& from, wire::Subscribe& subscribe, Notices& notices)
      HYPHOS_REQUIRES(mutex_);
  void handle(Subscriber& from, const wire::Unsubscribe& unsubscribe, Notices& notices)
      HYPHOS_REQUIRES(mutex_);
  void handle(Subscriber& from, const wire::Ack& ack) HYPHOS_REQUIRES(mutex_);
  void match(Stream& stream, Notices& notices) HYPHOS_REQUIRES(mutex_);
  void attach(Stream& stream, const PortPtr& port, Notices& notices) HYPHOS_REQUIRES(mutex_);
  void accept(const StreamName& name, const PortPtr& port) HYPHOS_EXCLUDES(mutex_);
  void detach(Stream& stream, Notices& notices) HYPHOS_REQUIRES(mutex_);
  void resume(Stream& stream, std::uint64_t taken, Notices& notices) HYPHOS_REQUIRES(mutex_);
  void replay_latched(Stream& stream, Notices& notices) HYPHOS_REQUIRES(mutex_);
  void offer_beyond(Stream& stream, Outgoing& message, Notices& notices) HYPHOS_REQUIRES(mutex_);
  void lose_connection(Subscriber& subscriber) HYPHOS_REQUIRES(mutex_);
  void settle_lost(Notices& notices) HYPHOS_REQUIRES(mutex_);
  void forget(Stream& stream, Notices& notices) HYPHOS_REQUIRES(mutex_);
  void remove(const SubscriberName& name, Notices& notices) HYPHOS_REQUIRES(mutex_);

  const Settings settings_;
  Wire& wire_;
  mutable Mutex mutex_;
  Condition room_;
  bool stopping_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::unordered_map<PortId, PortPtr> ports_ HYPHOS_GUARDED_BY(mutex_);
  std::map<std::string, PortPtr, std::less<>> by_channel_ HYPHOS_GUARDED_BY(mutex_);
  std::map<SubscriberName, std::unique_ptr<Subscriber>> subscribers_ HYPHOS_GUARDED_BY(mutex_);
  // By its last known connection name.
  std::unordered_map<std::string, Subscriber*> by_connection_ HYPHOS_GUARDED_BY(mutex_);
  Permissions permissions_ HYPHOS_GUARDED_BY(mutex_);
  // By endpoint: the session that replies there.
  std::map<std::string, std::uint64_t> behind_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::byte> spare_head_ HYPHOS_GUARDED_BY(mutex_);
  bool some_lost_ HYPHOS_GUARDED_BY(mutex_) = false;
  log::OncePerSecond too_large_log_;
  log::OncePerSecond limit_log_;
  log::OncePerSecond version_log_;
};

}  // namespace hyphos::transport::zmq
