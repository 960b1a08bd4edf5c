#include "transport/shm/directory.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>

#include "hyphos/time.hpp"

namespace hyphos::transport::shm_detail {
namespace {

// Files of the dead stay for this time, so that receivers can still map messages already sent.
constexpr std::int64_t kGraceMs = 250;

// True if the process has ended. A child that it forked may still hold the inherited lock.
bool has_exited(const UniqueFd& pid_fd) {
  pollfd ask{};
  ask.fd = pid_fd.get();
  ask.events = POLLIN;
  return pid_fd.valid() && ::poll(&ask, 1, 0) == 1;
}

}  // namespace

// --- Start and stop ----------------------------------------------------------------------------

Result<void> Directory::start(std::shared_ptr<shm::Participant> self) {
  const MutexLock lock(mutex_);
  if (auto started = events_.start(self->socket()); !started) return started;
  self_ = std::move(self);
  matcher_.use(self_);
  self_->pool().on_growth([this] { signal_control_and_peers(); });
  ports_.start();
  for (const auto& port : ports_.all()) {
    if (auto announced = matcher_.announce(port); !announced) return announced;
  }
  for (const std::string& file : self_->domain().files()) {
    const std::uint64_t id = shm::owner_of(file);
    if (id != 0 && self_->domain().is_dead(id)) remove_files(id);
  }
  // Here instead of in the thread: this process may be killed before the thread runs, and the
  // others must then know the process to clean up after it.
  self_->notify_all();
  thread_ = std::thread([this] { run(); });
  signal_control();
  return {};
}

void Directory::stop() {
  for (const auto& port : ports_.remove_all()) detach(port);
  signal_control();
  if (thread_.joinable()) thread_.join();
}

void Directory::leave() {
  self_->notify_all();
  self_->pool().on_growth({});
  const MutexLock lock(mutex_);
  sender_.leave();
  peers_.clear();
}

void Directory::signal_control_and_peers() {
  notify_peers_.store(true);
  signal_control();
}

void Directory::run() {
  ::pthread_setname_np(::pthread_self(), "hyphos-shm-ctl");
  while (!ports_.stopping().load()) {
    for (const auto& call : refresh()) call();
    if (notify_peers_.exchange(false)) self_->notify_all();
    events_.wait();
  }
}

// --- Ports -------------------------------------------------------------------------------------

Result<PortId> Directory::open(const ChannelSpec& spec, ReceiveSink* sink,
                               SendEvents* send_events) {
  assert((sink == nullptr) != (send_events == nullptr) && "a port has exactly one direction");
  if (spec.name.empty() || spec.name.size() >= shm::kNameSize) {
    return Error{Code::invalid_config,
                 "a channel name must have 1 to " + std::to_string(shm::kNameSize - 1) + " bytes",
                 spec.name};
  }
  if (spec.policy.depth == 0 || spec.policy.depth > shm::kMaxDepth) {
    return Error{Code::invalid_config,
                 "depth must be 1 to 65536, not " + std::to_string(spec.policy.depth), spec.name};
  }
  auto port = std::make_shared<Port>();
  port->spec = spec;
  port->sink = sink;
  port->send_events = send_events;
  const MutexLock lock(mutex_);
  if (auto permitted = ports_.check(spec, send_events != nullptr); !permitted) {
    return permitted.error();
  }
  if (ports_.started() && !ports_.stopping().load()) {
    if (auto announced = matcher_.announce(port); !announced) return announced.error();
  }
  auto id = ports_.add(std::move(port));
  if (id && ports_.started()) signal_control_and_peers();
  return id;
}

void Directory::close(PortId id) {
  if (const auto port = ports_.remove(id); port != nullptr) {
    if (ports_.started()) {
      detach(port);
      signal_control_and_peers();
    }
  }
  ports_.free_retired();
}

void Directory::detach(const std::shared_ptr<Port>& port) {
  {
    const MutexLock lock(mutex_);
    matcher_.withdraw(port);
  }
  if (port->send_events != nullptr) {
    if (const CallGate::Entry call(port->gate); call) port->send_events->listeners(kName, 0);
  }
  // Waits for a visit of the receiving thread. Called without the lock, because an inline callback
  // may open a port.
  port->gate.close();
  if (port->sink == nullptr) return;
  std::uint64_t lost = 0;
  {
    const MutexLock lock(mutex_);
    lost = matcher_.remove_rx_rings(*port);
  }
  if (lost != 0) port->sink->dropped(kName, Drop::disconnected, lost);
}

std::vector<PeerStatus> Directory::peers() const {
  const MutexLock lock(mutex_);
  std::vector<PeerStatus> found;
  for (const auto& [id, known] : peers_) {
    if (known.peer->dead()) continue;
    const auto endpoints = known.peer->control.endpoints();
    if (!endpoints) continue;
    for (const shm::EndpointRecord& record : *endpoints) {
      found.push_back({shm::get_text(record.channel), known.peer->control.process(),
                       "shm:" + shm::to_hex(id), record.is_publisher != 0});
    }
  }
  return found;
}

// --- Participants ------------------------------------------------------------------------------

std::vector<std::function<void()>> Directory::refresh() {
  const MutexLock lock(mutex_);
  for (const std::uint64_t id : self_->domain().participants()) {
    if (id == self_->id() || peers_.contains(id) || tombstones_.contains(id)) continue;
    connect(id);
  }
  for (auto& [id, known] : peers_) {
    const Peer& peer = *known.peer;
    if (!peer.dead() && (!peer.control.locked() || has_exited(known.pid_fd))) reap(known);
    if (!peer.dead()) reconcile(known);
  }
  matcher_.review_rx_rings();
  for (auto at = peers_.begin(); at != peers_.end();) {
    if (at->second.peer->dead() && forget(at->second)) {
      at = peers_.erase(at);
    } else {
      ++at;
    }
  }
  clean_tombstones();
  return matcher_.take_calls();
}

void Directory::connect(std::uint64_t id) {
  if (self_->domain().is_dead(id)) {
    remove_files(id);
    return;
  }
  auto control = shm::Control::open(self_->domain(), id);
  if (!control) {
    // Other errors may be temporary: the peer has just left, or we have no free descriptors.
    const Code code = control.error().code;
    if ((code == Code::unsupported || code == Code::corrupt) && ignored_.insert(id).second) {
      log::warn("shm", control.error().to_string());
    }
    if (code == Code::exhausted) log_cannot_connect(control.error());
    return;
  }
  KnownPeer known;
  known.peer = std::make_shared<Peer>(std::move(*control));
  const shm::Control& theirs = known.peer->control;
  if (theirs.pid_space() == shm::pid_namespace()) {
    known.pid_fd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, theirs.pid(), 0)));
    // Another process may have reused the pid before the call.
    if (shm::process_start(theirs.pid()) != theirs.start()) known.pid_fd = {};
  }
  if (!events_.watch_exit(known.pid_fd)) events_.poll_regularly();
  peers_.emplace(id, std::move(known));
}

void Directory::log_cannot_connect(const Error& why) {
  if (std::uint64_t more = 0; connect_log_.allow(more)) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    log::error("shm", why.to_string() + ": this process reaches only " +
                          std::to_string(peers_.size()) + " processes of domain '" +
                          self_->domain().name() +
                          "'. Each takes two file descriptors, and the limit per process is " +
                          std::to_string(limit.rlim_cur) + ". Raise it with 'ulimit -n'");
  }
  events_.poll_regularly();  // no event reports that descriptors are free again
}

void Directory::reconcile(KnownPeer& known) {
  shm::Control& theirs = known.peer->control;
  const std::uint64_t version = theirs.header().table_version.load();
  if (version != known.seen_version || matcher_.version() != known.seen_ours) {
    const auto endpoints = theirs.endpoints();
    const auto rings = theirs.rings();
    if (!endpoints || !rings) return;  // the tables are changing: a notice follows
    if (matcher_.match(known.peer, *endpoints, *rings)) known.sent_to_us = true;
    known.seen_version = version;
    known.seen_ours = matcher_.version();
  }
  if (known.sent_to_us) known.populated = receiver_.populate(*known.peer, known.populated);
}

// A peer has died or left. Its holds end here. Its messages are still read.
void Directory::reap(KnownPeer& known) {
  known.peer->mark_dead();
  for (const auto& port : ports_.all()) {
    if (port->send_events != nullptr) matcher_.drop_receiver(port, *known.peer);
  }
  for (const auto& segment : self_->pool().segments()) {
    segment->sweep([this](std::uint64_t id) HYPHOS_REQUIRES(mutex_) { return is_dead(id); });
  }
  // The dead process may have cleared a waiter's flag without waking the waiter.
  shm::wake_all(self_->control().header().pool_waiters);
  receiver_.lose(*known.peer);
}

bool Directory::is_dead(std::uint64_t id) const {
  if (id == self_->id()) return false;
  const auto known = peers_.find(id);
  // A holder may be unknown here (it may have the slot from a relaying process), so check the
  // files.
  return known != peers_.end() ? known->second.peer->dead() : self_->domain().is_dead(id);
}

// Releases the rest of a dead peer. Returns false while our rings hold messages from it.
bool Directory::forget(const KnownPeer& known) {
  const std::uint64_t id = known.peer->id;
  if (receiver_.has_rings_of(*known.peer)) return false;
  matcher_.forget(id);
  sender_.review_left();
  if (known.sent_to_us) {
    std::vector<std::shared_ptr<Peer>> alive;
    for (const auto& [other, also] : peers_) {
      if (!also.peer->dead()) alive.push_back(also.peer);
    }
    receiver_.settle_forwarder(id, alive);
  }
  receiver_.abandon(id);
  remove_files(id);
  return true;
}

void Directory::remove_files(std::uint64_t id) {
  if (!tombstones_.emplace(id, monotonic_now().ns + Duration::from_ms(kGraceMs).ns).second) return;
  events_.set_timer(kGraceMs);
}

void Directory::clean_tombstones() {
  const std::int64_t now = monotonic_now().ns;
  std::int64_t next = 0;
  for (auto at = tombstones_.begin(); at != tombstones_.end();) {
    if (at->second <= now) {
      self_->domain().remove_all(at->first);
      at = tombstones_.erase(at);
    } else {
      next = next == 0 ? at->second : std::min(next, at->second);
      ++at;
    }
  }
  if (next != 0)
    events_.set_timer(std::max<std::int64_t>((next - now) / Duration::from_ms(1).ns, 1));
}

}  // namespace hyphos::transport::shm_detail
