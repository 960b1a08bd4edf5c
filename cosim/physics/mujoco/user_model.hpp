#pragma once

#include <mujoco/mujoco.h>

#include <array>
#include <string>
#include <vector>

#include "cosim/physics/mujoco/options.hpp"

namespace hyphos::cosim {

/// The parts of a model in MuJoCo's XML format. Each belongs into the section of its name.
struct ModelParts {
  std::string defaults;
  std::string assets;
  std::string body;
  std::string contact;
  std::string equality;
  std::string tendon;
  std::string actuator;
};

/// A user's robot: read and compiled alone once, then inserted into worlds any number of times.
///
/// The file is not trusted. Its size, the files that it names, and the counts in it are checked
/// before MuJoCo sees it. It may name files in `RobotModel::folder` and below only.
class UserModel {
 public:
  /// Errors: not_found, permission, io, invalid_config, each with file and line where possible.
  [[nodiscard]] static Result<UserModel> load(const RobotModel& robot);

  [[nodiscard]] const std::string& file() const { return file_; }
  /// The parts with all names starting with `prefix`.
  [[nodiscard]] ModelParts parts(const std::string& prefix) const;

  std::vector<double> start{};                  ///< MuJoCo's coordinates, the free joint first
  std::size_t velocities = 0;                   ///< degrees of freedom
  std::size_t activations = 0;                  ///< states of actuators
  std::vector<std::string> actuators{};         ///< names, in MuJoCo's order
  std::vector<std::array<double, 2>> limits{};  ///< of each actuator. Infinite without a limit
  double reach = 0;                             ///< m: no point is farther from its position
  double stand = 0;                             ///< m: its position above its lowest point
  bool autolimits = false;                      ///< of its compiler
  double mass = 0;                              ///< kg
  std::array<double, 3> inertia{};              ///< kg m², about its axes
  /// Force along z and torques about x, y and z, in the robot, of each actuator at 1.
  std::vector<std::array<double, 4>> efforts{};

 private:
  UserModel() = default;
  [[nodiscard]] Result<void> measure();
  void measure_body(const mjModel& m, mjData& d);
  void measure_efforts(const mjModel& m, mjData& d);

  std::string file_;
  std::string text_;  // in MuJoCo's format, with everything expanded
};

}  // namespace hyphos::cosim
