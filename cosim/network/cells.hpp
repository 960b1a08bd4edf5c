#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "cosim/core/geometry.hpp"

namespace hyphos::cosim {

/// Finds nearby nodes. The ground is divided into squares as wide as the range, so nine squares
/// contain every node in range.
class Cells {
 public:
  void reset(double width) {
    width_ = width;
    squares_.clear();
    squares_of_.clear();
  }
  void place(std::span<const Pose> poses);
  /// Calls `visit(node)` for every node in the nine squares around `at`, in no particular order.
  template <typename Visit>
  void around(const Vec3& at, const Visit& visit) const {
    const std::int64_t x = square(at.x);
    const std::int64_t y = square(at.y);
    for (std::int64_t dx = -1; dx <= 1; ++dx) {
      for (std::int64_t dy = -1; dy <= 1; ++dy) {
        const auto found = squares_.find(key(x + dx, y + dy));
        if (found == squares_.end()) continue;
        for (const std::uint32_t node : found->second) visit(node);
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t square(double metres) const;
  [[nodiscard]] static std::uint64_t key(std::int64_t x, std::int64_t y) {
    return static_cast<std::uint64_t>(x) << 32 ^ (static_cast<std::uint64_t>(y) & 0xffffffffU);
  }

  double width_ = 1;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> squares_;
  std::vector<std::uint64_t> squares_of_;
};

}  // namespace hyphos::cosim
