#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "pose.hpp"

namespace patrol {

// The odometry of the last seconds. A scan gets the robot's pose at the time of the scan, even if
// the scan is processed late. Thread-safe.
class OdometryTrack {
 public:
  void add(std::int64_t stamp_ns, const Pose2& pose) {
    const std::lock_guard lock(mutex_);
    // the clock was set back
    if (!track_.empty() && stamp_ns < track_.back().stamp_ns) track_.clear();
    track_.push_back({stamp_ns, pose});
    if (track_.size() > kMost) track_.pop_front();
  }

  // Interpolates between the two neighbours in time. Outside the known interval it returns the
  // nearest pose. Returns nothing if no odometry has come yet.
  [[nodiscard]] std::optional<Pose2> at(std::int64_t stamp_ns) const {
    const std::lock_guard lock(mutex_);
    if (track_.empty()) return std::nullopt;
    const auto after = std::lower_bound(
        track_.begin(), track_.end(), stamp_ns,
        [](const Entry& entry, std::int64_t stamp) { return entry.stamp_ns < stamp; });
    if (after == track_.begin()) return track_.front().pose;
    if (after == track_.end()) return track_.back().pose;
    const Entry& a = *(after - 1);
    const double part = static_cast<double>(stamp_ns - a.stamp_ns) /
                        static_cast<double>(after->stamp_ns - a.stamp_ns);
    const Pose2 step = between(a.pose, after->pose);
    return compose(a.pose, {step.x * part, step.y * part, step.theta * part});
  }

 private:
  static constexpr std::size_t kMost = 1000;  // ten seconds at 100 Hz
  struct Entry {
    std::int64_t stamp_ns;
    Pose2 pose;
  };
  mutable std::mutex mutex_;
  std::deque<Entry> track_;
};

}  // namespace patrol
