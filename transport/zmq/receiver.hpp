#pragma once

#include <atomic>
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
#include <unordered_map>
#include <vector>

#include "hyphos/inspect.hpp"
#include "transport/transport.hpp"
#include "transport/zmq/permissions.hpp"
#include "transport/zmq/socket.hpp"
#include "wire/control.hpp"
#include "wire/packet.hpp"

namespace hyphos::transport::zmq {

/// A connection to one publishing process, as the receiver sees it.
using LinkId = std::uint32_t;

/// Where the receiver's control messages go: the DEALER sockets, or a test.
class Uplink {
 public:
  /// Sends one frame over the link; lost without notice if the link is down, which is always found
  /// out in another way.
  virtual void say(LinkId link, Frame frame) = 0;

 protected:
  ~Uplink() = default;
};

/// The subscribing half of the ZeroMQ transport, without sockets or threads of its own.
///
/// Knows the channels wanted here (ports), the links, and the publishers found behind them. Two
/// links to the same door of a process are one publisher: the second stands by until the first is
/// lost. Two doors of a process, which may offer different channels, are two publishers; a channel
/// comes through the first of them that accepts it. So nothing arrives twice.
///
/// Threads: open() and close() from any; everything else from the one thread that reads the
/// sockets, which is also the thread that calls the inlets (without any lock but the port's own).
class Receiver {
 public:
  struct Settings {
    std::uint64_t session = 0;
    std::string process;
    std::int64_t reconnect_window_ns = 0;
    std::function<void(const PeerClock&)> on_peer_clock;
    /// The process that answers at an endpoint to which this one connects.
    std::function<void(const std::string& endpoint, std::uint64_t session)> on_welcome;
  };
  Receiver(Settings settings, Uplink& uplink);
  ~Receiver();

  /// The port counts from the next call of poll_ports() on.
  Result<void> open(PortId id, const ChannelSpec& spec, ReceiveSink* sink);
  void close(PortId id);
  /// Carries out what open() and close() asked for since the last call.
  void poll_ports();

  /// `channels`: subscribe to these only; nullopt: to all that are open here.
  void add_link(LinkId id, std::string endpoint, std::optional<std::vector<std::string>> channels);
  void remove_link(LinkId id, std::int64_t now_ns);
  void lost(LinkId id, std::int64_t now_ns);
  /// One whole message. False if it was malformed. Keeps nothing of `frames` but their bytes.
  bool receive(LinkId id, std::span<Frame> frames, std::int64_t now_ns);
  /// Sends the acknowledgements that have become due. To be called when nothing more is waiting.
  void acknowledge();
  /// The inlet has room again.
  void on_space(PortId id);
  /// Subscribes to a channel or not, at one peer (process name or endpoint) or (empty) at all.
  void allow(const std::string& channel, const std::string& peer, bool allowed);
  /// Any thread.
  [[nodiscard]] bool knows(const std::string& peer) const;
  /// Forgets publishers that have been away too long. Returns when to call again, or 0.
  std::int64_t expire(std::int64_t now_ns);
  /// Asks machines whose clock is not ours for their time: eight times at once, then every second,
  /// as long as one of their publishers is there. Returns when to call again, or 0.
  std::int64_t ask_clocks(std::int64_t now_ns);
  /// Unsubscribes everywhere, says goodbye and forgets all ports.
  void shut_down();

  [[nodiscard]] std::vector<PeerStatus> peers() const;
  [[nodiscard]] std::uint64_t malformed() const { return malformed_.load(); }

  static constexpr std::uint64_t kWindowBytes = 256 * 1024;

 private:
  struct Port;
  struct PeerView;
  struct Publisher;
  struct Subscription;
  struct HostClock;
  using PortPtr = std::shared_ptr<Port>;

  bool handle(PeerView& link, const wire::Control& message, std::int64_t now_ns);
  void welcome(PeerView& link, const wire::Welcome& message, std::int64_t now_ns);
  void report_refusal(const PeerView& link, Subscription& subscription, const TypeId& theirs);
  void activate(PeerView& link, Publisher& publisher);
  void stand_down(Publisher& publisher, PeerView& link, std::int64_t now_ns);
  void reconcile(Publisher& publisher);
  void reconcile_siblings(std::uint64_t session);
  [[nodiscard]] std::set<const Port*> chosen_elsewhere(const Publisher& publisher) const;
  bool accepted(PeerView& link, const wire::Accepted& message);
  void subscribe(const PeerView& link, Subscription& subscription);
  void drop_publisher(std::uint64_t session);
  bool take_answer(const PeerView& link, const wire::Answer& answer, std::int64_t now_ns);
  void localize(const Publisher& publisher, Stamps& stamps, std::int64_t now_ns) const;
  void tell(const PeerView& link, const wire::Control& message);
  static void set_present(Publisher& publisher, Subscription& subscription, bool present);
  [[nodiscard]] bool is_wanted(const PeerView& link, const Publisher& publisher,
                               const std::string& channel) const;

  Subscription* find(PeerView& link, std::uint32_t stream);
  bool data(PeerView& link, std::span<Frame> frames, std::int64_t now_ns);
  bool unpack(const Subscription& subscription, std::span<const std::byte> packet,
              std::span<Frame> parts, std::int64_t now_ns, Envelope& out);
  bool split(std::span<const std::byte> body, Envelope& out) const;
  static bool deliver(Port& port, Envelope& message);
  void accept(Subscription& subscription, Envelope message, std::uint64_t sequence);
  void drain(Subscription& subscription);

  const Settings settings_;
  Uplink& uplink_;
  FramePool pool_;
  wire::Header header_;  // reused: decoding allocates nothing
  std::uint32_t next_stream_ = 1;
  std::atomic<std::uint64_t> malformed_{0};

  mutable std::mutex ports_mutex_;  // ports_, changed_
  std::map<std::string, PortPtr, std::less<>> ports_;
  bool changed_ = false;

  mutable std::mutex peers_mutex_;  // guards the shape of the two maps for peers()
  std::map<LinkId, std::unique_ptr<PeerView>> links_;
  std::map<std::uint64_t, std::unique_ptr<Publisher>> publishers_;  // by session
  Permissions permissions_;
  std::map<std::uint64_t, std::shared_ptr<HostClock>> host_clocks_;  // by host, not ours
  std::vector<Subscription*> due_;  // with messages taken since the last acknowledgement
  std::uint64_t turns_ = 0;         // see Subscription::turn
};

}  // namespace hyphos::transport::zmq
