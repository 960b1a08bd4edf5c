#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

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
  void post(Task task, Fate fate);
  /// See hyphos_poll().
  Result<std::uint32_t> poll(std::int64_t timeout_ns, std::uint32_t most);
  void wake();
  int descriptor();
  /// Ends polling, and runs the remaining tasks of Fate::certain. Requires that the subscriptions
  /// are closed.
  void close();

 private:
  struct Entry {
    std::shared_ptr<Source> source;
    Task task;
    Fate fate = Fate::droppable;
  };

  void add(Entry entry);
  void signal();
  void unsignal();
  bool wait(std::unique_lock<std::mutex>& lock, std::int64_t timeout_ns);
  std::uint32_t run(std::uint32_t most, std::size_t& done);

  std::mutex mutex_;  // guards all members below, except `working_` while `polling_` is true
  std::condition_variable changed_;
  std::vector<Entry> incoming_;
  std::vector<Entry> working_;
  std::thread::id poller_;
  bool polling_ = false;
  bool woken_ = false;
  bool closed_ = false;
  int event_ = -1;  // created on the first descriptor()
};

}  // namespace hyphos::c
