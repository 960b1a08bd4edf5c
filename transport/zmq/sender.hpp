#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/log.hpp"
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
///   2. `queue` holds messages without a number yet. It is empty unless the window is full or the
///      subscriber is disconnected.
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

  Result<void> open(PortId id, const ChannelSpec& spec, SendEvents* send_events);
  void close(PortId id);
  /// `pump(deadline_ns)` replaces the wait when the caller is the thread that would have to make
  /// room. Each call processes one round of subscriber messages.
  SendReport send(PortId id, const Envelope& message,
                  const std::function<void(std::int64_t)>& pump = nullptr);
  /// False if send() would wait now.
  [[nodiscard]] bool has_room(PortId id) const;
  [[nodiscard]] std::uint64_t largest() const { return settings_.max_message_bytes; }
  /// Permits or forbids a channel from now on, for one peer or (empty) for all. A peer is named by
  /// the endpoint to which this process connects, by its process name, or by the endpoint to which
  /// the peer connected. The latest setting for one of its names applies, and overrides a setting
  /// for all.
  void allow(const std::string& channel, const std::string& peer, bool allowed);
  /// Records that this process connects to `endpoint` and that process `session` replied there.
  void reached(const std::string& endpoint, std::uint64_t session);
  [[nodiscard]] bool knows(const std::string& peer) const;

  /// Processes one whole message from a subscriber that arrived through `door`. Returns false if it
  /// was malformed.
  bool receive(EndpointIndex endpoint_index, const std::string& connection,
               std::span<const Frame> frames);
  /// Finds the connections that are gone. Call it after the socket has reported a disconnect.
  void probe();
  /// Removes subscribers that were disconnected for too long. Returns the time of the next call, or
  /// 0. All messages that had arrived by `heard_ns` were passed to receive(). A subscriber that
  /// left later may have sent acknowledgements, so it is removed only after these were read.
  std::int64_t expire(std::int64_t now_ns, std::int64_t heard_ns);

  /// Waits until all reliable streams are acknowledged, at most until `deadline_ns`.
  void flush(std::int64_t deadline_ns);
  /// Wakes every waiting send(), sends goodbyes, counts the rest as lost and removes all ports.
  void shut_down();

  [[nodiscard]] std::vector<PeerStatus> peers() const;
  /// For the owner of the socket, which uses the same lock for receiving and sending.
  [[nodiscard]] std::mutex& mutex() { return mutex_; }

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

  // All of these require the lock.
  PortPtr find_port(PortId id) const;
  bool is_allowed(const std::string& channel, const Subscriber& who) const;
  /// Attaches and detaches streams of `channel` (all if empty) according to is_allowed() now.
  void review(const std::string& channel, Notices& notices);
  Stream* find_stream(const StreamName& name);

  enum class Offer { taken, dropped, full };
  Offer offer(Stream& stream, Outgoing& message, Notices& notices);
  void wait_for_room(std::unique_lock<std::mutex>& lock, const PortPtr& port, Outgoing& message,
                     std::vector<StreamName> full, const std::function<void(std::int64_t)>& pump,
                     SendReport& report, Notices& notices);
  static bool window_open(const Stream& stream, std::uint64_t bytes);
  bool transmit(Stream& stream, Outgoing& message);
  bool write(Stream& stream, std::uint64_t sequence, EncodedFrame& encoded);
  static void take(Stream& stream, std::uint64_t taken);
  void flush_queue(Stream& stream);

  bool say(Subscriber& to, const wire::Control& message);
  void welcome(EndpointIndex endpoint_index, const std::string& connection);
  void say_too_many(std::size_t limit, const std::string& of_what);
  void handle(EndpointIndex endpoint_index, const std::string& connection, const wire::Hello& hello,
              Notices& notices);
  void replace_predecessor(EndpointIndex endpoint_index, const wire::Hello& hello,
                           Notices& notices);
  void handle(Subscriber& from, wire::Subscribe& subscribe, Notices& notices);
  void handle(Subscriber& from, const wire::Unsubscribe& unsubscribe, Notices& notices);
  void handle(Subscriber& from, const wire::Ack& ack);
  void match(Stream& stream, Notices& notices);
  void attach(Stream& stream, const PortPtr& port, Notices& notices);
  void detach(Stream& stream, Notices& notices);
  void resume(Stream& stream, std::uint64_t taken, Notices& notices);
  void replay_latched(Stream& stream);
  void offer_beyond(Stream& stream, Outgoing& message);
  void lose_connection(Subscriber& subscriber);
  void settle_lost(Notices& notices);
  void forget(Stream& stream, Notices& notices);
  void remove(const SubscriberName& name, Notices& notices);

  const Settings settings_;
  Wire& wire_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  bool stopping_ = false;
  std::unordered_map<PortId, PortPtr> ports_;
  std::map<std::string, PortPtr, std::less<>> by_channel_;
  std::map<SubscriberName, std::unique_ptr<Subscriber>> subscribers_;
  std::unordered_map<std::string, Subscriber*> by_connection_;  // by its last known connection name
  Permissions permissions_;
  std::map<std::string, std::uint64_t> behind_;  // by endpoint: the session that replies there
  std::vector<std::byte> spare_head_;
  bool some_lost_ = false;
  log::OncePerSecond too_large_log_;
  log::OncePerSecond limit_log_;
};

}  // namespace hyphos::transport::zmq
