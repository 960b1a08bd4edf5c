#include "hyphos/synchronizer.hpp"

#include <atomic>
#include <exception>
#include <string>
#include <utility>

#include "base/mutex.hpp"
#include "node/sync/matcher.hpp"
#include "node/sync/silence.hpp"

namespace hyphos {
namespace {

/// Invariant: the callback runs without the lock, and one at a time because add() is called by the
/// subscriptions of one callback group.
class GroupedSync final : public RawSynchronizer {
 public:
  GroupedSync(const Node& node, std::vector<std::string> channels, const SyncOptions& options,
              std::function<void(const Set&)> callback)
      : channels_(std::move(channels)),
        log_(node.log()),
        callback_(std::move(callback)),
        silence_(channels_, options),
        matcher_(sync::make_matcher(channels_.size(), options)) {
    subscription_.group = node.callback_group();
    subscription_.scope = options.scope;
    subscription_.policy = options.policy;
  }

  [[nodiscard]] SubscriptionOptions subscription() const override { return subscription_; }

  void add(std::size_t channel, std::int64_t stamp_ns,
           std::shared_ptr<const void> message) override {
    sync::Matcher::Outcome out;
    std::string warning;
    {
      const MutexLock lock(mutex_);
      matcher_->add(channel, stamp_ns, std::move(message), out);
      count(out);
      warning = silence_.look(*matcher_, out);
    }
    if (!warning.empty()) log_.warn(warning);
    // Each set reaches the callback, also after an exception, until close().
    std::exception_ptr failed;
    for (const Set& set : out.sets) {
      if (closed_) break;
      try {
        callback_(set);
      } catch (...) {
        if (!failed) failed = std::current_exception();
      }
    }
    if (failed) std::rethrow_exception(failed);
  }

  void start(std::vector<Subscription> subscriptions) override {
    const MutexLock lock(mutex_);
    subscriptions_ = std::move(subscriptions);
    for (const auto& [channel, why] : early_) subscriptions_[channel].count_unmatched(why);
    early_.clear();
  }

  void watch(const Node& node) {
    jumps_ = node.on_clock_jump([weak = weak_from_this()](const ClockJump& jump) {
      const auto self = std::static_pointer_cast<GroupedSync>(weak.lock());
      if (self && jump.delta().ns < 0) self->drop_waiting();
    });
  }

  void close() override {
    std::vector<Subscription> subscriptions;
    closed_ = true;
    {
      const MutexLock lock(mutex_);
      subscriptions = subscriptions_;
    }
    for (const Subscription& subscription : subscriptions) subscription.close();
    jumps_.close();
    sync::Matcher::Outcome out;  // destroyed after the lock is released: it frees memory
    const MutexLock lock(mutex_);
    matcher_->clear(Unmatched::closed, out);
  }

  [[nodiscard]] std::vector<SyncCounts> counts() const override {
    std::vector<SyncCounts> all;
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const sync::Matcher::Counts& counts = matcher_->counts(i);
      all.push_back(
          {channels_[i], counts.received, counts.matched, matcher_->waiting(i), counts.unmatched});
    }
    return all;
  }

 private:
  void drop_waiting() {
    sync::Matcher::Outcome out;  // destroyed after the lock is released: it frees memory
    const MutexLock lock(mutex_);
    matcher_->clear(Unmatched::clock_jump, out);
    count(out);
  }

  void count(const sync::Matcher::Outcome& out) HYPHOS_REQUIRES(mutex_) {
    for (const auto& lost : out.lost) {
      if (subscriptions_.empty()) {
        early_.emplace_back(lost.channel, lost.why);  // the subscriptions are being opened
      } else {
        subscriptions_[lost.channel].count_unmatched(lost.why);
      }
    }
  }

  const std::vector<std::string> channels_;
  const Logger log_;
  const std::function<void(const Set&)> callback_;
  SubscriptionOptions subscription_;
  Timer jumps_;
  std::atomic<bool> closed_{false};
  mutable Mutex mutex_;
  sync::Silence silence_ HYPHOS_GUARDED_BY(mutex_);
  const std::unique_ptr<sync::Matcher> matcher_ HYPHOS_PT_GUARDED_BY(mutex_);
  std::vector<Subscription> subscriptions_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::pair<std::size_t, Unmatched>> early_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<RawSynchronizer> RawSynchronizer::make(const Node& node,
                                                       std::vector<std::string> channels,
                                                       const SyncOptions& options,
                                                       std::function<void(const Set&)> callback) {
  if (const std::string problem = sync::problem_of(channels.size(), options); !problem.empty()) {
    throw Exception(
        {Code::invalid_config,
         "node '" + node.name() + "', synchronizer of " + sync::joined(channels) + ": " + problem,
         node.name()});
  }
  auto made =
      std::make_shared<GroupedSync>(node, std::move(channels), options, std::move(callback));
  made->watch(node);
  return made;
}

}  // namespace hyphos
