#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "pose.hpp"

namespace patrol {

struct PoseGraphEdge {
  std::size_t from = 0;
  std::size_t to = 0;
  Pose2 measured;               // `to` in the frame of `from`
  Eigen::Matrix3d information;  // of `measured`, in the frame of `to`; m, m, rad
  bool loop = false;            // may be wrong: its pull is bounded by a robust kernel
};

// Poses tied together by relative measurements, and their least-squares adjustment (sparse
// Gauss-Newton, after Grisetti et al., ITSM 2010; loop edges under a Cauchy kernel). Pose 0 is
// fixed. Not thread-safe.
class PoseGraph {
 public:
  std::size_t add_pose(const Pose2& pose);  // the index of the new pose
  void add_edge(const PoseGraphEdge& edge);

  // Moves the poses to the best agreement. Cost: a sparse Cholesky factorisation per iteration.
  // Returns the largest displacement of a pose, m (rotation counted as 1 m/rad).
  double optimize(int max_iterations = 10);

  [[nodiscard]] const std::vector<Pose2>& poses() const { return poses_; }
  [[nodiscard]] const std::vector<PoseGraphEdge>& edges() const { return edges_; }

  // For each pose the length of the shortest way to it along edges, m, where at most `limit`;
  // infinity elsewhere.
  [[nodiscard]] std::vector<double> travel_from(std::size_t start, double limit) const;

 private:
  std::vector<Pose2> poses_;
  std::vector<PoseGraphEdge> edges_;
  std::vector<std::vector<std::size_t>> edges_of_;  // per pose
};

}  // namespace patrol
