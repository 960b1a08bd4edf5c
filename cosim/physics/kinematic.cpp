#include "cosim/physics/kinematic.hpp"

#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <utility>

namespace hyphos::cosim {
namespace {

constexpr double kMostSpeed = 1e4;  // m/s or rad/s: keeps all numbers of a run in range

/// A steered robot in a saved state.
struct Told {
  NodeId robot = 0;
  std::uint32_t unused = 0;
  Steered steered{};
};

double heading(const Vec3& ahead) {
  return ahead.x == 0 && ahead.y == 0 ? 0 : std::atan2(ahead.y, ahead.x);
}

Level along(const ConstantVelocity& path, double t) {
  return {path.start + path.velocity * t, path.velocity, heading(path.velocity)};
}

Level along(const Circle& path, double t) {
  const double angle = path.phase + path.angular_speed * t;
  const Vec3 outwards{std::cos(angle), std::sin(angle), 0};
  const Vec3 forwards{-outwards.y, outwards.x, 0};
  const Vec3 velocity = forwards * (path.radius * path.angular_speed);
  return {path.centre + outwards * path.radius, velocity, heading(velocity), path.angular_speed};
}

/// The leg on which a robot is, and the metres that it has done of it. Null: it stands at an end.
struct OnLeg {
  const Course::Leg* leg = nullptr;
  double metres = 0;
};
OnLeg find_leg(const Waypoints& path, const Course& course, double t) {
  double way = path.speed * t;
  if (path.loop && way >= course.total) way = std::fmod(way, course.total);
  if (way >= course.total) return {};
  for (const Course::Leg& leg : course.legs) {
    if (way < leg.size) return {&leg, way};
    way -= leg.size;
  }
  return {};
}

Vec3 place_on(const OnLeg& on) { return on.leg->from + on.leg->way * (on.metres / on.leg->size); }

Level along(const Waypoints& path, const Course& course, double t) {
  const std::size_t count = path.points.size();
  if (count == 0) return {};
  if (course.total == 0 || path.speed <= 0) return {path.points.front(), {}};
  if (const OnLeg on = find_leg(path, course, t); on.leg != nullptr) {
    return {place_on(on), on.leg->velocity, on.leg->yaw};
  }
  if (path.loop) return {path.points.front(), {}};
  return {path.points.back(), {}, heading(path.points.back() - path.points[count - 2])};
}

Level along(const Waypoints& path, double t) { return along(path, Course(path), t); }

double seconds_of(Time t) { return t.ns < 0 ? 0 : static_cast<double>(t.ns) * 1e-9; }

Level level_at(const Path& path, Time t) {
  const double seconds = seconds_of(t);
  return std::visit([&](const auto& kind) { return along(kind, seconds); }, path);
}

Level level_at(const Steered& steered, Time t) {
  const double seconds = static_cast<double>((t - steered.since).ns) * 1e-9;
  const Motion& motion = steered.motion;
  const auto level_turn = [](const Vec3& v, double angle) {
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    return Vec3{c * v.x - s * v.y, s * v.x + c * v.y, v.z};
  };
  // The chord of an arc points to the middle of its angle. Its length is sin(half) / half of the
  // arc.
  const double half = motion.turn * seconds / 2;
  const double chord = half == 0 ? 1 : std::sin(half) / half;
  Vec3 way = level_turn(motion.velocity, steered.from.yaw + half) * (seconds * chord);
  way.z = motion.velocity.z * seconds;
  const double yaw = steered.from.yaw + 2 * half;
  return {steered.from.position + way, level_turn(motion.velocity, yaw),
          std::remainder(yaw, 2 * std::numbers::pi), motion.turn};
}

Pose pose_of(const Level& level) {
  return {level.position, level.velocity, about_z(level.yaw), {0, 0, level.turn}};
}

}  // namespace

Course::Course(const Waypoints& path) {
  const std::size_t count = path.points.size();
  const std::size_t most = path.loop || count == 0 ? count : count - 1;
  for (std::size_t i = 0; i < most; ++i) {
    const Vec3 way = path.points[(i + 1) % count] - path.points[i];
    const double size = length(way);
    const double yaw = heading(way);
    legs.push_back({path.points[i], way, size, way * (path.speed / size), yaw, about_z(yaw)});
    total += size;
  }
}

Pose pose_at(const Path& path, Time t) { return pose_of(level_at(path, t)); }

Kinematic::Kinematic(std::vector<Path> paths) : paths_(std::move(paths)) {
  for (const Path& path : paths_) {
    const auto* points = std::get_if<Waypoints>(&path);
    courses_.push_back(points == nullptr ? std::nullopt : std::optional<Course>(*points));
  }
}

Result<std::string> Kinematic::steer(NodeId robot, const Motion& motion) {
  if (robot >= poses_.size()) {
    return Error{Code::not_found, "there is no robot " + std::to_string(robot), "kinematic"};
  }
  for (const double value :
       {motion.velocity.x, motion.velocity.y, motion.velocity.z, motion.turn}) {
    if (std::isfinite(value) && std::abs(value) <= kMostSpeed) continue;
    return Error{Code::out_of_range,
                 "robot " + std::to_string(robot) + " received a motion of " +
                     std::to_string(value) + " m/s or rad/s: the limit is " +
                     std::to_string(kMostSpeed),
                 "kinematic"};
  }
  const Level from = level(robot);
  steered_[robot] = {now_, from, motion};
  poses_[robot] = pose_of(level(robot));
  return std::string();
}

Result<void> Kinematic::init(std::uint32_t nodes, std::uint64_t /*seed*/) {
  if (nodes != paths_.size()) {
    return Error{Code::invalid_config,
                 std::to_string(paths_.size()) + " paths for " + std::to_string(nodes) +
                     " robots: the run needs one path per robot",
                 "kinematic"};
  }
  now_ = {};
  steered_.clear();
  place();
  return success();
}

Result<void> Kinematic::advance(Time end) {
  if (end < now_) {
    return Error{Code::out_of_range,
                 "asked to go to " + std::to_string(end.ns) + " ns, but physics is already at " +
                     std::to_string(now_.ns) + " ns",
                 "kinematic"};
  }
  now_ = end;
  place();
  return success();
}

void Kinematic::place() {
  poses_.resize(paths_.size());
  for (NodeId i = 0; i < paths_.size(); ++i) poses_[i] = pose(i);
}

/// The pose of level(), without the sine and cosine of a heading that does not change on a leg.
Pose Kinematic::pose(NodeId robot) const {
  const auto* points = std::get_if<Waypoints>(&paths_[robot]);
  if (points != nullptr && (steered_.empty() || !steered_.contains(robot))) {
    const OnLeg on = find_leg(*points, *courses_[robot], seconds_of(now_));
    if (on.leg != nullptr && points->speed > 0) {
      return {place_on(on), on.leg->velocity, on.leg->orientation, {}};
    }
  }
  return pose_of(level(robot));
}

Level Kinematic::level(NodeId robot) const {
  const auto told = steered_.find(robot);
  return told == steered_.end() ? level_at(paths_[robot], now_) : level_at(told->second, now_);
}

Result<std::vector<std::byte>> Kinematic::save() const {
  std::vector<std::byte> state(sizeof now_ + steered_.size() * sizeof(Told));
  std::memcpy(state.data(), &now_, sizeof now_);
  std::byte* to = state.data() + sizeof now_;
  for (const auto& [robot, steered] : steered_) {
    const Told told{robot, 0, steered};
    std::memcpy(to, &told, sizeof told);
    to += sizeof told;
  }
  return state;
}

Result<void> Kinematic::restore(std::span<const std::byte> state) {
  std::map<NodeId, Steered> steered;
  bool right = state.size() >= sizeof now_ && (state.size() - sizeof now_) % sizeof(Told) == 0;
  for (std::size_t at = sizeof now_; right && at < state.size(); at += sizeof(Told)) {
    Told told;
    std::memcpy(&told, state.data() + at, sizeof told);
    right = told.robot < paths_.size() && steered.emplace(told.robot, told.steered).second;
  }
  if (!right)
    return Error{Code::corrupt, "the saved state is not a state of these robots", "kinematic"};
  std::memcpy(&now_, state.data(), sizeof now_);
  steered_ = std::move(steered);
  place();
  return success();
}

}  // namespace hyphos::cosim
