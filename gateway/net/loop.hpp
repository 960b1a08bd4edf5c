#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/mutex.hpp"
#include "hyphos/time.hpp"

namespace boost::asio {
class io_context;
}

namespace hyphos::gateway::net {

class Loop;

/// Calls a function once, later. Dropping the timer or the loop cancels the call, but a call in a
/// thread of the loop may still be running. Thread-safe.
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
/// Its destructor closes all items on it, reports that through their callbacks, and joins the
/// thread. No callback runs after that. Streams and timers may outlive the loop. The destructor
/// must not run in the loop's own thread.
class Loop {
 public:
  /// An object that is open on the loop. The destructor of the loop closes it.
  class Item {
   public:
    virtual ~Item() = default;
    /// Must lead to a call of remove() soon. After it the item must not use the loop.
    virtual void stop() = 0;
  };

  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  /// Ends the loop as the destructor does, but its functions may still be called: they then run
  /// nothing. Call it at most once.
  void end();

  /// Runs `work` in the loop's thread, never in the caller. Callbacks must not block.
  void post(std::function<void()> work);
  [[nodiscard]] Timer after(Duration time, std::function<void()> work);

  /// For code that uses Asio directly. It must end all its operations before the loop ends.
  [[nodiscard]] boost::asio::io_context& context() { return *context_; }

  /// Returns false if the loop is ending. The item must then stop by itself.
  [[nodiscard]] bool add(const std::shared_ptr<Item>& item);
  void remove(const Item* item);

 private:
  class Work;

  Mutex mutex_;
  Condition gone_;
  std::unordered_map<const Item*, std::weak_ptr<Item>> items_ HYPHOS_GUARDED_BY(mutex_);
  bool ending_ HYPHOS_GUARDED_BY(mutex_) = false;

  // Declared last, so that posted work that never ran is destroyed while the other members exist.
  std::unique_ptr<boost::asio::io_context> context_;
  std::unique_ptr<Work> work_;
  std::thread thread_;
};

/// Several loops that share the connections: while one loop reads a large message, another serves
/// its clients. A single loop with several threads would also do that. But Asio wakes another
/// thread for each message before the first thread reads it, which costs small messages some tens
/// of microseconds.
///
/// The destructor ends each loop. Until all have ended, each may be asked for the next.
/// Thread-safe.
class Loops {
 public:
  Loops() = default;
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;
  ~Loops();

  /// Selects the loops round-robin, for connections.
  [[nodiscard]] Loop& next() { return loops_[next_++ % loops_.size()]; }
  /// A loop for short work that takes no turn from a connection: timers, connection attempts,
  /// listeners.
  [[nodiscard]] Loop& any() { return loops_.front(); }

 private:
  std::array<Loop, 2> loops_;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace hyphos::gateway::net
