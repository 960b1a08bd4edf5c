#include "graph/channel_publisher.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include "base/hot.hpp"
#include "graph/subscriber.hpp"
#include "hyphos/time.hpp"

namespace hyphos::graph {
namespace {

/// Counts the changes around a channel for a thread that waits for one.
class Changes final : public ChannelWatcher {
 public:
  void channel_changed() override {
    const MutexLock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  [[nodiscard]] std::uint64_t count() {
    const MutexLock lock(mutex_);
    return count_;
  }
  /// Waits until count() differs from `seen`. False if the deadline (CLOCK_MONOTONIC) has passed.
  [[nodiscard]] bool wait(std::uint64_t seen, std::int64_t deadline_ns) {
    UniqueLock lock(mutex_);
    const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds(deadline_ns)};
    return changed_.wait_until(lock, deadline,
                               [&, this]() HYPHOS_REQUIRES(mutex_) { return count_ != seen; });
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::uint64_t count_ HYPHOS_GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::uint64_t random_id() {
  std::random_device device;
  const std::uint64_t id = (std::uint64_t{device()} << 32) | device();
  return id == 0 ? 1 : id;
}

ChannelPublisher::ChannelPublisher(std::shared_ptr<Channel> channel, const TypeSupport& type,
                                   bool network, std::unique_ptr<trace::Endpoint> trace)
    : channel_(std::move(channel)),
      network_(network),
      type_(type),
      pool_(detail::BlockPool::create(type)),
      trace_(std::move(trace)),
      sender_(random_id()) {}

ChannelPublisher::~ChannelPublisher() {
  leave();
  pool_->close();
}

void ChannelPublisher::leave() {
  {
    const MutexLock lock(send_);
    if (left_.exchange(true)) return;
  }
  end_waits();
  channel_->remove(*this);
}

std::optional<Error> ChannelPublisher::ended() const {
  const std::string what = "the publisher of channel '" + channel() + "'";
  if (mark_.is_inherited()) return ForkMark::error(what, channel());
  if (!left_.load(std::memory_order_relaxed)) return std::nullopt;
  return Error{Code::disconnected, what + " has been closed. Open another one", channel()};
}

HYPHOS_HOT detail::BlockRef ChannelPublisher::block() {
  if (mark_.is_inherited()) {  // in the parent, another thread may have held the pool's lock
    detail::BlockPool* const own = detail::BlockPool::create(type_);
    detail::BlockRef block = own->take();
    own->close();
    return block;
  }
  detail::BlockRef block = pool_->take();
  block->meta().stamps.publish = monotonic_now().ns;
  return block;
}

HYPHOS_HOT bool ChannelPublisher::has_remote() const {
  return network_ && channel_->remote_listeners() > 0 && channel_->is_open(Where::outside) &&
         !has_ended();
}

std::uint32_t ChannelPublisher::listeners() const {
  if (has_ended()) return 0;
  const Where open = channel_->open_places();
  return (is_among(Where::inside, open) ? channel_->local_listeners() : 0) +
         (network_ && is_among(Where::outside, open) ? channel_->remote_listeners() : 0);
}

void ChannelPublisher::end_waits() {
  std::vector<std::weak_ptr<ChannelWatcher>> waits;
  {
    const MutexLock lock(waits_mutex_);
    waits_ended_ = true;
    waits.swap(waits_);
  }
  for (const auto& weak : waits) {
    if (const auto waiter = weak.lock()) waiter->channel_changed();
  }
}

bool ChannelPublisher::add_wait(const std::shared_ptr<ChannelWatcher>& waiter) {
  const MutexLock lock(waits_mutex_);
  std::erase_if(waits_,
                [&](const auto& known) { return known.expired() || known.lock() == waiter; });
  waits_.emplace_back(waiter);
  return !waits_ended_;
}

Result<void> ChannelPublisher::wait_for(std::uint32_t subscribers, Duration timeout) {
  if (listeners() >= subscribers && !has_ended()) return success();
  if (Channel::delivering_here()) {
    return Error{Code::unsupported,
                 "a callback with mode 'inline' must not wait: it runs in the thread that would "
                 "see the subscriber. Use mode serial",
                 channel()};
  }
  const Executor::Waiting waiting(channel_->executor_);
  if (!waiting) {
    return Error{Code::overloaded,
                 std::to_string(Executor::kMaxWaiting) + " callbacks of this process already wait",
                 channel()};
  }
  const std::int64_t deadline_ns = (monotonic_now() + timeout).ns;
  const auto changes = std::make_shared<Changes>();
  channel_->watch(changes);
  for (;;) {
    const std::uint64_t seen = changes->count();
    if (auto reason = ended()) return *reason;
    if (!add_wait(changes)) {
      return Error{Code::disconnected, "the node was closed while it waited", channel()};
    }
    const std::uint32_t now = listeners();
    if (now >= subscribers) return success();
    if (changes->wait(seen, deadline_ns)) continue;
    if (auto refusal = channel_->refusal()) return *refusal;
    return Error{Code::timeout,
                 std::to_string(now) + " of " + std::to_string(subscribers) +
                     " subscribers are there" +
                     (channel_->open_places() == Where::both
                          ? ". `hyphos channel info " + channel() + "` lists them"
                          : ": the channel is open " +
                                std::string(to_string(channel_->open_places())) + ". Open it"),
                 channel()};
  }
}

bool ChannelPublisher::has_room(std::size_t size) const {
  if (has_ended()) return true;
  const Where open = channel_->open_places();
  const auto subscribers = channel_->subscribers();
  if (is_among(Where::inside, open) &&
      !std::ranges::all_of(*subscribers, [](const auto& one) { return one->has_room(); })) {
    return false;
  }
  return !network_ || !is_among(Where::outside, open) ||
         std::ranges::all_of(channel_->ports_, [size](const auto& port) {
           const transport::PortId out = port->out;
           return out == 0 || port->listeners.load(std::memory_order_relaxed) == 0 ||
                  port->binding.transport->has_room(out, size);
         });
}

HYPHOS_HOT WritableBuffer ChannelPublisher::loan(std::size_t size) {
  if (!network_ || has_ended() || !channel_->is_open(Where::outside)) return {};
  for (const auto& port : channel_->ports_) {
    if (port->out == 0 || port->listeners.load(std::memory_order_relaxed) == 0) continue;
    WritableBuffer memory = port->binding.transport->loan(port->out, size);
    if (!memory.empty()) return memory;
  }
  return {};
}

// Subscriptions of this process accept messages of any size, so then the message must be published.
std::optional<Published> ChannelPublisher::too_large(std::size_t size) {
  const Where open = channel_->open_places();
  const bool here = is_among(Where::inside, open) && channel_->local_listeners() > 0;
  if (here || !is_among(Where::outside, open)) return std::nullopt;
  return refuse_large(size);
}

// Small messages always fit, so they cost only one comparison.
std::optional<Published> ChannelPublisher::refuse_large(std::size_t size) {
  constexpr std::size_t kAlwaysFits = 1 << 20;
  if (size <= kAlwaysFits || !network_ || channel_->is_latched()) return std::nullopt;
  Published out;
  std::string limits;
  for (const auto& port : channel_->ports_) {
    const std::uint32_t listeners = port->listeners.load(std::memory_order_relaxed);
    if (port->out == 0 || listeners == 0) continue;
    const std::uint64_t largest = port->binding.transport->largest(port->out);
    if (size <= largest) return std::nullopt;
    out.dropped += listeners;
    limits += (limits.empty() ? "" : ", ") + std::string(port->binding.transport->name()) + ' ' +
              std::to_string(largest);
  }
  if (out.dropped == 0) return std::nullopt;
  for (const auto& port : channel_->ports_) {
    const std::uint32_t listeners = port->listeners.load(std::memory_order_relaxed);
    if (port->out == 0 || listeners == 0) continue;
    trace_->drop(port->binding.index, static_cast<std::size_t>(transport::Drop::too_large),
                 listeners);
  }
  out.failure = Code::too_large;
  if (std::uint64_t more = 0; too_large_log_.allow(more)) {
    log::error(
        "graph",
        "channel '" + channel_->name() + "': a message of " + std::to_string(size) +
            " bytes is too large for every other process. The limits in bytes are: " + limits +
            ". Send it in parts, or make /dev/shm larger (docs/reference/limits.md) "
            "[too_large]");
  }
  return out;
}

bool ChannelPublisher::has_room_for(const detail::Block& block) const {
  std::size_t size = block.encoded_size();
  if (block.has_encoded()) {
    const Envelope& envelope = block.envelope();
    size = envelope.payload.size();
    for (const Buffer& buffer : envelope.buffers) size += buffer.size();
  }
  return has_room(size);
}

HYPHOS_HOT Published ChannelPublisher::publish(const detail::BlockRef& block) {
  return send<true>(block);
}

Published ChannelPublisher::try_publish(const detail::BlockRef& block) {
  if (channel_->policy_.overflow != Overflow::block) return send<true>(block);
  if (!has_ended() && !has_room_for(*block)) {
    Published out;
    out.failure = Code::overloaded;
    return out;
  }
  // Another thread may take the room now. Then the queue refuses the message instead of waiting.
  block->meta().no_wait = true;
  return send<false>(block);
}

template <bool wait>
HYPHOS_HOT Published ChannelPublisher::send(const detail::BlockRef& block) {
  Published out;
  if (has_ended()) {
    out.failure = Code::disconnected;
    return out;
  }
  std::size_t bytes = 0;
  trace::Record& record = **trace_;
  Meta& meta = block->meta();
  const bool brought = meta.sender != 0;  // RawPublisher::bring(): the sender is in another graph
  if (!brought) meta.sender = sender_;
  meta.peer = kThisProcess;
  meta.type_hash = channel_->type().hash;
  const std::uint32_t latched_depth = channel_->latched_depth();
  const bool latched = latched_depth > 0;
  meta.latch = latched ? Latch::last : Latch::none;
  meta.latched_depth = static_cast<std::uint16_t>(latched_depth);
  const Where open = channel_->open_places();
  if (open == Where::nowhere) {
    record.count(trace::Counter::closed);
    out.failure = Code::disconnected;
    return out;
  }
  // Latched values go to the transports even without a subscriber: transports keep the last one.
  if (!is_among(Where::outside, open) && network_ && channel_->remote_listeners() > 0) {
    record.count(trace::Counter::closed);
  }
  const bool remote = network_ && channel_->type().encoding != Encoding::none &&
                      !channel_->ports_.empty() && meta.to != kThisProcess &&
                      (channel_->remote_listeners() > 0 || latched) &&
                      is_among(Where::outside, open);
  if (remote) {
    // Held by a thread that publishes, also while it waits for room.
    BriefLock lock(send_, std::defer_lock);
    if constexpr (wait) {
      lock.lock();
    } else if (!lock.try_lock()) {
      out.failure = Code::overloaded;
      return out;
    }
    if (!brought) meta.sequence = sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!left_) bytes = publish_remote(*block, out);
  } else if (!brought) {
    meta.sequence = sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  out.sequence = meta.sequence;
  const bool here = meta.to == 0 || meta.to == kThisProcess;
  if (!is_among(Where::inside, open)) {
    if (here) Channel::count_closed(*channel_->subscribers(), false);
  } else if (latched || here) {
    const auto list = latched ? channel_->keep(block) : channel_->subscribers();
    if (here) Channel::deliver_local(block, *list, out);
  }
  // A message for one process that is not there (yet) was not sent.
  if (meta.to == 0 || out.accepted + out.dropped > 0) record.count(trace::Counter::sent);
  record.last_ns.store(meta.stamps.publish, std::memory_order_relaxed);
  trace_->published(meta, bytes, Subscriber::cause_here());
  return out;
}

HYPHOS_HOT std::size_t ChannelPublisher::publish_remote(detail::Block& block, Published& out) {
  trace::Record& record = **trace_;
  if (!block.has_encoded()) {
    const std::size_t size = block.encoded_size();
    if (const auto refused = refuse_large(size)) {  // before all those bytes are written
      out.dropped += refused->dropped;
      out.failure = refused->failure;
      return 0;
    }
    const bool loans = size > 0 && !block.meta().no_wait;  // a loan may wait for memory
    if (block.encoded(loans ? loan(size) : WritableBuffer{}) == nullptr) {
      record.count(trace::Counter::encode_failed);
      out.failure = Code::unsupported;
      return 0;
    }
    block.meta().stamps.encoded = monotonic_now().ns;
  }
  const Envelope& envelope = *block.encoded();
  std::size_t bytes = envelope.payload.size();
  for (const Buffer& buffer : envelope.buffers) bytes += buffer.size();
  record.count(trace::Counter::bytes, bytes);
  block.meta().stamps.submitted = monotonic_now().ns;
  for (const auto& port : channel_->ports_) {
    const bool wanted =
        port->listeners.load(std::memory_order_relaxed) > 0 || channel_->is_latched();
    if (port->out == 0 || !wanted) continue;
    const transport::SendReport report = port->binding.transport->send(port->out, envelope);
    out.accepted += report.accepted;
    out.dropped += report.dropped;
    if (report.failure) out.failure = report.failure;
  }
  return bytes;
}

}  // namespace hyphos::graph
