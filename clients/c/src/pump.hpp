#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "hyphos/result.hpp"

namespace hyphos::c {

/// A source of callbacks for hyphos_poll(): a subscription.
class Source {
 public:
  virtual ~Source() = default;
  /// Runs at most `most` waiting callbacks and returns their number.
  virtual std::uint32_t run(std::uint32_t most) = 0;

 private:
  friend class Pump;
  std::atomic<bool> listed_{false};
};

/// The waiting callbacks of one node, for hyphos_poll(). Any thread may add to it. One thread at a
/// time may poll it.
///
/// The length is bounded: a source is listed once, and `max_pending` limits requests and replies.
/// In the steady state, a message of a source allocates nothing.
class Pump {
 public:
  using Task = std::function<void()>;
  enum class Fate : std::uint8_t {
    droppable,  ///< not run if the node closes first
    certain,    ///< run in close() if the node closes first
  };

  Pump() = default;
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;
  ~Pump();

  void ready(const std::shared_ptr<Source>& source);
  void post(Task task, Fate fate) HYPHOS_EXCLUDES(mutex_);
  /// See hyphos_poll().
  Result<std::uint32_t> poll(std::int64_t timeout_ns, std::uint32_t most);
  void wake();
  int descriptor();
  /// Ends polling, and runs the remaining tasks of Fate::certain. Requires that the subscriptions
  /// are closed.
  void close() HYPHOS_EXCLUDES(mutex_);

 private:
  struct Entry {
    std::shared_ptr<Source> source;
    Task task;
    Fate fate = Fate::droppable;
  };

  void add(Entry entry);
  void signal() HYPHOS_REQUIRES(mutex_);
  void unsignal() HYPHOS_REQUIRES(mutex_);
  bool wait(UniqueLock<Mutex>& lock, std::int64_t timeout_ns) HYPHOS_REQUIRES(mutex_, lock);
  std::uint32_t run(std::uint32_t most, std::size_t& done);

  Mutex mutex_;
  Condition changed_;
  std::vector<Entry> incoming_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<Entry> working_;  // belongs to the thread in poll()
  std::thread::id poller_ HYPHOS_GUARDED_BY(mutex_);
  bool polling_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool woken_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
  int event_ HYPHOS_GUARDED_BY(mutex_) = -1;  // created on the first descriptor()
};

}  // namespace hyphos::c
