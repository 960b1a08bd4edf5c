#include "cosim/core/geometry.hpp"

#include <algorithm>
#include <array>

#include "cosim/core/terrain.hpp"

namespace hyphos::cosim {
namespace {

/// True if the segment from a to b has a point inside the box or on its surface.
bool enters(const Box& box, const Vec3& a, const Vec3& b) {
  double from = 0;
  double to = 1;
  const std::array<std::array<double, 4>, 3> axes{{{a.x, b.x, box.low.x, box.high.x},
                                                   {a.y, b.y, box.low.y, box.high.y},
                                                   {a.z, b.z, box.low.z, box.high.z}}};
  for (const auto& [start, end, low, high] : axes) {
    const double way = end - start;
    if (way == 0) {
      if (start < low || start > high) return false;
      continue;
    }
    const double first = (low - start) / way;
    const double second = (high - start) / way;
    from = std::max(from, std::min(first, second));
    to = std::min(to, std::max(first, second));
    if (from > to) return false;
  }
  return true;
}

double axis_gap(double at, double low, double high) { return std::max({low - at, at - high, 0.0}); }

double distance_to(const Box& box, const Vec3& p) {
  return length({axis_gap(p.x, box.low.x, box.high.x), axis_gap(p.y, box.low.y, box.high.y),
                 axis_gap(p.z, box.low.z, box.high.z)});
}

/// The depth of a point below the nearest face. Negative outside.
double depth_in(const Box& box, const Vec3& p) {
  return std::min({p.x - box.low.x, box.high.x - p.x, p.y - box.low.y, box.high.y - p.y,
                   p.z - box.low.z, box.high.z - p.z});
}

/// The minimum of a convex function on [0, 1], and the largest error of its position.
template <typename F>
std::pair<double, double> least(const F& f) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 48; ++i) {
    const double one = low + (high - low) / 3;
    const double two = high - (high - low) / 3;
    if (f(one) < f(two)) {
      high = two;
    } else {
      low = one;
    }
  }
  return {f((low + high) / 2), high - low};
}

/// The distance that every point of the segment may move before `box` starts or stops blocking it.
double freedom(const Box& box, const Vec3& a, const Vec3& b) {
  const Vec3 way = b - a;
  const auto at = [&](double share) { return a + way * share; };
  if (enters(box, a, b)) {
    // The deepest point stays inside until it has moved by its depth. The distance to the nearest
    // face is concave along the segment.
    return std::max(0.0, -least([&](double s) { return -depth_in(box, at(s)); }).first);
  }
  const auto [distance, slack] = least([&](double s) { return distance_to(box, at(s)); });
  return std::max(0.0, distance - slack * length(way));
}

/// A cheap test that no point of the segment comes within `reach` of the box.
bool far_from(const Box& box, const Vec3& a, const Vec3& b, double reach) {
  return std::max(a.x, b.x) + reach < box.low.x || std::min(a.x, b.x) - reach > box.high.x ||
         std::max(a.y, b.y) + reach < box.low.y || std::min(a.y, b.y) - reach > box.high.y ||
         std::max(a.z, b.z) + reach < box.low.z || std::min(a.z, b.z) - reach > box.high.z;
}

Quaternion conjugate(const Quaternion& q) { return {-q.x, -q.y, -q.z, q.w}; }

}  // namespace

Quaternion about_z(double angle) {
  if (angle == 0) return {0, 0, angle, 1};
  return {0, 0, std::sin(angle / 2), std::cos(angle / 2)};
}

Quaternion operator*(const Quaternion& a, const Quaternion& b) {
  return {
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

Vec3 turned(const Quaternion& by, const Vec3& v) {
  const Vec3 axis{by.x, by.y, by.z};
  const Vec3 twice = cross(axis, v) * 2;
  return v + twice * by.w + cross(axis, twice);
}

Vec3 turned_back(const Quaternion& by, const Vec3& v) { return turned(conjugate(by), v); }

double yaw_of(const Quaternion& q) {
  return std::atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z));
}

Vec3 turn_between(const Quaternion& from, const Quaternion& to) {
  const Quaternion a = conjugate(from);
  const Vec3 u{a.x, a.y, a.z};
  const Vec3 v{to.x, to.y, to.z};
  double w = a.w * to.w - dot(u, v);
  Vec3 axis = v * a.w + u * to.w + cross(u, v);
  if (w < 0) {  // the shorter rotation
    w = -w;
    axis = axis * -1;
  }
  const double size = length(axis);
  return size == 0 ? Vec3{} : axis * (2 * std::atan2(size, w) / size);
}

double Scene::loss_db(const Vec3& a, const Vec3& b) const {
  double loss = 0;
  for (const Box& box : boxes_) {
    if (enters(box, a, b)) loss += box.loss_db;
  }
  if (terrain_ != nullptr && terrain_->clearance(a, b) < 0) loss += terrain_->loss_db();
  return loss;
}

double Scene::los_holds_for(const Vec3& a, const Vec3& b, double speed) const {
  double least_freedom = std::numeric_limits<double>::infinity();
  for (const Box& box : boxes_) least_freedom = std::min(least_freedom, freedom(box, a, b));
  if (terrain_ != nullptr) least_freedom = std::min(least_freedom, terrain_->freedom(a, b));
  return speed > 0 ? least_freedom / speed : std::numeric_limits<double>::infinity();
}

double Scene::uncertain_db(const Vec3& a, const Vec3& b, double reach) const {
  double loss = 0;
  for (const Box& box : boxes_) {
    if (!far_from(box, a, b, reach) && freedom(box, a, b) <= reach) loss += box.loss_db;
  }
  if (terrain_ != nullptr && terrain_->freedom(a, b) <= reach) loss += terrain_->loss_db();
  return loss;
}

}  // namespace hyphos::cosim
