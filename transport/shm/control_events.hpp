#pragma once

#include <cstdint>

#include "hyphos/result.hpp"
#include "shm/os.hpp"

namespace hyphos::transport::shm_detail {

/// The events for which the directory's thread sleeps: signals of this process, notices and deaths
/// of other participants, and two timers. signal() from any thread. All other functions one thread
/// at a time.
class ControlEvents {
 public:
  /// `notices`: the socket of this participant.
  [[nodiscard]] Result<void> start(const UniqueFd& notices);
  /// Ends a wait() now, or the next one.
  void signal() const;
  /// Waits for the exit of the process with this pidfd, once. False if that is not possible. To end
  /// it, close the descriptor.
  [[nodiscard]] bool watch_exit(const UniqueFd& pid_fd) const;
  /// Ends a wait() in `in_ms`. A later call replaces the time.
  void set_timer(std::int64_t in_ms) const { arm(timer_, in_ms, false); }
  /// Ends a wait() regularly from now on, for changes that no event reports.
  void poll_regularly();
  void wait() const;

 private:
  static void arm(const UniqueFd& timer, std::int64_t in_ms, bool repeat);

  UniqueFd epoll_;
  UniqueFd wake_fd_;
  UniqueFd timer_;
  UniqueFd poll_timer_;
  int notices_ = -1;
  bool polling_ = false;
};

}  // namespace hyphos::transport::shm_detail
