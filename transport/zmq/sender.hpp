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

/// Where the sender's frames go: the ROUTER sockets, or a test. Called under the sender's lock.
class Wire {
 public:
  /// Sends all frames as one message to `connection`, or returns false if it is gone.
  virtual bool write(const std::string& connection, std::span<Frame> frames) = 0;

 protected:
  ~Wire() = default;
};

/// The publishing half of the ZeroMQ transport, without sockets or threads of its own.
///
/// Knows the channels published here (ports), the processes that are connected (subscribers) and
/// for every channel that one of them wants a *stream*: a counted sequence of messages with a
/// bounded window under way and a bounded queue before it. docs/wire.md, "Links", is the protocol.
///
/// Invariants, for every stream attached to a port:
///   1. taken <= sent, and the messages taken+1 … sent are in `in_flight`, oldest first.
///   2. `queue` holds messages not yet numbered; it is empty unless the window is full or the
///      subscriber is away.
///   3. Each message offered is eventually counted exactly once: taken, or one Drop reason.
///
/// Thread-safe. Outlets are called without the lock, one call at a time per port.
class Sender {
 public:
  struct Settings {
    std::uint64_t session = 0;
    std::string process;
    /// What is offered at each door; nullopt: everything. A door beyond the list offers everything.
    std::vector<std::optional<std::vector<std::string>>> offers;
    std::uint64_t max_message_bytes = 0;
    std::int64_t reconnect_window_ns = 0;
  };
  Sender(Settings settings, Wire& wire);
  ~Sender();

  Result<void> open(PortId id, const ChannelSpec& spec, SendEvents* send_events);
  void close(PortId id);
  /// `pump(deadline_ns)` is used instead of waiting when the caller is the thread that would have
  /// to make room: it lets one round of subscriber messages through.
  SendReport send(PortId id, const Envelope& message,
                  const std::function<void(std::int64_t)>& pump = nullptr);
  /// False if send() would wait now.
  [[nodiscard]] bool has_room(PortId id) const;
  [[nodiscard]] std::uint64_t largest() const { return settings_.max_message_bytes; }
  /// Permits or forbids a channel from now on: for one peer or (empty) for all. A peer is named by
  /// the endpoint at which this process connects to it, by its process name, or by the endpoint to
  /// which it connected. The latest setting for one of its names counts, and outweighs all.
  void allow(const std::string& channel, const std::string& peer, bool allowed);
  /// This process connects to `endpoint`, and the process `session` answers there.
  void reached(const std::string& endpoint, std::uint64_t session);
  [[nodiscard]] bool knows(const std::string& peer) const;

  /// One whole message from a subscriber that came in through `door`. Returns false if it was
  /// malformed.
  bool receive(EndpointIndex endpoint_index, const std::string& connection,
               std::span<const Frame> frames);
  /// Finds out which connections are gone. Needed after the socket reported that one is.
  void probe();
  /// Forgets subscribers that have been away too long. Returns when to call again, or 0.
  /// `heard_ns`: all that had come by then was given to receive(). Whoever went later may have said
  /// how far it had come, so it is forgotten only after that was read.
  std::int64_t expire(std::int64_t now_ns, std::int64_t heard_ns);

  /// Waits until all reliable streams are acknowledged, at most until `deadline_ns`.
  void flush(std::int64_t deadline_ns);
  /// Wakes every waiting send(), says goodbye, counts what is left as lost and forgets all ports.
  void shut_down();

  [[nodiscard]] std::vector<PeerStatus> peers() const;
  /// For the socket's owner, who shares this lock between receiving and sending.
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

  /// A process that came in through two doors is two subscribers, with streams of their own.
  using SubscriberName = std::pair<std::uint64_t, EndpointIndex>;  // session, door
  struct StreamName {
    SubscriberName who;
    std::uint32_t stream = 0;
  };

  // All of these expect the lock to be held.
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
  std::unordered_map<std::string, Subscriber*> by_connection_;  // by the name it is known as
  Permissions permissions_;
  std::map<std::string, std::uint64_t> behind_;  // by endpoint: the session that answers there
  std::vector<std::byte> spare_head_;
  bool some_lost_ = false;
  log::OncePerSecond too_large_log_;
  log::OncePerSecond limit_log_;
};

}  // namespace hyphos::transport::zmq
