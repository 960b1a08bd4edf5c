#include "cosim/physics/mujoco/physics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "cosim/physics/mujoco/model.hpp"
#include "cosim/world/terrain_file.hpp"

namespace hyphos::cosim {
namespace {

// Bounds the memory of models: robots may meet in many different numbers.
constexpr std::size_t kMostWorlds = 64;
constexpr double kFarthest = 1e7;  // m: the largest coordinate in a world
constexpr double kDeepest = 100;   // m below the lowest ground

Error bad(Code code, std::string what) { return {code, std::move(what), "mujoco"}; }

template <typename T>
std::span<std::byte> bytes_of(T* values, std::size_t count) {
  return std::as_writable_bytes(std::span(values, count));
}

}  // namespace

/// Loads everything that files describe: the terrain, and each model once.
Result<void> MujocoPhysics::load() {
  terrain_.reset();
  if (options_.terrain) {
    auto made = load_terrain(*options_.terrain);
    if (!made) return made.error();
    terrain_.emplace(std::move(*made));
  }
  models_.clear();
  kinds_.clear();
  drives_.clear();
  std::vector<RobotModel> loaded;
  for (const MujocoRobot& robot : options_.robots) {
    drives_.emplace_back();
    if (robot.model.file.empty()) {
      kinds_.push_back(robot.kind == RobotKind::ugv ? 0 : 1);
      continue;
    }
    const auto known = std::ranges::find(loaded, robot.model);
    const auto place = static_cast<std::size_t>(known - loaded.begin());
    if (known == loaded.end()) {
      auto model = UserModel::load(robot.model);
      if (!model) return model.error();
      models_.push_back(std::move(*model));
      loaded.push_back(robot.model);
    }
    auto drive = UserDrive::make(robot.model, models_[place]);
    if (!drive) return drive.error();
    drives_.back() = std::move(*drive);
    kinds_.push_back(kOwnKinds + place);
  }
  return success();
}

double MujocoPhysics::height_at(double x, double y) const {
  return terrain_ ? terrain_->height(x, y) : 0;
}

std::string MujocoPhysics::name_of(std::size_t robot) const {
  const std::string& name = options_.robots[robot].name;
  return name.empty() ? "robot " + std::to_string(robot) : "robot '" + name + "'";
}

RobotState MujocoPhysics::state_at_start(std::size_t index) const {
  const MujocoRobot& robot = options_.robots[index];
  const Layout layout = layout_of(kinds_[index], models_);
  const bool user = kinds_[index] >= kOwnKinds;
  RobotState state;
  state.position.assign(layout.positions, 0);
  if (user) state.position = models_[kinds_[index] - kOwnKinds].start;
  state.velocity.assign(layout.velocities, 0);
  state.warm_start.assign(layout.velocities, 0);
  state.activation.assign(layout.activations, 0);
  double z = robot.start.z;
  if (robot.kind == RobotKind::ugv) {
    const double radius = user ? models_[kinds_[index] - kOwnKinds].stand : Ugv::kWheelRadius;
    // On uneven ground, above the highest point below it.
    double ground = height_at(robot.start.x, robot.start.y);
    for (const double dx : {-0.45, 0.0, 0.45}) {
      for (const double dy : {-0.45, 0.0, 0.45}) {
        ground = std::max(ground, height_at(robot.start.x + dx, robot.start.y + dy));
      }
    }
    z = ground + radius;
  }
  const std::array<double, 7> joint{
      robot.start.x, robot.start.y, z, std::cos(robot.yaw / 2), 0, 0, std::sin(robot.yaw / 2)};
  std::ranges::copy(joint, state.position.begin());
  return state;
}

Result<void> MujocoPhysics::init(std::uint32_t nodes, std::uint64_t) {
  if (nodes != options_.robots.size()) {
    return bad(Code::invalid_config, std::to_string(options_.robots.size()) + " robots for " +
                                         std::to_string(nodes) + " nodes");
  }
  worlds_.clear();
  pictures_.reset();
  if (auto loaded = load(); !loaded) return loaded;
  // Reports errors of the world at init().
  counts_.assign(kOwnKinds + models_.size(), 0);
  counts_[0] = 1;
  if (auto made = world_for(counts_); !made) return made.error();
  robots_.clear();
  controls_.clear();
  reach_.clear();
  for (std::size_t i = 0; i < nodes; ++i) {
    robots_.push_back(state_at_start(i));
    controls_.emplace_back(layout_of(kinds_[i], models_).actuators, 0.0);
    reach_.push_back(kinds_[i] == 0   ? Ugv::kReach
                     : kinds_[i] == 1 ? Uav::kReach
                                      : models_[kinds_[i] - kOwnKinds].reach);
  }
  touching_ = Touching(reach_);
  next_.assign(nodes, 0);
  courses_.assign(nodes, {});
  before_.assign(nodes, {});
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
    const BodyState state = body_of(i);
    follow(courses_[i], state, steps_ * options_.step.ns);
    drive_robot(i, state);
  }
}

void MujocoPhysics::drive_robot(std::size_t i, const BodyState& state) {
  const MujocoRobot& robot = options_.robots[i];
  Course& course = courses_[i];
  std::vector<double>& controls = controls_[i];
  const bool user = kinds_[i] >= kOwnKinds;
  if (user && robot.model.drive == Drive::none) return;
  const bool steered = course.steered != 0;
  const double seconds = options_.step.seconds();
  const Vec3 goal = steered ? Vec3{} : target(robot, state, next_[i]);
  const bool flies = user ? robot.model.drive == Drive::rotors : robot.kind == RobotKind::uav;
  if (flies) {
    const Flight flight = steered ? fly(course, state, seconds) : fly(robot, state, goal);
    if (user) {
      drives_[i].fly(state, flight, models_[kinds_[i] - kOwnKinds], controls);
    } else {
      std::ranges::copy(rotors(state, flight), controls.begin());
    }
    return;
  }
  const auto wheels = steered ? drive(course, state, seconds) : drive(robot, state, goal);
  if (user) {
    drives_[i].roll(wheels, models_[kinds_[i] - kOwnKinds], controls);
  } else {
    std::ranges::copy(wheels, controls.begin());
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

Result<World*> MujocoPhysics::world_for(const RobotCounts& counts) {
  const auto found = worlds_.find(counts);
  if (found != worlds_.end()) return found->second.get();
  auto made = World::make({&options_, terrain_ ? &*terrain_ : nullptr}, models_, counts);
  if (!made) return made.error();
  if (worlds_.size() == kMostWorlds) worlds_.clear();
  return worlds_.emplace(counts, std::move(*made)).first->second.get();
}

/// Fills the group, in the order of kinds.
void MujocoPhysics::arrange(std::span<const std::uint32_t> robots) {
  group_.clear();
  group_robots_.clear();
  group_controls_.clear();
  std::ranges::fill(counts_, 0U);
  for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
    for (const std::uint32_t robot : robots) {
      if (kinds_[robot] != kind) continue;
      group_.push_back(&robots_[robot]);
      group_robots_.push_back(robot);
      group_controls_.push_back(&controls_[robot]);
      ++counts_[kind];
    }
  }
}

/// The world of some robots, which become the group.
Result<World*> MujocoPhysics::gather(std::span<const std::uint32_t> robots) {
  arrange(robots);
  return world_for(counts_);
}

Result<void> MujocoPhysics::step_group(std::span<const std::uint32_t> robots) {
  auto world = gather(robots);
  if (!world) return world.error();
  (*world)->step(group_, group_controls_);
  const auto complaint = (*world)->complaint();
  if (!complaint) return success();
  std::string whose;
  if (complaint->one && complaint->robot < group_robots_.size()) {
    whose = name_of(group_robots_[complaint->robot]) +
            " moves without bounds or has a value that "
            "is not a number: shorten the step (physics.rate_hz), or correct its model. ";
  }
  return bad(Code::io,
             "at " + std::to_string(steps_ * options_.step.ns) + " ns: " + whose + complaint->text);
}

/// No robot may leave the world, where numbers lose their precision.
Result<void> MujocoPhysics::check_places() const {
  const double low = (terrain_ ? terrain_->lowest() : 0) - kDeepest;
  for (std::size_t i = 0; i < robots_.size(); ++i) {
    const auto& p = robots_[i].position;
    const bool inside = std::abs(p[0]) <= kFarthest && std::abs(p[1]) <= kFarthest &&
                        p[2] <= kFarthest && p[2] >= low;
    if (inside) continue;
    return bad(Code::out_of_range,
               "at " + std::to_string(steps_ * options_.step.ns) + " ns: " + name_of(i) +
                   " is out of the world, at [" + std::to_string(p[0]) + ", " +
                   std::to_string(p[1]) + ", " + std::to_string(p[2]) +
                   "] m: keep its path on the ground, and correct its model if it falls through");
  }
  return success();
}

Result<void> MujocoPhysics::step() {
  control();
  // The forces of a step are those at its start.
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto& p = robots_[i].position;
    places_[i] = {p[0], p[1], p[2]};
    const auto& v = robots_[i].velocity;
    before_[i] = {v[0], v[1], v[2]};
  }
  touching_.find(places_);
  for (std::size_t i = 0; i < touching_.groups(); ++i) {
    if (auto stepped = step_group(touching_.group(i)); !stepped) return stepped;
  }
  return check_places();
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
  std::vector<std::span<std::byte>> all{bytes_of(&steps_, 1), bytes_of(next_.data(), next_.size()),
                                        bytes_of(courses_.data(), courses_.size()),
                                        bytes_of(before_.data(), before_.size())};
  for (RobotState& robot : robots_) {
    for (auto* part : {&robot.position, &robot.velocity, &robot.warm_start, &robot.activation}) {
      all.push_back(bytes_of(part->data(), part->size()));
    }
  }
  return all;
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
