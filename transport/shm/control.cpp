#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.hpp"
#include "hyphos/time.hpp"
#include "transport/shm/shm_impl.hpp"

namespace hyphos::transport::shm_detail {
namespace {

// Files of the dead stay for this time, so that receivers can still map messages already sent.
constexpr std::int64_t kGraceMs = 250;
// Poll interval for peers whose death the kernel cannot report (another pid namespace).
constexpr std::int64_t kPollMs = 500;
constexpr std::int64_t kNsPerMs = 1'000'000;

// True if the process has ended. A child that it forked may still hold the inherited lock.
bool has_exited(const UniqueFd& pid_fd) {
  pollfd ask{};
  ask.fd = pid_fd.get();
  ask.events = POLLIN;
  return pid_fd.valid() && ::poll(&ask, 1, 0) == 1;
}

}  // namespace

void Shm::signal_control(bool notify_peers) {
  if (notify_peers) notify_peers_.store(true);
  const std::uint64_t one = 1;
  (void)!::write(wake_fd_.get(), &one, sizeof one);
}

void Shm::set_timer(int timer, std::int64_t in_ms, bool repeat) {
  itimerspec spec{};
  spec.it_value.tv_sec = in_ms / 1000;
  spec.it_value.tv_nsec = in_ms % 1000 * kNsPerMs;
  if (repeat) spec.it_interval = spec.it_value;
  ::timerfd_settime(timer, 0, &spec, nullptr);
}

void Shm::control_loop() {
  ::pthread_setname_np(::pthread_self(), "hyphos-shm-ctl");
  constexpr int kEvents = 16;
  std::array<epoll_event, kEvents> ready;
  while (!stopping_.load()) {
    {
      std::unique_lock lock(control_mutex_);
      refresh();
      run_events(lock);
    }
    if (notify_peers_.exchange(false)) self_->notify_all();
    const int count = ::epoll_wait(epoll_.get(), ready.data(), kEvents, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = ready[static_cast<std::size_t>(i)].data.fd;
      if (fd == wake_fd_.get() || fd == tombstone_timer_.get() || fd == poll_timer_.get()) {
        std::uint64_t value = 0;
        (void)!::read(fd, &value, sizeof value);
      } else if (fd == self_->socket().get()) {
        std::array<char, 16> bytes;
        while (::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
        }
      }
      // Any other descriptor is the pidfd of a peer. refresh() finds the peer dead.
    }
  }
}

void Shm::run_events(std::unique_lock<std::mutex>& control_lock) {
  std::vector<std::function<void()>> events;
  events.swap(events_);
  control_lock.unlock();
  for (const auto& event : events) event();
}

void Shm::refresh() {
  for (const std::uint64_t id : self_->domain().participants()) {
    if (id == self_->id() || peers_.contains(id) || tombstones_.contains(id)) continue;
    connect(id);
  }
  std::vector<std::shared_ptr<Peer>> all;
  for (const auto& [id, peer] : peers_) all.push_back(peer);
  for (const auto& peer : all) {
    if (!peer->dead() && (!peer->control.locked() || has_exited(peer->pid_fd))) reap(peer);
    if (!peer->dead()) reconcile(peer);
  }
  std::vector<std::uint32_t> finished;
  {
    const std::lock_guard rx(rx_mutex_);
    for (std::uint32_t i = 0; i < rx_rings_.size(); ++i) {
      if (rx_rings_[i] != nullptr && rx_rings_[i]->finished.load()) finished.push_back(i);
    }
  }
  for (const std::uint32_t i : finished) finish_rx_ring(i);
  look_for_refusals();
  for (const auto& peer : all) {
    if (peer->dead()) forget(peer);
  }
  clean_tombstones();
}

void Shm::connect(std::uint64_t id) {
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
    if (code == Code::exhausted) {
      log_cannot_connect(control.error());
    }
    return;
  }
  auto peer = std::make_shared<Peer>(std::move(*control));
  if (peer->control.pid_space() == shm::pid_namespace()) {
    peer->pid_fd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, peer->control.pid(), 0)));
    // Another process may have reused the pid before the call.
    if (shm::process_start(peer->control.pid()) != peer->control.start()) peer->pid_fd = {};
  }
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.fd = peer->pid_fd.get();
  peer->needs_polling = !peer->pid_fd.valid() ||
                        ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, peer->pid_fd.get(), &event) != 0;
  if (peer->needs_polling && !polling_) {
    polling_ = true;
    set_timer(poll_timer_.get(), kPollMs, true);
  }
  peers_.emplace(id, std::move(peer));
}

// No event reports that descriptors are free again, so the control thread polls.
void Shm::log_cannot_connect(const Error& why) {
  if (std::uint64_t more = 0; connect_log_.allow(more)) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    log::error("shm", why.to_string() + ": this process reaches only " +
                          std::to_string(peers_.size()) + " processes of domain '" +
                          self_->domain().name() +
                          "'. Each takes two file descriptors, and the limit per process is " +
                          std::to_string(limit.rlim_cur) + ". Raise it with 'ulimit -n'");
  }
  polling_ = true;
  set_timer(poll_timer_.get(), kPollMs, true);
}

void Shm::reconcile(const std::shared_ptr<Peer>& peer) {
  const std::uint64_t version = peer->control.header().table_version.load();
  if (version != peer->seen_version || local_version_ != peer->seen_local) {
    const auto endpoints = peer->control.endpoints();
    const auto rings = peer->control.rings();
    if (!endpoints || !rings) return;  // the tables are changing: a notice follows
    match_publications(peer, *endpoints);
    match_rings(peer, *endpoints, *rings);
    peer->seen_version = version;
    peer->seen_local = local_version_;
  }
  if (!peer->sent_to_us) return;
  // The pool's pages are faulted in here, not in the receiving thread.
  const std::uint32_t made = std::min(peer->control.header().segments.load(), shm::kMaxSegments);
  for (; peer->populated < made; ++peer->populated) {
    if (auto segment = segments_.get(self_->domain(), peer->id, peer->populated)) {
      (*segment)->populate();
    }
  }
}

// A peer has died or left. Its holds end here. Its messages are still read.
void Shm::reap(const std::shared_ptr<Peer>& peer) {
  peer->mark_dead();
  std::vector<std::shared_ptr<Port>> ports;
  {
    const std::shared_lock lock(ports_mutex_);
    ports = ports_;
  }
  for (const auto& port : ports) {
    if (port == nullptr || port->send_events == nullptr) continue;
    drop_tx_rings(port, [&](const TxRing& ring) { return ring.peer == peer; });
  }
  const auto is_dead = [&](std::uint64_t id) {
    if (id == self_->id()) return false;
    const auto known = peers_.find(id);
    // A holder may be unknown here (it may have the slot from a relaying process), so check the
    // files.
    return known != peers_.end() ? known->second->dead() : self_->domain().is_dead(id);
  };
  for (const auto& segment : self_->pool().segments()) segment->sweep(is_dead);
  // The dead process may have cleared a waiter's flag without waking the waiter.
  shm::wake_all(self_->control().header().pool_waiters);
  const std::lock_guard rx(rx_mutex_);
  for (std::uint32_t i = 0; i < rx_rings_.size(); ++i) {
    RxRing* ring = rx_rings_[i].get();
    if (ring == nullptr || ring->peer != peer) continue;
    ring->sender_gone.store(true);
    mark_ready(i);
  }
  // It may also have cleared our receiving thread's flag, even if it sent nothing to us (R3).
  shm::wake_all(self_->control().header().asleep);
}

// Releases the rest of a dead peer, once our rings hold nothing from it.
void Shm::forget(const std::shared_ptr<Peer>& peer) {
  {
    const std::lock_guard rx(rx_mutex_);
    for (const auto& ring : rx_rings_) {
      if (ring != nullptr && ring->peer == peer) return;
    }
  }
  free_refusals([&](const Refusal& refusal) { return refusal.peer == peer->id; });
  if (peer->sent_to_us) settle_forwarder(peer->id);
  segments_.abandon(peer->id);
  remove_files(peer->id);
  peers_.erase(peer->id);
}

// Segment, H8: in every pool from which the dead peer may have relayed messages to us.
void Shm::settle_forwarder(std::uint64_t dead) {
  std::vector<std::shared_ptr<shm::Segment>> candidates = self_->pool().segments();
  for (const auto& [id, peer] : peers_) {
    if (id == dead || peer->dead()) continue;
    const std::uint32_t made = std::min(peer->control.header().segments.load(), shm::kMaxSegments);
    for (std::uint32_t number = 0; number < made; ++number) {
      if (auto segment = segments_.get(self_->domain(), id, number)) {
        candidates.push_back(*segment);
      }
    }
  }
  for (const auto& segment : candidates) (void)segments_.relayed(segment, dead, self_->id());
  for (const auto& record : segments_.take_relayed(dead)) record->settle();
}

void Shm::remove_files(std::uint64_t id) {
  if (!tombstones_.emplace(id, monotonic_now().ns + kGraceMs * kNsPerMs).second) return;
  set_timer(tombstone_timer_.get(), kGraceMs, false);
}

void Shm::clean_tombstones() {
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
    set_timer(tombstone_timer_.get(), std::max<std::int64_t>((next - now) / kNsPerMs, 1), false);
}

}  // namespace hyphos::transport::shm_detail
