#include "node/transforms/transform_maths.hpp"

#include <algorithm>
#include <numbers>

namespace hyphos {
namespace maths {
namespace {

struct Weights {
  double a = 0;
  double b = 0;
};

/// sin(t angle) / sin(angle) as a series in 1 - cos(angle): D. Eberly, "A Fast and Accurate
/// Algorithm for Computing SLERP", J. Graphics, GPU, and Game Tools 15 (2011). No trigonometry.
/// Term i is less than half of `versine` times the previous term.
template <int Terms>
double sine_ratio(double t, double versine) {
  double sum = 1;
  for (int i = Terms; i >= 1; --i) {
    const double u = 1.0 / (i * (2.0 * i + 1.0));
    const double v = i / (2.0 * i + 1.0);
    sum = 1 + (v - u * t * t) * versine * sum;
  }
  return t * sum;
}

/// The truncation errors are below 1e-16: half the versine to the power of the number of terms.
Weights slerp_weights(double cosine, double t) {
  const double versine = 1 - cosine;
  if (versine < 1e-4) return {sine_ratio<3>(1 - t, versine), sine_ratio<3>(t, versine)};
  if (versine < 0.1) return {sine_ratio<12>(1 - t, versine), sine_ratio<12>(t, versine)};
  const double angle = std::acos(cosine);
  const double scale = 1 / std::sin(angle);
  return {std::sin((1 - t) * angle) * scale, std::sin(t * angle) * scale};
}

}  // namespace

Isometry interpolate(const Isometry& a, const Isometry& b, double fraction) {
  const double cosine = dot(a.rotation, b.rotation);
  // q and -q are one rotation: use the nearer of the two.
  Weights w = slerp_weights(std::min(std::abs(cosine), 1.0), fraction);
  if (cosine < 0) w.b = -w.b;
  const Quaternion& p = a.rotation;
  const Quaternion& q = b.rotation;
  const double s = 1 - fraction;
  return {
      {s * a.translation.x + fraction * b.translation.x,
       s * a.translation.y + fraction * b.translation.y,
       s * a.translation.z + fraction * b.translation.z},
      {w.a * p.x + w.b * q.x, w.a * p.y + w.b * q.y, w.a * p.z + w.b * q.z, w.a * p.w + w.b * q.w}};
}

}  // namespace maths

namespace {

using Rows = std::array<double, 9>;

Rows rotation_rows(const Quaternion& q) {
  const double xx = q.x * q.x;
  const double yy = q.y * q.y;
  const double zz = q.z * q.z;
  const double xy = q.x * q.y;
  const double xz = q.x * q.z;
  const double yz = q.y * q.z;
  const double wx = q.w * q.x;
  const double wy = q.w * q.y;
  const double wz = q.w * q.z;
  return {1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy), 2 * (xy + wz),    1 - 2 * (xx + zz),
          2 * (yz - wx),     2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)};
}

/// S. W. Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1 (1978). Divides by
/// the largest component, so that no digits are lost.
Quaternion from_rows(const Rows& m) {
  const double trace = m[0] + m[4] + m[8];
  Quaternion q;
  if (trace >= std::max({m[0], m[4], m[8]})) {
    q = {m[7] - m[5], m[2] - m[6], m[3] - m[1], 1 + trace};
  } else if (m[0] >= m[4] && m[0] >= m[8]) {
    q = {1 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6], m[7] - m[5]};
  } else if (m[4] >= m[8]) {
    q = {m[1] + m[3], 1 + m[4] - m[0] - m[8], m[5] + m[7], m[2] - m[6]};
  } else {
    q = {m[2] + m[6], m[5] + m[7], 1 + m[8] - m[0] - m[4], m[3] - m[1]};
  }
  q = maths::normalized(q);
  return q.w < 0 ? maths::scaled(q, -1) : q;
}

template <typename T>
void transform_points(const Isometry& by, Points<const T> in, Points<T> out) {
  const Rows m = rotation_rows(by.rotation);
  const Vector3 t = by.translation;
  const std::size_t count = std::min(in.count, out.count);
  const auto* from = reinterpret_cast<const std::byte*>(in.xyz);
  auto* to = reinterpret_cast<std::byte*>(out.xyz);
  for (std::size_t i = 0; i < count; ++i, from += in.stride_bytes, to += out.stride_bytes) {
    const T* p = reinterpret_cast<const T*>(from);
    T* r = reinterpret_cast<T*>(to);
    const double x = p[0];
    const double y = p[1];
    const double z = p[2];
    r[0] = static_cast<T>(m[0] * x + m[1] * y + m[2] * z + t.x);
    r[1] = static_cast<T>(m[3] * x + m[4] * y + m[5] * z + t.y);
    r[2] = static_cast<T>(m[6] * x + m[7] * y + m[8] * z + t.z);
  }
}

bool is_rigid(std::span<const double, 16> m) {
  constexpr double kTolerance = 1e-6;
  for (const double value : m) {
    if (!std::isfinite(value)) return false;
  }
  const auto near = [](double a, double b) { return std::abs(a - b) <= kTolerance; };
  if (!near(m[12], 0) || !near(m[13], 0) || !near(m[14], 0) || !near(m[15], 1)) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = i; j < 3; ++j) {
      const double product =
          m[4 * i] * m[4 * j] + m[4 * i + 1] * m[4 * j + 1] + m[4 * i + 2] * m[4 * j + 2];
      if (!near(product, i == j ? 1 : 0)) return false;
    }
  }
  const double determinant = m[0] * (m[5] * m[10] - m[6] * m[9]) -
                             m[1] * (m[4] * m[10] - m[6] * m[8]) +
                             m[2] * (m[4] * m[9] - m[5] * m[8]);
  return determinant > 0;
}

}  // namespace

Quaternion to_quaternion(const RollPitchYaw& angles) {
  const double cr = std::cos(angles.roll / 2);
  const double sr = std::sin(angles.roll / 2);
  const double cp = std::cos(angles.pitch / 2);
  const double sp = std::sin(angles.pitch / 2);
  const double cy = std::cos(angles.yaw / 2);
  const double sy = std::sin(angles.yaw / 2);
  return {sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy,
          cr * cp * cy + sr * sp * sy};
}

RollPitchYaw to_roll_pitch_yaw(const Quaternion& q) {
  const double sine = 2 * (q.w * q.y - q.z * q.x);
  if (std::abs(sine) >= 1 - 1e-12) {  // straight up or down: roll and yaw turn about one axis
    const double yaw =
        std::remainder(-2 * std::copysign(1.0, sine) * std::atan2(q.x, q.w), 2 * std::numbers::pi);
    return {0, std::copysign(std::numbers::pi / 2, sine), yaw};
  }
  return {std::atan2(2 * (q.w * q.x + q.y * q.z), 1 - 2 * (q.x * q.x + q.y * q.y)), std::asin(sine),
          std::atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))};
}

Isometry Isometry::operator*(const Isometry& inner) const {
  Isometry out = maths::compose(*this, inner);
  out.rotation = maths::normalized(out.rotation);
  return out;
}

Vector3 Isometry::operator*(const Vector3& point) const {
  return maths::add(maths::rotate(rotation, point), translation);
}

Vector3 Isometry::rotate(const Vector3& vector) const { return maths::rotate(rotation, vector); }

Isometry Isometry::inverse() const { return maths::inverse(*this); }

std::array<double, 16> Isometry::matrix() const {
  const Rows m = rotation_rows(rotation);
  return {m[0], m[1], m[2], translation.x, m[3], m[4], m[5], translation.y,
          m[6], m[7], m[8], translation.z, 0,    0,    0,    1};
}

Result<Isometry> Isometry::from_matrix(std::span<const double, 16> rows) {
  if (!is_rigid(rows)) {
    return Error{Code::invalid_config,
                 "the 4x4 matrix is not a rigid motion: its upper left 3x3 must be a rotation and "
                 "its last row 0 0 0 1",
                 ""};
  }
  return Isometry{{rows[3], rows[7], rows[11]},
                  from_rows({rows[0], rows[1], rows[2], rows[4], rows[5], rows[6], rows[8], rows[9],
                             rows[10]})};
}

void Isometry::transform(Points<const float> in, Points<float> out) const {
  transform_points(*this, in, out);
}
void Isometry::transform(Points<const double> in, Points<double> out) const {
  transform_points(*this, in, out);
}

Isometry interpolate(const Isometry& a, const Isometry& b, double fraction) {
  Isometry out = maths::interpolate(a, b, fraction);
  out.rotation = maths::normalized(out.rotation);
  return out;
}

}  // namespace hyphos
