#include "cosim/sense/rays.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace hyphos::cosim {
namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();
constexpr double kBodyHeight = 0.6;  // m, of another robot, centred at its position

/// The distance at which a ray enters a box. 0 if it begins inside.
double to_box(const Vec3& from, const Vec3& along, const Box& box) {
  double enter = 0;
  double leave = kNothing;
  const std::array<std::array<double, 4>, 3> axes{{{from.x, along.x, box.low.x, box.high.x},
                                                   {from.y, along.y, box.low.y, box.high.y},
                                                   {from.z, along.z, box.low.z, box.high.z}}};
  for (const auto& [at, step, low, high] : axes) {
    if (step == 0) {
      if (at < low || at > high) return kNothing;
      continue;
    }
    const double a = (low - at) / step;
    const double b = (high - at) / step;
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  }
  return enter <= leave ? enter : kNothing;
}

/// The distance at which a ray enters an upright cylinder. A scanner inside does not see it.
double to_body(const Vec3& from, const Vec3& along, const Vec3& centre, double radius) {
  const double dx = from.x - centre.x;
  const double dy = from.y - centre.y;
  const double a = along.x * along.x + along.y * along.y;
  const double b = dx * along.x + dy * along.y;
  const double c = dx * dx + dy * dy - radius * radius;
  if (a == 0 || c <= 0) return kNothing;
  const double under = b * b - a * c;
  if (under < 0) return kNothing;
  const double distance = (-b - std::sqrt(under)) / a;
  if (distance < 0) return kNothing;
  const double height = from.z + distance * along.z - centre.z;
  return std::abs(height) <= kBodyHeight / 2 ? distance : kNothing;
}

double to_ground(const Vec3& from, const Vec3& along) {
  return along.z < 0 && from.z > 0 ? -from.z / along.z : kNothing;
}

}  // namespace

std::vector<double> cast_rays(const Scene& scene, std::span<const Pose> poses, NodeId robot,
                              const Rays& rays, double body_m) {
  const Pose& pose = poses[robot];
  const Vec3 from = pose.position + turned(pose.orientation, rays.mount);
  std::vector<double> distances;
  distances.reserve(rays.directions.size());
  for (const Vec3& direction : rays.directions) {
    const Vec3 along = turned(pose.orientation, direction);
    double nearest = to_ground(from, along);
    for (const Box& box : scene.boxes()) nearest = std::min(nearest, to_box(from, along, box));
    for (NodeId other = 0; body_m > 0 && other < poses.size(); ++other) {
      if (other == robot) continue;
      nearest = std::min(nearest, to_body(from, along, poses[other].position, body_m));
    }
    distances.push_back(nearest <= rays.range_m ? nearest : kNothing);
  }
  return distances;
}

}  // namespace hyphos::cosim
