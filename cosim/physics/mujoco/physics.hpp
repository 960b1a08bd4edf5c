#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/physics/mujoco/pictures.hpp"
#include "cosim/physics/mujoco/steering.hpp"
#include "cosim/physics/mujoco/touching.hpp"
#include "cosim/physics/mujoco/user_drive.hpp"
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
  Result<std::vector<double>> cast(NodeId robot, const Rays& rays) override;
  Result<Vec3> felt(NodeId robot) override;
  Result<Picture> look(NodeId robot, const View& view) override;
  Result<std::vector<std::byte>> save() const override;
  Result<void> restore(std::span<const std::byte> state) override;

 private:
  void control();
  Result<void> step();
  Result<void> step_group(std::span<const std::uint32_t> robots);
  void arrange(std::span<const std::uint32_t> robots);
  Result<World*> gather(std::span<const std::uint32_t> robots);
  Result<World*> world_for(const RobotCounts& counts);
  Result<void> load();
  Result<void> check_places() const;
  void drive_robot(std::size_t robot, const BodyState& state);
  [[nodiscard]] RobotState state_at_start(std::size_t robot) const;
  [[nodiscard]] double height_at(double x, double y) const;
  [[nodiscard]] std::string name_of(std::size_t robot) const;
  void read_poses();
  [[nodiscard]] BodyState body_of(std::size_t robot) const;
  [[nodiscard]] std::vector<std::span<std::byte>> state();

  MujocoOptions options_;
  std::optional<Terrain> terrain_;
  std::vector<UserModel> models_;                         // of different files
  std::vector<std::size_t> kinds_;                        // by robot: UGV, UAV, or a model
  std::vector<UserDrive> drives_;                         // by robot
  std::map<RobotCounts, std::unique_ptr<World>> worlds_;  // created on demand
  std::vector<RobotState> robots_;
  std::vector<std::vector<double>> controls_;
  std::vector<std::uint32_t> next_;  // next waypoint, by robot
  std::vector<Course> courses_;
  std::vector<Vec3> before_;  // velocities before the last step
  std::int64_t steps_ = 0;
  std::unique_ptr<Pictures> pictures_;  // created with the first picture
  Touching touching_;
  std::vector<double> reach_;  // m, by robot
  std::vector<Vec3> places_;
  std::vector<Pose> poses_;
  Time now_;
  // The group that is being stepped.
  std::vector<RobotState*> group_;
  std::vector<std::uint32_t> group_robots_;
  std::vector<const std::vector<double>*> group_controls_;
  RobotCounts counts_;
};

}  // namespace hyphos::cosim
