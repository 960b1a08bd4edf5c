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

/// What has messages for hyphos_poll(): a subscription.
class Source {
 public:
  virtual ~Source() = default;
  /// Runs at most so many callbacks that wait; says how many.
  virtual std::uint32_t run(std::uint32_t most) = 0;

 private:
  friend class Pump;
  std::atomic<bool> listed_{false};
};

/// What waits for hyphos_poll() in one node. Any thread adds to it; one at a time takes.
///
/// Bounded by those who add: a source is listed once, requests and replies by `max_pending`. In the
/// steady state nothing is allocated for a message of a source.
class Pump {
 public:
  using Task = std::function<void()>;
  enum class Fate : std::uint8_t {
    droppable,  ///< not run if the node is closed before
    certain,    ///< run in close() then
  };

  Pump() = default;
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;
  ~Pump();

  void ready(const std::shared_ptr<Source>& source);
  void post(Task task, Fate fate);
  /// As hyphos_poll().
  Result<std::uint32_t> poll(std::int64_t timeout_ns, std::uint32_t most);
  void wake();
  int descriptor();
  /// Lets nobody poll any more, and runs what is certain. The subscriptions are closed already.
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

  std::mutex mutex_;  // guards all that follows, but `working_` while `polling_`
  std::condition_variable changed_;
  std::vector<Entry> incoming_;
  std::vector<Entry> working_;
  std::thread::id poller_;
  bool polling_ = false;
  bool woken_ = false;
  bool closed_ = false;
  int event_ = -1;  // made when somebody asks for it
};

}  // namespace hyphos::c
