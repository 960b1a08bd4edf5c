#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "hyphos/codec.hpp"

/// The sensors of simulated robots: messages of Hyphos' own types on channels of the robot.
namespace hyphos::cosim {

enum class SensorKind {
  imu,    ///< hyphos.msgs.Imu
  lidar,  ///< hyphos.msgs.LaserScan
};

struct SensorOptions {
  SensorKind kind = SensorKind::imu;
  std::string channel{};
  std::int64_t rate_hz = 100;
  double noise = 0;       ///< standard deviation: m/s² of an IMU, m of a lidar
  double turn_noise = 0;  ///< rad/s, of an IMU
  // Of a lidar:
  std::uint32_t rays = 360;
  double from = 0;  ///< rad, of the first ray; 0 is ahead
  double to = 0;    ///< rad, of the last ray
  double nearest_m = 0.1;
  double range_m = 30;
  Vec3 mount{0, 0, 0.3};  ///< m, in the robot frame

  static constexpr std::uint32_t kMostRays = 4096;
};

[[nodiscard]] TypeId type_of(SensorKind kind);

/// A sensor of one robot. Its noise depends on seed, robot, channel and instant only.
class Sensor {
 public:
  Sensor(SensorOptions options, NodeId robot, std::uint64_t seed);

  [[nodiscard]] const SensorOptions& options() const { return options_; }
  /// The next instant with a measurement.
  [[nodiscard]] Time due() const { return step_.at(count_).value(); }
  /// Measures at `now`, and returns the packet of the message on the channel. Errors: those of
  /// Physics::cast() and Physics::felt().
  [[nodiscard]] Result<Buffer> measure(Physics& physics, const Pose& pose, Time now);

 private:
  [[nodiscard]] Result<std::vector<std::byte>> imu(Physics& physics, const Pose& pose, Time now);
  [[nodiscard]] Result<std::vector<std::byte>> lidar(Physics& physics, Time now);
  [[nodiscard]] double normal(Time now, std::uint64_t which) const;

  SensorOptions options_;
  NodeId robot_;
  std::uint64_t seed_;
  std::uint64_t sender_;
  Step step_;
  Rays rays_;
  std::int64_t count_ = 0;  // of measurements
};

}  // namespace hyphos::cosim
