#pragma once

#include <mujoco/mujoco.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cosim/physics/mujoco/options.hpp"

namespace hyphos::cosim {

/// Everything that the next step of a robot depends on, in MuJoCo's coordinates: the free joint,
/// then the wheels of a UGV.
struct RobotState {
  std::array<double, 7 + 4> position{};  ///< x, y, z, quaternion, wheel angles
  std::array<double, 6 + 4> velocity{};
  std::array<double, 6 + 4> warm_start{};  ///< start value of the solver
};

/// The numbers of robots of each kind.
using RobotCounts = std::pair<std::size_t, std::size_t>;  // UGVs, UAVs

/// MuJoCo's model of some robots among the boxes of the world. It keeps no state between steps, so
/// it can step any robots of these kinds.
class World {
 public:
  /// Errors: invalid_config, with MuJoCo's text, and exhausted.
  [[nodiscard]] static Result<std::unique_ptr<World>> make(const MujocoOptions& options,
                                                           RobotCounts counts);

  /// One step of robots that may touch each other, UGVs first. model.hpp defines `controls`.
  void step(std::span<RobotState* const> robots, std::span<const std::array<double, 4>> controls);
  /// The first warning of MuJoCo in this world, if any.
  [[nodiscard]] std::optional<std::string> complaint() const;

 private:
  World(mjModel* model, RobotCounts counts);
  template <typename F>
  void each(std::span<RobotState* const> robots, const F& f);

  std::unique_ptr<mjModel, void (*)(mjModel*)> model_{nullptr, mj_deleteModel};
  std::unique_ptr<mjData, void (*)(mjData*)> data_{nullptr, mj_deleteData};
  RobotCounts counts_;
};

}  // namespace hyphos::cosim
