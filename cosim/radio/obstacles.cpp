#include "cosim/radio/obstacles.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "cosim/core/terrain.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kClear = -0.78;  // of ITU-R P.526
constexpr double kNear = 1e-3;    // m: shortest distance of an edge from an end

/// A path from above: along it and across it, in metres.
struct Track {
  Vec3 start;
  double length = 0;  // on the ground
  double x = 0;       // direction
  double y = 0;
  double rise = 0;  // per metre on the ground

  [[nodiscard]] double along(double px, double py) const {
    return (px - start.x) * x + (py - start.y) * y;
  }
  [[nodiscard]] double across(double px, double py) const {
    return (py - start.y) * x - (px - start.x) * y;
  }
  [[nodiscard]] double height(double at) const { return start.z + rise * at; }
  /// The Fresnel parameter of an edge at this length along the path.
  [[nodiscard]] double parameter(double over, double at, double wavelength) const {
    const double steep = std::sqrt(1 + rise * rise);
    return fresnel(over, std::max(at, kNear) * steep, std::max(length - at, kNear) * steep,
                   wavelength);
  }
};

Track track_of(const Vec3& a, const Vec3& b) {
  Track track{a};
  track.length = std::hypot(b.x - a.x, b.y - a.y);
  if (track.length < kNear) return track;
  track.x = (b.x - a.x) / track.length;
  track.y = (b.y - a.y) / track.length;
  track.rise = (b.z - a.z) / track.length;
  return track;
}

constexpr double kNone = -std::numeric_limits<double>::infinity();

/// The outline of a box beside a path: where it begins and ends along the path, and the largest
/// Fresnel parameters of a way around its left and its right.
struct Sides {
  double first = -kNone;
  double last = kNone;
  double left = kNone;
  double right = kNone;
};

using Corner = std::array<double, 2>;

/// Adds one wall of the outline. Its decisive point is an end, or the point nearest to the middle
/// of the path.
void add_side(const Track& track, const Corner& from, const Corner& to, double wavelength,
              Sides& sides) {
  const double begin = track.along(from[0], from[1]);
  const double end = track.along(to[0], to[1]);
  const double across = track.across(from[0], from[1]);
  const double turn = track.across(to[0], to[1]) - across;
  sides.first = std::min(sides.first, begin);
  sides.last = std::max(sides.last, begin);
  const auto [low, high] = std::minmax(begin, end);
  if (high < 0 || low > track.length) return;
  const auto inside = [&, low = low, high = high](double at) {
    return std::clamp(at, std::max(low, 0.0), std::min(high, track.length));
  };
  for (const double at : {inside(low), inside(track.length / 2), inside(high)}) {
    const auto add = [&](double aside) {
      sides.left = std::max(sides.left, track.parameter(aside, at, wavelength));
      sides.right = std::max(sides.right, track.parameter(-aside, at, wavelength));
    };
    if (high - low > kNear) {
      add(across + turn * (at - begin) / (end - begin));
    } else {  // square to the path
      add(across);
      add(across + turn);
    }
  }
}

}  // namespace

double knife_edge_db(double v) {
  if (v <= kClear) return 0;
  const double w = v - 0.1;
  return std::max(0.0, 6.9 + 20 * std::log10(std::sqrt(w * w + 1) + w));
}

double fresnel(double over_m, double before_m, double behind_m, double wavelength_m) {
  return over_m * std::sqrt(2 * (before_m + behind_m) / (wavelength_m * before_m * behind_m));
}

double diffraction_db(const Box& box, const Vec3& a, const Vec3& b, double wavelength_m) {
  if (box.loss_db <= 0) return 0;
  const Track track = track_of(a, b);
  if (track.length < kNear) return Scene({box}).loss_db(a, b);  // straight up: no edge to bend at
  Sides sides;
  add_side(track, {box.low.x, box.low.y}, {box.high.x, box.low.y}, wavelength_m, sides);
  add_side(track, {box.high.x, box.low.y}, {box.high.x, box.high.y}, wavelength_m, sides);
  add_side(track, {box.high.x, box.high.y}, {box.low.x, box.high.y}, wavelength_m, sides);
  add_side(track, {box.low.x, box.high.y}, {box.low.x, box.low.y}, wavelength_m, sides);
  if (sides.last <= 0 || sides.first >= track.length) return 0;
  double over = kNone;
  double under = kNone;
  const double begin = std::max(sides.first, 0.0);
  const double end = std::min(sides.last, track.length);
  for (const double at : {begin, std::clamp(track.length / 2, begin, end), end}) {
    over = std::max(over, track.parameter(box.high.z - track.height(at), at, wavelength_m));
    under = std::max(under, track.parameter(track.height(at) - box.low.z, at, wavelength_m));
  }
  double easiest = std::min({sides.left, sides.right, over});
  if (box.low.z > 0) easiest = std::min(easiest, under);
  return std::min(box.loss_db, knife_edge_db(easiest));
}

double ridge_db(const Terrain& terrain, const Vec3& a, const Vec3& b, double wavelength_m) {
  const bool forward = std::tie(a.x, a.y, a.z) <= std::tie(b.x, b.y, b.z);
  const double whole = length(b - a);
  double worst = kNone;
  terrain.along(forward ? a : b, forward ? b : a, [&](double share, double clearance) {
    const double before = std::max(kNear, share * whole);
    const double behind = std::max(kNear, (1 - share) * whole);
    if (clearance < 0) worst = std::max(worst, fresnel(-clearance, before, behind, wavelength_m));
  });
  return worst == kNone ? 0 : std::min(terrain.loss_db(), knife_edge_db(worst));
}

double diffraction_db(const Scene& scene, const Vec3& a, const Vec3& b, double wavelength_m) {
  double loss = 0;
  for (const Box& box : scene.boxes()) loss += diffraction_db(box, a, b, wavelength_m);
  if (scene.terrain() != nullptr) loss += ridge_db(*scene.terrain(), a, b, wavelength_m);
  return loss;
}

}  // namespace hyphos::cosim
