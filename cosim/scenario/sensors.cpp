#include "cosim/scenario/sensors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>

#include "cosim/scenario/point.hpp"

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;
using config::Value;

constexpr double kDegree = std::numbers::pi / 180;
constexpr std::size_t kMostOfAKind = 16;
constexpr std::int64_t kMostSide = 4096;  // pixels

Vec3 read_mount(const Section& sensor, const Vec3& otherwise, Problems& problems) {
  if (!sensor.has("mount")) return otherwise;
  return read_point(sensor.find("mount"), sensor.path("mount"), problems);
}

void read_range(const Section& sensor, double nearest, double range, SensorOptions& made) {
  made.nearest_m = sensor.real("nearest_m", nearest, 0, 1000);
  made.range_m = sensor.real("range_m", range, 0.1, 10'000);
  if (made.range_m <= made.nearest_m) sensor.error("range_m", "must be above nearest_m");
}

SensorOptions read_imu(const Section& imu) {
  SensorOptions made;
  made.kind = SensorKind::imu;
  made.channel = imu.text("channel", "imu");
  made.frame = imu.text("frame", "base");
  made.rate_hz = imu.integer("rate_hz", 100, 1, 10'000);
  made.noise = imu.real("noise_m_s2", 0, 0, 100);
  made.turn_noise = imu.real("noise_rad_s", 0, 0, 100);
  return made;
}

SensorOptions read_lidar(const Section& lidar, bool mujoco, Problems& problems) {
  SensorOptions made;
  made.kind = SensorKind::lidar;
  made.channel = lidar.text("channel", "scan");
  made.frame = lidar.text("frame", "lidar");
  made.rate_hz = lidar.integer("rate_hz", 10, 1, 1000);
  made.rays = static_cast<std::uint32_t>(lidar.integer("rays", 360, 1, SensorOptions::kMostRays));
  made.from = lidar.real("from_deg", -180, -360, 360) * kDegree;
  made.to = lidar.real("to_deg", 180, -360, 360) * kDegree;
  if (made.to < made.from) lidar.error("to_deg", "must not be below from_deg");
  read_range(lidar, 0.1, 30, made);
  made.noise = lidar.real("noise_m", 0, 0, 100);
  made.mount = read_mount(lidar, {0, 0, 0.3}, problems);
  made.body_m = lidar.real("body_m", made.body_m, 0, 100);
  if (mujoco && lidar.has("body_m")) {
    lidar.error("body_m",
                "not valid with `physics.simulator: mujoco`, where the lidar sees the "
                "shapes of the robots: remove it");
  }
  return made;
}

SensorOptions read_camera(const Section& camera, Problems& problems) {
  SensorOptions made;
  made.kind = SensorKind::camera;
  made.channel = camera.text("channel", "image");
  made.frame = camera.text("frame", "camera");
  made.rate_hz = camera.integer("rate_hz", 10, 1, 200);
  made.width = static_cast<std::uint32_t>(camera.integer("width", 320, 8, kMostSide));
  made.height = static_cast<std::uint32_t>(camera.integer("height", 240, 8, kMostSide));
  const std::uint64_t pixels = std::uint64_t{made.width} * made.height;
  if (pixels > SensorOptions::kMostPixels) {
    camera.error("width", std::to_string(made.width) + " x " + std::to_string(made.height) +
                              " are " + std::to_string(pixels) + " pixels, but at most " +
                              std::to_string(SensorOptions::kMostPixels) +
                              " are possible: use 1280 x 800 or less");
  }
  made.fov = camera.real("fov_deg", 60, 1, 170) * kDegree;
  made.depth = camera.boolean("depth", false);
  made.mount = read_mount(camera, {0.3, 0, 0.3}, problems);
  const double down = camera.real("down_deg", 0, -90, 90) * kDegree;
  const double left = camera.real("left_deg", 0, -180, 180) * kDegree;
  made.aim = about_z(left) * Quaternion{0, std::sin(down / 2), 0, std::cos(down / 2)};
  read_range(camera, 0.05, 100, made);
  if (made.nearest_m < 0.01) camera.error("nearest_m", "must be at least 0.01");
  return made;
}

/// Calls `f(section)` for a map, or for each map of a list.
template <typename F>
void each_sensor(const Section& sensors, const char* kind, Problems& problems,
                 std::initializer_list<std::string_view> keys, const F& f) {
  const Value* const value = sensors.find(kind);
  if (value == nullptr) return;
  if (!value->is(Value::Kind::list)) {
    return f(Section(value, sensors.path(kind), problems, keys));
  }
  if (value->items.empty() || value->items.size() > kMostOfAKind) {
    return sensors.error(kind, "expected 1 to " + std::to_string(kMostOfAKind) + " sensors");
  }
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    f(Section(&value->items[i], sensors.path(kind) + "[" + std::to_string(i) + "]", problems,
              keys));
  }
}

/// Physics other than MuJoCo has no forces and no pictures.
void need_mujoco(const Section& sensors, const char* kind, bool mujoco) {
  if (!sensors.has(kind) || mujoco) return;
  sensors.error(kind,
                "only valid with `physics.simulator: mujoco`. A `lidar` is possible with "
                "every physics");
}

void check_channels(const Section& robot, const RobotSensing& sensing) {
  std::set<std::string> names;
  for (const SensorChannel& channel : channels_of(sensing)) {
    if (names.insert(channel.name).second) continue;
    return robot.error("sensors", "two sensors have the channel '" + channel.name +
                                      "': give one of them another `channel`, such as left/" +
                                      channel.name);
  }
}

}  // namespace

RobotSensing read_sensors(const Section& robot, const std::optional<BodyOptions>& body, bool mujoco,
                          Problems& problems) {
  RobotSensing made;
  const std::string prefix = body && !body->prefix.empty() ? body->prefix + "/" : "";
  made.base = prefix + made.base;
  if (!robot.has("sensors")) return made;
  const Section sensors(robot.find("sensors"), robot.path("sensors"), problems,
                        {"imu", "lidar", "camera"});
  if (!robot.has("plan") && !body) {
    robot.error("sensors",
                "only valid with a `plan` or a `body`: their programs receive the measurements");
    return made;
  }
  need_mujoco(sensors, "imu", mujoco);
  need_mujoco(sensors, "camera", mujoco);
  each_sensor(sensors, "imu", problems,
              {"channel", "frame", "rate_hz", "noise_m_s2", "noise_rad_s"},
              [&](const Section& imu) { made.sensors.push_back(read_imu(imu)); });
  each_sensor(
      sensors, "lidar", problems,
      {"channel", "frame", "rate_hz", "rays", "from_deg", "to_deg", "nearest_m", "range_m",
       "noise_m", "mount", "body_m"},
      [&](const Section& lidar) { made.sensors.push_back(read_lidar(lidar, mujoco, problems)); });
  each_sensor(
      sensors, "camera", problems,
      {"channel", "frame", "rate_hz", "width", "height", "fov_deg", "depth", "mount", "down_deg",
       "left_deg", "nearest_m", "range_m"},
      [&](const Section& camera) { made.sensors.push_back(read_camera(camera, problems)); });
  for (SensorOptions& sensor : made.sensors) sensor.frame = prefix + sensor.frame;
  if (made.sensors.empty()) {
    robot.error("sensors", "expected `imu`, `lidar` or `camera`, for example lidar: {}");
  }
  check_channels(robot, made);
  return made;
}

}  // namespace hyphos::cosim
