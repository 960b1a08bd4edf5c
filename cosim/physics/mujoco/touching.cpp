#include "cosim/physics/mujoco/touching.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hyphos::cosim {

Touching::Touching(std::vector<double> reach)
    : reach_(std::move(reach)), order_(reach_.size()), parent_(reach_.size()) {
  std::iota(order_.begin(), order_.end(), 0U);
  members_ = order_;
}

std::span<const std::uint32_t> Touching::group(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::span(members_).subspan(begin, ends_[index] - begin);
}

/// Insertion sort: the order of robots hardly changes within a step.
void Touching::sort_along_x(std::span<const Vec3> places) {
  const auto low = [&](std::uint32_t robot) { return places[robot].x - reach_[robot]; };
  for (std::size_t i = 1; i < order_.size(); ++i) {
    const std::uint32_t robot = order_[i];
    std::size_t at = i;
    for (; at > 0 && low(robot) < low(order_[at - 1]); --at) order_[at] = order_[at - 1];
    order_[at] = robot;
  }
}

std::uint32_t Touching::root(std::uint32_t robot) {
  while (parent_[robot] != robot) robot = parent_[robot] = parent_[parent_[robot]];
  return robot;
}

void Touching::find(std::span<const Vec3> places) {
  sort_along_x(places);
  std::iota(parent_.begin(), parent_.end(), 0U);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::uint32_t a = order_[i];
    for (std::size_t j = i + 1; j < order_.size(); ++j) {
      const std::uint32_t b = order_[j];
      const double both = reach_[a] + reach_[b];
      if (places[b].x - places[a].x > both) break;  // so are all that begin farther along x
      const Vec3 way = places[b] - places[a];
      // The lower number becomes the root, so that groups are ordered by their first robots.
      if (dot(way, way) <= both * both) {
        const std::uint32_t one = root(a);
        const std::uint32_t other = root(b);
        parent_[std::max(one, other)] = std::min(one, other);
      }
    }
  }
  collect();
}

void Touching::collect() {
  std::iota(members_.begin(), members_.end(), 0U);
  for (const std::uint32_t robot : members_) parent_[robot] = root(robot);
  const auto by_group = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(parent_[a], a) < std::pair(parent_[b], b);
  };
  if (!std::ranges::is_sorted(members_, by_group)) std::ranges::sort(members_, by_group);
  ends_.clear();
  for (std::size_t i = 1; i <= members_.size(); ++i) {
    if (i == members_.size() || parent_[members_[i]] != parent_[members_[i - 1]]) {
      ends_.push_back(i);
    }
  }
}

}  // namespace hyphos::cosim
