#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "pose.hpp"

namespace patrol {

// A likelihood field: each cell holds how well a laser return there agrees with the reference
// points, 255 on a point, falling off as a Gaussian. Kept with a pyramid of block maxima for
// branch-and-bound search.
class LikelihoodField {
 public:
  // resolution: m per cell; sigma: of the Gaussian, m; levels: of the pyramid, level h bounding
  // blocks of 2^h x 2^h cells. Cost: 169 cells or so per point, and one pass over the area per
  // level. Empty if the points lie more than 150 m apart.
  LikelihoodField(std::span<const Point2> points, double resolution_m, double sigma_m, int levels);

  [[nodiscard]] double resolution() const { return resolution_; }
  [[nodiscard]] double sigma() const { return sigma_; }
  [[nodiscard]] int levels() const { return static_cast<int>(pyramid_.size()); }
  [[nodiscard]] bool empty() const { return width_ == 0; }
  [[nodiscard]] int cell_x(double x_m) const;
  [[nodiscard]] int cell_y(double y_m) const;
  // The largest value in the cells [x, x + 2^level) x [y, y + 2^level); 0 outside.
  [[nodiscard]] std::uint8_t bound(int level, int x, int y) const {
    // Level h also covers the 2^h - 1 cells left of and below the area, from where a block
    // reaches into it.
    const int pad = (1 << level) - 1;
    const auto px = static_cast<unsigned>(x + pad), py = static_cast<unsigned>(y + pad);
    const auto w = static_cast<unsigned>(width_ + pad), h = static_cast<unsigned>(height_ + pad);
    if (px >= w || py >= h) return 0;
    return pyramid_[static_cast<std::size_t>(level)][static_cast<std::size_t>(py) * w + px];
  }
  // Value in [0, 1] and its gradient per m at a point, interpolated between cell centres.
  struct Sample {
    double value;
    double dx;
    double dy;
  };
  [[nodiscard]] Sample sample(double x_m, double y_m) const;

 private:
  double resolution_;
  double sigma_;
  Point2 origin_;
  int width_ = 0;
  int height_ = 0;
  std::vector<std::vector<std::uint8_t>> pyramid_;
};

// Where to search, around the guess.
struct SearchWindow {
  double translation_m = 0.3;  // to each side, in x and in y
  double rotation_rad = 0.3;   // to each side
  // Discount of the score at the window's edge, so that among equals the guess wins.
  double edge_penalty = 0.1;
};

struct MatchResult {
  Pose2 pose;
  // Mean field value over the points at that pose, in [0, 1]: about the part of the scan explained.
  double score = 0.0;
  // Information (inverse covariance) of the pose in its own frame, from the scan alone; m, m, rad.
  Eigen::Matrix3d information = Eigen::Matrix3d::Zero();
};

// Finds the pose at which points (in the frame of the pose) agree best with the field: exact over
// the window on a grid of one cell and matching angle steps. Correlative matching after Olson (ICRA
// 2009), branch-and-bound after Hess et al. (ICRA 2016). min_score: give up (score 0) if nothing
// reaches it. Cost: about points x angles x (window / 2^levels cells)^2.
[[nodiscard]] MatchResult search(const LikelihoodField& field, std::span<const Point2> points,
                                 const Pose2& guess, const SearchWindow& window,
                                 double min_score = 0.0);

// Slides `guess` to the nearest optimum below the size of a cell: reweighted Gauss-Newton on the
// field's slope, which makes it point-to-line matching under a Welsch kernel. Held back by a prior
// at `prior` with the given information in its own frame.
// normals: empty, or for each point the unit normal of the wall it lies on, (0, 0) if unknown. A
// point with a normal pulls along it only. Without, the end of what is known of a wall pulls scans
// that see further back to it, and a robot in a bare corridor seems to lag. Cost: points x at most
// 12 iterations.
[[nodiscard]] MatchResult refine(const LikelihoodField& field, std::span<const Point2> points,
                                 std::span<const Point2> normals, const Pose2& guess,
                                 const Pose2& prior, const Eigen::Matrix3d& prior_information);

}  // namespace patrol
