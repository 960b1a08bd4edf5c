#include "cosim/radio/antenna.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hyphos::cosim {
namespace {

constexpr double kDirectivity = 1.6409;  // of a dipole of half a wavelength
constexpr double kLeastDbi = -20;

}  // namespace

Vec3 Antenna::raised(const Pose& robot) const {
  return robot.position + turned(robot.orientation, {0, 0, height_m});
}

double Antenna::dipole_towards(const Pose& robot, const Vec3& target) const {
  const Vec3 way = turned_back(robot.orientation, target - place(robot));
  const double distance = length(way);
  if (distance == 0) return gain_dbi + kLeastDbi;
  const double cosine = way.z / distance;
  const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
  if (sine < 1e-6) return gain_dbi + kLeastDbi;
  const double field = std::cos(std::numbers::pi / 2 * cosine) / sine;
  return gain_dbi + std::max(kLeastDbi, 10 * std::log10(kDirectivity * field * field));
}

double Antenna::most_dbi() const {
  return gain_dbi + (pattern == Pattern::dipole ? 10 * std::log10(kDirectivity) : 0);
}

}  // namespace hyphos::cosim
