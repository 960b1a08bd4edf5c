#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/core/time.hpp"
#include "cosim/sense/messages.hpp"
#include "cosim/sense/sensors.hpp"

namespace hyphos::cosim {

enum class SensorKind {
  imu,     ///< hyphos.msgs.Imu
  lidar,   ///< hyphos.msgs.LaserScan
  camera,  ///< hyphos.msgs.Image and CameraInfo
};

struct SensorOptions {
  SensorKind kind = SensorKind::imu;
  std::string channel{};
  std::string frame{};
  std::int64_t rate_hz = 100;
  Vec3 mount{};           ///< m, in the robot frame
  double noise = 0;       ///< standard deviation: m/s² of an IMU, m of a lidar
  double turn_noise = 0;  ///< rad/s, of an IMU
  double nearest_m = 0.1;
  double range_m = 30;
  // Of a lidar:
  std::uint32_t rays = 360;
  double from = 0;      ///< rad, of the first ray; 0 is ahead
  double to = 0;        ///< rad, of the last ray
  double body_m = 0.3;  ///< as for cast_rays(). Physics that casts rays has real shapes instead
  // Of a camera:
  Quaternion aim{};  ///< as View::aim
  std::uint32_t width = 320;
  std::uint32_t height = 240;
  double fov = 1;  ///< rad, from left to right
  bool depth = false;

  static constexpr std::uint32_t kMostRays = 8192;
  static constexpr std::uint32_t kMostPixels = 1 << 20;

  [[nodiscard]] double focal_px() const;
};

/// The sensors of one robot.
struct RobotSensing {
  std::vector<SensorOptions> sensors{};
  std::string base = "base";  ///< name of the robot frame
  bool transforms = false;    ///< the places of the sensors, on `tf_static`
};

/// The channels of Sensors::channels(). A camera has three: "front/image" has its siblings
/// "front/camera_info" and, with depth, "front/depth".
[[nodiscard]] std::vector<SensorChannel> channels_of(const RobotSensing& robot);
/// The most bytes of all readings of a robot in one instant.
[[nodiscard]] std::size_t largest_readings(const RobotSensing& robot);

/// Sensors that the physics answers. Lidars of physics that casts no rays see boxes and cylinders
/// (cast_rays()). Noise depends on seed, robot, channel and instant only.
class RobotSensors final : public Sensors {
 public:
  struct World {
    Physics* physics = nullptr;    ///< must outlive the object
    const Scene* scene = nullptr;  ///< must outlive the object
    bool casts = false;            ///< the physics casts rays
    std::uint64_t seed = 1;
  };
  /// `robots` are ordered by node. Errors: those of Step::from_rate().
  [[nodiscard]] static Result<std::unique_ptr<RobotSensors>> make(
      const World& world, const std::vector<RobotSensing>& robots);

  std::vector<SensorChannel> channels(NodeId robot) const override;
  void leave_out(NodeId robot, std::uint32_t sensor) override;
  Time next(NodeId robot) const override;
  Result<void> read(NodeId robot, Time now, std::span<const Pose> poses,
                    std::vector<Reading>& readings) override;

 private:
  struct Sensor {
    SensorOptions options;
    Step step;
    Rays rays{};
    std::uint64_t seed = 0;
    std::uint32_t first = 0;    // of its channels
    std::vector<bool> heard{};  // by channel
    std::int64_t count = 0;     // readings until now

    [[nodiscard]] Time due() const;
  };
  struct Robot {
    RobotSensing sensing;
    std::vector<SensorChannel> channels{};
    std::vector<Sensor> sensors{};
    bool placed = false;  // nothing to publish on tf_static, or published
  };
  struct Instant;
  explicit RobotSensors(const World& world) : world_(world) {}
  Result<void> imu(const Sensor& sensor, const Instant& at);
  Result<void> lidar(const Sensor& sensor, const Instant& at);
  Result<void> camera(const Sensor& sensor, const Instant& at);

  World world_;
  std::vector<Robot> robots_;
};

}  // namespace hyphos::cosim
