#pragma once

#include <cstddef>
#include <vector>

#include "grid_map.hpp"
#include "pose.hpp"

namespace patrol {

// The planner's view of a map: coarser cells, each with its distance to the nearest obstacle, and
// shortest paths over them. Paths keep their distance from obstacles where they can. Immutable once
// built.
class CostMap {
 public:
  // cell_m: side of a cell, at least that of the map. robot_radius_m: the minimum distance of paths
  // from obstacles. comfort_m: the preferred distance, kept where it costs no long detour.
  CostMap(const GridMap& map, double cell_m, double robot_radius_m, double comfort_m);

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] double cell() const { return cell_m_; }
  [[nodiscard]] std::size_t size() const { return state_.size(); }
  [[nodiscard]] std::size_t index_of(Point2 p) const;  // kNone outside
  [[nodiscard]] Point2 center(std::size_t cell) const;
  [[nodiscard]] bool free(std::size_t cell) const { return state_[cell] == State::kFree; }
  [[nodiscard]] bool unknown(std::size_t cell) const { return state_[cell] == State::kUnknown; }
  // The distance to the nearest obstacle, m.
  [[nodiscard]] double clearance(std::size_t cell) const { return clearance_[cell]; }
  [[nodiscard]] bool passable(std::size_t cell) const {
    return free(cell) && clearance_[cell] >= robot_radius_m_;
  }
  // A passable cell with an unknown one beside it.
  [[nodiscard]] bool frontier(std::size_t cell) const;
  // Calls f(cell) for each of the up to eight neighbours.
  template <class F>
  void for_neighbors(std::size_t cell, F&& f) const {
    const int x = static_cast<int>(cell % static_cast<std::size_t>(width_));
    const int y = static_cast<int>(cell / static_cast<std::size_t>(width_));
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const int nx = x + dx, ny = y + dy;
        if ((dx == 0 && dy == 0) || nx < 0 || ny < 0 || nx >= width_ || ny >= height_) continue;
        f(static_cast<std::size_t>(ny) * static_cast<std::size_t>(width_) +
              static_cast<std::size_t>(nx),
          dx != 0 && dy != 0);
      }
    }
  }

  // The cheapest path (A*), from `from` to `to`. Empty if there is none. If the start is too close
  // to an obstacle, the path leaves it by the shortest route. Cost: up to all cells.
  [[nodiscard]] std::vector<Point2> path(Point2 from, Point2 to) const;

  // The cost of the cheapest path from a point to every cell (Dijkstra): m, and more in tight
  // places. Infinity where there is no path.
  [[nodiscard]] std::vector<double> costs_from(Point2 from) const;

 private:
  enum class State : unsigned char { kUnknown, kFree, kOccupied };

  struct Flood {
    std::vector<double> cost;
    std::vector<std::size_t> parent;
  };
  [[nodiscard]] Flood flood(std::size_t start, std::size_t goal) const;
  [[nodiscard]] double weight(std::size_t cell, Point2 start) const;
  void measure_clearance();

  double cell_m_;
  double robot_radius_m_;
  double comfort_m_;
  Point2 origin_;
  int width_ = 0;
  int height_ = 0;
  std::vector<State> state_;
  std::vector<double> clearance_;
};

}  // namespace patrol
