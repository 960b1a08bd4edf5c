#pragma once

#include <cstdint>
#include <random>

#include "pose.hpp"
#include "scan.hpp"
#include "world.hpp"

namespace patrol {

struct SimulatorConfig {
  Pose2 start{1.0, 6.0, 0.0};
  double robot_radius_m = 0.22;
  double max_speed = 0.8;              // m/s
  double max_turn_rate = 1.8;          // rad/s
  double max_acceleration = 1.5;       // m/s^2
  double max_turn_acceleration = 6.0;  // rad/s^2

  // Odometry: a constant error of the wheels, and noise that grows with the root of the distance.
  double distance_scale = 1.02;
  double turn_scale = 0.97;
  double translation_noise = 0.02;  // m per root metre
  double rotation_noise = 0.02;     // rad per root radian, and per root metre

  int beams = 360;
  double laser_field_of_view = 4.71238898038469;  // rad (270 degrees)
  double laser_range_m = 12.0;
  double laser_noise_m = 0.01;  // standard deviation
  Pose2 laser_mount{0.1, 0.0, 0.0};

  std::uint64_t seed = 1;
};

// A differential-drive robot with a laser, in a world. Time passes only in step(). Deterministic:
// the same seed and calls give the same values. Not thread-safe.
class Simulator {
 public:
  // The world must outlive the simulator.
  Simulator(const World& world, SimulatorConfig config = {});

  // Commanded speeds, m/s and rad/s. They are clamped and reached at the acceleration limits.
  void command(double speed, double turn_rate);
  // Moves the robot. A wall stops it. Cost: one test per block.
  void step(double dt_s);

  [[nodiscard]] const SimulatorConfig& config() const { return config_; }
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }
  [[nodiscard]] const Pose2& truth() const { return truth_; }
  [[nodiscard]] const Pose2& odometry() const { return odometry_; }  // starts at (0, 0, 0)
  [[nodiscard]] double speed() const { return speed_; }              // m/s
  [[nodiscard]] double turn_rate() const { return turn_rate_; }      // rad/s
  [[nodiscard]] bool bumped() const { return bumped_; }              // touching a wall

  // A sweep from the robot's present pose. Beams without a return are infinite. Cost: beams x
  // blocks.
  [[nodiscard]] Scan scan();

 private:
  double gaussian();

  const World& world_;
  SimulatorConfig config_;
  std::mt19937_64 random_;
  std::int64_t now_ns_ = 0;
  Pose2 truth_;
  Pose2 odometry_;
  double wanted_speed_ = 0.0;
  double wanted_turn_rate_ = 0.0;
  double speed_ = 0.0;
  double turn_rate_ = 0.0;
  bool bumped_ = false;
};

}  // namespace patrol
