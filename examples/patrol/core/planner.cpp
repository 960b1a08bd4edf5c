#include "planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace patrol {
namespace {

constexpr std::size_t kGivenUpKept = 32;
constexpr double kGivenUpRadius = 0.6;  // m
constexpr double kBackOff = 0.8;        // s
constexpr double kTurnAway = 1.2;       // s
constexpr double kWorthAnother = 4.0;   // m of path that one minute without a visit is worth

}  // namespace

std::string_view to_string(PlannerState state) {
  switch (state) {
    case PlannerState::kWaiting:
      return "waiting";
    case PlannerState::kExploring:
      return "exploring";
    case PlannerState::kPatrolling:
      return "patrolling";
    case PlannerState::kRecovering:
      return "recovering";
  }
  return "";
}

Planner::Planner(PlannerConfig config) : config_(config) {}

void Planner::set_map(const GridMap& map) {
  map_.emplace(map, config_.cell_m, config_.robot_radius_m, config_.comfort_m);
  check_path_ = true;
}

Drive Planner::update(const Pose2& pose, double now_s) {
  if (!map_) return {};
  if (now_s < last_s_) {  // the clock went back, so the stored deadline would never come
    next_plan_s_ = recovery_began_s_ = now_s;
    still_since_s_.reset();
    visited_.clear();
  }
  last_s_ = now_s;
  note_visit(pose.position(), now_s);
  if (state_ == PlannerState::kRecovering) {
    last_drive_ = recover(now_s);
    return last_drive_;
  }
  if (stuck(pose, now_s)) {
    start_recovery(now_s);
    last_drive_ = recover(now_s);
    return last_drive_;
  }
  if (goal_ && distance(*goal_, pose.position()) < config_.goal_tolerance_m) {
    ++goals_reached_;
    note_visit(*goal_, now_s);  // arrival is a visit, though the robot stops short of the place
    // A frontier that remains after the arrival would attract the robot for ever.
    drop_goal(state_ == PlannerState::kExploring);
  }
  if (goal_ && check_path_ && path_blocked()) drop_goal(false);
  check_path_ = false;
  if (!goal_ && now_s >= next_plan_s_) {
    choose_goal(pose, now_s);
    next_plan_s_ = goal_ ? now_s : now_s + config_.replan_every_s;
  }
  last_drive_ = goal_ ? follow(pose) : Drive{};
  return last_drive_;
}

bool Planner::go_to(Point2 goal, const Pose2& pose) {
  if (!map_) return false;
  std::vector<Point2> path = map_->path(pose.position(), goal);
  if (path.empty()) return false;
  goal_ = goal;
  path_ = std::move(path);
  progress_ = 0;
  return true;
}

// Places outside the map are not patrolled, and would use unbounded memory.
void Planner::note_visit(Point2 place, double now_s) {
  if (map_->index_of(place) != CostMap::kNone) visited_[block_of(place)] = now_s;
}

Planner::Block Planner::block_of(Point2 p) {
  return {static_cast<int>(std::floor(p.x)), static_cast<int>(std::floor(p.y))};
}

bool Planner::stuck(const Pose2& pose, double now_s) {
  const bool told = std::abs(last_drive_.speed) > 0.05 || std::abs(last_drive_.turn_rate) > 0.1;
  if (!told || !still_since_s_ || distance(pose, moved_from_) > 0.05 ||
      std::abs(wrap_angle(pose.theta - moved_from_.theta)) > 0.1) {
    moved_from_ = pose;
    still_since_s_ = now_s;
  }
  return now_s - *still_since_s_ > config_.stuck_after_s;
}

void Planner::start_recovery(double now_s) {
  ++recoveries_;
  drop_goal(true);
  state_ = PlannerState::kRecovering;
  recovery_began_s_ = now_s;
  recover_left_ = !recover_left_;
  still_since_s_.reset();
}

Drive Planner::recover(double now_s) {
  const double since = now_s - recovery_began_s_;
  if (since < kBackOff) return {-0.25 * config_.max_speed, 0.0};
  if (since < kBackOff + kTurnAway) {
    return {0.0, (recover_left_ ? 0.7 : -0.7) * config_.max_turn_rate};
  }
  state_ = PlannerState::kWaiting;
  return {};
}

void Planner::drop_goal(bool unwanted) {
  if (goal_ && unwanted) {
    if (given_up_.size() == kGivenUpKept) given_up_.erase(given_up_.begin());
    given_up_.push_back(*goal_);
  }
  goal_.reset();
  path_.clear();
}

bool Planner::given_up(Point2 p) const {
  return std::any_of(given_up_.begin(), given_up_.end(),
                     [&](Point2 q) { return distance(p, q) < kGivenUpRadius; });
}

// Also true if no unknown cell is left around an exploration goal.
bool Planner::path_blocked() const {
  for (std::size_t i = progress_; i < path_.size(); ++i) {
    const std::size_t cell = map_->index_of(path_[i]);
    if (cell == CostMap::kNone) return true;
    // The path may have begun too close to a wall. A wall that moves by one cell does not block it.
    if (map_->clearance(cell) < 0.7 * config_.robot_radius_m && i > progress_ + 5) return true;
  }
  if (state_ != PlannerState::kExploring) return false;
  const std::size_t at = map_->index_of(*goal_);
  if (at == CostMap::kNone) return true;
  bool open = map_->frontier(at);
  map_->for_neighbors(at, [&](std::size_t n, bool) { open |= map_->frontier(n); });
  return !open;
}

void Planner::choose_goal(const Pose2& pose, double now_s) {
  const std::vector<double> costs = map_->costs_from(pose.position());
  state_ = PlannerState::kExploring;
  std::optional<Point2> goal = nearest_frontier(costs);
  if (!goal) {
    state_ = PlannerState::kPatrolling;
    goal = longest_unvisited(costs, pose, now_s);
  }
  if (!goal || !go_to(*goal, pose)) {
    state_ = PlannerState::kWaiting;
    given_up_.clear();  // a goal that failed may be reachable now
  }
}

// The cheapest cell of any frontier that is long enough.
std::optional<Point2> Planner::nearest_frontier(const std::vector<double>& costs) const {
  const auto least = static_cast<std::size_t>(config_.frontier_min_m / map_->cell());
  std::vector<bool> seen(map_->size(), false);
  std::optional<Point2> best;
  double best_cost = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> edge;
  for (std::size_t first = 0; first < map_->size(); ++first) {
    if (seen[first] || !std::isfinite(costs[first]) || !map_->frontier(first)) continue;
    edge.assign(1, first);
    seen[first] = true;
    for (std::size_t i = 0; i < edge.size(); ++i) {
      map_->for_neighbors(edge[i], [&](std::size_t n, bool) {
        if (seen[n] || !map_->frontier(n)) return;
        seen[n] = true;
        edge.push_back(n);
      });
    }
    if (edge.size() < std::max<std::size_t>(least, 1)) continue;
    for (const std::size_t cell : edge) {
      if (costs[cell] < best_cost && !given_up(map_->center(cell))) {
        best_cost = costs[cell];
        best = map_->center(cell);
      }
    }
  }
  return best;
}

std::optional<Point2> Planner::longest_unvisited(const std::vector<double>& costs,
                                                 const Pose2& pose, double now_s) const {
  // The cell with the most clearance represents its reachable square metre.
  std::map<Block, std::size_t> rooms;
  for (std::size_t cell = 0; cell < map_->size(); ++cell) {
    if (!std::isfinite(costs[cell]) || !map_->passable(cell)) continue;
    const Point2 p = map_->center(cell);
    const Block block = block_of(p);
    const auto [it, fresh] = rooms.emplace(block, cell);
    if (!fresh && map_->clearance(cell) > map_->clearance(it->second)) it->second = cell;
  }
  std::optional<Point2> best;
  double best_worth = -std::numeric_limits<double>::infinity();
  for (const auto& [block, cell] : rooms) {
    const Point2 p = map_->center(cell);
    if (map_->clearance(cell) < config_.comfort_m * 0.7 || given_up(p)) continue;
    if (distance(p, pose.position()) < 2.0 * config_.goal_tolerance_m) continue;
    const auto visit = visited_.find(block);
    const double unvisited_s = visit == visited_.end() ? 600.0 : now_s - visit->second;
    const double worth = kWorthAnother * unvisited_s / 60.0 - costs[cell];
    if (worth > best_worth) best_worth = worth, best = p;
  }
  return best;
}

// Pure pursuit (Coulter, 1992), slower in bends and near walls.
Drive Planner::follow(const Pose2& pose) {
  // The nearest point of the next stretch. Not of the whole path, because a path may pass close to
  // itself.
  const double stretch = 1.5;  // m
  const auto ahead = static_cast<std::size_t>(stretch / map_->cell());
  std::size_t nearest = progress_;
  for (std::size_t i = progress_; i < std::min(path_.size(), progress_ + ahead); ++i) {
    if (distance(path_[i], pose.position()) < distance(path_[nearest], pose.position()))
      nearest = i;
  }
  progress_ = nearest;
  std::size_t target = nearest;
  while (target + 1 < path_.size() &&
         distance(path_[target], pose.position()) < config_.lookahead_m) {
    ++target;
  }
  const Point2 seen = transform(inverse(pose), path_[target]);
  const double bearing = std::atan2(seen.y, seen.x);
  const double reach = std::max(std::hypot(seen.x, seen.y), 0.1);
  if (std::abs(bearing) > 0.8) {
    const double turn = std::clamp(1.8 * bearing, -config_.max_turn_rate, config_.max_turn_rate);
    return {0.0, turn};
  }
  const std::size_t here = map_->index_of(pose.position());
  const double room = here == CostMap::kNone ? 0.0 : map_->clearance(here);
  const double open = std::clamp(room / config_.comfort_m, 0.4, 1.0);
  const double to_goal = distance(*goal_, pose.position());
  const double slow = std::clamp(to_goal / 0.6, 0.3, 1.0);
  const double speed = config_.max_speed * std::cos(bearing) * std::min(open, slow);
  const double turn = std::clamp(2.0 * speed * std::sin(bearing) / reach, -config_.max_turn_rate,
                                 config_.max_turn_rate);
  return {speed, turn};
}

}  // namespace patrol
