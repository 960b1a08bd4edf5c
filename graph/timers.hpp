#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "graph/executor.hpp"

namespace hyphos::graph {

/// Calls functions at given instants of CLOCK_MONOTONIC. One thread, which exists only while there
/// is something to wait for, sleeps until the next instant and hands the work to the pool.
class Timers {
 public:
  explicit Timers(Executor& executor) : executor_(executor) {}
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  ~Timers();

  using Id = std::uint64_t;
  /// Calls `work` on the pool every `period_ns`, first after one period, never twice at once. A
  /// call that would overlap is skipped and added to `skipped`; the grid of instants does not
  /// drift.
  Id every(std::int64_t period_ns, std::function<void()> work,
           std::shared_ptr<std::atomic<std::uint64_t>> skipped = nullptr);
  /// Calls `work` on the pool once, at `instant_ns` or at once if that is past.
  Id at(std::int64_t instant_ns, std::function<void()> work);
  /// On return the timer's work is not running and will not run, unless called from inside it.
  void cancel(Id id);
  void stop();

 private:
  struct Entry;
  Id add(std::shared_ptr<Entry> entry, std::int64_t first_ns);
  void loop();
  void fire(const std::shared_ptr<Entry>& entry);

  Executor& executor_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::map<Id, std::shared_ptr<Entry>> entries_;
  std::multimap<std::int64_t, std::shared_ptr<Entry>> queue_;
  std::thread thread_;
  Id next_id_ = 1;
  bool stopping_ = false;
};

}  // namespace hyphos::graph
