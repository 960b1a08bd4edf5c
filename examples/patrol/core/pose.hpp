#pragma once

#include <cmath>
#include <numbers>

namespace patrol {

// Wraps an angle to (-pi, pi], rad.
inline double wrap_angle(double a) {
  a = std::remainder(a, 2.0 * std::numbers::pi);
  return a <= -std::numbers::pi ? a + 2.0 * std::numbers::pi : a;
}

// A point or displacement in the plane, m.
struct Point2 {
  double x = 0.0;
  double y = 0.0;
};

inline double distance(Point2 a, Point2 b) { return std::hypot(a.x - b.x, a.y - b.y); }

// A pose in the plane, and the rigid motion that moves the origin to it: m, m, and rad
// counter-clockwise from x.
struct Pose2 {
  double x = 0.0;
  double y = 0.0;
  double theta = 0.0;

  [[nodiscard]] Point2 position() const { return {x, y}; }
};

// Transforms b, which is relative to a, into the frame of a.
inline Pose2 compose(const Pose2& a, const Pose2& b) {
  const double c = std::cos(a.theta);
  const double s = std::sin(a.theta);
  return {a.x + c * b.x - s * b.y, a.y + s * b.x + c * b.y, wrap_angle(a.theta + b.theta)};
}

// b relative to a: compose(a, between(a, b)) == b.
inline Pose2 between(const Pose2& a, const Pose2& b) {
  const double c = std::cos(a.theta);
  const double s = std::sin(a.theta);
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  return {c * dx + s * dy, -s * dx + c * dy, wrap_angle(b.theta - a.theta)};
}

inline Pose2 inverse(const Pose2& a) { return between(a, Pose2{}); }

inline Point2 transform(const Pose2& a, Point2 p) {
  const double c = std::cos(a.theta);
  const double s = std::sin(a.theta);
  return {a.x + c * p.x - s * p.y, a.y + s * p.x + c * p.y};
}

inline double distance(const Pose2& a, const Pose2& b) { return std::hypot(a.x - b.x, a.y - b.y); }

}  // namespace patrol
