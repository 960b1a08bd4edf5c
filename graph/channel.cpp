#include "graph/channel.hpp"

#include <unistd.h>

#include <algorithm>
#include <list>
#include <map>
#include <random>

#include "base/hot.hpp"
#include "graph/channel_publisher.hpp"
#include "graph/subscriber.hpp"
#include "hyphos/time.hpp"

namespace hyphos::graph {
namespace {

thread_local bool delivering = false;

struct Delivering {
  bool outer = std::exchange(delivering, true);
  ~Delivering() { delivering = outer; }
};

/// The stamps of another process may have any value. Below this bound, 146 years of uptime, no
/// difference of two of them overflows.
constexpr std::int64_t kLatestStamp = std::int64_t{1} << 62;

bool is_stamp(std::int64_t ns) { return ns >= 0 && ns < kLatestStamp; }

/// Removes impossible stamps. The message then counts as published at its arrival.
void bound(Stamps& stamps, std::int64_t arrived) {
  stamps.arrived = arrived;
  if (is_stamp(stamps.publish | stamps.encoded | stamps.submitted)) return;
  if (!is_stamp(stamps.publish)) stamps.publish = arrived;
  if (!is_stamp(stamps.encoded)) stamps.encoded = 0;
  if (!is_stamp(stamps.submitted)) stamps.submitted = 0;
}

}  // namespace

bool Channel::delivering_here() { return delivering; }

Channel::Channel(std::string name, const TypeSupport& type, Policy policy,
                 std::vector<TransportBinding> bindings, std::shared_ptr<trace::Registry> registry,
                 Executor& executor)
    : name_(std::move(name)),
      type_(type.id),
      policy_(policy),
      registry_(std::move(registry)),
      executor_(executor),
      pool_(detail::BlockPool::create(type)),
      subscribers_(std::make_shared<const Subscribers>()),
      latched_depth_(policy.latched ? policy.latched_depth : 0) {
  for (const TransportBinding& binding : bindings) {
    ports_.push_back(std::make_unique<Port>());
    ports_.back()->binding = binding;
  }
}

Channel::~Channel() { pool_->close(); }

HYPHOS_HOT std::shared_ptr<const Channel::Subscribers> Channel::subscribers() const {
  const MutexLock lock(mutex_);
  return subscribers_;
}

std::uint32_t Channel::local_listeners() const {
  return static_cast<std::uint32_t>(subscribers()->size());
}

std::uint32_t Channel::publisher_count() const {
  std::uint32_t count = 0;
  for (const auto& port : ports_) count += port->publishers.load(std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  return count + static_cast<std::uint32_t>(publishers_.size());
}

Channel::Port* Channel::find_port(std::string_view transport) {
  for (const auto& port : ports_) {
    if (port->binding.transport->name() == transport) return port.get();
  }
  return nullptr;
}

TypeId Channel::type_outside() const {
  if (type_.encoding != Encoding::none) return type_;
  // Equal to no type of another process, so that each endpoint there is refused, with this name in
  // the errors of both sides.
  static const std::uint64_t random = std::random_device()();
  const std::uint64_t salt = (random ^ reinterpret_cast<std::uintptr_t>(registry_.get())) *
                             0x9e3779b97f4a7c15U;  // a registry is one runtime
  return {type_.name + " (without a serializer, stays in process " + std::to_string(getpid()) + ")",
          Encoding::custom, type_.hash ^ salt};
}

Result<void> Channel::open_ports(bool sink, const std::string& node) {
  for (const auto& port : ports_) {
    std::atomic<transport::PortId>& id = sink ? port->in : port->out;
    const transport::ChannelSpec spec{name_, type_outside(), policy(), port->binding.tools_only,
                                      node};
    auto opened =
        port->binding.transport->open(spec, sink ? this : nullptr, sink ? nullptr : &out_);
    if (opened) {
      id = *opened;
    } else if (port->binding.tools_only) {
      // Tools may be without the channel. The robot continues.
      log::warn("graph", "tools cannot use this channel: " + opened.error().to_string());
    } else {
      return opened.error();
    }
  }
  return success();
}

void Channel::close_ports() {
  const MutexLock lock(setup_);
  for (const auto& port : ports_) {
    if (port->in != 0) port->binding.transport->close(port->in.exchange(0));
    if (port->out != 0) port->binding.transport->close(port->out.exchange(0));
    port->listeners = 0;
  }
  remote_listeners_ = 0;
}

void Channel::unuse() {
  // Stored before the channel can be seen unused.
  unused_ns_.store(monotonic_now().ns, std::memory_order_relaxed);
  users_.fetch_sub(1, std::memory_order_release);
}

bool Channel::keeps_messages() const {
  if (!is_latched()) return false;
  const MutexLock lock(mutex_);
  return latched_.size() > 0;
}

void Channel::watch_deadline(Timers& timers) {
  // Checked once per deadline. A silence is noticed after one to two deadlines, and an idle channel
  // costs one wake-up per deadline.
  const std::int64_t deadline_ns = policy_.deadline_ms * 1'000'000;
  auto before = std::make_shared<std::map<const Subscriber*, std::int64_t>>();
  const auto own = std::make_shared<std::atomic<Timers::Id>>(0);
  *own = timers.every(deadline_ns, [weak = weak_from_this(), own, &timers, deadline_ns, before,
                                    clock = timers.clock()] {
    const auto channel = weak.lock();
    if (channel == nullptr) {  // the graph has dropped it
      if (const Timers::Id id = *own; id != 0) timers.cancel(id);
      return;
    }
    const bool simulated = clock->mode() == ClockMode::sim;
    const std::int64_t now = monotonic_now().ns;
    std::map<const Subscriber*, std::int64_t> seen;
    const auto list = channel->subscribers();  // keeps the list alive during the loop
    for (const auto& s : *list) {
      const std::int64_t last = (*s->trace()).last_ns.load(std::memory_order_relaxed);
      if (last == 0) continue;  // no deadline before the first message
      bool missed = now - last > deadline_ns;
      if (simulated) {  // stamps are from another clock, so compare with the last check
        const auto known = before->find(s.get());
        missed = known != before->end() && known->second == last;
        seen.emplace(s.get(), last);
      }
      if (missed) (*s->trace()).count(trace::Counter::deadline_missed);
    }
    before->swap(seen);
  });
}

Result<std::shared_ptr<detail::PublisherCore>> Channel::add_publisher(const TypeSupport& type,
                                                                      bool network,
                                                                      const std::string& node,
                                                                      std::uint32_t latched) {
  // Declared first: after an error its destructor takes setup_.
  std::shared_ptr<ChannelPublisher> publisher;
  if (latched > 0 && type.exclusive) {
    return Error{Code::invalid_config,
                 "a latched channel cannot carry " + type_.name +
                     ", because its subscription takes the values. Publish a shared_ptr",
                 name_};
  }
  const MutexLock setup(setup_);
  if (latched > 0 && latched != latched_depth()) become_latched(node, latched);
  trace::EndpointId id{name_, node, type_, policy(), Mode::serial, true};
  publisher = make_for_this_process<ChannelPublisher>(shared_from_this(), type, network,
                                                      registry_->add(id));
  use();
  {
    const MutexLock lock(mutex_);
    // Another publisher of the channel may have listeners already.
    if (network) publisher->set_transports(transports_with_listeners());
    publishers_.push_back(publisher.get());
    mark_pointer();
  }
  if (network && network_publishers_++ == 0) {
    if (auto opened = open_ports(false, node); !opened) return opened.error();
  }
  return std::shared_ptr<detail::PublisherCore>(std::move(publisher));
}

void Channel::become_latched(const std::string& node, std::uint32_t depth) {
  {
    const MutexLock lock(mutex_);
    if (publishers_.empty()) {
      latched_depth_.store(depth, std::memory_order_release);
      return;
    }
  }
  if (is_latched()) {
    log::warn("graph", "channel '" + name_ + "' keeps " + std::to_string(latched_depth()) +
                           " messages of each publisher, not " + std::to_string(depth) +
                           " as node " + node +
                           " requests: the first publisher of this process decides");
    return;
  }
  log::warn("graph", "channel '" + name_ + "' is not latched as node " + node +
                         " requests: it has publishers in this process that are not latched");
}

void Channel::mark_pointer() {
  if (publishers_.empty() || subscribers_->empty()) return;
  for (const auto& s : *subscribers_) (*s->trace()).transports.fetch_or(1);
  for (ChannelPublisher* p : publishers_) (*p->trace()).transports.fetch_or(1);
}

std::uint32_t Channel::transports_with_listeners() const {
  std::uint32_t mask = 0;
  for (const auto& port : ports_) {
    if (port->listeners > 0) mask |= 2U << port->binding.index;
  }
  return mask;
}

void Channel::remove(ChannelPublisher& publisher) {
  const MutexLock setup(setup_);
  bool last = false;
  {
    const MutexLock lock(mutex_);
    std::erase(publishers_, &publisher);
    last = publishers_.empty();
    // Within the process, the last publisher leaves its value to late subscribers until another one
    // publishes.
    left_behind_ = last;
  }
  if (is_latched()) {
    if (!last) forget_publisher(publisher.sender());
    if (publisher.network()) announce_end(publisher.sender());
  }
  if (publisher.network() && --network_publishers_ == 0) {
    for (const auto& port : ports_) {
      if (port->out != 0) port->binding.transport->close(port->out.exchange(0));
      port->listeners = 0;
    }
    remote_listeners_ = 0;
  }
  unuse();
}

Result<std::shared_ptr<Subscriber>> Channel::add_subscriber(
    const TypeSupport& type, Mode mode, View view, bool network, const std::string& node,
    detail::Callback callback, std::function<void()> ready, std::shared_ptr<Group> group) {
  // Declared first: after an error its destructor takes setup_.
  std::shared_ptr<Subscriber> subscriber;
  UniqueLock setup(setup_);
  if (type.exclusive) {
    const MutexLock lock(mutex_);
    if (!subscribers_->empty()) {
      return Error{Code::already_exists,
                   "node '" + subscribers_->front()->options().node +
                       "' has the one subscription to " + type_.name +
                       ", which takes the values. Publish a shared_ptr for several",
                   name_};
    }
  }
  trace::EndpointId id{name_, node, type_, policy(), mode, false};
  Subscriber::Options options{mode, network,          policy_,         node,
                              view, std::move(ready), std::move(group)};
  subscriber = std::make_shared<Subscriber>(
      shared_from_this(), view == View::value ? &type : nullptr, std::move(options),
      std::move(callback), executor_, registry_->add(id));
  use();
  {
    std::vector<detail::BlockRef> kept;
    const MutexLock lock(mutex_);
    auto list = std::make_shared<Subscribers>(*subscribers_);
    list->push_back(subscriber);
    subscribers_ = std::move(list);
    mark_pointer();
    const Where open = open_places();
    for (const detail::BlockRef& block : latched_) {
      const bool own = block->meta().peer == kThisProcess;
      if (is_among(own ? Where::inside : Where::outside, open) && (own || network)) {
        kept.push_back(block);
      }
    }
    // Under the lock, so that no later message comes first. No thread holds the subscriber's lock.
    if (!kept.empty()) subscriber->preload(kept);
  }
  tell_watchers();
  if (network && network_subscribers_++ == 0) {
    if (auto opened = open_ports(true, node); !opened) {
      setup.unlock();
      subscriber->close();
      return opened.error();
    }
  }
  setup.unlock();  // an inline callback may open or close an endpoint of this channel
  subscriber->joined();
  return subscriber;
}

void Channel::remove(Subscriber& subscriber) {
  const MutexLock setup(setup_);
  {
    const MutexLock lock(mutex_);
    auto list = std::make_shared<Subscribers>(*subscribers_);
    std::erase_if(*list, [&](const auto& s) { return s.get() == &subscriber; });
    subscribers_ = std::move(list);
  }
  tell_watchers();
  if (subscriber.options().network && --network_subscribers_ == 0) {
    for (const auto& port : ports_) {
      if (port->in != 0) port->binding.transport->close(port->in.exchange(0));
      port->publishers = 0;
    }
    // Destroyed after the lock is released, because this may free memory.
    std::list<detail::BlockRef> gone;
    const MutexLock lock(mutex_);
    peers_.clear();
    gone = latched_.forget_if(
        [](const detail::BlockRef& block) { return block->meta().peer != kThisProcess; });
  }
  unuse();
}

std::shared_ptr<const Channel::Subscribers> Channel::keep(const detail::BlockRef& block) {
  // Both are destroyed after the lock is released, because this may free memory.
  std::list<detail::BlockRef> gone;
  detail::BlockRef before;
  const MutexLock lock(mutex_);
  if (left_behind_ && block->meta().peer == kThisProcess) {
    left_behind_ = false;
    gone = latched_.forget_if(
        [](const detail::BlockRef& one) { return one->meta().peer == kThisProcess; });
  }
  before = latched_.keep(block, block->meta().sequence, block->meta().latched_depth);
  return subscribers_;
}

void Channel::forget_publisher(std::uint64_t sender) {
  std::list<detail::BlockRef> gone;
  const MutexLock lock(mutex_);
  gone = latched_.forget(sender);
}

void Channel::announce_end(std::uint64_t sender) {
  Envelope notice;
  notice.meta.type_hash = type_.hash;
  notice.meta.sender = sender;
  notice.meta.latch = Latch::gone;
  for (const auto& port : ports_) {
    if (port->out != 0) (void)port->binding.transport->send(port->out, notice);
  }
}

HYPHOS_HOT void Channel::deliver_local(const detail::BlockRef& block, const Subscribers& list,
                                       Published& out) {
  for (const auto& subscriber : list) {
    const auto result = subscriber->push_local({block, 0, 0, 0, block->meta().replayed});
    switch (result) {
      case Subscriber::Push::accepted:
        ++out.accepted;
        break;
      case Subscriber::Push::closed:
        break;
      case Subscriber::Push::dropped_oldest:
        ++out.accepted;
        [[fallthrough]];
      case Subscriber::Push::dropped_newest:
        ++out.dropped;
        break;
      case Subscriber::Push::timeout:
        ++out.dropped;
        out.failure = block->meta().no_wait ? Code::overloaded : Code::timeout;
        break;
    }
  }
}

HYPHOS_HOT void Channel::deliver_remote(const detail::BlockRef& block, const Subscribers& list,
                                        std::int64_t arrived, transport::ReadyList* ready) {
  for (const auto& subscriber : list) {
    if (!subscriber->options().network) continue;
    // The subscriber counts a message that it drops.
    (void)subscriber->push_remote({block, arrived, 0, 0, block->meta().replayed}, ready);
  }
}

void Channel::count_closed(const Subscribers& list, bool from_outside) {
  for (const auto& s : list) {
    if (!from_outside || s->options().network) (*s->trace()).count(trace::Counter::closed);
  }
}

HYPHOS_HOT bool Channel::deliver(Envelope& message, transport::ReadyList* ready) {
  Stamps& stamps = message.meta.stamps;
  const bool has_arrival = stamps.arrived != 0 && is_stamp(stamps.arrived);
  const std::int64_t arrived = has_arrival ? stamps.arrived : monotonic_now().ns;
  if (message.meta.latch == Latch::gone) {
    forget_publisher(message.meta.sender);
    return true;
  }
  bound(stamps, arrived);
  auto list = subscribers();
  if (!is_open(Where::outside)) {
    count_closed(*list, true);
    return true;
  }
  if (policy_.overflow == Overflow::block) {
    const auto all_have_room = [&] {
      return std::all_of(list->begin(), list->end(),
                         [](const auto& s) { return !s->options().network || s->has_room(); });
    };
    if (!all_have_room()) {
      paused_.store(true);
      // Room may have appeared before the flag was set. Then nothing would call on_space(). The
      // flag stays set nevertheless: another peer or transport may have set it and wait.
      if (!all_have_room()) return false;
    }
  }
  detail::BlockRef block = pool_->take();
  block->meta() = message.meta;
  block->set_encoded(std::move(message));
  if (block->meta().latch == Latch::last) list = keep(block);
  const Delivering here;
  deliver_remote(block, *list, arrived, ready);
  return true;
}

HYPHOS_HOT void Channel::room_made() {
  if (!paused_.load() || !paused_.exchange(false)) return;
  for (const auto& port : ports_) {
    if (port->in != 0) port->binding.transport->on_space(port->in);
  }
}

void Channel::dropped(std::string_view transport, transport::Drop reason, std::uint64_t count) {
  const Port* port = find_port(transport);
  if (port == nullptr) return;
  const auto list = subscribers();  // keeps the list alive during the loop
  for (const auto& s : *list) {
    if (s->options().network)
      s->trace().drop(port->binding.index, static_cast<std::size_t>(reason), count);
  }
}

void Channel::watch(std::weak_ptr<ChannelWatcher> watcher) {
  const MutexLock lock(mutex_);
  std::erase_if(watchers_, [](const auto& known) { return known.expired(); });
  watchers_.push_back(std::move(watcher));
}

void Channel::set_open(Where places) {
  open_.store(places, std::memory_order_release);
  tell_watchers();
}

void Channel::set_open(Where place, bool open) {
  Where before = open_places();
  Where after = before;
  do {
    const auto other = static_cast<std::uint8_t>(static_cast<std::uint8_t>(before) &
                                                 ~static_cast<std::uint8_t>(place));
    after = static_cast<Where>(other | (open ? static_cast<std::uint8_t>(place) : 0));
  } while (!open_.compare_exchange_weak(before, after, std::memory_order_acq_rel));
  tell_watchers();
}

void Channel::tell_watchers() {
  std::vector<std::shared_ptr<ChannelWatcher>> watchers;
  {
    const MutexLock lock(mutex_);
    for (const auto& known : watchers_) {
      if (auto watcher = known.lock()) watchers.push_back(std::move(watcher));
    }
  }
  const Delivering here;
  for (const auto& watcher : watchers) watcher->channel_changed();
  watchers.clear();
}

std::vector<ChannelPeer> Channel::peers() const {
  std::vector<ChannelPeer> all;
  const MutexLock lock(mutex_);
  for (const auto& [port, peer] : peers_) all.push_back(peer);
  return all;
}

std::optional<Error> Channel::refusal() const {
  const MutexLock lock(mutex_);
  return refusal_;
}

void Channel::peer(std::string_view transport, std::string_view who, std::uint64_t id,
                   bool present) {
  Port* port = find_port(transport);
  if (port == nullptr) return;
  {
    // Destroyed after the lock is released, because this may free memory.
    std::list<detail::BlockRef> gone;
    const MutexLock lock(mutex_);
    const auto is_meant = [&](const auto& known) {
      return known.first == port && known.second.id == id;
    };
    if (present) {
      refusal_.reset();
      peers_.push_back({port, {id, std::string(who)}});
    } else if (const auto at = std::find_if(peers_.begin(), peers_.end(), is_meant);
               at != peers_.end()) {
      peers_.erase(at);
    }
    // A peer that closes its publisher and opens another may be listed twice for a moment.
    if (!present && std::none_of(peers_.begin(), peers_.end(), is_meant)) {
      gone = latched_.forget_if(
          [id](const detail::BlockRef& block) { return block->meta().peer == id; });
    }
  }
  if (present) {
    ++port->publishers;
  } else if (port->publishers > 0) {
    --port->publishers;
  }
  const auto list = subscribers();  // keeps the list alive during the loop
  for (const auto& s : *list) {
    if (present) (*s->trace()).transports.fetch_or(2U << port->binding.index);
  }
  log::debug("graph", "channel '" + name_ + "': publisher " + std::string(who) +
                          (present ? " appeared on " : " left ") + std::string(transport));
  tell_watchers();
}

void Channel::refused(std::string_view transport, const Error& why) {
  {
    const MutexLock lock(mutex_);
    refusal_ = why;
  }
  tell_watchers();
  if (std::uint64_t more = 0; refused_log_.allow(more)) {
    log::error(transport, why.to_string());
  }
}

void Channel::Out::listeners(std::string_view transport, std::uint32_t count) {
  Port* port = channel.find_port(transport);
  if (port == nullptr) return;
  {
    const MutexLock lock(channel.mutex_);
    if (count > port->listeners) channel.refusal_.reset();
    port->listeners = count;
    std::uint32_t all = 0;
    for (const auto& p : channel.ports_) all += p->listeners;
    channel.remote_listeners_.store(all, std::memory_order_release);
    const std::uint32_t mask = channel.transports_with_listeners();
    for (ChannelPublisher* publisher : channel.publishers_) publisher->set_transports(mask);
  }
  channel.tell_watchers();
}

void Channel::Out::dropped(std::string_view transport, transport::Drop reason,
                           std::uint64_t count) {
  const Port* port = channel.find_port(transport);
  if (port == nullptr) return;
  const MutexLock lock(channel.mutex_);
  if (channel.publishers_.empty()) return;
  channel.publishers_.front()->trace().drop(port->binding.index, static_cast<std::size_t>(reason),
                                            count);
}

void Channel::Out::refused(std::string_view transport, const Error& why) {
  channel.refused(transport, why);
}

}  // namespace hyphos::graph
