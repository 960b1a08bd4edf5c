#include "cosim/physics/mujoco/user_drive.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cosim/physics/mujoco/model.hpp"

namespace hyphos::cosim {
namespace {

using Square = std::array<std::array<double, 4>, 4>;

Error bad(const RobotModel& robot, std::string what) {
  return {Code::invalid_config, std::move(what), robot.file};
}

Result<std::vector<std::size_t>> find(const std::vector<std::string>& names,
                                      const RobotModel& robot, const UserModel& model,
                                      const char* key) {
  std::vector<std::size_t> found;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(model.actuators, name);
    if (at != model.actuators.end()) {
      found.push_back(static_cast<std::size_t>(at - model.actuators.begin()));
      continue;
    }
    std::string known;
    for (const std::string& one : model.actuators) known += (known.empty() ? "" : ", ") + one;
    return bad(robot, "model." + std::string(key) + " names '" + name +
                          "', which is no actuator or joint of the model. Its actuators are: " +
                          (known.empty() ? "none" : known));
  }
  return found;
}

/// Gauss-Jordan with the largest pivots. False if the matrix has no inverse.
bool invert(Square a, Square& to) {
  to = {};
  for (std::size_t i = 0; i < 4; ++i) to[i][i] = 1;
  for (std::size_t column = 0; column < 4; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < 4; ++row) {
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    }
    if (std::abs(a[pivot][column]) < 1e-12) return false;
    std::swap(a[pivot], a[column]);
    std::swap(to[pivot], to[column]);
    const double scale = 1 / a[column][column];
    for (std::size_t i = 0; i < 4; ++i) {
      a[column][i] *= scale;
      to[column][i] *= scale;
    }
    for (std::size_t row = 0; row < 4; ++row) {
      if (row == column) continue;
      const double factor = a[row][column];
      for (std::size_t i = 0; i < 4; ++i) {
        a[row][i] -= factor * a[column][i];
        to[row][i] -= factor * to[column][i];
      }
    }
  }
  return true;
}

double limited(const UserModel& model, std::size_t actuator, double value) {
  return std::clamp(value, model.limits[actuator][0], model.limits[actuator][1]);
}

}  // namespace

Result<UserDrive> UserDrive::make(const RobotModel& robot, const UserModel& model) {
  UserDrive made;
  made.wheel_radius_ = robot.wheel_radius;
  made.track_ = robot.track;
  if (robot.drive == Drive::wheels) {
    auto left = find(robot.left, robot, model, "left");
    if (!left) return left.error();
    auto right = find(robot.right, robot, model, "right");
    if (!right) return right.error();
    made.left_ = std::move(*left);
    made.right_ = std::move(*right);
    return made;
  }
  if (robot.drive != Drive::rotors) return made;
  auto rotors = find(robot.rotors, robot, model, "rotors");
  if (!rotors) return rotors.error();
  made.rotors_ = std::move(*rotors);
  // The smallest thrusts with the asked effort: Bᵀ (B Bᵀ)⁻¹, with the efforts of rotors as columns.
  Square square{};
  for (const std::size_t rotor : made.rotors_) {
    const auto& e = model.efforts[rotor];
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < 4; ++k) square[i][k] += e[i] * e[k];
    }
  }
  Square inverse{};
  if (!invert(square, inverse)) {
    return bad(robot,
               "its rotors cannot lift the robot and turn it about all axes: four motors "
               "with gear '0 0 1 0 0 ±drag' at sites around the centre can");
  }
  for (const std::size_t rotor : made.rotors_) {
    std::array<double, 4>& share = made.shares_.emplace_back();
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < 4; ++i) share[k] += model.efforts[rotor][i] * inverse[i][k];
    }
  }
  return made;
}

void UserDrive::roll(const std::array<double, 4>& wheels, const UserModel& model,
                     std::vector<double>& controls) const {
  const double ahead = (wheels[0] + wheels[2]) / 2 * Ugv::kWheelRadius;
  const double turn = (wheels[2] - wheels[0]) * Ugv::kWheelRadius / Ugv::kTurnTrack;
  for (const std::size_t wheel : left_) {
    controls[wheel] = limited(model, wheel, (ahead - turn * track_ / 2) / wheel_radius_);
  }
  for (const std::size_t wheel : right_) {
    controls[wheel] = limited(model, wheel, (ahead + turn * track_ / 2) / wheel_radius_);
  }
}

void UserDrive::fly(const BodyState& state, const Flight& flight, const UserModel& model,
                    std::vector<double>& controls) const {
  const Effort wanted = effort(state, flight, model.mass, model.inertia);
  for (std::size_t i = 0; i < rotors_.size(); ++i) {
    double thrust = 0;
    for (std::size_t k = 0; k < 4; ++k) thrust += shares_[i][k] * wanted[k];
    controls[rotors_[i]] = limited(model, rotors_[i], thrust);
  }
}

}  // namespace hyphos::cosim
