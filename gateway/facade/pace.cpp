#include "gateway/facade/pace.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::gateway {

void HoldUp::earn(std::int64_t passed_ns) {
  left_ns = std::min(most_ns, left_ns + passed_ns / part);
}

double Pace::drained(double level, std::int64_t passed_ns) const {
  constexpr double kPerNs = 1e-6;
  return std::max(0.0, level - burst_ * kPerNs * static_cast<double>(passed_ns));
}

std::int64_t Pace::drain(std::int64_t now_ns) {
  const std::int64_t before_ns = std::exchange(last_ns_, now_ns);
  const std::int64_t passed_ns = before_ns == 0 ? 0 : std::max<std::int64_t>(now_ns - before_ns, 0);
  level_ = drained(level_, passed_ns);
  return passed_ns;
}

bool Pace::pass(bool room) {
  if (room && last_ns_ >= crowded_ns_) crowded_ = false;
  waits_for_room_ = !room && (crowded_ || together_ * 2 >= burst_);
  if (waits_for_room_) {
    crowded_ = for_room_.left_ns > 0;
    crowded_ns_ = last_ns_ + kCrowded;
    if (crowded_) return false;
  }
  if (level_ + 1 > burst_ && to_spread_.left_ns > 0) {
    waits_for_room_ = false;
    return false;
  }
  level_ = std::min(level_ + 1, burst_);
  together_ = std::min(together_ + 1, burst_);
  return true;
}

bool Pace::lets(std::int64_t now_ns, std::int64_t arrived_ns, bool room) {
  const std::int64_t before_ns = last_arrival_ns_;
  last_arrival_ns_ = std::max(before_ns, arrived_ns);
  together_ = drained(together_, last_arrival_ns_ - before_ns);
  const std::int64_t passed_ns = drain(now_ns);
  to_spread_.earn(passed_ns);
  for_room_.earn(passed_ns);
  return pass(room);
}

void Pace::skip_stall(std::int64_t now_ns) {
  const std::int64_t stall_ns = std::max<std::int64_t>(now_ns - last_ns_ - kLongestCheck, 0);
  last_ns_ += stall_ns;
  crowded_ns_ += stall_ns;
}

bool Pace::lets_waiting(std::int64_t now_ns, bool room) {
  skip_stall(now_ns);
  (waits_for_room_ ? for_room_ : to_spread_).left_ns -= drain(now_ns);
  return pass(room);
}

}  // namespace hyphos::gateway
