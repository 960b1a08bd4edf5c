#include "cosim/network/cells.hpp"

#include <algorithm>
#include <cmath>

namespace hyphos::cosim {

std::int64_t Cells::square(double metres) const {
  // Far outside of any world, all positions share the last square. Lookups are slower there and
  // still correct.
  constexpr double kLast = 1e9;
  return static_cast<std::int64_t>(std::clamp(std::floor(metres / width_), -kLast, kLast));
}

void Cells::place(std::span<const Pose> poses) {
  const bool first = squares_of_.size() != poses.size();
  if (first) {
    squares_.clear();
    squares_of_.resize(poses.size());
  }
  for (std::uint32_t node = 0; node < poses.size(); ++node) {
    const std::uint64_t now = key(square(poses[node].position.x), square(poses[node].position.y));
    if (!first) {
      if (squares_of_[node] == now) continue;
      std::erase(squares_[squares_of_[node]], node);
    }
    squares_[now].push_back(node);
    squares_of_[node] = now;
  }
}

}  // namespace hyphos::cosim
