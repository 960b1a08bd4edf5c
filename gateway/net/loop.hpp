#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "hyphos/time.hpp"

namespace boost::asio {
class io_context;
}

namespace hyphos::gateway::net {

class Loop;

/// Calls something once, later. Dropping it, or the loop, calls it off; it may then be running
/// still in a thread of the loop. Thread-safe.
class Timer {
 public:
  Timer() = default;
  Timer(Timer&&) noexcept = default;
  Timer& operator=(Timer&& other) noexcept;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

 private:
  friend class Loop;
  class State;
  explicit Timer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// A thread that waits for sockets and timers. Thread-safe.
///
/// Its end closes what is open on it, tells that by the callbacks that each has, and joins the
/// thread: nothing of it runs after that. Streams and timers may outlive it. It must not end in
/// its own thread.
class Loop {
 public:
  /// Something open on the loop, which its end closes.
  class Item {
   public:
    virtual ~Item() = default;
    /// Must lead to remove() soon, which is the last that the item asks of the loop.
    virtual void stop() = 0;
  };

  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  /// Its end, but it may still be asked: then it runs nothing any more. Once is enough.
  void end();

  /// Runs `work` in the thread; never in the caller. Callbacks must not block.
  void post(std::function<void()> work);
  [[nodiscard]] Timer after(Duration time, std::function<void()> work);

  /// For those that need Asio itself. What they start on it they have to end before the loop's end.
  [[nodiscard]] boost::asio::io_context& context() { return *context_; }

  /// False when the loop is ending already: the item has to stop by itself.
  [[nodiscard]] bool add(const std::shared_ptr<Item>& item);
  void remove(const Item* item);

 private:
  class Work;

  std::mutex mutex_;
  std::condition_variable gone_;
  std::unordered_map<const Item*, std::weak_ptr<Item>> items_;
  bool ending_ = false;

  // Last, so that what is posted and never run is dropped while the rest is there.
  std::unique_ptr<boost::asio::io_context> context_;
  std::unique_ptr<Work> work_;
  std::thread thread_;
};

/// Loops over which connections are spread: while large messages of one are read, others are
/// served. One loop of several threads would do that as well, but Asio wakes another of them for
/// each message before the first one reads it, which costs small ones some tens of microseconds.
///
/// Their end is that of each. Until all have ended each may be asked for the next. Thread-safe.
class Loops {
 public:
  Loops() = default;
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;
  ~Loops();

  /// Each in its turn, for a connection.
  [[nodiscard]] Loop& next() { return loops_[next_++ % loops_.size()]; }
  /// For what is short, and takes no turn from a connection: timers, attempts, who listens.
  [[nodiscard]] Loop& any() { return loops_.front(); }

 private:
  std::array<Loop, 2> loops_;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace hyphos::gateway::net
