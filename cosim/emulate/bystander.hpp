#pragma once

#include <atomic>
#include <thread>

#include "cosim/realtime/lag.hpp"

namespace hyphos::cosim {

/// A thread of ordinary priority that wakes up a hundred times per second and records its lateness.
/// It shows the delay of ordinary programs on the robots, while the radio, which has real-time
/// priority, may be in time.
class Bystander {
 public:
  Bystander() : thread_([this] { look(); }) {}
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  ~Bystander();

  [[nodiscard]] HistogramSnapshot snapshot() const { return late_.snapshot(); }

 private:
  void look();

  Lateness late_;
  std::atomic<bool> ends_{false};
  std::thread thread_;  // last member, because the thread uses the others
};

}  // namespace hyphos::cosim
