#pragma once

#include <memory>
#include <thread>

#include "base/clock_core.hpp"

namespace hyphos {

/// Notifies a real clock when the machine's wall clock is set. One thread sleeps in the kernel
/// until that happens (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET), so there is no polling. Slewing
/// by NTP needs no notification, because it changes the rate of both clocks alike.
class WallWatch {
 public:
  explicit WallWatch(std::shared_ptr<detail::ClockCore> clock);
  WallWatch(const WallWatch&) = delete;
  WallWatch& operator=(const WallWatch&) = delete;
  ~WallWatch();

 private:
  void run();

  const std::shared_ptr<detail::ClockCore> clock_;
  int timer_ = -1;
  int end_ = -1;
  std::thread thread_;
};

}  // namespace hyphos
