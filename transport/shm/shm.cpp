#include "transport/shm/shm.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>

#include "hyphos/time.hpp"
#include "transport/registry.hpp"
#include "transport/shm/shm_impl.hpp"
#include "wire/packet.hpp"

namespace hyphos::transport {

std::unique_ptr<ShmTransport> make_shm(ShmConfig config) {
  return std::make_unique<shm_detail::Shm>(std::move(config));
}

namespace make {
MadeTransport shm(const TransportContext& context) {
  ShmConfig config;
  config.participant = context.participant;
  config.domain = context.domain;
  config.process_name = context.process_name;
  config.guest = context.guest;
  config.host = context.host;
  return {make_shm(std::move(config)), nullptr};
}
}  // namespace make

namespace shm_detail {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

Error too_many(const std::string& channel) {
  return Error{Code::exhausted,
               "this process already has " + std::to_string(shm::kMaxEndpoints) +
                   " endpoints in shared memory, which is the limit. Close some, give channels "
                   "that no other process needs 'scope: local', or split the process",
               channel};
}

Error too_many_tools(const std::string& channel) {
  return Error{Code::exhausted,
               "this process already has " + std::to_string(shm::kMaxToolsOnly) +
                   " endpoints in shared memory for tools only, which is the limit. Tools on "
                   "this machine do not see this endpoint",
               channel};
}

Result<void> watch(const UniqueFd& epoll, const UniqueFd& fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd.get();
  if (!fd.valid() || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0) {
    return shm::os_error(errno, "cannot watch a descriptor", "shm");
  }
  return {};
}

Result<std::shared_ptr<shm::Participant>> join(const ShmConfig& config) {
  if (config.participant) return config.participant;
  shm::ParticipantOptions options;
  options.base = config.base_dir;
  options.domain = config.domain;
  options.process_name = config.process_name;
  options.pool_limit_bytes = config.pool_limit_bytes;
  return shm::Participant::create(options);
}

}  // namespace

Result<void> Shm::start() {
  const std::lock_guard lock(control_mutex_);
  auto self = join(config_);
  if (!self) return self.error();
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  wake_fd_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  tombstone_timer_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  poll_timer_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll_.valid()) return shm::os_error(errno, "cannot make an epoll descriptor", "shm");
  const std::array<const UniqueFd*, 4> watched = {&wake_fd_, &tombstone_timer_, &poll_timer_,
                                                  &(*self)->socket()};
  for (const UniqueFd* fd : watched) {
    if (auto added = watch(epoll_, *fd); !added) return added;
  }
  self_ = std::move(*self);
  self_->pool().on_growth([this] { signal_control(true); });
  started_.store(true);
  for (const auto& port : ports_) {
    if (port == nullptr) continue;
    if (auto announced = announce(port); !announced) return announced;
  }
  for (const std::string& file : self_->domain().files()) {
    const std::uint64_t id = shm::owner_of(file);
    if (id != 0 && self_->domain().is_dead(id)) remove_files(id);
  }
  controller_ = std::thread([this] { control_loop(); });
  receiver_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "hyphos-rx");
    const CallGate::Entry inside(*polls_);
    while (poll(0, nullptr) != Poll::over) {
    }
  });
  signal_control(true);
  return {};
}

void Shm::stop(std::int64_t linger_ms) {
  if (!started_.load() || stopping_.exchange(true)) return;
  if (self_->control().pid() != ::getpid()) {
    // A forked child has no threads to end, and the files belong to the parent. Destroying a
    // std::thread there would touch a thread that does not exist, so the object is leaked.
    for (std::thread* thread : {&controller_, &receiver_}) {
      static_cast<void>(std::make_unique<std::thread>(std::move(*thread)).release());
    }
    return;
  }
  flush(linger_ms);
  {
    // Threads that wait for room or memory give up.
    const std::shared_lock lock(ports_mutex_);
    for (const auto& port : ports_) {
      if (port == nullptr) continue;
      const auto tx_rings = port->tx_rings();  // holds the list during the loop
      for (const auto& ring : *tx_rings) {
        ring->gone.store(true);
        shm::wake(ring->ring.header().space_waiters);
      }
    }
  }
  shm::wake(self_->control().header().pool_waiters);
  senders_.close();
  std::vector<std::shared_ptr<Port>> ports;
  {
    const std::unique_lock lock(ports_mutex_);
    ports.swap(ports_);
    for (auto& port : ports_by_id_) port.store(nullptr);
  }
  for (const auto& port : ports) {
    if (port != nullptr) detach(port);
  }
  signal_control(false);
  if (controller_.joinable()) controller_.join();
  end_polls();
  self_->notify_all();
  self_->pool().on_growth({});
  // The participant itself stays, because its metrics may still be in use.
  const std::lock_guard lock(control_mutex_);
  peers_.clear();
  segments_.clear();
  retired_rings_.clear();
  retired_ports_.clear();
}

void Shm::flush(std::int64_t linger_ms) {
  const std::int64_t deadline = monotonic_now().ns + linger_ms * kNsPerMs;
  std::vector<std::shared_ptr<TxRing>> rings;
  {
    const std::shared_lock lock(ports_mutex_);
    for (const auto& port : ports_) {
      if (port == nullptr || port->spec.policy.reliability != Reliability::reliable) continue;
      const auto tx_rings = port->tx_rings();  // holds the list during the loop
      rings.insert(rings.end(), tx_rings->begin(), tx_rings->end());
    }
  }
  for (const auto& ring : rings) {
    std::atomic<std::uint32_t>& waiters = ring->ring.header().space_waiters;
    while (!ring->ring.empty() && !ring->gone.load() && monotonic_now().ns < deadline) {
      waiters.store(1, std::memory_order_seq_cst);
      if (ring->ring.empty() || ring->gone.load()) break;
      shm::futex_wait(waiters, 1, deadline);
    }
  }
}

Result<PortId> Shm::open(const ChannelSpec& spec, ReceiveSink* sink, SendEvents* send_events) {
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
  const std::lock_guard control(control_mutex_);
  {
    const std::shared_lock lock(ports_mutex_);
    std::uint32_t tools_only = 0;
    for (const auto& other : ports_) {
      if (other == nullptr) continue;
      if (other->spec.tools_only && spec.tools_only && ++tools_only == shm::kMaxToolsOnly) {
        return too_many_tools(spec.name);  // the plan's own channels must find room
      }
      if (other->spec.name != spec.name) continue;
      if ((other->send_events == nullptr) != (send_events == nullptr)) continue;
      return Error{Code::already_exists,
                   send_events != nullptr ? "this process already publishes the channel"
                                          : "this process already subscribes to the channel",
                   spec.name};
    }
  }
  if (started_.load() && !stopping_.load()) {
    if (auto announced = announce(port); !announced) return announced.error();
  }
  const std::unique_lock lock(ports_mutex_);
  const auto free = std::find(ports_.begin(), ports_.end(), nullptr);
  const auto id = static_cast<PortId>(free - ports_.begin() + 1);
  if (id > ports_by_id_.size()) return too_many(spec.name);
  ports_by_id_[id - 1].store(port.get(), std::memory_order_seq_cst);
  if (free == ports_.end()) {
    ports_.push_back(std::move(port));
  } else {
    *free = std::move(port);
  }
  if (started_.load()) signal_control(true);
  return id;
}

Result<void> Shm::announce(const std::shared_ptr<Port>& port) {
  const auto free = std::find(endpoint_used_.begin(), endpoint_used_.end(), false);
  const auto index = static_cast<std::uint32_t>(free - endpoint_used_.begin());
  if (index >= shm::kMaxEndpoints) return too_many(port->spec.name);
  shm::EndpointRecord& record = port->record;
  record = {};
  record.serial = next_serial_++;
  record.type_hash = port->spec.type.hash;
  record.depth = port->spec.policy.depth;
  record.is_publisher = port->send_events != nullptr ? 1 : 0;
  record.encoding = static_cast<std::uint8_t>(port->spec.type.encoding);
  if (config_.guest) record.flags |= shm::kGuest;
  if (port->spec.tools_only) record.flags |= shm::kToolsOnly;
  if (port->send_events != nullptr && port->spec.policy.latched) record.flags |= shm::kKeepsLast;
  record.realm = config_.host.empty() ? 0 : wire::fnv1a(config_.host);
  record.channel_hash = wire::fnv1a(port->spec.name);
  shm::put_text(record.channel, port->spec.name);
  shm::put_text(record.type, port->spec.type.name);
  if (auto written = self_->control().set_endpoint(index, record); !written) return written;
  if (index == endpoint_used_.size()) endpoint_used_.push_back(false);
  endpoint_used_[index] = true;
  port->endpoint = index;
  port->serial = record.serial;
  announced_.emplace(port->serial, port);
  named_.emplace(record.channel_hash, port);
  ++local_version_;
  return {};
}

// After this, the port gets no new peers.
void Shm::withdraw(const std::shared_ptr<Port>& port) {
  if (announced_.erase(port->serial) == 0) return;
  (void)self_->control().set_endpoint(port->endpoint, {});
  endpoint_used_[port->endpoint] = false;
  const auto [first, last] = named_.equal_range(port->record.channel_hash);
  named_.erase(std::find_if(first, last, [&](const auto& each) { return each.second == port; }));
  free_refusals([&](const Refusal& refusal) { return refusal.port == port->serial; });
  ++local_version_;
}

void Shm::close(PortId id) {
  std::shared_ptr<Port> port;
  {
    const std::unique_lock lock(ports_mutex_);
    if (id == 0 || id > ports_.size()) return;
    port = std::exchange(ports_[id - 1], nullptr);
    ports_by_id_[id - 1].store(nullptr, std::memory_order_seq_cst);
    if (port != nullptr) retired_ports_.push_back(port);
  }
  if (port == nullptr) return;
  if (started_.load()) {
    detach(port);
    signal_control(true);
  }
  free_retired();
}

// A sender enters the call gate before it looks up a port. So if no sender is inside after the port
// was removed from the table, no sender uses the port.
void Shm::free_retired() {
  std::vector<std::shared_ptr<Port>> retired;
  const std::unique_lock lock(ports_mutex_);
  if (senders_.idle()) retired.swap(retired_ports_);
}

void Shm::detach(const std::shared_ptr<Port>& port) {
  std::uint64_t lost = 0;
  {
    std::unique_lock lock(control_mutex_);
    withdraw(port);
    if (port->send_events != nullptr) {
      // Receivers read the rest of their rings even after we left, if the files still exist.
      const auto tx_rings = port->tx_rings();  // holds the list during the loop
      for (const auto& ring : *tx_rings) {
        leave(*ring);
        const std::lock_guard producer(ring->producer);
        if (stopping_.load() && !ring->peer->dead() && !ring->ring.empty()) self_->leave_files();
        ring->gone.store(true);
        shm::wake(ring->ring.header().space_waiters);
      }
      const std::lock_guard rings(port->rings_mutex);
      port->rings = std::make_shared<TxRings>();
    }
  }
  if (port->send_events != nullptr) {
    if (const CallGate::Entry call(port->gate); call) port->send_events->listeners(kName, 0);
  }
  // Waits for a visit of the receiving thread. Called without the lock, because an inline callback
  // may open a port.
  port->gate.close();
  if (port->sink == nullptr) return;
  const std::lock_guard lock(control_mutex_);
  for (std::uint32_t i = 0;; ++i) {
    std::shared_ptr<RxRing> ring;
    {
      const std::lock_guard rx(rx_mutex_);
      if (i >= rx_rings_.size()) break;
      if (rx_rings_[i] == nullptr || rx_rings_[i]->port != port) continue;
      ring = take_out(i);
    }
    (void)self_->control().set_ring(i, {});
    rx_known_.erase({ring->peer->id, port->serial, ring->publication});
    free_ring(i);
    self_->domain().remove(shm::ring_name(self_->id(), ring->serial));
    // The sender counts the rest of the ring, and the one kept message, if it still can.
    if (ring->kept.has_value() && ring->sender_gone.load()) ++lost;
    ring->kept.reset();
  }
  if (lost != 0) port->sink->dropped(kName, Drop::disconnected, lost);
}

std::vector<PeerStatus> Shm::peers() const {
  const std::lock_guard lock(control_mutex_);
  std::vector<PeerStatus> found;
  for (const auto& [id, peer] : peers_) {
    if (peer->dead()) continue;
    const auto endpoints = peer->control.endpoints();
    if (!endpoints) continue;
    for (const shm::EndpointRecord& record : *endpoints) {
      found.push_back({shm::get_text(record.channel), peer->control.process(),
                       "shm:" + shm::to_hex(id), record.is_publisher != 0});
    }
  }
  return found;
}

std::uint64_t Shm::participant_id() const { return self_ != nullptr ? self_->id() : 0; }

}  // namespace shm_detail
}  // namespace hyphos::transport
