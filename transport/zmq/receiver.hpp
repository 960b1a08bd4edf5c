#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "hyphos/inspect.hpp"
#include "transport/transport.hpp"
#include "transport/zmq/permissions.hpp"
#include "transport/zmq/socket.hpp"
#include "wire/control.hpp"
#include "wire/packet.hpp"

namespace hyphos::transport::zmq {

/// Identifies a connection to one publishing process, in the receiver.
using LinkId = std::uint32_t;

/// The output for the receiver's control messages: the DEALER sockets, or a test.
class Uplink {
 public:
  /// Sends one frame over the link. The frame is lost without notice if the link is down. The
  /// receiver always detects that by other means.
  virtual void say(LinkId link, Frame frame) = 0;

 protected:
  ~Uplink() = default;
};

/// The subscribing half of the ZeroMQ transport, without sockets or threads of its own.
///
/// It manages the subscribed channels (ports), the links, and the publishers behind them. Two links
/// to the same endpoint group of a process are one publisher: the second link is on standby until
/// the first is lost. Two endpoint groups of a process, which may offer different channels, are two
/// publishers. A channel arrives through the first of them that accepts it. So no message arrives
/// twice.
///
/// Threads: open() and close() from any thread. All other functions from the one thread that reads
/// the sockets. That thread also calls the receive sinks, holding no lock except the port's own.
class Receiver {
 public:
  struct Settings {
    std::uint64_t session = 0;
    std::string process;
    std::int64_t reconnect_window_ns = 0;
    std::function<void(const PeerClock&)> on_peer_clock;
    /// Reports which process replied at an endpoint to which this process connects.
    std::function<void(const std::string& endpoint, std::uint64_t session)> on_welcome;
  };
  Receiver(Settings settings, Uplink& uplink);
  ~Receiver();

  /// The port takes effect at the next call of poll_ports().
  Result<void> open(PortId id, const ChannelSpec& spec, ReceiveSink* sink);
  void close(PortId id);
  /// Applies all open() and close() calls since the last call.
  void poll_ports();

  /// `channels`: subscribe only to these. nullopt: to all open channels.
  void add_link(LinkId id, std::string endpoint, std::optional<std::vector<std::string>> channels);
  void remove_link(LinkId id, std::int64_t now_ns);
  void lost(LinkId id, std::int64_t now_ns);
  /// Processes one whole message. False if it was malformed. Keeps only the bytes of `frames`.
  bool receive(LinkId id, std::span<Frame> frames, std::int64_t now_ns);
  /// Sends the acknowledgements that are due. Call it when no more messages are waiting.
  void acknowledge();
  /// The receive sink has room again.
  void on_space(PortId id);
  /// Subscribes to a channel or unsubscribes, at one peer (process name or endpoint) or (empty) at
  /// all.
  void allow(const std::string& channel, const std::string& peer, bool allowed);
  /// True if a publisher's process has this name. Any thread.
  [[nodiscard]] bool knows(const std::string& peer) const;
  /// Removes publishers that were disconnected for too long. Returns the time of the next call, or
  /// 0.
  std::int64_t expire(std::int64_t now_ns);
  /// Requests the time from machines with another clock: eight requests in quick succession, then
  /// one per second, while one of their publishers is connected. Returns the time of the next call,
  /// or 0.
  std::int64_t ask_clocks(std::int64_t now_ns);
  /// Unsubscribes everywhere, sends goodbyes and removes all ports.
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
  void report_refusal(const PeerView& link, Subscription& subscription,
                      const wire::Refused& refused);
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
  log::OncePerSecond version_log_;

  mutable Mutex ports_mutex_;
  std::map<std::string, PortPtr, std::less<>> ports_ HYPHOS_GUARDED_BY(ports_mutex_);
  bool changed_ HYPHOS_GUARDED_BY(ports_mutex_) = false;

  mutable Mutex peers_mutex_;  // protects the structure of the two maps for peers()
  std::map<LinkId, std::unique_ptr<PeerView>> links_;
  std::map<std::uint64_t, std::unique_ptr<Publisher>> publishers_;  // by session
  Permissions permissions_;
  std::map<std::uint64_t, std::shared_ptr<HostClock>> host_clocks_;  // by host, not our own
  std::vector<Subscription*> due_;  // with messages taken since the last acknowledgement
  std::uint64_t turns_ = 0;         // see Subscription::turn
};

}  // namespace hyphos::transport::zmq
