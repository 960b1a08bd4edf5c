#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

/// Finds out that programs have processed everything that they were sent, without their help.
///
/// The programs are the descendants of this process. They are at rest if, at one instant, each of
/// their threads sleeps, each other thread of this process sleeps, and no packet is between two
/// sockets. A message makes its receiver runnable before the sender can sleep, so nothing is under
/// way then. Two passes over all threads prove that such an instant existed (a double collect): in
/// both passes each thread sleeps, and the kernel counts no run of it in between.
///
/// A thread that waits for the wall clock sleeps as well. Programs that follow `/clock` do not wait
/// for the wall clock. Libraries that look at the simulated time every millisecond do, and for them
/// wait() requires a second rest after a pause.
class Rest {
 public:
  Rest() = default;
  Rest(const Rest&) = delete;
  Rest& operator=(const Rest&) = delete;
  ~Rest();

  /// Returns when the programs are at rest, and again after `pause` without a change of `activity`.
  /// `alive` is called in each round, and its error ends the wait. Errors: timeout, which names a
  /// thread that runs.
  [[nodiscard]] Result<void> wait(Duration limit, Duration pause,
                                  const std::function<std::uint64_t()>& activity,
                                  const std::function<Result<void>()>& alive);
  /// True if an instant of rest occurred during the call.
  [[nodiscard]] bool at_rest();
  /// All descendants of this process, parents first.
  [[nodiscard]] static std::vector<pid_t> descendants();

 private:
  struct Thread {
    int stat = -1;   // /proc/PID/task/TID/stat, for the state
    int sched = -1;  // /proc/PID/task/TID/schedstat, for the number of runs
    pid_t process = 0;
    std::uint64_t runs = 0;
    bool seen = false;
  };
  enum class State : std::uint8_t { asleep, awake, gone };

  void list_threads();
  void list_threads_of(pid_t process, pid_t except);
  State look(pid_t id, Thread& thread, std::uint64_t& runs);

  std::map<pid_t, Thread> threads_;
  std::string busy_;  // a thread that was awake
};

}  // namespace hyphos::cosim
