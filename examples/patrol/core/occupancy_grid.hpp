#pragma once

#include <cstdint>
#include <vector>

#include "grid_map.hpp"
#include "pose.hpp"
#include "scan.hpp"

namespace patrol {

struct GridConfig {
  double resolution_m = 0.05;    // side of a cell
  double max_extent_m = 400.0;   // the grid grows to at most this in x and in y
  double usable_range_m = 30.0;  // longer returns are not drawn
  double hit_log_odds = 0.9;     // added where a beam ends
  double miss_log_odds = -0.4;   // added where a beam passes
  double limit_log_odds = 5.0;   // evidence saturates here, so that a changed world can still win
};

// A probabilistic map of occupied and free cells (Moravec and Elfes, ICRA 1985, in log-odds form).
// The map grows as scans come in, up to a fixed extent. Returns outside the extent are counted and
// not drawn. Not thread-safe. Copying copies the cells (2 bytes each).
class OccupancyGrid {
 public:
  explicit OccupancyGrid(GridConfig config = {});

  // Draws a scan taken with the laser (not the robot) at `laser`. Each cell changes at most once,
  // and a hit wins over a miss. Thus beams that graze a wall do not erase the hits of their
  // neighbours. Cost: the cells that the beams cross.
  void integrate(const Scan& scan, const Pose2& laser);

  [[nodiscard]] double resolution() const { return config_.resolution_m; }
  [[nodiscard]] int width() const { return width_; }    // cells
  [[nodiscard]] int height() const { return height_; }  // cells
  // The outer corner of cell (0, 0), m. A multiple of the resolution.
  [[nodiscard]] Point2 origin() const;
  [[nodiscard]] bool contains(int x, int y) const {
    return x >= 0 && y >= 0 && x < width_ && y < height_;
  }
  [[nodiscard]] int cell_x(double x_m) const;
  [[nodiscard]] int cell_y(double y_m) const;
  [[nodiscard]] Point2 center(int x, int y) const;

  [[nodiscard]] bool known(int x, int y) const { return cells_[index(x, y)] != kUnknown; }
  // In [0, 1], and 0.5 for an unknown cell. The cell must be inside the grid.
  [[nodiscard]] double probability(int x, int y) const;
  // A copy of the map, to send or to draw. Cost: one pass over the cells.
  [[nodiscard]] GridMap snapshot() const;

  // The number of returns outside max_extent_m so far.
  [[nodiscard]] std::uint64_t dropped_outside() const { return dropped_outside_; }

 private:
  static constexpr std::int16_t kUnknown = INT16_MIN;

  [[nodiscard]] std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }
  bool grow_to(double x_min, double y_min, double x_max, double y_max);
  void mark_line(int x0, int y0, int x1, int y1);
  void touch(int x, int y, bool hit);

  GridConfig config_;
  // Cell (0, 0) is cell (offset_x_, offset_y_) of the endless grid with its corner at the world
  // origin.
  int offset_x_ = 0;
  int offset_y_ = 0;
  int width_ = 0;
  int height_ = 0;
  std::int16_t hit_ = 0;
  std::int16_t miss_ = 0;
  std::int16_t limit_ = 0;
  std::vector<std::int16_t> cells_;  // log-odds in thousandths
  // Per cell 2 * scan number (+1 after a hit). Marks the cells that this scan has changed, without
  // clearing anything between scans.
  std::vector<std::uint32_t> visited_;
  std::uint32_t scan_number_ = 0;
  std::uint64_t dropped_outside_ = 0;
};

}  // namespace patrol
