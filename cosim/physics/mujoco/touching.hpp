#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cosim/core/geometry.hpp"

namespace hyphos::cosim {

/// Splits robots into groups of which no two can touch now: spheres around them overlap inside a
/// group only, along a chain of robots. Robots of different groups exert no force on each other, so
/// each group can be stepped alone, and a step costs what its robots cost, not what their number
/// squared would.
///
/// Which groups there are depends on places alone. Cost: about 10 ns for each robot, while they
/// keep their order along x.
class Touching {
 public:
  /// `reach[i]`: no point of robot i is farther than this from its place.
  explicit Touching(std::vector<double> reach);
  Touching() : Touching(std::vector<double>{}) {}

  void find(std::span<const Vec3> places);

  [[nodiscard]] std::size_t groups() const { return ends_.size(); }
  /// Numbers of the robots of a group, ascending.
  [[nodiscard]] std::span<const std::uint32_t> group(std::size_t index) const;

 private:
  void sort_along_x(std::span<const Vec3> places);
  [[nodiscard]] std::uint32_t root(std::uint32_t robot);
  void collect();

  std::vector<double> reach_;
  std::vector<std::uint32_t> order_;   // by the low end along x; nearly sorted from step to step
  std::vector<std::uint32_t> parent_;  // of a robot in its group; a root is its own
  std::vector<std::uint32_t> members_;
  std::vector<std::size_t> ends_;
};

}  // namespace hyphos::cosim
