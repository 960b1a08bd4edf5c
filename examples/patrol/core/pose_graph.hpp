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
  Eigen::Matrix3d information;  // of `measured`, in the frame of `to` (m, m, rad)
  bool loop = false;            // may be wrong, so a robust kernel bounds its pull
};

// Poses with relative measurements between them, and their least-squares adjustment (sparse
// Gauss-Newton, after Grisetti et al., ITSM 2010, with loop edges under a Cauchy kernel). Pose 0 is
// fixed. Not thread-safe.
class PoseGraph {
 public:
  std::size_t add_pose(const Pose2& pose);  // the index of the new pose
  void add_edge(const PoseGraphEdge& edge);

  // Moves the poses to the best agreement. Returns the largest displacement of a pose, m (rotation
  // counts as 1 m/rad). Cost: a sparse Cholesky factorisation per iteration.
  double optimize(int max_iterations = 10);

  [[nodiscard]] const std::vector<Pose2>& poses() const { return poses_; }
  [[nodiscard]] const std::vector<PoseGraphEdge>& edges() const { return edges_; }

  // For each pose the length of its shortest path along edges, m. Infinity for lengths above
  // `limit`.
  [[nodiscard]] std::vector<double> travel_from(std::size_t start, double limit) const;

 private:
  std::vector<Pose2> poses_;
  std::vector<PoseGraphEdge> edges_;
  std::vector<std::vector<std::size_t>> edges_of_;  // per pose
};

}  // namespace patrol
