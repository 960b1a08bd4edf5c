#include "transport/zmq.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/log.hpp"
#include "hyphos/time.hpp"
#include "transport/host_clock.hpp"
#include "transport/registry.hpp"
#include "transport/zmq_door.hpp"
#include "transport/zmq_receiver.hpp"
#include "transport/zmq_sender.hpp"
#include "transport/zmq_socket.hpp"

namespace hyphos::transport {
namespace {

using zmq::Frame;
using zmq::LinkId;
using zmq::Monitor;
using zmq::Socket;

constexpr std::size_t kMaxFrames = 2 + kMaxAttachedBuffers;  // head, payload, buffers
constexpr int kBatch = 64;  // messages from one socket before the others get their turn
constexpr std::int64_t kMs = 1'000'000;
// A connection's end is announced before the socket has forgotten it; so it is looked for again.
constexpr std::array<std::int64_t, 3> kProbeAgain = {5 * kMs, 50 * kMs, 500 * kMs};

bool is_tcp(const std::string& endpoint) { return endpoint.starts_with("tcp://"); }

/// What may be published at all: what one of the endpoints offers.
std::optional<std::vector<std::string>> offered(const std::vector<BindPoint>& binds) {
  std::vector<std::string> all;
  for (const BindPoint& bind : binds) {
    if (!bind.channels) return std::nullopt;
    all.insert(all.end(), bind.channels->begin(), bind.channels->end());
  }
  return all;
}

class Zmq final : public ZmqTransport, private zmq::Wire, private zmq::Uplink {
 public:
  explicit Zmq(ZmqConfig config);
  ~Zmq() override { Zmq::stop(0); }

  Result<void> start() override;
  void stop(std::int64_t linger_ms) override;
  Result<PortId> open(const ChannelSpec& spec, Inlet* inlet, Outlet* outlet) override;
  void close(PortId port) override;
  SendReport send(PortId port, const Envelope& message) override;
  WritableBuffer loan(PortId, std::size_t) override { return {}; }
  void on_space(PortId port) override;
  std::vector<PeerStatus> peers() const override;

  Result<void> add_peer(const PeerAddress& peer) override;
  Result<void> remove_peer(const std::string& endpoint) override;
  void publish_channel(const std::string& channel, bool open, const std::string& peer) override;
  void subscribe_channel(const std::string& channel, bool open, const std::string& peer) override;
  bool has_peer(const std::string& peer) const override;
  std::vector<std::string> endpoints() const override { return endpoints_; }
  ZmqCounters counters() const override;
  std::uint64_t session() const override { return session_; }

 private:
  struct Link {
    LinkId id = 0;
    std::string endpoint;
    Socket dealer;
    Monitor monitor;
  };

  bool write(const std::string& connection, std::span<Frame> frames) override;
  void say(LinkId link, Frame frame) override;

  Result<void> bind_all();
  Result<std::unique_ptr<Link>> connect(const PeerAddress& peer);
  void set_common(Socket& socket, bool tcp) const;
  void post(std::function<void()> command);
  void wake();
  bool on_io_thread() const { return std::this_thread::get_id() == io_thread_id_; }

  void run();
  bool serve();
  bool serve_router();
  bool serve_link(Link& link);
  bool receive_rest(Link& link, Frame first, std::int64_t now_ns);
  void serve_door();
  void serve_link_events();
  void run_commands();
  std::int64_t run_sender_timers();
  void wait(std::int64_t until_ns, bool subscribers_only);
  void serve_subscribers_until(std::int64_t deadline_ns);
  void count_malformed(const std::string& where);
  void count_refused(const std::string& where, std::uint64_t count);

  const ZmqConfig config_;
  const std::uint64_t session_ = random_id();
  zmq::Context context_;
  Socket router_;  // sends and receives under sender_.mutex()
  int router_fd_ = -1;
  Monitor router_monitor_;
  zmq::Gatekeeper gatekeeper_;
  std::vector<std::string> endpoints_;
  zmq::Sender sender_;
  zmq::Receiver receiver_;

  int event_fd_ = -1;
  std::atomic<bool> woken_{false};
  std::mutex commands_mutex_;  // commands_, by_endpoint_, next_link_
  std::vector<std::function<void()>> commands_;
  std::map<std::string, LinkId> by_endpoint_;
  LinkId next_link_ = 1;
  std::atomic<PortId> next_port_{1};

  std::thread io_thread_;
  std::atomic<std::thread::id> io_thread_id_;
  bool started_ = false;
  bool stopped_ = false;
  // Used by the I/O thread only.
  bool ending_ = false;
  bool events_ready_ = true;  // a monitor or the gatekeeper has something to say
  std::map<LinkId, std::shared_ptr<Link>> links_;
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
      sender_({session_, config_.process_name, offered(config_.bind), config_.max_message_bytes,
               config_.reconnect_window_ms * kMs},
              *this),
      receiver_({session_, config_.process_name, config_.reconnect_window_ms * kMs}, *this),
      event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

// --- Start and stop ----------------------------------------------------------------------------

void Zmq::set_common(Socket& socket, bool tcp) const {
  socket.set(ZMQ_SNDHWM, 0);  // bounded by the windows of the streams instead
  socket.set(ZMQ_RCVHWM, 1000);
  socket.set(ZMQ_LINGER, 0);
  socket.set(ZMQ_HANDSHAKE_IVL, 5000);
  socket.set(ZMQ_IPV6, 1);
  if (tcp && config_.heartbeat_ms > 0) {
    const int interval = static_cast<int>(config_.heartbeat_ms);
    socket.set(ZMQ_HEARTBEAT_IVL, interval);
    socket.set(ZMQ_HEARTBEAT_TIMEOUT, 3 * interval);
    socket.set(ZMQ_HEARTBEAT_TTL, 3 * interval);
  }
  // Socket buffers stay as they are: the kernel tunes those of TCP itself, and larger ones for Unix
  // sockets made 1 KB to 4 MB no faster (measured).
}

Result<void> Zmq::bind_all() {
  if (config_.bind.empty()) return success();
  if (config_.curve) {
    if (auto opened = gatekeeper_.open(context_, *config_.curve); !opened) return opened;
  }
  router_ = Socket(context_, ZMQ_ROUTER);
  set_common(router_, std::any_of(config_.bind.begin(), config_.bind.end(), [](const BindPoint& bind) {
    return is_tcp(bind.endpoint);
  }));
  router_.set(ZMQ_ROUTER_MANDATORY, 1);
  router_.set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(wire::kMaxControlBytes));
  if (config_.curve) {
    if (auto used = zmq::use_curve(router_, *config_.curve, std::nullopt); !used) return used;
  }
  router_monitor_ = Monitor(context_, router_, "hyphos-router");
  for (const auto& [endpoint, channels] : config_.bind) {
    if (zmq::ipc_in_use(endpoint)) {
      return Error{Code::already_exists, "another process listens here", endpoint};
    }
    if (zmq_bind(router_.raw(), endpoint.c_str()) != 0) {
      return zmq::last_error("cannot bind", endpoint);
    }
    endpoints_.push_back(router_.last_endpoint());
  }
  router_fd_ = router_.fd();
  return success();
}

Result<void> Zmq::start() {
  assert(!started_ && "start() is called once");
  if (event_fd_ < 0) return Error{Code::exhausted, "no file descriptor left", {}};
  if (auto bound = bind_all(); !bound) return bound;
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
      // Even without patience the goodbyes deserve a moment, or peers would wait for our return.
      const int patience = static_cast<int>(std::clamp<std::int64_t>(linger_ms, 100, 60'000));
      for (auto& [id, link] : links_) link->dealer.set(ZMQ_LINGER, patience);
      const std::lock_guard lock(sender_.mutex());
      if (router_) router_.set(ZMQ_LINGER, patience);
    });
    io_thread_.join();
  } else {
    sender_.shut_down();
    receiver_.shut_down();
  }
  {
    const std::lock_guard lock(commands_mutex_);
    commands_.clear();  // may hold links
  }
  links_.clear();
  const std::lock_guard lock(sender_.mutex());
  router_monitor_ = Monitor();
  router_ = Socket();
  if (event_fd_ >= 0) ::close(std::exchange(event_fd_, -1));
}

Result<std::unique_ptr<Zmq::Link>> Zmq::connect(const PeerAddress& peer) {
  if (config_.curve.has_value() != peer.server_key.has_value()) {
    return Error{Code::invalid_config,
                 config_.curve ? "this process has keys, so the peer's public key must be given"
                               : "the peer has a key, so this process needs a key pair as well",
                 peer.endpoint};
  }
  auto link = std::make_unique<Link>();
  link->endpoint = peer.endpoint;
  link->dealer = Socket(context_, ZMQ_DEALER);
  if (!link->dealer) return zmq::last_error("cannot make a socket", peer.endpoint);
  Socket& dealer = link->dealer;
  set_common(dealer, is_tcp(peer.endpoint));
  dealer.set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(
                                 std::max<std::uint64_t>(config_.max_message_bytes, 64 * 1024)));
  dealer.set(ZMQ_IMMEDIATE, 1);     // nothing is queued for a connection that is not there
  dealer.set(ZMQ_PROBE_ROUTER, 1);  // every new connection introduces itself
  dealer.set(ZMQ_RECONNECT_IVL, 20);
  dealer.set(ZMQ_RECONNECT_IVL_MAX, 500);
  if (config_.curve) {
    if (auto used = zmq::use_curve(dealer, *config_.curve, peer.server_key); !used) {
      return used.error();
    }
  }
  {
    const std::lock_guard lock(commands_mutex_);
    link->id = next_link_++;
  }
  link->monitor = Monitor(context_, dealer, "hyphos-link-" + std::to_string(link->id));
  if (zmq_connect(dealer.raw(), peer.endpoint.c_str()) != 0) {
    return zmq::last_error("cannot connect", peer.endpoint);
  }
  return link;
}

Result<void> Zmq::add_peer(const PeerAddress& peer) {
  {
    const std::lock_guard lock(commands_mutex_);
    if (!by_endpoint_.emplace(peer.endpoint, 0).second) {
      return Error{Code::already_exists, "this peer is connected already", peer.endpoint};
    }
  }
  auto connected = connect(peer);
  if (!connected) {
    const std::lock_guard lock(commands_mutex_);
    by_endpoint_.erase(peer.endpoint);
    return connected.error();
  }
  std::shared_ptr<Link> link = std::move(*connected);
  {
    const std::lock_guard lock(commands_mutex_);
    by_endpoint_[peer.endpoint] = link->id;
  }
  post([this, link, channels = peer.channels] {
    receiver_.add_link(link->id, link->endpoint, channels);
    links_.emplace(link->id, link);
  });
  return success();
}

Result<void> Zmq::remove_peer(const std::string& endpoint) {
  LinkId id = 0;
  {
    const std::lock_guard lock(commands_mutex_);
    const auto found = by_endpoint_.find(endpoint);
    if (found == by_endpoint_.end() || found->second == 0) {
      return Error{Code::not_found, "no such peer is connected", endpoint};
    }
    id = found->second;
    by_endpoint_.erase(found);
  }
  post([this, id] {
    receiver_.remove_link(id, monotonic_now().ns);
    links_[id]->dealer.set(ZMQ_LINGER, 100);
    links_.erase(id);
  });
  return success();
}

// --- Called by the graph -----------------------------------------------------------------------

Result<PortId> Zmq::open(const ChannelSpec& spec, Inlet* inlet, Outlet* outlet) {
  assert((inlet == nullptr) != (outlet == nullptr) && "exactly one end per port");
  if (!wire::is_channel_name(spec.name) || spec.type.name.size() > wire::kMaxTypeNameBytes) {
    return Error{Code::invalid_config,
                 "a channel name has 1 to 255 bytes without control characters, a type name at "
                 "most 512",
                 spec.name};
  }
  const PortId id = next_port_++;
  const auto opened =
      inlet != nullptr ? receiver_.open(id, spec, inlet) : sender_.open(id, spec, outlet);
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
  return sender_.knows(peer) || receiver_.knows(peer);
}

ZmqCounters Zmq::counters() const { return {malformed_, refused_, disconnects_}; }

// --- Sockets -----------------------------------------------------------------------------------

bool Zmq::write(const std::string& connection, std::span<Frame> frames) {
  if (!router_) return false;
  Frame address = Frame::copy_of(connection);
  if (!router_.send(address, true)) return false;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    (void)router_.send(frames[i], i + 1 < frames.size());
  }
  // Sending also does the socket's housekeeping and may swallow the wake-up that the I/O thread
  // waits for; so ask, and pass it on.
  if (!on_io_thread() && router_.readable()) wake();
  return true;
}

void Zmq::say(LinkId id, Frame frame) {
  const auto found = links_.find(id);
  if (found != links_.end()) (void)found->second->dealer.send(frame, false);
}

void Zmq::post(std::function<void()> command) {
  {
    const std::lock_guard lock(commands_mutex_);
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
    const std::int64_t other = receiver_.expire(monotonic_now().ns);
    if (other != 0 && (next == 0 || other < next)) next = other;
    if (!busy && !ending_) wait(next, false);
  }
  io_thread_id_ = std::thread::id();
}

void Zmq::run_commands() {
  std::vector<std::function<void()>> commands;
  {
    const std::lock_guard lock(commands_mutex_);
    commands.swap(commands_);
  }
  for (const auto& command : commands) command();
}

/// One turn over all sockets. True if some may have more.
bool Zmq::serve() {
  if (std::exchange(events_ready_, false)) {
    serve_door();
    serve_link_events();
  }
  bool busy = serve_router();
  for (auto& [id, link] : links_) busy |= serve_link(*link);
  return busy;
}

bool Zmq::serve_router() {
  std::array<Frame, 3> frames;
  for (int i = 0; i < kBatch; ++i) {
    std::string connection;
    std::size_t count = 0;
    {
      const std::lock_guard lock(sender_.mutex());
      Frame frame;
      if (!router_ || !router_.receive(frame)) return false;
      connection.assign(reinterpret_cast<const char*>(frame.bytes().data()), frame.size());
      for (bool more = frame.more(); more;) {
        if (!router_.receive(frame)) break;
        more = frame.more();
        if (count < frames.size()) frames[count++] = std::move(frame);
      }
    }
    if (!sender_.receive(connection, {frames.data(), count})) count_malformed("a subscriber");
  }
  return true;
}

bool Zmq::serve_link(Link& link) {
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

bool Zmq::receive_rest(Link& link, Frame first, std::int64_t now_ns) {
  std::array<Frame, kMaxFrames + 1> frames;  // one more than allowed, to see that it is too much
  frames[0] = std::move(first);
  std::size_t count = 1;
  for (bool more = true; more;) {
    Frame frame;
    if (!link.dealer.receive(frame)) return false;  // libzmq hands out whole messages only
    more = frame.more();
    if (count < frames.size()) frames[count++] = std::move(frame);
  }
  return receiver_.receive(link.id, {frames.data(), count}, now_ns);
}

void Zmq::count_refused(const std::string& where, std::uint64_t count) {
  refused_ += count;
  std::uint64_t more = 0;
  if (!refused_log_.allow(more)) return;
  log::warn("zmq", where + ": connection refused, keys or encryption do not match");
}

/// Those who come to the bound endpoints. Touches nothing of the receiver.
void Zmq::serve_door() {
  if (const std::uint64_t count = gatekeeper_.serve(); count > 0) count_refused("a client", count);
  bool lost = false;
  for (Monitor::Event event; (event = router_monitor_.next()) != Monitor::Event::none;) {
    if (event == Monitor::Event::refused) {
      count_refused("a client", 1);
    } else {
      lost = true;
      ++disconnects_;
    }
  }
  if (!lost) return;
  const std::int64_t now = monotonic_now().ns;
  probe_at_.clear();
  for (const std::int64_t delay : kProbeAgain) probe_at_.push_back(now + delay);
  sender_.probe();
}

void Zmq::serve_link_events() {
  for (auto& [id, link] : links_) {
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

/// Returns when to come back, 0 for never.
std::int64_t Zmq::run_sender_timers() {
  const std::int64_t now = monotonic_now().ns;
  if (!probe_at_.empty() && probe_at_.front() <= now) {
    probe_at_.erase(probe_at_.begin());
    sender_.probe();
  }
  const std::int64_t next = sender_.expire(now);
  if (probe_at_.empty()) return next;
  return next == 0 ? probe_at_.front() : std::min(next, probe_at_.front());
}

void Zmq::wait(std::int64_t until_ns, bool subscribers_only) {
  {
    const std::lock_guard lock(sender_.mutex());
    if (router_ && router_.readable()) return;
  }
  fds_.clear();
  const auto add = [this](int fd) { fds_.push_back({fd, POLLIN, 0}); };
  add(event_fd_);
  if (router_) add(router_fd_);
  const std::size_t events_from = fds_.size();
  if (router_monitor_.socket()) add(router_monitor_.socket().fd());
  if (gatekeeper_.socket()) add(gatekeeper_.socket().fd());
  if (!subscribers_only) {
    for (auto& [id, link] : links_) add(link->monitor.socket().fd());
  }
  const std::size_t events_to = fds_.size();
  if (!subscribers_only) {
    // Acknowledging may have swallowed a wake-up of the same socket, hence the question.
    for (auto& [id, link] : links_) {
      if (link->dealer.readable()) return;
      add(link->dealer.fd());
    }
  }
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

/// For a send() under `block` from inside an inlet's call: this thread is the one that reads the
/// confirmations, so it reads them here. The receiver is in the middle of a message: hands off.
void Zmq::serve_subscribers_until(std::int64_t deadline_ns) {
  if (events_ready_) serve_door();  // stays set: the links have not been asked
  if (serve_router()) return;
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
  log::warn("zmq", where + ": a message that cannot be read was dropped" +
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
