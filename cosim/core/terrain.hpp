#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// A round hill: `height` at its centre, and 1/e of it at `radius`. A pit has a negative height.
struct Hill {
  double x = 0;
  double y = 0;
  double radius = 1;
  double height = 0;
};

/// The source of a terrain: a file (see cosim/world/terrain_file.hpp), or a plain with hills.
struct TerrainOptions {
  std::string file{};   ///< ESRI ASCII grid (.asc) or a portable grey map (.pgm)
  double centre_x = 0;  ///< m
  double centre_y = 0;  ///< m
  double size_x = 0;    ///< m. An ESRI grid has its own size
  double size_y = 0;    ///< m
  double low = 0;       ///< m, of black in a grey map
  double high = 1;      ///< m, of white
  double cell = 1;      ///< m, of a plain with hills
  std::vector<Hill> hills{};
  double rough = 0;        ///< m: amplitude of uneven ground, in addition to the hills
  double rough_scale = 4;  ///< m: the distance of its bumps
  std::uint64_t seed = 1;  ///< of the uneven ground
  double loss_db = 30;     ///< of a signal whose straight path enters the ground

  static constexpr std::size_t kMostCells = 1'000'000;
  static constexpr std::size_t kMostHills = 1000;
};

/// Heights in m: rows from low to high y, each from low to high x.
struct TerrainGrid {
  std::size_t columns = 0;
  std::size_t rows = 0;
  double cell_x = 1;  ///< m
  double cell_y = 1;
  std::vector<float> heights{};
};

/// The ground as a grid of heights. Each cell has two triangles, split along its diagonal from low
/// to high x and y, as in MuJoCo's height fields. Outside the grid, the ground is flat, at the
/// lowest height. Immutable, therefore thread-safe.
class Terrain {
 public:
  /// `grid` has the heights of `options.file`. Errors: invalid_config.
  [[nodiscard]] static Result<Terrain> make(const TerrainOptions& options, TerrainGrid grid = {});

  [[nodiscard]] double height(double x, double y) const;
  /// The least height of a straight path over the ground, at points half a cell apart. Negative if
  /// the path enters the ground. Symmetric.
  [[nodiscard]] double clearance(const Vec3& a, const Vec3& b) const;
  /// A clearance changes its sign only after an end has moved by more than this distance.
  [[nodiscard]] double freedom(const Vec3& a, const Vec3& b) const;
  /// Calls `f(share, clearance)` for the points of a path, `share` from 0 at `a` to 1 at `b`.
  template <typename F>
  void along(const Vec3& a, const Vec3& b, const F& f) const {
    const std::size_t parts = parts_of(a, b);
    for (std::size_t i = 0; i <= parts; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(parts);
      const Vec3 p = a + (b - a) * share;
      f(share, p.z - height(p.x, p.y));
    }
  }

  [[nodiscard]] double loss_db() const { return loss_db_; }
  [[nodiscard]] double lowest() const { return lowest_; }
  [[nodiscard]] double highest() const { return highest_; }
  [[nodiscard]] const TerrainGrid& grid() const { return grid_; }
  [[nodiscard]] double low_x() const { return low_x_; }
  [[nodiscard]] double low_y() const { return low_y_; }
  [[nodiscard]] bool inside(double x, double y) const;

 private:
  Terrain() = default;
  [[nodiscard]] double at(std::size_t column, std::size_t row) const {
    return grid_.heights[row * grid_.columns + column];
  }
  [[nodiscard]] std::size_t parts_of(const Vec3& a, const Vec3& b) const;
  void raise(const TerrainOptions& options);
  [[nodiscard]] Result<void> finish(const TerrainOptions& options);

  TerrainGrid grid_;
  double low_x_ = 0;
  double low_y_ = 0;
  double loss_db_ = 0;
  double lowest_ = 0;
  double highest_ = 0;
  double steepest_ = 0;  // m of height on a metre
};

}  // namespace hyphos::cosim
