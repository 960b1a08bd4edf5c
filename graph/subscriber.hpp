#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/brief_mutex.hpp"
#include "base/fork.hpp"
#include "base/log.hpp"
#include "graph/executor.hpp"
#include "hyphos/subscription.hpp"
#include "trace/record.hpp"

namespace hyphos::graph {

class Channel;

/// What a callback is given: the decoded value, the Envelope, or the Block as it is, neither
/// encoded nor decoded for the callback's sake.
enum class View : std::uint8_t { value, envelope, block };

/// One subscription: a bounded queue in front of one callback.
///
/// Invariants, all under `mutex_`:
///  (1) `count_` - `replays_` <= depth, except that remote `block` deliveries may exceed it by one
///      per sender; `replays_` <= kMostReplays;
///  (2) if the queue is not empty and the subscription is open, a drain task is enqueued
///      (`tasks_` > 0) or a thread is draining (`running_` > 0), or, if it is polled, whoever polls
///      has been told (`told_`): no message is ever forgotten;
///  (3) serial: `running_` <= 1. No callback runs under a lock;
///  (4) a repeated latched value is accepted only if it is newer than all accepted messages of its
///      publisher: `newest_`. So a repeated value arrives once and in order.
class Subscriber final : public detail::SubscriptionCore,
                         public std::enable_shared_from_this<Subscriber> {
 public:
  enum class Push : std::uint8_t { accepted, dropped_newest, dropped_oldest, timeout, closed };
  struct Options {
    Mode mode = Mode::serial;
    bool network = true;  // also takes messages from other processes
    Policy policy;
    std::string node;
    View view = View::value;
    std::function<void()> ready;  // set: the callback runs in poll() alone, and this says when
  };

  /// `type` is null unless the view is `value`; then it lives as long as the program.
  Subscriber(std::shared_ptr<Channel> channel, const TypeSupport* type, Options options,
             detail::Callback callback, Executor& executor, std::unique_ptr<trace::Endpoint> trace);

  /// From a publisher in this process. Blocks only under `block`; a pool thread that would block
  /// runs waiting callbacks of this subscription meanwhile, so that the pool cannot starve itself.
  Push push_local(detail::Delivery delivery);
  /// From a transport. Never blocks: the caller asked has_room() first.
  Push push_remote(detail::Delivery delivery);
  [[nodiscard]] bool has_room();

  /// Of a subscription with Options::ready: see Subscription::poll().
  std::uint32_t poll(std::uint32_t most) override;
  void close() override;
  /// Closed, and no callback runs or will run: its owner may let go of it.
  [[nodiscard]] bool ended();
  /// `tell` is called once it has ended, if it was closed in its own callback, where close() cannot
  /// wait: in the thread of the callback, without a lock. For its owner, before it is known to the
  /// callback.
  void when_ended(std::function<void()> tell);
  [[nodiscard]] const std::string& channel() const override;
  [[nodiscard]] std::uint32_t publishers() const override;

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] trace::Endpoint& trace() { return *trace_; }
  /// The message whose callback runs in this thread.
  [[nodiscard]] static trace::Cause cause_here();

  /// Most latched values that wait beyond the depth of the queue, and most known publishers.
  static constexpr std::size_t kMostReplays = 1024;

 private:
  Push push(detail::Delivery delivery, BriefLock& lock);
  Push run_inline(detail::Delivery delivery);
  /// Of a latched channel. False: it is a repeated value that was accepted before. Under mutex_.
  bool note_latched(const detail::Delivery& delivery);
  /// The queue is full: makes room for one more message, or returns the reason why not. `oldest`
  /// receives the message that was removed. Under mutex_.
  Push make_room(const detail::Delivery& delivery, detail::Delivery& oldest);
  void grow();
  detail::Delivery take_oldest_live();
  bool wait_for_room(BriefLock& lock);
  void schedule(BriefLock& lock);
  void drain_task();
  /// Takes one message and runs it. Called and returns with `lock` held; false: queue was empty.
  /// `now`: the time if the caller has just read it, or 0; on return, when the callback ended.
  bool run_one(BriefLock& lock, std::int64_t& now);
  /// Returns the time at its end, or 0 if it did not look.
  std::int64_t run(detail::Delivery& delivery, std::int64_t now);
  void call(const detail::Delivery& delivery, const void* value);
  detail::Delivery pop();
  /// Called and returns with `lock` held, and with the object kept by the caller.
  void tell_if_ended(BriefLock& lock);

  const ForkMark mark_;
  const std::shared_ptr<Channel> channel_;
  const TypeSupport* const type_;
  const Options options_;
  const detail::Callback callback_;
  Executor& executor_;
  const std::unique_ptr<trace::Endpoint> trace_;
  log::OncePerSecond errors_;

  BriefMutex mutex_;
  BriefCondition changed_;  // room appeared, or running_/tasks_ fell
  std::vector<detail::Delivery> ring_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  std::size_t replays_ = 0;  // of these, repeated latched values
  /// The newest sequence number of each publisher of a latched channel, the latest of them last.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> newest_;
  std::uint32_t tasks_ = 0;
  std::uint32_t running_ = 0;
  bool told_ = false;  // Options::ready was called, and nobody has polled since
  bool closed_ = false;
  bool closed_inside_ = false;  // in its own callback, and tell_ended_ was not called yet
  std::function<void()> tell_ended_;
};

}  // namespace hyphos::graph
