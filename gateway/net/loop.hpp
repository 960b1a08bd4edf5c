#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

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

/// Threads that wait for sockets and timers. Thread-safe.
///
/// Its end closes what is open on it, tells that by the callbacks that each has, and joins the
/// threads: nothing of it runs after that. Streams and timers may outlive it. It must not end in
/// one of its own threads.
class Loop {
 public:
  /// Something open on the loop, which its end closes.
  class Item {
   public:
    virtual ~Item() = default;
    /// Must lead to remove() soon, which is the last that the item asks of the loop.
    virtual void stop() = 0;
  };

  explicit Loop(unsigned threads = 1);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  /// Runs `work` in one of the threads; never in the caller. Callbacks must not block.
  void post(std::function<void()> work);
  [[nodiscard]] Timer after(Duration time, std::function<void()> work);

  /// For those that need Asio itself. What they start on it they have to end before the loop's end.
  [[nodiscard]] boost::asio::io_context& context() { return *context_; }

  /// False when the loop is ending already: the item has to stop by itself.
  [[nodiscard]] bool add(const std::shared_ptr<Item>& item);
  void remove(const Item* item);

 private:
  class Work;

  std::unique_ptr<boost::asio::io_context> context_;
  std::unique_ptr<Work> work_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable gone_;
  std::unordered_map<const Item*, std::weak_ptr<Item>> items_;
  bool ending_ = false;
};

}  // namespace hyphos::gateway::net
