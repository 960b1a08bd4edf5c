#include "cosim/scenario/sensors.hpp"

#include <numbers>

#include "cosim/scenario/point.hpp"

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;

constexpr double kDegree = std::numbers::pi / 180;

SensorOptions read_imu(const Section& imu) {
  SensorOptions made;
  made.kind = SensorKind::imu;
  made.channel = imu.text("channel", "imu");
  made.rate_hz = imu.integer("rate_hz", 100, 1, 10'000);
  made.noise = imu.real("noise_m_s2", 0, 0, 100);
  made.turn_noise = imu.real("noise_rad_s", 0, 0, 100);
  return made;
}

SensorOptions read_lidar(const Section& lidar, Problems& problems) {
  SensorOptions made;
  made.kind = SensorKind::lidar;
  made.channel = lidar.text("channel", "scan");
  made.rate_hz = lidar.integer("rate_hz", 10, 1, 1000);
  made.rays = static_cast<std::uint32_t>(lidar.integer("rays", 360, 1, SensorOptions::kMostRays));
  made.from = lidar.real("from_deg", -180, -360, 360) * kDegree;
  made.to = lidar.real("to_deg", 180, -360, 360) * kDegree;
  if (made.to < made.from) lidar.error("to_deg", "must not be below from_deg");
  made.nearest_m = lidar.real("nearest_m", 0.1, 0, 1000);
  made.range_m = lidar.real("range_m", 30, 0.1, 10'000);
  if (made.range_m <= made.nearest_m) lidar.error("range_m", "must be above nearest_m");
  made.noise = lidar.real("noise_m", 0, 0, 100);
  if (lidar.has("mount")) {
    made.mount = read_point(lidar.find("mount"), lidar.path("mount"), problems);
  }
  return made;
}

}  // namespace

std::vector<SensorOptions> read_sensors(const Section& robot, bool mujoco, Problems& problems) {
  std::vector<SensorOptions> made;
  if (!robot.has("sensors")) return made;
  const Section sensors(robot.find("sensors"), robot.path("sensors"), problems, {"imu", "lidar"});
  if (!mujoco) {
    robot.error("sensors", "only valid with `physics.simulator: mujoco`");
    return made;
  }
  if (!robot.has("plan")) {
    robot.error("sensors", "only valid with a `plan`: its nodes receive the measurements");
    return made;
  }
  if (sensors.has("imu")) {
    made.push_back(read_imu(Section(sensors.find("imu"), sensors.path("imu"), problems,
                                    {"channel", "rate_hz", "noise_m_s2", "noise_rad_s"})));
  }
  if (sensors.has("lidar")) {
    made.push_back(read_lidar(Section(sensors.find("lidar"), sensors.path("lidar"), problems,
                                      {"channel", "rate_hz", "rays", "from_deg", "to_deg",
                                       "nearest_m", "range_m", "noise_m", "mount"}),
                              problems));
  }
  if (made.empty()) robot.error("sensors", "expected `imu` or `lidar`, for example imu: {}");
  return made;
}

}  // namespace hyphos::cosim
