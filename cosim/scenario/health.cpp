#include "cosim/scenario/health.hpp"

#include <algorithm>
#include <cmath>

#include "cosim/core/terrain.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

constexpr Duration kApart = Duration::from_ms(100);
constexpr Duration kLeastTipped = Duration::from_ms(500);
constexpr Duration kLeastStuck = Duration::from_ms(5000);
constexpr double kTipped = 0.5;         // cosine of the tilt: 60 degrees
constexpr double kComesForward = 0.25;  // m in kLeastStuck
constexpr double kArrived = 0.6;        // m from the last point of a path
constexpr double kBelow = 1;            // m below the ground

}  // namespace

Health::Health(const Scenario& scenario) : scenario_(scenario), robots_(scenario.robots.size()) {
  for (std::size_t i = 0; i < robots_.size(); ++i) {
    for (std::size_t kind = 0; kind < kTroubles; ++kind) {
      robots_[i].troubles[kind].robot = static_cast<NodeId>(i);
      robots_[i].troubles[kind].kind = static_cast<TroubleKind>(kind);
    }
    const bool nodes = i < scenario.team.robots.size() && scenario.team.robots[i].has_value();
    steered_.push_back(nodes);
  }
}

void Health::see(Watched& robot, TroubleKind kind, bool there, Time now, Duration least) {
  const auto index = static_cast<std::size_t>(kind);
  Trouble& trouble = robot.troubles[index];
  if (!there) {
    robot.now[index] = false;
    trouble.at_end = false;
    return;
  }
  if (!std::exchange(robot.now[index], true)) robot.since[index] = now;
  const Duration lasted = now - robot.since[index];
  if (lasted < least) return;
  if (trouble.lasted.ns == 0 && trouble.count == 0) trouble.first = robot.since[index];
  if (!std::exchange(trouble.at_end, true)) {
    ++trouble.count;
    trouble.before = trouble.lasted;
  }
  trouble.lasted = trouble.before + lasted;
}

/// True if the robot follows a path and has not reached its end.
bool Health::on_its_way(std::size_t robot, const Pose& pose) const {
  if (steered_[robot]) return false;
  const Path& path = scenario_.paths[robot];
  if (const auto* circle = std::get_if<Circle>(&path)) return circle->angular_speed != 0;
  const auto* way = std::get_if<Waypoints>(&path);
  if (way == nullptr || way->speed == 0) return false;
  if (way->loop) return true;
  Vec3 left = way->points.back() - pose.position;
  if (scenario_.kinds[robot] == RobotKind::ugv) left.z = 0;
  return length(left) > kArrived;
}

bool Health::outside(const Vec3& place) const {
  const Terrain* const terrain = scenario_.scene.terrain();
  if (terrain == nullptr) return place.z < -kBelow;
  return !terrain->inside(place.x, place.y) || place.z < terrain->height(place.x, place.y) - kBelow;
}

void Health::look(Time now, std::span<const Pose> poses) {
  if (now < due_) return;
  due_ = now + kApart;
  seen_ = now;
  for (std::size_t i = 0; i < std::min(poses.size(), robots_.size()); ++i) {
    Watched& robot = robots_[i];
    const Pose& pose = poses[i];
    const Vec3 up = turned(pose.orientation, {0, 0, 1});
    see(robot, TroubleKind::tipped, up.z < kTipped, now, kLeastTipped);
    if (scenario_.physics == PhysicsKind::mujoco) {
      see(robot, TroubleKind::outside, outside(pose.position), now, Duration{0});
    }
    const bool moved = length(pose.position - robot.place) > kComesForward;
    if (moved || now.ns == 0) {
      robot.place = pose.position;
      robot.moved = now;
    }
    const bool stuck = now - robot.moved >= kLeastStuck && on_its_way(i, pose);
    if (stuck && !robot.now[static_cast<std::size_t>(TroubleKind::stuck)]) {
      see(robot, TroubleKind::stuck, true, robot.moved, Duration{0});
    }
    see(robot, TroubleKind::stuck, stuck, now, Duration{0});
  }
}

std::vector<Trouble> Health::troubles() const {
  std::vector<Trouble> all;
  for (const Watched& robot : robots_) {
    for (const Trouble& trouble : robot.troubles) {
      if (trouble.count > 0) all.push_back(trouble);
    }
  }
  return all;
}

}  // namespace hyphos::cosim
