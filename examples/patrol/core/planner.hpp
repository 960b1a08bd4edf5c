#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cost_map.hpp"
#include "grid_map.hpp"
#include "pose.hpp"

namespace patrol {

struct PlannerConfig {
  double cell_m = 0.1;           // plans on cells of this size
  double robot_radius_m = 0.27;  // with some margin
  double comfort_m = 0.55;       // preferred distance from walls
  double max_speed = 0.6;        // m/s
  double max_turn_rate = 1.2;    // rad/s
  double lookahead_m = 0.45;     // of the pure pursuit
  double goal_tolerance_m = 0.25;
  double replan_every_s = 1.0;
  double frontier_min_m = 0.5;  // shorter frontiers are ignored
  double stuck_after_s = 3.0;   // without moving 5 cm although commanded to move
};

enum class PlannerState { kWaiting, kExploring, kPatrolling, kRecovering };

[[nodiscard]] std::string_view to_string(PlannerState state);

// The commanded motion of the robot.
struct Drive {
  double speed = 0.0;      // m/s
  double turn_rate = 0.0;  // rad/s
};

// Drives a robot around by its own map. The robot goes to the nearest frontier while there is one
// (frontier exploration after Yamauchi, CIRA 1997). After that it patrols for ever: it visits the
// place with the longest time since its last visit. Paths by A*, then pure pursuit. A stuck robot
// backs off and chooses another goal. Deterministic. Not thread-safe. Cost: a few ms for set_map()
// and for a new plan of a building, microseconds for other update()s.
class Planner {
 public:
  explicit Planner(PlannerConfig config = {});

  // Copies the map. The planner uses it from now on.
  void set_map(const GridMap& map);

  // pose: of the robot in the map, finite. now_s: any clock. If the clock goes back, a new patrol
  // begins. Call at 10 Hz or more.
  Drive update(const Pose2& pose, double now_s);

  // Replaces the present goal by this one. Returns false if no path leads there.
  bool go_to(Point2 goal, const Pose2& pose);

  [[nodiscard]] PlannerState state() const { return state_; }
  [[nodiscard]] std::optional<Point2> goal() const { return goal_; }
  [[nodiscard]] const std::vector<Point2>& path() const { return path_; }
  /// Takes effect at the next update().
  void set_limits(double max_speed, double max_turn_rate) {
    config_.max_speed = max_speed;
    config_.max_turn_rate = max_turn_rate;
  }
  [[nodiscard]] std::uint64_t goals_reached() const { return goals_reached_; }
  [[nodiscard]] std::uint64_t recoveries() const { return recoveries_; }

 private:
  using Block = std::pair<int, int>;  // a square metre

  static Block block_of(Point2 p);
  void note_visit(Point2 place, double now_s);
  bool stuck(const Pose2& pose, double now_s);
  void start_recovery(double now_s);
  Drive recover(double now_s);
  void drop_goal(bool unwanted);
  bool path_blocked() const;
  void choose_goal(const Pose2& pose, double now_s);
  std::optional<Point2> nearest_frontier(const std::vector<double>& costs) const;
  std::optional<Point2> longest_unvisited(const std::vector<double>& costs, const Pose2& pose,
                                          double now_s) const;
  bool given_up(Point2 p) const;
  Drive follow(const Pose2& pose);

  PlannerConfig config_;
  std::optional<CostMap> map_;
  PlannerState state_ = PlannerState::kWaiting;
  std::optional<Point2> goal_;
  std::vector<Point2> path_;
  std::size_t progress_ = 0;  // the index of the path point that the robot has reached
  bool check_path_ = false;   // the map has changed since the last check
  double last_s_ = 0.0;       // of the last update()
  double next_plan_s_ = 0.0;
  std::vector<Point2> given_up_;     // unreachable goals, oldest first
  std::map<Block, double> visited_;  // the time of the last visit, s

  Drive last_drive_;
  Pose2 moved_from_;
  std::optional<double> still_since_s_;
  double recovery_began_s_ = 0.0;
  bool recover_left_ = false;
  std::uint64_t goals_reached_ = 0;
  std::uint64_t recoveries_ = 0;
};

}  // namespace patrol
