#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "lab/common/stats.hpp"

namespace hyphos::lab {

// The averages of Allspaw et al. (Comparing Performance Between Different Implementations of ROS
// for Unity, 4.1 and 4.3): delays over ten messages, rates over ten seconds.

inline constexpr std::size_t kMeanOf = 10;
inline constexpr double kWindowS = 10;

/// Appends the mean delay of each group of ten consecutive messages of a flow, counting only
/// messages that arrived. `heard` is in the order of sending. A remainder of fewer than ten is
/// ignored.
inline void append_means(std::vector<std::int64_t>& means, std::span<const std::int64_t> heard) {
  for (; heard.size() >= kMeanOf; heard = heard.subspan(kMeanOf)) {
    const auto ten = heard.first(kMeanOf);
    means.push_back(std::accumulate(ten.begin(), ten.end(), std::int64_t{0}) /
                    static_cast<std::int64_t>(kMeanOf));
  }
}

/// The length of the averaging windows of a measurement, and their number. A short measurement has
/// one window of less than ten seconds.
struct Windows {
  explicit Windows(double seconds)
      : length_s(std::min(seconds, kWindowS)),
        count(std::max(1, static_cast<int>(seconds / length_s + 1e-9))) {}
  double length_s;
  int count;
};

}  // namespace hyphos::lab
