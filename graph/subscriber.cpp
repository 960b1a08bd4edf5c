#include "graph/subscriber.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include "base/crash.hpp"
#include "base/hot.hpp"
#include "graph/channel.hpp"
#include "hyphos/time.hpp"

namespace hyphos::graph {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

// A task of a concurrent subscription runs several short callbacks, but none after this time. So
// work of a higher priority waits no longer than for one long callback.
constexpr std::int64_t kTurnNs = 50'000;

int share_of(const Subscriber::Options& options, const Executor& executor) {
  const bool in_turns = options.mode == Mode::concurrent && executor.one_by_one();
  return options.group != nullptr || in_turns ? 1 : Strand::kFairShare;
}

/// The innermost callback of this thread and its message.
struct Running {
  const Subscriber* subscriber = nullptr;
  trace::Cause message;
};
thread_local Running running_here;

/// A latched value that was published before this subscription joined.
bool is_replay(const detail::Delivery& delivery) {
  return delivery.replayed && delivery.block->meta().latch == Latch::last;
}

struct RunningHere {
  explicit RunningHere(const Running& now) : outer(std::exchange(running_here, now)) {}
  ~RunningHere() { running_here = outer; }
  const Running outer;
};

}  // namespace

Subscriber::Subscriber(std::shared_ptr<Channel> channel, const TypeSupport* type, Options options,
                       detail::Callback callback, Executor& executor,
                       std::unique_ptr<trace::Endpoint> trace)
    : channel_(std::move(channel)),
      type_(type),
      options_(std::move(options)),
      callback_(std::move(callback)),
      executor_(executor),
      trace_(std::move(trace)),
      concurrent_(options_.mode == Mode::concurrent && !options_.ready),
      ring_(options_.policy.depth),
      strand_(options_.mode, share_of(options_, executor)) {}

HYPHOS_HOT trace::Cause Subscriber::cause_here() { return running_here.message; }

std::size_t Subscriber::locate(char* text, std::size_t size) {
  const Subscriber* const here = running_here.subscriber;
  if (here == nullptr) return 0;
  return crash::join(
      text, size,
      {"node '", here->options_.node, "', callback of channel '", here->channel_->name(), "'"});
}

const std::string& Subscriber::channel() const { return channel_->name(); }
std::uint32_t Subscriber::publishers() const { return channel_->publisher_count(); }

HYPHOS_HOT bool Subscriber::has_room() {
  if (options_.mode == Mode::inline_ && !joining_.load(std::memory_order_relaxed)) return true;
  const MutexLock lock(mutex_);
  return closed_ || count_ < options_.policy.depth;
}

HYPHOS_HOT Subscriber::Push Subscriber::push_local(detail::Delivery delivery) {
  if (options_.mode == Mode::inline_) return run_inline(std::move(delivery), nullptr);
  BriefLock lock(mutex_);
  if (options_.policy.overflow == Overflow::block && count_ >= options_.policy.depth &&
      !is_replay(delivery) && (delivery.block->meta().no_wait || !wait_for_room(lock))) {
    (*trace_)->count(trace::Counter::queue_timeout);
    return Push::timeout;
  }
  return push(std::move(delivery), lock, nullptr);
}

HYPHOS_HOT Subscriber::Push Subscriber::push_remote(detail::Delivery delivery,
                                                    transport::ReadyList* ready) {
  if (options_.mode == Mode::inline_) return run_inline(std::move(delivery), ready);
  BriefLock lock(mutex_);
  return push(std::move(delivery), lock, ready);
}

HYPHOS_HOT Subscriber::Push Subscriber::append(detail::Delivery&& delivery,
                                               detail::Delivery& oldest) {
  if (closed_) return Push::closed;
  if (delivery.block->meta().latch != Latch::none && !note_latched(delivery)) return Push::closed;
  Push outcome = Push::accepted;
  if (count_ >= options_.policy.depth) {
    outcome = make_room(delivery, oldest);
    if (outcome == Push::dropped_newest) return outcome;
  }
  replays_ += is_replay(delivery) ? 1 : 0;
  delivery.scheduled_ns = monotonic_now().ns;
  ring_[(head_ + count_++) % ring_.size()] = std::move(delivery);
  return outcome;
}

HYPHOS_HOT Subscriber::Push Subscriber::push(detail::Delivery delivery, BriefLock& lock,
                                             transport::ReadyList* ready) {
  detail::Delivery oldest;  // destroyed after the lock is released, because this may free a slot
  const Push outcome = append(std::move(delivery), oldest);
  if (outcome == Push::accepted || outcome == Push::dropped_oldest) schedule(lock, ready);
  return outcome;
}

void Subscriber::preload(const std::vector<detail::BlockRef>& kept) {
  const MutexLock lock(mutex_);
  for (const detail::BlockRef& block : kept) {
    detail::Delivery delivery{block, 0, monotonic_now().ns, 0, true};
    if (!note_latched(delivery)) continue;
    if (count_ == ring_.size()) grow();
    ++replays_;
    ring_[(head_ + count_++) % ring_.size()] = std::move(delivery);
  }
  joining_ = options_.mode == Mode::inline_ && count_ > 0;
}

void Subscriber::joined() {
  // The callback may close the subscription and hold its last reference.
  const std::shared_ptr<Subscriber> self = shared_from_this();
  BriefLock lock(mutex_);
  if (options_.mode != Mode::inline_) {
    schedule(lock, nullptr);
    return;
  }
  if (!joining_) return;
  joining_thread_ = std::this_thread::get_id();
  std::int64_t now = 0;
  while (run_one(lock, now)) {
  }
  joining_ = false;
  lock.unlock();
  changed_.notify_all();
}

bool Subscriber::note_latched(const detail::Delivery& delivery) {
  const Meta& meta = delivery.block->meta();
  auto known = newest_.empty() ? newest_.end() : newest_.end() - 1;
  if (known != newest_.end() && known->first != meta.sender) {
    known =
        std::ranges::find(newest_, meta.sender, &std::pair<std::uint64_t, std::uint64_t>::first);
  }
  if (known != newest_.end()) {
    if (delivery.replayed && meta.sequence <= known->second) return false;
    known->second = std::max(known->second, meta.sequence);
    std::rotate(known, known + 1, newest_.end());
    return true;
  }
  if (newest_.size() >= kMostReplays) newest_.erase(newest_.begin());
  newest_.emplace_back(meta.sender, meta.sequence);
  return true;
}

HYPHOS_HOT Subscriber::Push Subscriber::make_room(const detail::Delivery& delivery,
                                                  detail::Delivery& oldest) {
  const bool beyond = is_replay(delivery) && replays_ < kMostReplays;
  const bool full = !beyond && count_ - replays_ >= options_.policy.depth;
  if (full && options_.policy.overflow == Overflow::drop_newest) {
    (*trace_)->count(trace::Counter::queue_overflow);
    return Push::dropped_newest;
  }
  if (full && options_.policy.overflow == Overflow::drop_oldest) {
    oldest = replays_ == 0 ? pop() : take_oldest_live();
    (*trace_)->count(trace::Counter::queue_overflow);
    return Push::dropped_oldest;
  }
  if (count_ == ring_.size()) grow();  // invariant (1)
  return Push::accepted;
}

void Subscriber::grow() {
  std::vector<detail::Delivery> larger(ring_.size() + 8);
  for (std::size_t i = 0; i < count_; ++i) {
    larger[i] = std::move(ring_[(head_ + i) % ring_.size()]);
  }
  ring_ = std::move(larger);
  head_ = 0;
}

/// Latched values of other publishers stay in the queue.
detail::Delivery Subscriber::take_oldest_live() {
  const auto at = [this](std::size_t i) HYPHOS_REQUIRES(mutex_) -> detail::Delivery& {
    return ring_[(head_ + i) % ring_.size()];
  };
  std::size_t live = 0;
  while (live + 1 < count_ && is_replay(at(live))) ++live;
  detail::Delivery out = std::move(at(live));
  for (; live > 0; --live) at(live) = std::move(at(live - 1));
  replays_ -= is_replay(out) ? 1 : 0;
  head_ = (head_ + 1) % ring_.size();
  --count_;
  return out;
}

HYPHOS_HOT detail::Delivery Subscriber::pop() {
  detail::Delivery out = std::move(ring_[head_]);
  head_ = (head_ + 1) % ring_.size();
  --count_;
  replays_ -= is_replay(out) ? 1 : 0;
  return out;
}

HYPHOS_HOT void Subscriber::schedule(BriefLock& lock, transport::ReadyList* ready, bool last) {
  if (options_.ready) {
    if (count_ == 0 || std::exchange(told_, true)) return;
    lock.unlock();
    if (ready != nullptr) ready->hand_over();  // the notification is code of the user
    options_.ready();
    lock.lock();
    return;
  }
  if (!strand_.needs_task(count_)) return;
  lock.unlock();
  if (options_.group == nullptr && last) {
    executor_.enqueue_last(options_.policy.priority, [this] { drain_task(); });
  } else if (options_.group == nullptr) {
    enqueue_task(ready);
  } else {
    options_.group->request(shared_from_this(), options_.policy.priority, ready);
  }
  lock.lock();
}

HYPHOS_HOT void Subscriber::enqueue_task(transport::ReadyList* ready) {
  executor_.enqueue(options_.policy.priority, [this] { drain_task(); }, ready);
}

HYPHOS_HOT void Subscriber::drain_task() {
  // The task may hold the last reference to this object: keep it until the lock is released.
  const std::shared_ptr<Subscriber> self = shared_from_this();
  std::int64_t now = concurrent_ ? monotonic_now().ns : 0;
  const std::int64_t until = now + kTurnNs;
  BriefLock lock(mutex_);
  strand_.drain([&]() HYPHOS_REQUIRES(mutex_, lock) {
    return !(concurrent_ && now > until) && run_one(lock, now);
  });
  schedule(lock, nullptr, true);
  changed_.notify_all();
  tell_if_ended(lock);
}

HYPHOS_HOT bool Subscriber::run_one(BriefLock& lock, std::int64_t& now) {
  if (count_ == 0 || closed_) return false;
  detail::Delivery delivery = pop();
  strand_.begin();
  const bool more = concurrent_ && strand_.needs_task(count_);
  lock.unlock();
  if (more) enqueue_task(nullptr);
  changed_.notify_all();
  if (options_.policy.overflow == Overflow::block) channel_->room_made();
  // For consecutive messages, the end of one callback is the start of the next. This saves a clock
  // read.
  now = run(delivery, now >= delivery.scheduled_ns ? now : 0);
  delivery = {};
  lock.lock();
  strand_.end();
  tell_if_ended(lock);
  return true;
}

std::uint32_t Subscriber::poll(std::uint32_t most) {
  if (mark_.is_inherited()) return 0;
  // The callback may close the subscription and hold its last reference.
  const std::shared_ptr<Subscriber> self = shared_from_this();
  BriefLock lock(mutex_);
  if (!options_.ready || strand_.running()) return 0;
  told_ = false;
  // Excludes messages that arrive meanwhile, so that a fast publisher cannot keep the caller in
  // poll().
  most = static_cast<std::uint32_t>(std::min<std::size_t>(most, count_));
  std::uint32_t ran = 0;
  std::int64_t now = 0;
  while (ran < most && run_one(lock, now)) ++ran;
  schedule(lock, nullptr);
  changed_.notify_all();
  return ran;
}

bool Subscriber::wait_for_room(BriefLock& lock) {
  const std::int64_t timeout_ms = options_.policy.block_timeout_ms;
  const std::int64_t deadline_ns = timeout_ms > 0 ? monotonic_now().ns + timeout_ms * kNsPerMs : 0;
  const auto ready = [this]() HYPHOS_REQUIRES(mutex_) {
    return closed_ || count_ < options_.policy.depth;
  };
  while (!ready()) {
    const bool may_help = !options_.ready && executor_.on_worker() && strand_.may_run() &&
                          (options_.group == nullptr || options_.group->try_hold());
    if (may_help) {
      std::int64_t now = 0;
      run_one(lock, now);
      if (options_.group != nullptr) {
        lock.unlock();
        options_.group->release();
        lock.lock();
      }
      changed_.notify_all();
      continue;
    }
    if (!changed_.wait_until(lock, deadline_ns) && !ready()) return false;
  }
  return true;
}

/// joined() runs the earlier messages meanwhile. Waiting for its end, and not for room in the
/// queue, bounds the number of messages that it runs.
bool Subscriber::wait_until_joined(BriefLock& lock) {
  const std::int64_t timeout_ms = options_.policy.block_timeout_ms;
  const std::int64_t deadline_ns = timeout_ms > 0 ? monotonic_now().ns + timeout_ms * kNsPerMs : 0;
  while (joining_ && !closed_) {
    if (!changed_.wait_until(lock, deadline_ns) && joining_ && !closed_) return false;
  }
  return true;
}

std::optional<Subscriber::Push> Subscriber::push_joining(detail::Delivery& delivery) {
  detail::Delivery oldest;  // destroyed after the lock is released, because this may free a slot
  BriefLock lock(mutex_);
  if (!joining_) return std::nullopt;
  if (options_.policy.overflow != Overflow::block || count_ - replays_ < options_.policy.depth) {
    return append(std::move(delivery), oldest);
  }
  // The callback that joined() runs may publish. It would wait for itself.
  const bool may_wait =
      !delivery.block->meta().no_wait && joining_thread_ != std::this_thread::get_id();
  if (may_wait && wait_until_joined(lock)) return std::nullopt;
  (*trace_)->count(trace::Counter::queue_timeout);
  return Push::timeout;
}

HYPHOS_HOT Subscriber::Push Subscriber::run_inline(detail::Delivery delivery,
                                                   transport::ReadyList* ready) {
  if (joining_) {
    if (const auto outcome = push_joining(delivery)) return *outcome;
  }
  {
    const MutexLock lock(mutex_);
    if (closed_) return Push::closed;
    if (delivery.block->meta().latch != Latch::none && !note_latched(delivery)) return Push::closed;
    strand_.begin();
  }
  if (ready != nullptr) ready->hand_over();  // the callback may take long
  run(delivery, 0);
  delivery = {};
  BriefLock lock(mutex_);
  strand_.end();
  if (closed_) changed_.notify_all();
  tell_if_ended(lock);
  return Push::accepted;
}

HYPHOS_HOT std::int64_t Subscriber::run(detail::Delivery& delivery, std::int64_t now) {
  const std::int64_t dequeued = now != 0 ? now : monotonic_now().ns;
  if (options_.policy.lifespan_ms > 0 && is_expired(delivery, dequeued)) {
    (*trace_)->count(trace::Counter::queue_expired);
    return dequeued;
  }
  const detail::BlockRef& block = delivery.block;
  const void* value = options_.view == View::block ? block.get()
                      : type_ == nullptr           ? static_cast<const void*>(block->encoded())
                                                   : block->value(*type_);
  if (value == nullptr) {
    (*trace_)->count(trace::Counter::decode_failed);
    if (std::uint64_t more = 0; errors_.allow(more)) {
      log::warn("graph", "channel '" + channel_->name() + "': a message that does not parse as " +
                             channel_->type().name + " was dropped (" + std::to_string(more) +
                             " more before). Check the sender's message definition");
    }
    return 0;
  }
  const std::int64_t decoded = block->decoded_ns();
  delivery.callback_ns = decoded > dequeued ? monotonic_now().ns : dequeued;
  Stamps stamps = block->meta().stamps;
  stamps.arrived = delivery.arrived_ns;
  stamps.scheduled = delivery.scheduled_ns;
  stamps.decoded = decoded > dequeued ? decoded : 0;
  stamps.callback = delivery.callback_ns;
  trace::Record& record = **trace_;
  record.count(trace::Counter::received);
  record.last_ns.store(delivery.callback_ns, std::memory_order_relaxed);
  std::size_t bytes = 0;
  if (block->has_encoded()) {
    const Envelope* envelope = block->encoded();
    bytes = envelope->payload.size();
    for (const Buffer& buffer : envelope->buffers) bytes += buffer.size();
    record.count(trace::Counter::bytes, bytes);
  }
  call(delivery, value);
  const std::int64_t end = monotonic_now().ns;
  // Recorded after the callback: at the message rates of a robot the histograms' cache lines are
  // cold, and fetching them takes microseconds.
  if (concurrent_) {
    const MutexLock lock(timings_mutex_);
    record_times(delivery, stamps, dequeued, end, trace::Writers::one);
  } else {
    record_times(delivery, stamps, dequeued, end,
                 options_.mode == Mode::serial ? trace::Writers::one : trace::Writers::many);
  }
  trace_->received(block->meta(), bytes, delivery.replayed, stamps, dequeued, end);
  return end;
}

inline void Subscriber::record_times(const detail::Delivery& delivery, const Stamps& stamps,
                                     std::int64_t dequeued, std::int64_t end,
                                     trace::Writers writers) {
  // The latency of a latched value sent again is excluded, because it includes the age of the
  // value.
  if (!delivery.replayed) trace_->timings()->record(stamps, dequeued, writers);
  trace_->timings()->record_callback(end - delivery.callback_ns, writers);
}

bool Subscriber::is_expired(const detail::Delivery& delivery, std::int64_t now) const {
  // Of a message without this stamp, the age is unknown.
  const std::int64_t published = delivery.block->meta().stamps.publish;
  return published != 0 && (now - published) / kNsPerMs >= options_.policy.lifespan_ms;
}

HYPHOS_HOT void Subscriber::call(const detail::Delivery& delivery, const void* value) {
  const Meta& meta = delivery.block->meta();
  const RunningHere here({this, {meta.sender, meta.sequence, trace_->id()}});
  try {
    callback_(delivery, value);
  } catch (...) {
    failed(Failure::current());
  }
}

void Subscriber::failed(const Failure& failure) {
  if (executor_.is_normal_end(failure)) return;
  (*trace_)->count(trace::Counter::callback_error);
  const std::string who =
      "node '" + options_.node + "': callback of channel '" + channel_->name() + "'";
  failure.log(who, errors_);
  executor_.callback_failed(who + " threw: " + failure.summary);
}

void Subscriber::close() {
  if (mark_.is_inherited()) return;  // no callback runs in a forked child
  std::vector<detail::Delivery> rest;
  BriefLock lock(mutex_);
  if (!std::exchange(closed_, true)) {
    rest.swap(ring_);
    count_ = 0;
    replays_ = 0;
    lock.unlock();
    changed_.notify_all();
    channel_->remove(*this);
    rest.clear();
    lock.lock();
  }
  // Inside its own callback it cannot wait for itself. Inside a callback of its group, no callback
  // of this subscription runs, and its task waits for the end of that callback.
  const bool in_group = options_.group != nullptr && options_.group->held_here();
  if (running_here.subscriber == this || in_group) {
    closed_inside_ = !strand_.idle();
    return;
  }
  changed_.wait(lock, [&]() HYPHOS_REQUIRES(mutex_) { return strand_.idle(); });
}

void Subscriber::when_ended(std::function<void()> tell) {
  const MutexLock lock(mutex_);
  tell_ended_ = std::move(tell);
}

HYPHOS_HOT void Subscriber::tell_if_ended(BriefLock& lock) {
  if (!closed_inside_ || !strand_.idle()) return;
  closed_inside_ = false;
  const auto tell = std::exchange(tell_ended_, nullptr);
  lock.unlock();
  if (tell) tell();
  lock.lock();
}

bool Subscriber::ended() {
  const MutexLock lock(mutex_);
  return closed_ && strand_.idle();
}

}  // namespace hyphos::graph
