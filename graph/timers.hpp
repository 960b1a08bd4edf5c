#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock_core.hpp"
#include "base/mutex.hpp"
#include "graph/executor.hpp"

namespace hyphos::graph {

/// Calls functions on the pool at given instants of the clock of the process.
///
/// In real mode one thread sleeps until the next instant. It exists only while there is a timer. In
/// simulated mode there is no thread: the thread that receives a tick determines the due timers.
/// When the clock is set (a jump), every series of instants restarts, and the skipped instants
/// cause no calls.
class Timers {
 public:
  /// `in_turn`, in simulated mode: a task in the pool determines the due timers. The task runs
  /// after the queued work, and after all work that the receiving thread adds in the same step. So
  /// at one instant, messages come before timers.
  Timers(Executor& executor, std::shared_ptr<detail::ClockCore> clock, bool in_turn = false);
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  ~Timers();

  using Id = std::uint64_t;
  using Skipped = std::shared_ptr<std::atomic<std::uint64_t>>;
  /// Calls `work` on the pool every `period_ns`, first after one period, never twice at once. The
  /// instants do not drift. In real mode an overlapping call is skipped and added to `skipped`. In
  /// simulated mode it is made afterwards, so that a simulation makes the same calls at any speed.
  /// More than kMaxBehind pending calls are skipped. `owner` is the node named in errors.
  Id every(std::int64_t period_ns, std::function<void()> work, Skipped skipped = nullptr,
           std::string owner = {});
  /// Calls `work` on the pool once for each jump of the clock, in order. If too many jumps wait,
  /// they are merged and added to `skipped`.
  Id on_jump(std::function<void(const ClockJump&)> work, Skipped skipped = nullptr,
             std::string owner = {});
  /// Calls `work` on the pool once, at `instant_ns` of the monotonic clock, or immediately if that
  /// has passed. Real mode only, because a wait for real events must not depend on a simulation.
  Id at(std::int64_t instant_ns, std::function<void()> work);
  /// On return the timer's work is not running and will not run, unless the work itself called
  /// cancel().
  void cancel(Id id) HYPHOS_EXCLUDES(mutex_);
  void stop() HYPHOS_EXCLUDES(mutex_);
  /// The instant of the clock at which the next call is due. The maximum of int64 if there is none.
  [[nodiscard]] std::int64_t next_due_ns();

  [[nodiscard]] const std::shared_ptr<detail::ClockCore>& clock() const { return clock_; }

 private:
  struct Entry;
  Id add(std::shared_ptr<Entry> entry, std::int64_t first_ns);
  void loop();
  void follow(const std::optional<ClockJump>& jump);
  void take_in_turn();
  void restart(std::int64_t now) HYPHOS_REQUIRES(mutex_);
  void take_due(UniqueLock<Mutex>& lock, std::int64_t now) HYPHOS_REQUIRES(mutex_, lock);
  void pass(const std::shared_ptr<Entry>& entry, std::int64_t due, std::int64_t now)
      HYPHOS_REQUIRES(mutex_);
  void fire(const std::shared_ptr<Entry>& entry) HYPHOS_REQUIRES(mutex_);
  void run(const std::shared_ptr<Entry>& entry);

  Executor& executor_;
  const std::shared_ptr<detail::ClockCore> clock_;
  const bool in_turn_;
  Mutex mutex_;
  Condition wake_;
  Condition idle_;
  std::map<Id, std::shared_ptr<Entry>> entries_ HYPHOS_GUARDED_BY(mutex_);
  std::multimap<std::int64_t, std::shared_ptr<Entry>> queue_ HYPHOS_GUARDED_BY(mutex_);
  std::thread thread_ HYPHOS_GUARDED_BY(mutex_);
  /// Number of entries whose call is queued or running, including self-cancelled ones, plus the
  /// queued tasks of take_in_turn().
  int running_ HYPHOS_GUARDED_BY(mutex_) = 0;
  Id next_id_ HYPHOS_GUARDED_BY(mutex_) = 1;
  bool stopping_ HYPHOS_GUARDED_BY(mutex_) = false;
};

}  // namespace hyphos::graph
