#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pose.hpp"

namespace patrol {

// A finished map that nodes send to each other. It has the content of a ROS OccupancyGrid.
struct GridMap {
  double resolution_m = 0.05;         // side of a cell
  Point2 origin;                      // outer corner of cell (0, 0), m
  int width = 0;                      // cells
  int height = 0;                     // cells
  std::vector<std::int8_t> percents;  // row-major from y = 0: -1 unknown, 0 free ... 100 occupied

  [[nodiscard]] bool contains(int x, int y) const {
    return x >= 0 && y >= 0 && x < width && y < height;
  }
  // The cell must be inside the map.
  [[nodiscard]] std::int8_t percent(int x, int y) const {
    return percents[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                    static_cast<std::size_t>(x)];
  }
  [[nodiscard]] int cell_x(double x_m) const {
    return static_cast<int>(std::floor((x_m - origin.x) / resolution_m));
  }
  [[nodiscard]] int cell_y(double y_m) const {
    return static_cast<int>(std::floor((y_m - origin.y) / resolution_m));
  }
  [[nodiscard]] Point2 center(int x, int y) const {
    return {origin.x + (x + 0.5) * resolution_m, origin.y + (y + 0.5) * resolution_m};
  }
};

}  // namespace patrol
