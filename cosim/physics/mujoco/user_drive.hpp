#pragma once

#include <array>
#include <vector>

#include "cosim/physics/mujoco/control.hpp"
#include "cosim/physics/mujoco/user_model.hpp"

namespace hyphos::cosim {

/// Maps the commands of the built-in controllers to the actuators of a user's model.
class UserDrive {
 public:
  UserDrive() = default;
  /// Errors: invalid_config: a name that is no actuator, and rotors that cannot turn the robot
  /// about all axes.
  [[nodiscard]] static Result<UserDrive> make(const RobotModel& robot, const UserModel& model);

  /// `wheels` as in control.hpp, for the built-in UGV.
  void roll(const std::array<double, 4>& wheels, const UserModel& model,
            std::vector<double>& controls) const;
  void fly(const BodyState& state, const Flight& flight, const UserModel& model,
           std::vector<double>& controls) const;

 private:
  double wheel_radius_ = 0;
  double track_ = 0;
  std::vector<std::size_t> left_;  // actuators
  std::vector<std::size_t> right_;
  std::vector<std::size_t> rotors_;
  std::vector<std::array<double, 4>> shares_;  // of each rotor, for each part of an effort
};

}  // namespace hyphos::cosim
