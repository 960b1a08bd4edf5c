#include "cosim/core/terrain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "cosim/core/random.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::size_t kMostParts = 20'000;  // of a path: bounds the cost of one loss
constexpr double kMostHeight = 1e5;         // m

/// A random height in [-1, 1] at a corner of the lattice of bumps.
double bump(std::uint64_t seed, std::int64_t x, std::int64_t y) {
  return 2 * draw_unit(seed, static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y), 0x7e44) -
         1;
}

/// Bumps with a continuous slope: the corners of a lattice, blended.
double uneven(std::uint64_t seed, double x, double y) {
  const double fx = std::floor(x);
  const double fy = std::floor(y);
  const auto blend = [](double t) { return t * t * (3 - 2 * t); };
  const double u = blend(x - fx);
  const double v = blend(y - fy);
  const auto ix = static_cast<std::int64_t>(fx);
  const auto iy = static_cast<std::int64_t>(fy);
  const auto mix = [](double a, double b, double t) { return a + (b - a) * t; };
  return mix(mix(bump(seed, ix, iy), bump(seed, ix + 1, iy), u),
             mix(bump(seed, ix, iy + 1), bump(seed, ix + 1, iy + 1), u), v);
}

}  // namespace

Result<Terrain> Terrain::make(const TerrainOptions& options, TerrainGrid grid) {
  Terrain terrain;
  terrain.grid_ = std::move(grid);
  TerrainGrid& made = terrain.grid_;
  if (made.heights.empty()) {
    const double columns = std::floor(options.size_x / options.cell) + 1;
    const double rows = std::floor(options.size_y / options.cell) + 1;
    if (!(columns >= 2 && rows >= 2 &&
          columns * rows <= static_cast<double>(TerrainOptions::kMostCells))) {
      return Error{Code::invalid_config,
                   "the terrain needs 2 by 2 to " + std::to_string(TerrainOptions::kMostCells) +
                       " heights: change size_m or cell_m",
                   "terrain"};
    }
    made.columns = static_cast<std::size_t>(columns);
    made.rows = static_cast<std::size_t>(rows);
    made.cell_x = made.cell_y = options.cell;
    made.heights.assign(made.columns * made.rows, 0);
  }
  terrain.low_x_ = options.centre_x - made.cell_x * static_cast<double>(made.columns - 1) / 2;
  terrain.low_y_ = options.centre_y - made.cell_y * static_cast<double>(made.rows - 1) / 2;
  terrain.raise(options);
  if (auto finished = terrain.finish(options); !finished) return finished.error();
  return terrain;
}

void Terrain::raise(const TerrainOptions& options) {
  if (options.hills.empty() && options.rough == 0) return;
  for (std::size_t row = 0; row < grid_.rows; ++row) {
    for (std::size_t column = 0; column < grid_.columns; ++column) {
      const double x = low_x_ + grid_.cell_x * static_cast<double>(column);
      const double y = low_y_ + grid_.cell_y * static_cast<double>(row);
      double height = grid_.heights[row * grid_.columns + column];
      for (const Hill& hill : options.hills) {
        const double off = ((x - hill.x) * (x - hill.x) + (y - hill.y) * (y - hill.y)) /
                           (hill.radius * hill.radius);
        height += hill.height * std::exp(-off);
      }
      if (options.rough != 0) {
        height +=
            options.rough * uneven(options.seed, x / options.rough_scale, y / options.rough_scale);
      }
      grid_.heights[row * grid_.columns + column] = static_cast<float>(height);
    }
  }
}

Result<void> Terrain::finish(const TerrainOptions& options) {
  loss_db_ = options.loss_db;
  for (const float height : grid_.heights) {
    if (std::isfinite(height) && std::abs(height) <= kMostHeight) continue;
    return Error{Code::invalid_config,
                 "a height is " + std::to_string(height) + " m, beyond 100 km: correct the terrain",
                 options.file.empty() ? "terrain" : options.file};
  }
  const auto [least, most] = std::ranges::minmax(grid_.heights);
  lowest_ = least;
  highest_ = most;
  for (std::size_t row = 0; row < grid_.rows; ++row) {
    for (std::size_t column = 0; column < grid_.columns; ++column) {
      const double here = at(column, row);
      const double along_x =
          column + 1 < grid_.columns ? (at(column + 1, row) - here) / grid_.cell_x : 0;
      const double along_y = row + 1 < grid_.rows ? (at(column, row + 1) - here) / grid_.cell_y : 0;
      steepest_ = std::max(steepest_, std::hypot(along_x, along_y));
    }
  }
  return success();
}

bool Terrain::inside(double x, double y) const {
  const double u = (x - low_x_) / grid_.cell_x;
  const double v = (y - low_y_) / grid_.cell_y;
  return u >= 0 && v >= 0 && u <= static_cast<double>(grid_.columns - 1) &&
         v <= static_cast<double>(grid_.rows - 1);
}

double Terrain::height(double x, double y) const {
  if (!inside(x, y)) return lowest_;
  double u = (x - low_x_) / grid_.cell_x;
  double v = (y - low_y_) / grid_.cell_y;
  const std::size_t column = std::min(static_cast<std::size_t>(u), grid_.columns - 2);
  const std::size_t row = std::min(static_cast<std::size_t>(v), grid_.rows - 2);
  u -= static_cast<double>(column);
  v -= static_cast<double>(row);
  const double low = at(column, row);
  const double high = at(column + 1, row + 1);
  if (u >= v) {
    const double right = at(column + 1, row);
    return low + u * (right - low) + v * (high - right);
  }
  const double left = at(column, row + 1);
  return low + v * (left - low) + u * (high - left);
}

std::size_t Terrain::parts_of(const Vec3& a, const Vec3& b) const {
  const double way = std::hypot(b.x - a.x, b.y - a.y);
  const double parts = std::ceil(2 * way / std::min(grid_.cell_x, grid_.cell_y));
  return static_cast<std::size_t>(std::clamp(parts, 1.0, static_cast<double>(kMostParts)));
}

double Terrain::clearance(const Vec3& a, const Vec3& b) const {
  if (std::min(a.z, b.z) > highest_) return std::min(a.z, b.z) - highest_;
  const bool forward = std::tie(a.x, a.y, a.z) <= std::tie(b.x, b.y, b.z);
  double least = std::numeric_limits<double>::infinity();
  along(forward ? a : b, forward ? b : a,
        [&](double, double clearance) { least = std::min(least, clearance); });
  return least;
}

double Terrain::freedom(const Vec3& a, const Vec3& b) const {
  // Points of the path move at most as far as its ends, and by half a part if their number changes.
  const double apart = std::hypot(b.x - a.x, b.y - a.y) / static_cast<double>(parts_of(a, b));
  const double slope = 1 + steepest_;
  return std::max(0.0, std::abs(clearance(a, b)) / slope - apart);
}

}  // namespace hyphos::cosim
