#pragma once

#include <atomic>
#include <thread>

#include "cosim/realtime/lag.hpp"

namespace hyphos::cosim {

/// A thread of ordinary priority that wakes up a hundred times a second and notes how late it was:
/// so late is what this machine makes of the programs on the robots, while the radio, which has
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
  std::thread thread_;  // last: it uses the others
};

}  // namespace hyphos::cosim
