#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cmath>

#include "hyphos/transforms.hpp"

namespace hyphos::view {

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec3f = Eigen::Vector3f;
using Mat3 = Eigen::Matrix3d;
using Mat4 = Eigen::Matrix4d;
using Mat4f = Eigen::Matrix4f;
/// A rigid motion.
using Pose = Eigen::Isometry3d;

[[nodiscard]] inline Vec3 to_eigen(const Vector3& v) { return {v.x, v.y, v.z}; }

[[nodiscard]] inline Pose to_eigen(const Isometry& from) {
  Pose pose = Pose::Identity();
  const Quaternion& q = from.rotation;
  pose.linear() = Eigen::Quaterniond(q.w, q.x, q.y, q.z).toRotationMatrix();
  pose.translation() = to_eigen(from.translation);
  return pose;
}

/// An axis-aligned box. Empty until the first point.
struct Bounds {
  Vec3 min = Vec3::Constant(INFINITY);
  Vec3 max = Vec3::Constant(-INFINITY);

  [[nodiscard]] bool empty() const { return !(min.x() <= max.x()); }
  void add(const Vec3& p) {
    min = min.cwiseMin(p);
    max = max.cwiseMax(p);
  }
  void add(const Bounds& other) {
    if (other.empty()) return;
    add(other.min);
    add(other.max);
  }
  [[nodiscard]] Vec3 center() const { return (min + max) / 2; }
  [[nodiscard]] double radius() const { return empty() ? 0 : (max - min).norm() / 2; }
};

}  // namespace hyphos::view
