#include "transport/zmq/zmq.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <functional>
#include <thread>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "hyphos/time.hpp"
#include "transport/host_clock.hpp"
#include "transport/registry.hpp"
#include "transport/zmq/dialer.hpp"
#include "transport/zmq/listener.hpp"
#include "transport/zmq/receiver.hpp"
#include "transport/zmq/sender.hpp"
#include "transport/zmq/socket.hpp"

namespace hyphos::transport {
namespace {

using zmq::Frame;
using zmq::LinkId;
using zmq::Monitor;

constexpr std::size_t kMaxFrames = 2 + kMaxAttachedBuffers;  // header, payload, buffers
constexpr int kBatch = 64;  // messages from one socket before the next socket is served
constexpr int kMostWaiting = zmq::kReceiveHighWater;
constexpr std::int64_t kMs = 1'000'000;
// The monitor reports a disconnect before the socket has removed the connection, so probe again.
constexpr std::array<std::int64_t, 3> kProbeAgain = {5 * kMs, 50 * kMs, 500 * kMs};

class Zmq final : public ZmqTransport, private zmq::Wire, private zmq::Uplink {
 public:
  explicit Zmq(ZmqConfig config);
  ~Zmq() override { Zmq::stop(0); }

  Result<void> start() override;
  void stop(std::int64_t linger_ms) override;
  Result<PortId> open(const ChannelSpec& spec, ReceiveSink* sink, SendEvents* send_events) override;
  void close(PortId port) override;
  SendReport send(PortId port, const Envelope& message) override;
  bool has_room(PortId port, std::size_t) override { return sender_.has_room(port); }
  std::uint64_t largest(PortId) const override { return sender_.largest(); }
  WritableBuffer loan(PortId, std::size_t) override { return {}; }
  void on_space(PortId port) override;
  std::vector<PeerStatus> peers() const override;

  Result<void> add_peer(const PeerAddress& peer) override;
  Result<void> remove_peer(const std::string& endpoint) override;
  void publish_channel(const std::string& channel, bool open, const std::string& peer) override;
  void subscribe_channel(const std::string& channel, bool open, const std::string& peer) override;
  bool has_peer(const std::string& peer) const override;
  std::vector<std::string> endpoints() const override { return listener_.endpoints(); }
  ZmqCounters counters() const override;
  std::uint64_t session() const override { return session_; }

 private:
  bool write(const std::string& connection, std::span<Frame> frames) override;
  void say(LinkId link, Frame frame) override;

  void post(std::function<void()> command);
  void wake();
  bool on_io_thread() const { return std::this_thread::get_id() == io_thread_id_; }

  void run();
  bool serve();
  bool serve_endpoint(zmq::EndpointIndex endpoint_index);
  bool serve_doors();
  bool serve_link(zmq::Dialer::Connection& link);
  bool receive_rest(zmq::Dialer::Connection& link, Frame first, std::int64_t now_ns);
  void serve_listener_events();
  void serve_link_events();
  void run_commands();
  std::int64_t run_sender_timers();
  void wait(std::int64_t until_ns, bool subscribers_only);
  void serve_subscribers_until(std::int64_t deadline_ns);
  void count_malformed(const std::string& where);
  void count_refused(const std::string& where, std::uint64_t count);

  const ZmqConfig config_;
  // The last byte is the index of an endpoint group. Never 0.
  const std::uint64_t session_ = (random_id() | (zmq::kEndpointMask + 1)) & ~zmq::kEndpointMask;
  zmq::Context context_;
  const zmq::EndpointMap endpoints_;
  zmq::Listener listener_;  // sends and receives under sender_.mutex()
  zmq::Dialer dialer_;
  zmq::Sender sender_;
  zmq::Receiver receiver_;

  int event_fd_ = -1;
  std::atomic<bool> woken_{false};
  Mutex commands_mutex_;
  std::vector<std::function<void()>> commands_ HYPHOS_GUARDED_BY(commands_mutex_);
  std::atomic<PortId> next_port_{1};

  std::thread io_thread_;
  std::atomic<std::thread::id> io_thread_id_;
  bool started_ = false;
  bool stopped_ = false;
  // Used by the I/O thread only.
  bool ending_ = false;
  bool events_ready_ = true;   // a monitor or the authenticator has events
  std::int64_t heard_ns_ = 0;  // all subscriber messages up to this time were read
  int busy_turns_ = 0;
  std::vector<std::int64_t> probe_at_;
  std::vector<pollfd> fds_;

  std::atomic<std::uint64_t> malformed_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> disconnects_{0};
  log::OncePerSecond malformed_log_;
  log::OncePerSecond refused_log_;
};

Zmq::Zmq(ZmqConfig config)
    : ZmqTransport("zmq"),
      config_(std::move(config)),
      endpoints_(zmq::EndpointMap::of(config_.bind)),
      dialer_(context_, config_),
      sender_({session_, config_.process_name, endpoints_.offers, config_.max_message_bytes,
               config_.reconnect_window_ms * kMs},
              *this),
      receiver_(
          {session_, config_.process_name, config_.reconnect_window_ms * kMs, config_.on_peer_clock,
           [this](const std::string& endpoint, std::uint64_t session) {
             sender_.reached(endpoint, session);
           }},
          *this),
      event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

// --- Start and stop ----------------------------------------------------------------------------

Result<void> Zmq::start() {
  assert(!started_ && "start() is called once");
  if (event_fd_ < 0) return Error{Code::exhausted, "no file descriptor left", {}};
  if (auto bound = listener_.bind(context_, config_, endpoints_); !bound) return bound;
  for (const PeerAddress& peer : config_.connect) {
    auto added = add_peer(peer);
    if (!added && added.error().code != Code::already_exists) return added;
  }
  started_ = true;
  io_thread_ = std::thread([this] { run(); });
  return success();
}

void Zmq::stop(std::int64_t linger_ms) {
  if (std::exchange(stopped_, true)) return;
  if (started_) {
    if (linger_ms > 0) sender_.flush(monotonic_now().ns + linger_ms * kMs);
    sender_.shut_down();  // here, because the I/O thread itself may be waiting in a send()
    post([this, linger_ms] {
      ending_ = true;
      receiver_.shut_down();
      // Goodbyes get a minimum time even without linger, or peers would wait for our return.
      const int patience = static_cast<int>(std::clamp<std::int64_t>(linger_ms, 100, 60'000));
      dialer_.set_linger(patience);
      const MutexLock lock(sender_.mutex());
      listener_.set_linger(patience);
    });
    io_thread_.join();
  } else {
    sender_.shut_down();
    receiver_.shut_down();
  }
  {
    const MutexLock lock(commands_mutex_);
    commands_.clear();  // may hold links
  }
  dialer_.close();
  const MutexLock lock(sender_.mutex());
  listener_.close();
  if (event_fd_ >= 0) ::close(std::exchange(event_fd_, -1));
}

Result<void> Zmq::add_peer(const PeerAddress& peer) {
  auto connected = dialer_.connect(peer);
  if (!connected) return connected.error();
  post([this, link = std::move(*connected), channels = peer.channels] {
    receiver_.add_link(link->id, link->endpoint, channels);
    dialer_.add(link);
  });
  return success();
}

Result<void> Zmq::remove_peer(const std::string& endpoint) {
  auto known = dialer_.forget(endpoint);
  if (!known) return known.error();
  post([this, id = *known] {
    receiver_.remove_link(id, monotonic_now().ns);
    dialer_.remove(id, 100);
  });
  return success();
}

// --- Called by the graph -----------------------------------------------------------------------

Result<PortId> Zmq::open(const ChannelSpec& spec, ReceiveSink* sink, SendEvents* send_events) {
  assert((sink == nullptr) != (send_events == nullptr) && "exactly one direction per port");
  if (!wire::is_channel_name(spec.name) || spec.type.name.size() > wire::kMaxTypeNameBytes) {
    return Error{Code::invalid_config,
                 "a channel name must have 1 to 255 bytes without control characters, and a type "
                 "name at most 512",
                 spec.name};
  }
  const PortId id = next_port_++;
  const auto opened =
      sink != nullptr ? receiver_.open(id, spec, sink) : sender_.open(id, spec, send_events);
  if (!opened) return opened.error();
  wake();
  return id;
}

void Zmq::close(PortId port) {
  sender_.close(port);
  receiver_.close(port);
  wake();
}

SendReport Zmq::send(PortId port, const Envelope& message) {
  if (!on_io_thread()) return sender_.send(port, message);
  return sender_.send(port, message,
                      [this](std::int64_t deadline_ns) { serve_subscribers_until(deadline_ns); });
}

void Zmq::on_space(PortId port) {
  post([this, port] { receiver_.on_space(port); });
}

std::vector<PeerStatus> Zmq::peers() const {
  std::vector<PeerStatus> all = sender_.peers();
  std::vector<PeerStatus> publishers = receiver_.peers();
  std::move(publishers.begin(), publishers.end(), std::back_inserter(all));
  return all;
}

void Zmq::publish_channel(const std::string& channel, bool open, const std::string& peer) {
  sender_.allow(channel, peer, open);
}

void Zmq::subscribe_channel(const std::string& channel, bool open, const std::string& peer) {
  post([this, channel, open, peer] { receiver_.allow(channel, peer, open); });
}

bool Zmq::has_peer(const std::string& peer) const {
  return dialer_.has(peer) || sender_.knows(peer) || receiver_.knows(peer);
}

ZmqCounters Zmq::counters() const { return {malformed_, refused_, disconnects_}; }

// --- Sockets -----------------------------------------------------------------------------------

bool Zmq::write(const std::string& connection, std::span<Frame> frames) {
  if (!listener_.write(connection, frames)) return false;
  // Sending also does the socket's housekeeping, which may consume the wake-up of the I/O thread.
  // So check, and wake that thread.
  if (!on_io_thread() && listener_.readable(zmq::Listener::endpoint_of(connection))) wake();
  return true;
}

void Zmq::say(LinkId id, Frame frame) {
  if (zmq::Dialer::Connection* link = dialer_.find(id)) (void)link->dealer.send(frame, false);
}

void Zmq::post(std::function<void()> command) {
  {
    const MutexLock lock(commands_mutex_);
    commands_.push_back(std::move(command));
  }
  wake();
}

void Zmq::wake() {
  if (woken_.exchange(true) || event_fd_ < 0) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_fd_, &one, sizeof one);
}

// --- The I/O thread ----------------------------------------------------------------------------

void Zmq::run() {
  io_thread_id_ = std::this_thread::get_id();
  while (!ending_) {
    run_commands();
    receiver_.poll_ports();
    const bool busy = serve();
    receiver_.acknowledge();
    std::int64_t next = run_sender_timers();
    for (const std::int64_t other :
         {receiver_.expire(monotonic_now().ns), receiver_.ask_clocks(monotonic_now().ns)}) {
      if (other != 0 && (next == 0 || other < next)) next = other;
    }
    if (!busy && !ending_) wait(next, false);
  }
  io_thread_id_ = std::thread::id();
}

void Zmq::run_commands() {
  std::vector<std::function<void()>> commands;
  {
    const MutexLock lock(commands_mutex_);
    commands.swap(commands_);
  }
  for (const auto& command : commands) command();
}

/// Serves all sockets once. Returns true if some may have more messages.
bool Zmq::serve() {
  if (std::exchange(events_ready_, false)) {
    serve_listener_events();
    serve_link_events();
  }
  bool busy = serve_doors();
  for (const auto& [id, link] : dialer_.links()) busy |= serve_link(*link);
  return busy;
}

bool Zmq::serve_doors() {
  const std::int64_t now = monotonic_now().ns;
  bool busy = false;
  for (std::size_t endpoint_index = 0; endpoint_index < listener_.endpoint_count();
       ++endpoint_index) {
    busy |= serve_endpoint(static_cast<zmq::EndpointIndex>(endpoint_index));
  }
  // A subscriber that sends without pause must not delay the removal of dead ones. After this many
  // rounds, all messages that could have been queued then (ZMQ_RCVHWM) have been read.
  if (!busy || ++busy_turns_ > kMostWaiting / kBatch) {
    heard_ns_ = now;
    busy_turns_ = 0;
  }
  return busy;
}

bool Zmq::serve_endpoint(zmq::EndpointIndex endpoint_index) {
  std::array<Frame, 3> frames;
  std::string connection;
  for (int i = 0; i < kBatch; ++i) {
    std::size_t count = 0;
    {
      const MutexLock lock(sender_.mutex());
      if (!listener_.receive(endpoint_index, connection, frames, count)) return false;
    }
    if (!sender_.receive(endpoint_index, connection, {frames.data(), count}))
      count_malformed("a subscriber");
  }
  return true;
}

bool Zmq::serve_link(zmq::Dialer::Connection& link) {
  for (int i = 0; i < kBatch; ++i) {
    Frame first;
    if (!link.dealer.receive(first)) return false;
    const std::int64_t now = monotonic_now().ns;
    const bool good = first.more() ? receive_rest(link, std::move(first), now)
                                   : receiver_.receive(link.id, {&first, 1}, now);
    if (!good) count_malformed(link.endpoint);
  }
  return true;
}

bool Zmq::receive_rest(zmq::Dialer::Connection& link, Frame first, std::int64_t now_ns) {
  std::array<Frame, kMaxFrames + 1> frames;  // one more than allowed, to detect an excess
  frames[0] = std::move(first);
  std::size_t count = 1;
  for (bool more = true; more;) {
    Frame frame;
    if (!link.dealer.receive(frame)) return false;  // libzmq delivers whole messages only
    more = frame.more();
    if (count < frames.size()) frames[count++] = std::move(frame);
  }
  return receiver_.receive(link.id, {frames.data(), count}, now_ns);
}

void Zmq::count_refused(const std::string& where, std::uint64_t count) {
  refused_ += count;
  std::uint64_t more = 0;
  if (!refused_log_.allow(more)) return;
  const std::string why =
      config_.curve
          ? "keys or encryption do not match"
          : "the other side is no process of Hyphos, or it has keys and this one has none";
  log::warn("zmq",
            where + ": connection refused, " + why + " (" + std::to_string(refused_) + " so far)");
}

/// Serves the events of the bound endpoints. Does not access the receiver.
void Zmq::serve_listener_events() {
  const zmq::Listener::Events events = listener_.serve_events();
  if (events.refused > 0) count_refused("a client", events.refused);
  if (events.lost == 0) return;
  disconnects_ += events.lost;
  const std::int64_t now = monotonic_now().ns;
  probe_at_.clear();
  for (const std::int64_t delay : kProbeAgain) probe_at_.push_back(now + delay);
  sender_.probe();
}

void Zmq::serve_link_events() {
  for (const auto& [id, link] : dialer_.links()) {
    for (Monitor::Event event; (event = link->monitor.next()) != Monitor::Event::none;) {
      if (event == Monitor::Event::refused) {
        count_refused(link->endpoint, 1);
      } else {
        ++disconnects_;
        receiver_.lost(id, monotonic_now().ns);
      }
    }
  }
}

/// Returns the time of the next call, or 0 for never.
std::int64_t Zmq::run_sender_timers() {
  const std::int64_t now = monotonic_now().ns;
  if (!probe_at_.empty() && probe_at_.front() <= now) {
    probe_at_.erase(probe_at_.begin());
    sender_.probe();
  }
  const std::int64_t next = sender_.expire(now, heard_ns_);
  if (probe_at_.empty()) return next;
  return next == 0 ? probe_at_.front() : std::min(next, probe_at_.front());
}

void Zmq::wait(std::int64_t until_ns, bool subscribers_only) {
  {
    const MutexLock lock(sender_.mutex());
    for (std::size_t endpoint_index = 0; endpoint_index < listener_.endpoint_count();
         ++endpoint_index) {
      if (listener_.readable(static_cast<zmq::EndpointIndex>(endpoint_index))) return;
    }
  }
  fds_.clear();
  fds_.push_back({event_fd_, POLLIN, 0});
  listener_.add_data_fds(fds_);
  const std::size_t events_from = fds_.size();
  listener_.add_event_fds(fds_);
  if (!subscribers_only) dialer_.add_event_fds(fds_);
  const std::size_t events_to = fds_.size();
  // An acknowledgement may have consumed a wake-up of the same socket, so check.
  if (!subscribers_only && !dialer_.add_data_fds(fds_)) return;
  timespec timeout{};
  if (until_ns != 0) {
    const std::int64_t left = std::max<std::int64_t>(0, until_ns - monotonic_now().ns);
    timeout = {left / 1'000'000'000, left % 1'000'000'000};
  }
  if (::ppoll(fds_.data(), fds_.size(), until_ns != 0 ? &timeout : nullptr, nullptr) <= 0) return;
  for (std::size_t i = events_from; i < events_to; ++i) events_ready_ |= fds_[i].revents != 0;
  if (fds_[0].revents != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto size = ::read(event_fd_, &count, sizeof count);
    woken_ = false;
  }
}

/// For a send() under `block` from inside a receive sink's call. This thread is the reader of
/// acknowledgements, so it reads them here. It must not touch the receiver, which is processing a
/// message.
void Zmq::serve_subscribers_until(std::int64_t deadline_ns) {
  if (events_ready_) serve_listener_events();  // stays set: the links are not served yet
  if (serve_doors()) return;
  const std::int64_t now = monotonic_now().ns;
  const std::int64_t next = run_sender_timers();
  std::int64_t until = std::min(deadline_ns, now + 100 * kMs);
  if (next != 0) until = std::min(until, next);
  wait(std::max(until, now + 1), true);
}

void Zmq::count_malformed(const std::string& where) {
  ++malformed_;
  std::uint64_t more = 0;
  if (!malformed_log_.allow(more)) return;
  log::warn("zmq", where + ": dropped a malformed message" +
                       (more > 0 ? ", and " + std::to_string(more) + " before it" : ""));
}

}  // namespace

std::unique_ptr<ZmqTransport> make_zmq(ZmqConfig config) {
  return std::make_unique<Zmq>(std::move(config));
}

namespace make {
MadeTransport zmq(const TransportContext& context) {
  ZmqConfig config;
  config.process_name = context.process_name;
  config.bind = context.bind;
  config.connect = context.connect;
  config.curve = context.keys;
  config.on_peer_clock = context.on_peer_clock;
  std::shared_ptr<ZmqTransport> made = make_zmq(std::move(config));
  return {made, made};
}
}  // namespace make

Result<CurveKeys> make_curve_keys() {
  std::array<char, 41> public_key{};
  std::array<char, 41> secret_key{};
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) {
    return Error{Code::unsupported, "this libzmq was built without CURVE encryption", {}};
  }
  return CurveKeys{public_key.data(), secret_key.data(), {}};
}

}  // namespace hyphos::transport
