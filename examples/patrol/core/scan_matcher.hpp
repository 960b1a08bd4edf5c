#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "pose.hpp"

namespace patrol {

// A likelihood field. Each cell holds the agreement of a laser return there with the reference
// points: 255 on a point, falling off as a Gaussian. A pyramid of block maxima supports
// branch-and-bound search.
class LikelihoodField {
 public:
  // resolution: m per cell. sigma: of the Gaussian, m. levels: of the pyramid, where level h bounds
  // blocks of 2^h x 2^h cells. The field is empty if the points are more than 150 m apart. Cost:
  // about 169 cells per point, and one pass over the area per level.
  LikelihoodField(std::span<const Point2> points, double resolution_m, double sigma_m, int levels);

  [[nodiscard]] double resolution() const { return resolution_; }
  [[nodiscard]] double sigma() const { return sigma_; }
  [[nodiscard]] int levels() const { return static_cast<int>(pyramid_.size()); }
  [[nodiscard]] bool empty() const { return width_ == 0; }
  [[nodiscard]] int cell_x(double x_m) const;
  [[nodiscard]] int cell_y(double y_m) const;
  // The largest value in the cells [x, x + 2^level) x [y, y + 2^level), or 0 outside.
  [[nodiscard]] std::uint8_t bound(int level, int x, int y) const {
    // Level h also covers the 2^h - 1 cells to the left of the area and below it, because a block
    // that begins there reaches into the area.
    const int pad = (1 << level) - 1;
    const auto px = static_cast<unsigned>(x + pad), py = static_cast<unsigned>(y + pad);
    const auto w = static_cast<unsigned>(width_ + pad), h = static_cast<unsigned>(height_ + pad);
    if (px >= w || py >= h) return 0;
    return pyramid_[static_cast<std::size_t>(level)][static_cast<std::size_t>(py) * w + px];
  }
  // A value in [0, 1] and its gradient per m at a point, interpolated between cell centres.
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

// The search range around the guess.
struct SearchWindow {
  double translation_m = 0.3;  // to each side, in x and in y
  double rotation_rad = 0.3;   // to each side
  // The discount of the score at the window's edge. Among equal scores the guess wins.
  double edge_penalty = 0.1;
};

struct MatchResult {
  Pose2 pose;
  // The mean field value over the points at that pose, in [0, 1]: roughly the explained part of the
  // scan.
  double score = 0.0;
  // The information (inverse covariance) of the pose in its own frame, from the scan alone: m, m,
  // rad.
  Eigen::Matrix3d information = Eigen::Matrix3d::Zero();
};

// Finds the pose at which the points (in the frame of the pose) agree best with the field. The
// result is exact over the window on a grid of one cell and matching angle steps. Correlative
// matching after Olson (ICRA 2009), branch-and-bound after Hess et al. (ICRA 2016). min_score: give
// up (score 0) if no pose reaches it. Cost: about points x angles x (window / 2^levels cells)^2.
[[nodiscard]] MatchResult search(const LikelihoodField& field, std::span<const Point2> points,
                                 const Pose2& guess, const SearchWindow& window,
                                 double min_score = 0.0);

// Moves `guess` to the nearest optimum, below the size of a cell. The method is reweighted
// Gauss-Newton on the field's slope, which is point-to-line matching under a Welsch kernel. A prior
// at `prior`, with the given information in its own frame, limits the motion.
// normals: empty, or for each point the unit normal of its wall, (0, 0) if unknown. A point with a
// normal pulls only along it. Without normals, the end of a partly known wall pulls scans with a
// farther view back to it, and a robot in a bare corridor seems to lag. Cost: points x at most 12
// iterations.
[[nodiscard]] MatchResult refine(const LikelihoodField& field, std::span<const Point2> points,
                                 std::span<const Point2> normals, const Pose2& guess,
                                 const Pose2& prior, const Eigen::Matrix3d& prior_information);

}  // namespace patrol
