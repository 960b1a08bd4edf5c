#include "world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace patrol {
namespace {

constexpr double kWallHeight = 2.5;  // m
constexpr double kWallHalf = 0.06;   // m
constexpr double kRounding = 1e-6;   // cells, for faces that lie on the edge of a cell
constexpr Color kOuter{196, 186, 170};
constexpr Color kInner{214, 206, 190};

Block wall(double x0, double y0, double x1, double y1, Color color) {
  return {{x0 - kWallHalf, y0 - kWallHalf}, {x1 + kWallHalf, y1 + kWallHalf}, kWallHeight, color};
}

Block box(double x, double y, double width, double depth, double height, Color color) {
  return {{x, y}, {x + width, y + depth}, height, color};
}

// Slab test. The hit has no block if the ray misses. A direction along an axis has an infinite
// inverse with the right sign, and the comparisons hold for it.
BlockHit meet(const Block& block, Point2 from, Point2 inverse) {
  const double xa = (block.low.x - from.x) * inverse.x, xb = (block.high.x - from.x) * inverse.x;
  const double ya = (block.low.y - from.y) * inverse.y, yb = (block.high.y - from.y) * inverse.y;
  const double x_enter = std::min(xa, xb), y_enter = std::min(ya, yb);
  const double enter = std::max({x_enter, y_enter, 0.0});
  const double leave = std::min(std::max(xa, xb), std::max(ya, yb));
  if (!(leave > enter)) return {};
  return {enter, leave, x_enter > y_enter, &block};
}

}  // namespace

World World::building() {
  constexpr Color kRed{178, 84, 72}, kBlue{84, 118, 168}, kGreen{96, 144, 92};
  constexpr Color kYellow{204, 172, 84}, kWood{150, 106, 66}, kSteel{140, 146, 152};
  std::vector<Block> b = {
      // The outer walls.
      wall(0, 0, 16, 0, kOuter), wall(0, 12, 16, 12, kOuter), wall(0, 0, 0, 12, kOuter),
      wall(16, 0, 16, 12, kOuter),
      // The corridor between y = 5 and y = 7, with doors of about a metre.
      wall(0, 5, 2.2, 5, kInner), wall(3.3, 5, 7.6, 5, kInner), wall(8.8, 5, 13.6, 5, kInner),
      wall(14.7, 5, 16, 5, kInner), wall(0, 7, 3.4, 7, kInner), wall(4.5, 7, 6.2, 7, kInner),
      wall(7.4, 7, 12.2, 7, kInner), wall(13.4, 7, 16, 7, kInner),
      // Rooms in the south. A door joins the first two.
      wall(5.2, 0, 5.2, 1.4, kRed), wall(5.2, 2.5, 5.2, 5, kRed), wall(11, 0, 11, 5, kBlue),
      // Rooms in the north. A door joins the last two.
      wall(5.4, 7, 5.4, 12, kGreen), wall(10.2, 7, 10.2, 9.2, kYellow),
      wall(10.2, 10.4, 10.2, 12, kYellow),
      // Furniture.
      box(0.3, 0.3, 1.6, 0.7, 0.8, kWood), box(3.9, 3.6, 0.6, 0.9, 1.4, kSteel),
      box(1.2, 2.6, 0.8, 0.8, 0.5, kRed), box(7.2, 1.6, 1.7, 0.9, 0.8, kWood),
      box(10.2, 0.06, 0.7, 1.9, 1.9, kBlue), box(6.0, 4.2, 0.5, 0.5, 1.1, kGreen),
      box(13.0, 1.9, 1.0, 1.0, 0.6, kYellow), box(15.2, 3.0, 0.7, 1.2, 1.6, kSteel),
      box(11.4, 0.3, 0.5, 0.5, 1.0, kRed), box(0.4, 10.9, 2.2, 0.8, 0.8, kWood),
      box(2.3, 9.2, 0.9, 0.6, 0.7, kBlue), box(0.06, 7.6, 0.5, 1.4, 1.7, kSteel),
      box(7.0, 9.3, 1.4, 1.4, 0.75, kWood), box(9.4, 11.2, 0.7, 0.7, 1.3, kGreen),
      box(11.6, 11.1, 1.8, 0.7, 0.9, kYellow), box(14.3, 8.4, 0.6, 1.3, 1.2, kRed),
      box(13.2, 9.4, 0.4, 0.4, 2.0, kSteel),
      // Pillars in the corridor.
      box(5.6, 5.06, 0.3, 0.3, kWallHeight, kSteel),
      box(10.4, 6.64, 0.3, 0.3, kWallHeight, kSteel)};
  return World(std::move(b));
}

void World::hits(Point2 from, Point2 direction, std::vector<BlockHit>& out) const {
  out.clear();
  const Point2 inverse{1.0 / direction.x, 1.0 / direction.y};
  for (const Block& block : blocks_) {
    const BlockHit hit = meet(block, from, inverse);
    if (hit.block != nullptr) out.push_back(hit);
  }
}

double World::ray(Point2 from, double angle, double limit) const {
  const Point2 inverse{1.0 / std::cos(angle), 1.0 / std::sin(angle)};
  for (const Block& block : blocks_) {
    const BlockHit hit = meet(block, from, inverse);
    if (hit.block != nullptr) limit = std::min(limit, hit.enter);
  }
  return limit;
}

GridMap World::map(double cell_m) const {
  GridMap map;
  map.resolution_m = cell_m;
  if (blocks_.empty()) return map;
  Point2 low = blocks_.front().low, high = blocks_.front().high;
  for (const Block& b : blocks_) {
    low = {std::min(low.x, b.low.x), std::min(low.y, b.low.y)};
    high = {std::max(high.x, b.high.x), std::max(high.y, b.high.y)};
  }
  map.origin = low;
  map.width = static_cast<int>(std::ceil((high.x - low.x) / cell_m - kRounding));
  map.height = static_cast<int>(std::ceil((high.y - low.y) / cell_m - kRounding));
  map.percents.assign(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height),
                      0);
  // The first cell with its centre at or behind a face.
  const auto after = [cell_m](double face_m) {
    return static_cast<int>(std::ceil(face_m / cell_m - 0.5 - kRounding));
  };
  for (const Block& b : blocks_) {
    const int left = after(b.low.x - low.x), right = after(b.high.x - low.x);
    for (int y = after(b.low.y - low.y); y < after(b.high.y - low.y); ++y) {
      for (int x = left; x < right; ++x) {
        map.percents[static_cast<std::size_t>(y) * static_cast<std::size_t>(map.width) +
                     static_cast<std::size_t>(x)] = 100;
      }
    }
  }
  return map;
}

double World::clearance(Point2 p) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Block& b : blocks_) {
    const double dx = std::max({b.low.x - p.x, 0.0, p.x - b.high.x});
    const double dy = std::max({b.low.y - p.y, 0.0, p.y - b.high.y});
    least = std::min(least, std::hypot(dx, dy));
  }
  return least;
}

}  // namespace patrol
