#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cosim/physics/mujoco/compile.hpp"
#include "cosim/physics/mujoco/model.hpp"

namespace hyphos::cosim {

/// Everything that the next step of a robot depends on, in MuJoCo's coordinates: the free joint,
/// then its other joints.
struct RobotState {
  std::vector<double> position{};    ///< x, y, z, quaternion, joints
  std::vector<double> velocity{};    ///< m/s in the world, rad/s in the robot, joints
  std::vector<double> warm_start{};  ///< start value of the solver
  std::vector<double> activation{};  ///< of actuators with a state
};

/// The numbers of coordinates of a robot.
struct Layout {
  std::size_t positions = 7;
  std::size_t velocities = 6;
  std::size_t activations = 0;
  std::size_t actuators = 4;
};

/// MuJoCo's model of some robots among the boxes of the world. It keeps no state between steps, so
/// it can step any robots of these kinds.
class World {
 public:
  /// A warning of MuJoCo.
  struct Complaint {
    std::string text;
    std::size_t robot = 0;  ///< index in the group, of a warning about one robot
    bool one = false;
  };

  /// Errors: invalid_config, with MuJoCo's text, and exhausted.
  [[nodiscard]] static Result<std::unique_ptr<World>> make(const Ground& ground,
                                                           std::span<const UserModel> models,
                                                           const RobotCounts& counts);

  /// One step of robots that may touch each other, in the order of their kinds. model.hpp defines
  /// the controls of built-in robots.
  void step(std::span<RobotState* const> robots, std::span<const std::vector<double>*> controls);
  /// The first warning of MuJoCo in this world, if any.
  [[nodiscard]] std::optional<Complaint> complaint() const;

  [[nodiscard]] mjModel& model() { return *model_; }
  [[nodiscard]] mjData& data() { return *data_; }
  /// Puts robots in their places without a step, for rays and pictures.
  void place(std::span<RobotState* const> robots);

 private:
  World(ModelPointer model, std::vector<Layout> layouts);
  template <typename F>
  void each(std::span<RobotState* const> robots, const F& f);

  ModelPointer model_;
  DataPointer data_;
  std::vector<Layout> layouts_;
};

[[nodiscard]] Layout layout_of(std::size_t kind, std::span<const UserModel> models);

}  // namespace hyphos::cosim
