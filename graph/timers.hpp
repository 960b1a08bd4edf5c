#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock_core.hpp"
#include "graph/executor.hpp"

namespace hyphos::graph {

/// Calls functions at given instants of the clock of the process, on the pool.
///
/// In real mode one thread, which exists only while there is something to wait for, sleeps until
/// the next instant. In simulated mode there is none: the thread that brings a tick finds out what
/// is due. A clock that is set (a jump) begins every grid anew and makes no call for what it left
/// out.
class Timers {
 public:
  /// `in_turn`, in simulated mode: what a tick makes due is found out in the pool, behind whatever
  /// waited there, and behind what the thread that brought the tick brings next in the same piece
  /// of work: at one instant, messages come before timers.
  Timers(Executor& executor, std::shared_ptr<detail::ClockCore> clock, bool in_turn = false);
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  ~Timers();

  using Id = std::uint64_t;
  using Skipped = std::shared_ptr<std::atomic<std::uint64_t>>;
  /// Calls `work` on the pool every `period_ns`, first after one period, never twice at once; the
  /// grid of instants does not drift. In real mode a call that would overlap is skipped and added
  /// to `skipped`. In simulated mode it is made afterwards, so that a simulation makes the same
  /// calls however fast it runs; what lags more than kMaxBehind calls behind is skipped. `owner` is
  /// the node that errors name.
  Id every(std::int64_t period_ns, std::function<void()> work, Skipped skipped = nullptr,
           std::string owner = {});
  /// Calls `work` on the pool when the clock was set, once for each time and in order. If it does
  /// not keep up, jumps are joined into one and added to `skipped`.
  Id on_jump(std::function<void(const ClockJump&)> work, Skipped skipped = nullptr,
             std::string owner = {});
  /// Calls `work` on the pool once, at `instant_ns` of the monotonic clock, or at once if that is
  /// past. Real mode only: what waits for the world does not wait for a simulation.
  Id at(std::int64_t instant_ns, std::function<void()> work);
  /// On return the timer's work is not running and will not run, unless called from inside it.
  void cancel(Id id);
  void stop();
  /// No call becomes due before this instant of the clock; the end of int64 if none is planned.
  [[nodiscard]] std::int64_t next_due_ns();

  [[nodiscard]] const std::shared_ptr<detail::ClockCore>& clock() const { return clock_; }

 private:
  struct Entry;
  Id add(std::shared_ptr<Entry> entry, std::int64_t first_ns);
  void loop();
  void follow(const std::optional<ClockJump>& jump);
  void take_in_turn();
  void restart(std::int64_t now);
  void take_due(std::unique_lock<std::mutex>& lock, std::int64_t now);
  void pass(const std::shared_ptr<Entry>& entry, std::int64_t due, std::int64_t now);
  void fire(const std::shared_ptr<Entry>& entry);
  void run(const std::shared_ptr<Entry>& entry);

  Executor& executor_;
  const std::shared_ptr<detail::ClockCore> clock_;
  const bool in_turn_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::map<Id, std::shared_ptr<Entry>> entries_;
  std::multimap<std::int64_t, std::shared_ptr<Entry>> queue_;
  std::thread thread_;
  /// Entries whose call is queued or made, also those that have cancelled themselves, and looks
  /// for what is due that are queued.
  int running_ = 0;
  Id next_id_ = 1;
  bool stopping_ = false;
};

}  // namespace hyphos::graph
