#include "transport/faulty.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "base/mutex.hpp"
#include "hyphos/time.hpp"

namespace hyphos::transport {
namespace {

/// Sits between the inner transport and one receive sink. All decisions happen under `mutex_`,
/// which is also held during calls of the real receive sink. So the receive sink gets one message
/// at a time per channel, as its contract requires.
class FaultySink final : public ReceiveSink {
 public:
  FaultySink(ReceiveSink& target, std::string_view name, const FaultConfig& config,
             std::uint64_t seed, bool blocks, std::function<void()> wake_clock)
      : target_(target),
        name_(name),
        config_(config),
        blocks_(blocks),
        wake_clock_(std::move(wake_clock)),
        random_(seed) {}

  bool deliver(Envelope& message, ReadyList* ready) override {
    const MutexLock lock(mutex_);
    if (message.meta.latch == Latch::gone) {  // not a message: only its position matters
      waiting_.push_back({std::move(message), due_time(), false});
      if (release(monotonic_now().ns, ready) != 0 && waiting_.size() <= 2) wake_clock_();
      return true;
    }
    const bool no_room = full_ || waiting_.size() + 2 > config_.queue;
    if (no_room && blocks_) return refused_ = true, false;
    if (chance(config_.loss)) {
      target_.dropped(name_, Drop::injected, 1);
      return true;
    }
    const bool twice = chance(config_.duplicate);
    const bool overtaken = chance(config_.reorder);
    if (no_room) {
      target_.dropped(name_, Drop::overflow, 1);
      return true;
    }
    const std::int64_t due = due_time();
    if (twice) waiting_.push_back({message, due, false});
    waiting_.push_back({std::move(message), due, overtaken});
    if (release(monotonic_now().ns, ready) != 0 && waiting_.size() <= 2) wake_clock_();
    return true;
  }
  void dropped(std::string_view transport, Drop reason, std::uint64_t count) override {
    target_.dropped(transport, reason, count);
  }
  void peer(std::string_view transport, std::string_view who, std::uint64_t id,
            bool present) override {
    target_.peer(transport, who, id, present);
  }
  void refused(std::string_view transport, const Error& why) override {
    target_.refused(transport, why);
  }

  /// Delivers the due messages. Returns the time of the next one, 0 if none waits for a time. Sets
  /// `ask_again` if a message that was refused has room now.
  std::int64_t poll(std::int64_t now_ns, bool space, bool& ask_again) {
    const MutexLock lock(mutex_);
    if (space) full_ = false;
    const std::int64_t next = release(now_ns, nullptr);
    ask_again = refused_ && !full_ && waiting_.size() + 2 <= config_.queue;
    if (ask_again) refused_ = false;
    return next;
  }
  /// Counts the messages that can no longer be delivered as lost.
  void shut() {
    const MutexLock lock(mutex_);
    if (!waiting_.empty()) target_.dropped(name_, Drop::injected, waiting_.size());
    waiting_.clear();
  }

 private:
  struct Waiting {
    Envelope message;
    std::int64_t due_ns = 0;
    bool overtaken = false;
  };

  bool chance(double probability) HYPHOS_REQUIRES(mutex_) {
    return probability > 0 && std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }
  std::int64_t due_time() HYPHOS_REQUIRES(mutex_) {
    if (config_.delay_us == 0 && config_.jitter_us == 0) return 0;
    std::int64_t delay = config_.delay_us;
    if (config_.jitter_us > 0) {
      delay += std::uniform_int_distribution<std::int64_t>(0, config_.jitter_us)(random_);
    }
    // Order is kept: no message leaves before its predecessor.
    last_due_ns_ = std::max(last_due_ns_, monotonic_now().ns + delay * 1000);
    return last_due_ns_;
  }
  std::int64_t release(std::int64_t now_ns, ReadyList* ready) HYPHOS_REQUIRES(mutex_) {
    while (!full_ && !waiting_.empty()) {
      std::size_t which = 0;
      if (waiting_[0].overtaken) {
        if (waiting_.size() < 2) return 0;  // waits for the message that is to overtake it
        which = 1;
      }
      Waiting& next = waiting_[which];
      if (next.due_ns > now_ns) return next.due_ns;
      if (!target_.deliver(next.message, ready)) {
        full_ = true;
        return 0;
      }
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
      if (which == 1) waiting_[0].overtaken = false;
    }
    return 0;
  }

  ReceiveSink& target_;
  const std::string_view name_;
  const FaultConfig config_;
  const bool blocks_;
  const std::function<void()> wake_clock_;
  Mutex mutex_;
  std::mt19937_64 random_ HYPHOS_GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ HYPHOS_GUARDED_BY(mutex_);
  std::int64_t last_due_ns_ HYPHOS_GUARDED_BY(mutex_) = 0;
  // The real receive sink refused a message.
  bool full_ HYPHOS_GUARDED_BY(mutex_) = false;
  // This receive sink refused a message of the inner transport.
  bool refused_ HYPHOS_GUARDED_BY(mutex_) = false;
};

class Faulty final : public Transport {
 public:
  Faulty(std::shared_ptr<Transport> inner, const FaultConfig& config)
      : Transport(inner->name()), inner_(std::move(inner)), config_(config) {}
  ~Faulty() override { Faulty::stop(0); }

  Result<void> start() override {
    clock_ = std::thread([this] { run(); });
    return inner_->start();
  }

  void stop(std::int64_t linger_ms) override {
    inner_->stop(linger_ms);
    {
      const MutexLock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    if (clock_.joinable()) clock_.join();
    std::map<PortId, std::shared_ptr<FaultySink>> sinks;
    {
      const MutexLock lock(mutex_);
      sinks.swap(sinks_);
    }
    for (auto& [port, sink] : sinks) sink->shut();
  }

  Result<PortId> open(const ChannelSpec& spec, ReceiveSink* sink,
                      SendEvents* send_events) override {
    if (sink == nullptr) return inner_->open(spec, nullptr, send_events);
    // Each channel has its own random sequence, independent of the order of the open() calls.
    std::uint64_t seed = config_.seed;
    for (const char c : spec.name) seed = seed * 0x100000001b3ULL ^ static_cast<unsigned char>(c);
    auto faulty = std::make_shared<FaultySink>(*sink, inner_->name(), config_, seed,
                                               spec.policy.overflow == Overflow::block,
                                               [this] { wake_clock(); });
    auto port = inner_->open(spec, faulty.get(), nullptr);
    if (!port) return port;
    {
      const MutexLock lock(mutex_);
      sinks_.emplace(*port, std::move(faulty));
      space_.insert(*port);
    }
    wake_clock();  // messages and on_space() may have come before the clock thread knew the sink
    return port;
  }

  void close(PortId port) override {
    inner_->close(port);
    std::shared_ptr<FaultySink> sink;
    {
      const MutexLock lock(mutex_);
      const auto found = sinks_.find(port);
      if (found == sinks_.end()) return;
      sink = std::move(found->second);
      sinks_.erase(found);
    }
    sink->shut();
  }

  SendReport send(PortId port, const Envelope& message) override {
    return inner_->send(port, message);
  }
  PollFunction receive_by_polling() override { return inner_->receive_by_polling(); }
  bool has_room(PortId port, std::size_t size) override { return inner_->has_room(port, size); }
  std::uint64_t largest(PortId port) const override { return inner_->largest(port); }
  WritableBuffer loan(PortId port, std::size_t size) override { return inner_->loan(port, size); }
  std::vector<PeerStatus> peers() const override { return inner_->peers(); }

  void on_space(PortId port) override {
    {
      const MutexLock lock(mutex_);
      space_.insert(port);
    }
    wake_clock();  // the receive sink must not be called from inside the graph's own call
  }

 private:
  void wake_clock() {
    {
      const MutexLock lock(mutex_);
      poked_ = true;
    }
    changed_.notify_all();
  }
  std::int64_t serve(PortId port, FaultySink& sink, bool space) {
    bool ask_again = false;
    const std::int64_t next = sink.poll(monotonic_now().ns, space, ask_again);
    if (ask_again) inner_->on_space(port);
    return next;
  }

  void run() {
    UniqueLock lock(mutex_);
    while (!ending_) {
      poked_ = false;
      const auto sinks = sinks_;
      const auto space = std::exchange(space_, {});
      lock.unlock();
      std::int64_t next = INT64_MAX;
      for (const auto& [port, sink] : sinks) {
        const std::int64_t due = serve(port, *sink, space.contains(port));
        if (due != 0) next = std::min(next, due);
      }
      lock.lock();
      const auto woken = [this]() HYPHOS_REQUIRES(mutex_) { return ending_ || poked_; };
      if (next == INT64_MAX) {
        changed_.wait(lock, woken);
      } else {
        changed_.wait_until(
            lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(next)), woken);
      }
    }
  }

  const std::shared_ptr<Transport> inner_;
  const FaultConfig config_;
  Mutex mutex_;
  Condition changed_;
  bool ending_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool poked_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::set<PortId> space_ HYPHOS_GUARDED_BY(mutex_);
  std::map<PortId, std::shared_ptr<FaultySink>> sinks_ HYPHOS_GUARDED_BY(mutex_);
  std::thread clock_;
};

}  // namespace

std::unique_ptr<Transport> make_faulty(std::shared_ptr<Transport> inner,
                                       const FaultConfig& config) {
  return std::make_unique<Faulty>(std::move(inner), config);
}

}  // namespace hyphos::transport
