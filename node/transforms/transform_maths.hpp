#pragma once

#include <cmath>

#include "hyphos/transforms.hpp"

/// Arithmetic of rotations and rigid motions, inline for the look-ups.
namespace hyphos::maths {

[[nodiscard]] inline Quaternion multiply(const Quaternion& a, const Quaternion& b) {
  return {
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

[[nodiscard]] inline Quaternion conjugate(const Quaternion& q) { return {-q.x, -q.y, -q.z, q.w}; }

[[nodiscard]] inline double dot(const Quaternion& a, const Quaternion& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

[[nodiscard]] inline Quaternion scaled(const Quaternion& q, double by) {
  return {q.x * by, q.y * by, q.z * by, q.w * by};
}

[[nodiscard]] inline Quaternion normalized(const Quaternion& q) {
  return scaled(q, 1.0 / std::sqrt(dot(q, q)));
}

/// v + 2 w (u x v) + 2 u x (u x v), with u the vector part: 15 multiplications instead of 28.
[[nodiscard]] inline Vector3 rotate(const Quaternion& q, const Vector3& v) {
  const Vector3 t{2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z),
                  2 * (q.x * v.y - q.y * v.x)};
  return {v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
          v.z + q.w * t.z + q.x * t.y - q.y * t.x};
}

[[nodiscard]] inline Vector3 add(const Vector3& a, const Vector3& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}

/// First `inner`, then `outer`. Each call changes the length of the quaternion by about 1e-16.
[[nodiscard]] inline Isometry compose(const Isometry& outer, const Isometry& inner) {
  return {add(rotate(outer.rotation, inner.translation), outer.translation),
          multiply(outer.rotation, inner.rotation)};
}

[[nodiscard]] inline Isometry inverse(const Isometry& of) {
  const Quaternion back = conjugate(of.rotation);
  const Vector3 t = rotate(back, of.translation);
  return {{-t.x, -t.y, -t.z}, back};
}

[[nodiscard]] Isometry interpolate(const Isometry& a, const Isometry& b, double fraction);

}  // namespace hyphos::maths
