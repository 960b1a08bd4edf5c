#include "pose_graph.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

namespace patrol {
namespace {

// The squared Mahalanobis length above which the Cauchy kernel reduces the weight of an edge.
constexpr double kLoopScale2 = 9.0;
// An adjustment that moves a pose farther than this from the origin, m, is invalid.
constexpr double kFarthest = 2e6;

struct EdgeTerms {
  Eigen::Vector3d error;
  Eigen::Matrix3d by_from;
  Eigen::Matrix3d by_to;
};

// The error of an edge, and its derivatives by world-frame changes (dx, dy, dtheta) of both poses.
EdgeTerms evaluate(const PoseGraphEdge& edge, const Pose2& from, const Pose2& to) {
  const Pose2 seen = between(from, to);
  const Pose2 error = between(edge.measured, seen);
  const double a = from.theta + edge.measured.theta;
  const double c = std::cos(a), s = std::sin(a);
  EdgeTerms out;
  out.error = {error.x, error.y, error.theta};
  // error.xy = R(-(theta_from + theta_measured)) (t_to - t_from) - const
  out.by_to << c, s, 0, -s, c, 0, 0, 0, 1;
  out.by_from << -c, -s, 0, s, -c, 0, 0, 0, -1;
  const double dx = to.x - from.x, dy = to.y - from.y;
  out.by_from(0, 2) = -s * dx + c * dy;
  out.by_from(1, 2) = -c * dx - s * dy;
  return out;
}

double robust_weight(const PoseGraphEdge& edge, const Eigen::Vector3d& error) {
  if (!edge.loop) return 1.0;
  return 1.0 / (1.0 + error.dot(edge.information * error) / kLoopScale2);
}

void add_block(std::vector<Eigen::Triplet<double>>& out, std::size_t row, std::size_t col,
               const Eigen::Matrix3d& block) {
  if (row == 0 || col == 0 || row < col) return;  // pose 0 is fixed, and the lower half suffices
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out.emplace_back(static_cast<int>(3 * (row - 1)) + i, static_cast<int>(3 * (col - 1)) + j,
                       block(i, j));
    }
  }
}

}  // namespace

std::size_t PoseGraph::add_pose(const Pose2& pose) {
  poses_.push_back(pose);
  edges_of_.emplace_back();
  return poses_.size() - 1;
}

void PoseGraph::add_edge(const PoseGraphEdge& edge) {
  assert(edge.from < poses_.size() && edge.to < poses_.size() && edge.from != edge.to);
  edges_of_[edge.from].push_back(edges_.size());
  edges_of_[edge.to].push_back(edges_.size());
  edges_.push_back(edge);
}

double PoseGraph::optimize(int max_iterations) {
  if (poses_.size() < 2) return 0.0;
  const std::vector<Pose2> before = poses_;
  const auto unknowns = static_cast<Eigen::Index>(3 * (poses_.size() - 1));
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver;
  std::vector<Eigen::Triplet<double>> triplets;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    triplets.clear();
    Eigen::VectorXd right = Eigen::VectorXd::Zero(unknowns);
    for (const PoseGraphEdge& edge : edges_) {
      const EdgeTerms t = evaluate(edge, poses_[edge.from], poses_[edge.to]);
      const Eigen::Matrix3d w = robust_weight(edge, t.error) * edge.information;
      add_block(triplets, edge.from, edge.from, t.by_from.transpose() * w * t.by_from);
      add_block(triplets, edge.to, edge.to, t.by_to.transpose() * w * t.by_to);
      add_block(triplets, edge.from, edge.to, t.by_from.transpose() * w * t.by_to);
      add_block(triplets, edge.to, edge.from, t.by_to.transpose() * w * t.by_from);
      const auto at = [](std::size_t i) { return static_cast<Eigen::Index>(3 * (i - 1)); };
      if (edge.from > 0) right.segment<3>(at(edge.from)) -= t.by_from.transpose() * w * t.error;
      if (edge.to > 0) right.segment<3>(at(edge.to)) -= t.by_to.transpose() * w * t.error;
    }
    // Keeps a pose without edges in its place.
    for (Eigen::Index i = 0; i < unknowns; ++i) {
      triplets.emplace_back(static_cast<int>(i), static_cast<int>(i), 1e-9);
    }
    Eigen::SparseMatrix<double> matrix(unknowns, unknowns);
    matrix.setFromTriplets(triplets.begin(), triplets.end());
    if (iteration == 0) solver.analyzePattern(matrix);
    solver.factorize(matrix);
    if (solver.info() != Eigen::Success) break;
    const Eigen::VectorXd step = solver.solve(right);
    if (!step.allFinite()) break;
    for (std::size_t i = 1; i < poses_.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(3 * (i - 1));
      poses_[i].x += step[at];
      poses_[i].y += step[at + 1];
      poses_[i].theta = wrap_angle(poses_[i].theta + step[at + 2]);
    }
    if (step.lpNorm<Eigen::Infinity>() < 1e-4) break;
  }
  // Contradictory edges can lead to an arbitrary step.
  if (!std::all_of(poses_.begin(), poses_.end(), [](const Pose2& p) {
        return std::abs(p.x) <= kFarthest && std::abs(p.y) <= kFarthest;
      })) {
    poses_ = before;
    return 0.0;
  }
  double moved = 0.0;
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    moved = std::max(moved, distance(before[i], poses_[i]) +
                                std::abs(wrap_angle(before[i].theta - poses_[i].theta)));
  }
  return moved;
}

std::vector<double> PoseGraph::travel_from(std::size_t start, double limit) const {
  std::vector<double> travel(poses_.size(), std::numeric_limits<double>::infinity());
  using Item = std::pair<double, std::size_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
  travel[start] = 0.0;
  queue.emplace(0.0, start);
  while (!queue.empty()) {
    const auto [length, pose] = queue.top();
    queue.pop();
    if (length > travel[pose]) continue;
    for (const std::size_t i : edges_of_[pose]) {
      const PoseGraphEdge& edge = edges_[i];
      const std::size_t other = edge.from == pose ? edge.to : edge.from;
      const double next = length + std::hypot(edge.measured.x, edge.measured.y);
      if (next <= limit && next < travel[other]) {
        travel[other] = next;
        queue.emplace(next, other);
      }
    }
  }
  return travel;
}

}  // namespace patrol
