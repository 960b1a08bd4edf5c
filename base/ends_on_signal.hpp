#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "hyphos/time.hpp"

namespace hyphos {

/// Ends a program on SIGINT and SIGTERM. From start() on, a signal calls `stop` once, in a thread
/// of this object, so `stop` may lock and allocate.
///
/// Construct it before any other thread starts, because threads inherit the blocked signals. If the
/// end takes long, a later signal exits the program immediately. Signals within one second of the
/// first count as one, because a terminal and `hyphos run` may both send one.
class EndsOnSignal {
 public:
  EndsOnSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  ~EndsOnSignal() {
    if (!thread_.joinable()) return;
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGINT);
    thread_.join();
  }
  EndsOnSignal(const EndsOnSignal&) = delete;
  EndsOnSignal& operator=(const EndsOnSignal&) = delete;

  void start(std::function<void()> stop) {
    thread_ = std::thread([this, stop = std::move(stop)] { wait(stop); });
  }
  /// True after the first signal.
  [[nodiscard]] bool came() const { return came_; }

 private:
  void wait(const std::function<void()>& stop) {
    constexpr auto kAtOnce = Duration::from_seconds(1);
    std::optional<Time> first;
    for (int signal = 0; sigwait(&signals_, &signal) == 0 && !over_;) {
      if (first && monotonic_now() - *first > kAtOnce) _exit(128 + signal);
      if (first) continue;
      first = monotonic_now();
      came_ = true;
      stop();
    }
  }

  sigset_t signals_{};
  std::atomic<bool> over_ = false;
  std::atomic<bool> came_ = false;
  std::thread thread_;
};

}  // namespace hyphos
