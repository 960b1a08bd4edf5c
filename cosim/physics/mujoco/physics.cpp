#include "cosim/physics/mujoco/physics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "cosim/physics/mujoco/model.hpp"

namespace hyphos::cosim {
namespace {

// Bounds the memory of models: robots may meet in many different numbers.
constexpr std::size_t kMostWorlds = 64;

Error bad(Code code, std::string what) { return {code, std::move(what), "mujoco"}; }

template <typename T>
std::span<std::byte> bytes_of(T* values, std::size_t count) {
  return std::as_writable_bytes(std::span(values, count));
}

RobotState state_at_start(const MujocoRobot& robot) {
  RobotState state;
  const double z = robot.kind == RobotKind::ugv ? Ugv::kWheelRadius : robot.start.z;
  const std::array<double, 7> joint{
      robot.start.x, robot.start.y, z, std::cos(robot.yaw / 2), 0, 0, std::sin(robot.yaw / 2)};
  std::ranges::copy(joint, state.position.begin());
  return state;
}

}  // namespace

Result<void> MujocoPhysics::init(std::uint32_t nodes, std::uint64_t) {
  if (nodes != options_.robots.size()) {
    return bad(Code::invalid_config, std::to_string(options_.robots.size()) + " robots for " +
                                         std::to_string(nodes) + " nodes");
  }
  worlds_.clear();
  // Reports errors of the world at init().
  if (auto made = world_for({1, 0}); !made) return made.error();
  robots_.clear();
  std::vector<double> reach;
  for (const MujocoRobot& robot : options_.robots) {
    robots_.push_back(state_at_start(robot));
    reach.push_back(robot.kind == RobotKind::ugv ? Ugv::kReach : Uav::kReach);
  }
  touching_ = Touching(std::move(reach));
  controls_.assign(nodes, {});
  next_.assign(nodes, 0);
  courses_.assign(nodes, {});
  steps_ = 0;
  now_ = {};
  places_.resize(nodes);
  poses_.resize(nodes);
  read_poses();
  return success();
}

BodyState MujocoPhysics::body_of(std::size_t robot) const {
  const auto& p = robots_[robot].position;
  const auto& v = robots_[robot].velocity;
  BodyState state{{p[0], p[1], p[2]}, {v[0], v[1], v[2]}, {}, {v[3], v[4], v[5]}};
  mju_quat2Mat(state.rotation.data(), p.data() + 3);
  return state;
}

void MujocoPhysics::control() {
  for (std::size_t i = 0; i < options_.robots.size(); ++i) {
    const MujocoRobot& robot = options_.robots[i];
    const bool ugv = robot.kind == RobotKind::ugv;
    const BodyState state = body_of(i);
    Course& course = courses_[i];
    follow(course, state, steps_ * options_.step.ns);
    if (course.steered != 0) {
      const double seconds = options_.step.seconds();
      controls_[i] = ugv ? drive(course, state, seconds) : fly(course, state, seconds);
    } else {
      const Vec3 goal = target(robot, state, next_[i]);
      controls_[i] = ugv ? drive(robot, state, goal) : fly(robot, state, goal);
    }
  }
}

Result<std::string> MujocoPhysics::steer(NodeId robot, const Motion& motion) {
  if (robot >= courses_.size()) {
    return bad(Code::not_found, "there is no robot " + std::to_string(robot));
  }
  const Vec3& v = motion.velocity;
  for (const double value : {v.x, v.y, v.z, motion.turn}) {
    if (std::isfinite(value)) continue;
    return bad(Code::out_of_range, "robot " + std::to_string(robot) + " received a motion of " +
                                       std::to_string(value) + " m/s or rad/s");
  }
  std::string left_out;
  courses_[robot].told = possible(options_.robots[robot].kind, motion, left_out);
  courses_[robot].told_ns = now_.ns;
  return left_out;
}

void MujocoPhysics::read_poses() {
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    const auto& p = robots_[i].position;
    const auto& v = robots_[i].velocity;
    poses_[i] = {
        {p[0], p[1], p[2]}, {v[0], v[1], v[2]}, {p[4], p[5], p[6], p[3]}, {v[3], v[4], v[5]}};
  }
}

Result<World*> MujocoPhysics::world_for(RobotCounts counts) {
  const auto found = worlds_.find(counts);
  if (found != worlds_.end()) return found->second.get();
  auto made = World::make(options_, counts);
  if (!made) return made.error();
  if (worlds_.size() == kMostWorlds) worlds_.clear();
  return worlds_.emplace(counts, std::move(*made)).first->second.get();
}

Result<void> MujocoPhysics::step_group(std::span<const std::uint32_t> robots) {
  group_.clear();
  group_controls_.clear();
  RobotCounts counts{0, 0};
  for (const RobotKind kind : {RobotKind::ugv, RobotKind::uav}) {
    for (const std::uint32_t robot : robots) {
      if (options_.robots[robot].kind != kind) continue;
      group_.push_back(&robots_[robot]);
      group_controls_.push_back(controls_[robot]);
      ++(kind == RobotKind::ugv ? counts.first : counts.second);
    }
  }
  auto world = world_for(counts);
  if (!world) return world.error();
  (*world)->step(group_, group_controls_);
  if (const auto complaint = (*world)->complaint()) {
    return bad(Code::io, "at " + std::to_string(steps_ * options_.step.ns) + " ns: " + *complaint);
  }
  return success();
}

Result<void> MujocoPhysics::step() {
  control();
  // The forces of a step are those at its start.
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto& p = robots_[i].position;
    places_[i] = {p[0], p[1], p[2]};
  }
  touching_.find(places_);
  for (std::size_t i = 0; i < touching_.groups(); ++i) {
    if (auto stepped = step_group(touching_.group(i)); !stepped) return stepped;
  }
  return success();
}

Result<void> MujocoPhysics::advance(Time end) {
  if (end < now_) {
    return bad(Code::out_of_range, "asked to end at " + std::to_string(end.ns) +
                                       " ns, but MuJoCo is already at " + std::to_string(now_.ns) +
                                       " ns");
  }
  now_ = end;
  for (const std::int64_t last = end.ns / options_.step.ns; steps_ < last; ++steps_) {
    if (auto stepped = step(); !stepped) return stepped;
  }
  read_poses();
  return success();
}

/// Everything that the next step depends on, as one list for saving and restoring.
std::vector<std::span<std::byte>> MujocoPhysics::state() {
  return {bytes_of(&steps_, 1), bytes_of(next_.data(), next_.size()),
          bytes_of(courses_.data(), courses_.size()), bytes_of(robots_.data(), robots_.size())};
}

Result<std::vector<std::byte>> MujocoPhysics::save() const {
  std::vector<std::byte> saved;
  for (const auto part : const_cast<MujocoPhysics*>(this)->state()) {
    saved.insert(saved.end(), part.begin(), part.end());
  }
  return saved;
}

Result<void> MujocoPhysics::restore(std::span<const std::byte> saved) {
  std::size_t size = 0;
  for (const auto part : state()) size += part.size();
  if (saved.size() != size)
    return bad(Code::corrupt, "the saved state is not a state of these robots");
  for (const auto part : state()) {
    std::ranges::copy(saved.first(part.size()), part.begin());
    saved = saved.subspan(part.size());
  }
  now_ = {steps_ * options_.step.ns};
  read_poses();
  return success();
}

}  // namespace hyphos::cosim
