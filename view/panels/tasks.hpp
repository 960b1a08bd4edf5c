#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <thread>
#include <utility>

namespace hyphos::view {

/// Runs functions that wait for the robot, such as setting a parameter, outside of the view's
/// thread. The destructor waits for them, so each must end within some seconds.
class Tasks {
 public:
  static constexpr std::size_t kMost = 8;

  Tasks() = default;
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  ~Tasks() {
    for (Task& task : tasks_) task.thread.join();
  }

  /// False if kMost are running.
  bool run(std::function<void()> work) {
    for (auto it = tasks_.begin(); it != tasks_.end();) {
      if (!it->done->load()) {
        ++it;
        continue;
      }
      it->thread.join();
      it = tasks_.erase(it);
    }
    if (tasks_.size() >= kMost) return false;
    auto done = std::make_shared<std::atomic<bool>>(false);
    tasks_.push_back({std::thread([work = std::move(work), done] {
                        work();
                        done->store(true);
                      }),
                      done});
    return true;
  }

 private:
  struct Task {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;
  };
  std::list<Task> tasks_;
};

}  // namespace hyphos::view
