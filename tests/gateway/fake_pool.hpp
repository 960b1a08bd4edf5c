#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "hyphos/time.hpp"

namespace hyphos::gateway {

/// Runs the callbacks of a FakeGraph one after another in a thread of its own, as the graph runs
/// them on its pool. Thread-safe.
class FakePool {
 public:
  using Task = std::function<void()>;

  FakePool() : worker_([this] { work(); }) {}
  FakePool(const FakePool&) = delete;
  FakePool& operator=(const FakePool&) = delete;
  ~FakePool() { stop(); }

  void post(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }
  void post_after(Duration delay, Task task) {
    const std::lock_guard lock(mutex_);
    later_.emplace(monotonic_now() + delay, std::move(task));
    changed_.notify_one();
  }
  /// Ends the thread, and drops the tasks that have not run.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    if (worker_.joinable()) worker_.join();
    later_.clear();
    // The end of a task may post others.
    for (std::deque<Task> left; !tasks_.empty(); left.clear()) left.swap(tasks_);
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
      Task task = next();
      if (!task) {
        wait(lock);
        continue;
      }
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }
  /// The next task that is due, or null. Requires mutex_.
  Task next() {
    Task task;
    if (!later_.empty() && later_.begin()->first <= monotonic_now()) {
      task = std::move(later_.begin()->second);
      later_.erase(later_.begin());
    } else if (!tasks_.empty()) {
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    return task;
  }
  void wait(std::unique_lock<std::mutex>& lock) {
    if (later_.empty()) return changed_.wait(lock);
    const auto left = later_.begin()->first - monotonic_now();
    changed_.wait_for(lock, std::chrono::nanoseconds(left.ns));
  }

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::multimap<Time, Task> later_;
  bool ending_ = false;
  std::thread worker_;  ///< last, because it uses all members above
};

}  // namespace hyphos::gateway
