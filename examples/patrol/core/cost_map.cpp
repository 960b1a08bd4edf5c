#include "cost_map.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <queue>

namespace patrol {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kOccupiedPercent = 60;
constexpr int kFreePercent = 40;
// A robot this close to an obstacle may still drive away from it.
constexpr double kEscapeReach = 0.5;  // m
constexpr double kEscapeWeight = 20.0;
constexpr double kDiscomfort = 4.0;

}  // namespace

CostMap::CostMap(const GridMap& map, double cell_m, double robot_radius_m, double comfort_m)
    : robot_radius_m_(robot_radius_m), comfort_m_(std::max(comfort_m, robot_radius_m)) {
  const int factor = std::max(1, static_cast<int>(std::lround(cell_m / map.resolution_m)));
  cell_m_ = factor * map.resolution_m;
  origin_ = map.origin;
  width_ = (map.width + factor - 1) / factor;
  height_ = (map.height + factor - 1) / factor;
  state_.assign(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_),
                State::kUnknown);
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < map.width; ++x) {
      State& state =
          state_[static_cast<std::size_t>(y / factor) * static_cast<std::size_t>(width_) +
                 static_cast<std::size_t>(x / factor)];
      const int percent = map.percent(x, y);
      if (percent >= kOccupiedPercent) {
        state = State::kOccupied;
      } else if (percent >= 0 && percent <= kFreePercent && state == State::kUnknown) {
        state = State::kFree;
      }
    }
  }
  measure_clearance();
}

// Chamfer distances by two sweeps, at most 6 % above the true distances.
void CostMap::measure_clearance() {
  const double straight = cell_m_, diagonal = cell_m_ * std::numbers::sqrt2;
  clearance_.assign(state_.size(), kInfinity);
  auto at = [&](int x, int y) -> double {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return kInfinity;
    return clearance_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                      static_cast<std::size_t>(x)];
  };
  auto visit = [&](int x, int y, int back) {
    const std::size_t i = static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                          static_cast<std::size_t>(x);
    if (state_[i] == State::kOccupied) {
      clearance_[i] = 0.0;
      return;
    }
    clearance_[i] =
        std::min({clearance_[i], at(x - back, y) + straight, at(x, y - back) + straight,
                  at(x - back, y - back) + diagonal, at(x + back, y - back) + diagonal});
  };
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) visit(x, y, 1);
  }
  for (int y = height_ - 1; y >= 0; --y) {
    for (int x = width_ - 1; x >= 0; --x) visit(x, y, -1);
  }
}

std::size_t CostMap::index_of(Point2 p) const {
  const double x = std::floor((p.x - origin_.x) / cell_m_);
  const double y = std::floor((p.y - origin_.y) / cell_m_);
  if (!(x >= 0.0 && y >= 0.0 && x < width_ && y < height_)) return kNone;
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
         static_cast<std::size_t>(x);
}

Point2 CostMap::center(std::size_t cell) const {
  const auto w = static_cast<std::size_t>(width_);
  return {origin_.x + (static_cast<double>(cell % w) + 0.5) * cell_m_,
          origin_.y + (static_cast<double>(cell / w) + 0.5) * cell_m_};
}

bool CostMap::frontier(std::size_t cell) const {
  if (!passable(cell)) return false;
  bool open = false;
  for_neighbors(cell, [&](std::size_t n, bool diagonal) { open |= !diagonal && unknown(n); });
  return open;
}

// The cost per metre of entering a cell, or infinity where the robot may not go.
double CostMap::weight(std::size_t cell, Point2 start) const {
  if (passable(cell)) {
    const double tight = std::max(0.0, 1.0 - (clearance_[cell] - robot_radius_m_) /
                                                 std::max(comfort_m_ - robot_radius_m_, 1e-6));
    return 1.0 + kDiscomfort * tight * tight;
  }
  if (state_[cell] == State::kFree && distance(center(cell), start) < kEscapeReach) {
    return kEscapeWeight;
  }
  return kInfinity;
}

CostMap::Flood CostMap::flood(std::size_t start, std::size_t goal) const {
  Flood out{std::vector<double>(size(), kInfinity), std::vector<std::size_t>(size(), kNone)};
  const Point2 from = center(start);
  const Point2 to = goal == kNone ? Point2{} : center(goal);
  auto left = [&](std::size_t cell) { return goal == kNone ? 0.0 : distance(center(cell), to); };
  using Item = std::pair<double, std::size_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
  std::vector<bool> done(size(), false);
  out.cost[start] = 0.0;
  queue.emplace(left(start), start);
  while (!queue.empty()) {
    const std::size_t cell = queue.top().second;
    queue.pop();
    if (done[cell]) continue;
    done[cell] = true;
    if (cell == goal) break;
    for_neighbors(cell, [&](std::size_t next, bool diagonal) {
      if (done[next]) return;
      const double length = diagonal ? cell_m_ * std::numbers::sqrt2 : cell_m_;
      const double cost = out.cost[cell] + length * weight(next, from);
      if (cost < out.cost[next]) {
        out.cost[next] = cost;
        out.parent[next] = cell;
        queue.emplace(cost + left(next), next);
      }
    });
  }
  return out;
}

std::vector<Point2> CostMap::path(Point2 from, Point2 to) const {
  const std::size_t start = index_of(from), goal = index_of(to);
  if (start == kNone || goal == kNone) return {};
  const Flood f = flood(start, goal);
  if (!std::isfinite(f.cost[goal])) return {};
  std::vector<Point2> out;
  for (std::size_t cell = goal; cell != kNone; cell = f.parent[cell]) out.push_back(center(cell));
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<double> CostMap::costs_from(Point2 from) const {
  const std::size_t start = index_of(from);
  if (start == kNone) return std::vector<double>(size(), kInfinity);
  return flood(start, kNone).cost;
}

}  // namespace patrol
