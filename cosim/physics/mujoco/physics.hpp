#pragma once

#include <map>
#include <memory>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/physics/mujoco/steering.hpp"
#include "cosim/physics/mujoco/touching.hpp"
#include "cosim/physics/mujoco/world.hpp"

namespace hyphos::cosim {

/// MuJoCo: robots with wheels and rotors on the ground and among the boxes of the world. Each robot
/// has a controller that runs at every step. It drives the robot from waypoint to waypoint until
/// the robot is steered for the first time. A pose is the pose at the end of the last step. A
/// command takes effect with the next step. The same options and motions give the same bits.
///
/// Robots that cannot touch are stepped one by one, each in a small model. Robots that can touch
/// are stepped together. In one model of all robots, the cost of a robot would grow with the number
/// of the others.
class MujocoPhysics final : public Physics {
 public:
  explicit MujocoPhysics(MujocoOptions options) : options_(std::move(options)) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override { return {(steps_ + 1) * options_.step.ns}; }
  std::span<const Pose> poses() const override { return poses_; }
  Result<std::string> steer(NodeId robot, const Motion& motion) override;
  Result<std::vector<std::byte>> save() const override;
  Result<void> restore(std::span<const std::byte> state) override;

 private:
  void control();
  Result<void> step();
  Result<void> step_group(std::span<const std::uint32_t> robots);
  Result<World*> world_for(RobotCounts counts);
  void read_poses();
  [[nodiscard]] BodyState body_of(std::size_t robot) const;
  [[nodiscard]] std::vector<std::span<std::byte>> state();

  MujocoOptions options_;
  std::map<RobotCounts, std::unique_ptr<World>> worlds_;  // created on demand
  std::vector<RobotState> robots_;
  std::vector<std::array<double, 4>> controls_;
  std::vector<std::uint32_t> next_;  // next waypoint, by robot
  std::vector<Course> courses_;
  std::int64_t steps_ = 0;
  Touching touching_;
  std::vector<Vec3> places_;
  std::vector<Pose> poses_;
  Time now_;
  // The group that is being stepped.
  std::vector<RobotState*> group_;
  std::vector<std::array<double, 4>> group_controls_;
};

}  // namespace hyphos::cosim
