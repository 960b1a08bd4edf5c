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

// How Allspaw et al. average (Comparing Performance Between Different Implementations of ROS for
// Unity, 4.1 and 4.3): delays over ten messages, rates over ten seconds.

inline constexpr std::size_t kMeanOf = 10;
inline constexpr double kWindowS = 10;

/// The mean delays of each ten messages of a flow that were sent one after the other, as far as
/// they arrived; `heard` is in the order of sending. What is left over is no mean of ten.
inline void append_means(std::vector<std::int64_t>& means, std::span<const std::int64_t> heard) {
  for (; heard.size() >= kMeanOf; heard = heard.subspan(kMeanOf)) {
    const auto ten = heard.first(kMeanOf);
    means.push_back(std::accumulate(ten.begin(), ten.end(), std::int64_t{0}) /
                    static_cast<std::int64_t>(kMeanOf));
  }
}

/// How long the windows are of a measurement that takes so long, and how many fit: one, and shorter
/// than ten seconds, for a quick look.
struct Windows {
  explicit Windows(double seconds)
      : length_s(std::min(seconds, kWindowS)),
        count(std::max(1, static_cast<int>(seconds / length_s + 1e-9))) {}
  double length_s;
  int count;
};

}  // namespace hyphos::lab
