#include "occupancy_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace patrol {
namespace {

constexpr double kThousand = 1000.0;
// Extra cells at each growth, so the grid is not copied at every scan.
constexpr int kMargin = 64;

std::int16_t quantize(double log_odds) {
  return static_cast<std::int16_t>(std::lround(std::clamp(log_odds, -30.0, 30.0) * kThousand));
}

}  // namespace

OccupancyGrid::OccupancyGrid(GridConfig config)
    : config_(config),
      hit_(quantize(config.hit_log_odds)),
      miss_(quantize(config.miss_log_odds)),
      limit_(quantize(config.limit_log_odds)) {}

Point2 OccupancyGrid::origin() const {
  return {offset_x_ * config_.resolution_m, offset_y_ * config_.resolution_m};
}

int OccupancyGrid::cell_x(double x_m) const {
  return static_cast<int>(std::floor(x_m / config_.resolution_m)) - offset_x_;
}

int OccupancyGrid::cell_y(double y_m) const {
  return static_cast<int>(std::floor(y_m / config_.resolution_m)) - offset_y_;
}

Point2 OccupancyGrid::center(int x, int y) const {
  return {(x + offset_x_ + 0.5) * config_.resolution_m,
          (y + offset_y_ + 0.5) * config_.resolution_m};
}

double OccupancyGrid::probability(int x, int y) const {
  const std::int16_t cell = cells_[index(x, y)];
  if (cell == kUnknown) return 0.5;
  return 1.0 / (1.0 + std::exp(-cell / kThousand));
}

GridMap OccupancyGrid::snapshot() const {
  std::vector<std::int8_t> percent_of(2 * static_cast<std::size_t>(limit_) + 1);
  for (int i = -limit_; i <= limit_; ++i) {
    percent_of[static_cast<std::size_t>(i + limit_)] =
        static_cast<std::int8_t>(std::lround(100.0 / (1.0 + std::exp(-i / kThousand))));
  }
  GridMap map{config_.resolution_m, origin(), width_, height_, {}};
  map.percents.reserve(cells_.size());
  for (const std::int16_t cell : cells_) {
    map.percents.push_back(cell == kUnknown ? std::int8_t{-1}
                                            : percent_of[static_cast<std::size_t>(cell + limit_)]);
  }
  return map;
}

void OccupancyGrid::integrate(const Scan& scan, const Pose2& laser) {
  std::vector<Point2> ends;
  ends.reserve(scan.ranges.size());
  double x_min = laser.x, x_max = laser.x, y_min = laser.y, y_max = laser.y;
  const double half_extent = config_.max_extent_m / 2.0;
  for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
    if (!scan.valid(i) || scan.ranges[i] > config_.usable_range_m) continue;
    const double a = laser.theta + scan.angle(i);
    const Point2 p{laser.x + scan.ranges[i] * std::cos(a), laser.y + scan.ranges[i] * std::sin(a)};
    // NaN fails each comparison, so it counts as outside.
    if (!(std::abs(p.x) <= half_extent && std::abs(p.y) <= half_extent)) {
      ++dropped_outside_;
      continue;
    }
    x_min = std::min(x_min, p.x), x_max = std::max(x_max, p.x);
    y_min = std::min(y_min, p.y), y_max = std::max(y_max, p.y);
    ends.push_back(p);
  }
  if (ends.empty() || !grow_to(x_min, y_min, x_max, y_max)) return;

  if (++scan_number_ == UINT32_MAX / 2) {
    std::fill(visited_.begin(), visited_.end(), 0U);
    scan_number_ = 1;
  }
  for (const Point2& p : ends) touch(cell_x(p.x), cell_y(p.y), true);
  const int x0 = cell_x(laser.x);
  const int y0 = cell_y(laser.y);
  for (const Point2& p : ends) mark_line(x0, y0, cell_x(p.x), cell_y(p.y));
}

bool OccupancyGrid::grow_to(double x_min, double y_min, double x_max, double y_max) {
  const double half_extent = config_.max_extent_m / 2.0;
  auto inside = [&](double at) { return std::abs(at) <= half_extent; };
  if (!inside(x_min) || !inside(y_min) || !inside(x_max) || !inside(y_max)) {
    ++dropped_outside_;  // the laser itself is outside
    return false;
  }
  const int left = cell_x(x_min), right = cell_x(x_max);
  const int low = cell_y(y_min), high = cell_y(y_max);
  if (width_ > 0 && contains(left, low) && contains(right, high)) return true;

  const bool first = width_ == 0;
  const int new_left = first ? left - kMargin : (left < 0 ? left - kMargin : 0);
  const int new_low = first ? low - kMargin : (low < 0 ? low - kMargin : 0);
  const int new_right = right >= width_ ? right + kMargin + 1 : width_;
  const int new_high = high >= height_ ? high + kMargin + 1 : height_;
  const int new_width = new_right - new_left;
  const int new_height = new_high - new_low;
  const std::size_t count =
      static_cast<std::size_t>(new_width) * static_cast<std::size_t>(new_height);
  std::vector<std::int16_t> cells(count, kUnknown);
  for (int y = 0; y < height_; ++y) {
    const auto row = cells_.begin() + static_cast<std::ptrdiff_t>(index(0, y));
    std::copy(row, row + width_,
              cells.begin() + static_cast<std::ptrdiff_t>(y - new_low) * new_width - new_left);
  }
  cells_ = std::move(cells);
  visited_.assign(count, 0U);
  offset_x_ += new_left;
  offset_y_ += new_low;
  width_ = new_width;
  height_ = new_height;
  return true;
}

void OccupancyGrid::touch(int x, int y, bool hit) {
  const std::size_t i = index(x, y);
  const std::uint32_t mark = 2 * scan_number_;
  if (visited_[i] >= mark) return;
  visited_[i] = mark + (hit ? 1U : 0U);
  const int before = cells_[i] == kUnknown ? 0 : cells_[i];
  cells_[i] =
      static_cast<std::int16_t>(std::clamp<int>(before + (hit ? hit_ : miss_), -limit_, limit_));
}

// Bresenham's line without the last cell, because the last cell holds the hit.
void OccupancyGrid::mark_line(int x0, int y0, int x1, int y1) {
  const int dx = std::abs(x1 - x0), dy = -std::abs(y1 - y0);
  const int step_x = x0 < x1 ? 1 : -1, step_y = y0 < y1 ? 1 : -1;
  int error = dx + dy;
  while (x0 != x1 || y0 != y1) {
    touch(x0, y0, false);
    const int twice = 2 * error;
    if (twice >= dy) error += dy, x0 += step_x;
    if (twice <= dx) error += dx, y0 += step_y;
  }
}

}  // namespace patrol
