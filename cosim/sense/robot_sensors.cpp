#include "cosim/sense/robot_sensors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "cosim/core/random.hpp"
#include "cosim/sense/rays.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::string_view kStatic = "tf_static";

static_assert(std::endian::native == std::endian::little, "the pixels of a depth image are floats");

constexpr std::string_view kLatched = ",latched";
constexpr std::string_view kAttached = ",attached";

TypeId type(const char* name, Encoding encoding = Encoding::protobuf) {
  return make_type_id(name, encoding);
}

std::string sibling(const std::string& channel, std::string_view name) {
  const std::size_t slash = channel.rfind('/');
  return (slash == std::string::npos ? "" : channel.substr(0, slash + 1)) + std::string(name);
}

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

Rays rays_of(const SensorOptions& options) {
  Rays rays{options.mount, options.range_m, {}};
  for (std::uint32_t i = 0; i < options.rays; ++i) {
    const double share = options.rays > 1 ? static_cast<double>(i) / (options.rays - 1) : 0;
    const double angle = options.from + (options.to - options.from) * share;
    rays.directions.push_back({std::cos(angle), std::sin(angle), 0});
  }
  return rays;
}

/// The frame of a sensor in that of its robot. Frames of cameras are optical: x right, y down.
FramePlace place_of(const SensorOptions& sensor, const std::string& base) {
  FramePlace place{base, sensor.frame, sensor.mount, {}};
  if (sensor.kind == SensorKind::camera)
    place.orientation = sensor.aim * Quaternion{-0.5, 0.5, -0.5, 0.5};
  return place;
}

Buffer bytes_of(const std::vector<float>& values) {
  return Buffer::copy_of(std::as_bytes(std::span(values)));
}

}  // namespace

double SensorOptions::focal_px() const { return width / (2 * std::tan(fov / 2)); }

std::string to_word(const SensorChannel& channel) {
  std::string word = channel.name + "=" + channel.type.name;
  if (channel.type.encoding == Encoding::attached) word += kAttached;
  if (channel.latched) word += kLatched;
  return word;
}

Result<SensorChannel> sensor_of(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    return Error{Code::invalid_config, "expected CHANNEL=TYPE, found '" + std::string(word) + "'",
                 "sensor"};
  }
  SensorChannel channel;
  channel.name = word.substr(0, equals);
  std::string_view kind = word.substr(equals + 1);
  channel.latched = kind.ends_with(kLatched);
  if (channel.latched) kind.remove_suffix(kLatched.size());
  const bool attached = kind.ends_with(kAttached);
  if (attached) kind.remove_suffix(kAttached.size());
  channel.type =
      make_type_id(std::string(kind), attached ? Encoding::attached : Encoding::protobuf);
  return channel;
}

std::vector<SensorChannel> channels_of(const RobotSensing& robot) {
  std::vector<SensorChannel> all;
  for (const SensorOptions& sensor : robot.sensors) {
    switch (sensor.kind) {
      case SensorKind::imu:
        all.push_back({sensor.channel, type("hyphos.msgs.Imu"), false, true});
        break;
      case SensorKind::lidar:
        all.push_back({sensor.channel, type("hyphos.msgs.LaserScan"), false, true});
        break;
      case SensorKind::camera:
        all.push_back({sensor.channel, type("hyphos.msgs.Image", Encoding::attached), false, true});
        all.push_back({sibling(sensor.channel, "camera_info"), type("hyphos.msgs.CameraInfo")});
        if (!sensor.depth) break;
        all.push_back({sibling(sensor.channel, "depth"),
                       type("hyphos.msgs.Image", Encoding::attached), false, true});
        break;
    }
  }
  if (robot.transforms && !robot.sensors.empty()) {
    all.push_back({std::string(kStatic), type("hyphos.msgs.TfMessage"), true});
  }
  return all;
}

std::size_t largest_readings(const RobotSensing& robot) {
  std::size_t bytes = 0;
  for (const SensorOptions& sensor : robot.sensors) {
    bytes += 1024;
    if (sensor.kind == SensorKind::lidar) bytes += std::size_t{4} * sensor.rays;
    if (sensor.kind != SensorKind::camera) continue;
    bytes += (sensor.depth ? 7 : 3) * std::size_t{sensor.width} * sensor.height;
  }
  return bytes;
}

/// The state of a robot at an instant, and the readings at it.
struct RobotSensors::Instant {
  NodeId robot = 0;
  Time now;
  std::span<const Pose> poses;
  std::vector<Reading>& readings;

  /// A normal number (Box and Muller).
  [[nodiscard]] double normal(std::uint64_t seed, std::uint64_t which) const {
    const auto instant = static_cast<std::uint64_t>(now.ns);
    const double radius = draw_unit(seed, instant, robot, 2 * which);
    const double angle = draw_unit(seed, instant, robot, 2 * which + 1);
    return std::sqrt(-2 * std::log(1 - radius)) * std::cos(2 * std::numbers::pi * angle);
  }
  void add(std::uint32_t channel, Bytes message, std::vector<Buffer> attached = {}) const {
    readings.push_back({channel, Buffer::adopt(std::move(message)), std::move(attached)});
  }
};

Time RobotSensors::Sensor::due() const {
  if (std::ranges::find(heard, true) == heard.end()) return kNever;
  return step.at(count).value();
}

Result<std::unique_ptr<RobotSensors>> RobotSensors::make(const World& world,
                                                         const std::vector<RobotSensing>& robots) {
  std::unique_ptr<RobotSensors> made(new RobotSensors(world));
  for (const RobotSensing& sensing : robots) {
    Robot& robot = made->robots_.emplace_back();
    robot.sensing = sensing;
    robot.channels = channels_of(sensing);
    robot.placed = robot.channels.empty() || !robot.channels.back().latched;
    std::uint32_t first = 0;
    for (const SensorOptions& options : sensing.sensors) {
      auto step = Step::from_rate(options.rate_hz);
      if (!step) return step.error();
      Sensor& sensor = robot.sensors.emplace_back(Sensor{options, *step});
      if (options.kind == SensorKind::lidar) sensor.rays = rays_of(options);
      sensor.seed = world.seed ^ hash_of(options.channel);
      sensor.first = first;
      sensor.heard.assign(options.kind != SensorKind::camera ? 1 : options.depth ? 3 : 2, true);
      first += static_cast<std::uint32_t>(sensor.heard.size());
    }
  }
  return made;
}

std::vector<SensorChannel> RobotSensors::channels(NodeId robot) const {
  return robots_[robot].channels;
}

void RobotSensors::leave_out(NodeId node, std::uint32_t channel) {
  Robot& robot = robots_[node];
  if (robot.channels[channel].latched) robot.placed = true;
  for (Sensor& sensor : robot.sensors) {
    if (channel < sensor.first || channel >= sensor.first + sensor.heard.size()) continue;
    sensor.heard[channel - sensor.first] = false;
  }
}

Time RobotSensors::next(NodeId robot) const {
  if (!robots_[robot].placed) return Time{0};
  Time next = kNever;
  for (const Sensor& sensor : robots_[robot].sensors) next = std::min(next, sensor.due());
  return next;
}

Result<void> RobotSensors::read(NodeId node, Time now, std::span<const Pose> poses,
                                std::vector<Reading>& readings) {
  Robot& robot = robots_[node];
  const Instant at{node, now, poses, readings};
  if (!robot.placed) {
    robot.placed = true;
    std::vector<FramePlace> places;
    for (const SensorOptions& sensor : robot.sensing.sensors) {
      if (sensor.frame == robot.sensing.base) continue;
      places.push_back(place_of(sensor, robot.sensing.base));
    }
    const auto channel = static_cast<std::uint32_t>(robot.channels.size() - 1);
    if (!places.empty()) at.add(channel, encode_transforms(now, places));
  }
  for (Sensor& sensor : robot.sensors) {
    if (sensor.due() > now) continue;
    sensor.count = sensor.step.index_at_or_before(now) + 1;
    const auto measured = sensor.options.kind == SensorKind::imu     ? imu(sensor, at)
                          : sensor.options.kind == SensorKind::lidar ? lidar(sensor, at)
                                                                     : camera(sensor, at);
    if (!measured) return measured;
  }
  return success();
}

Result<void> RobotSensors::imu(const Sensor& sensor, const Instant& at) {
  auto felt = world_.physics->felt(at.robot);
  if (!felt) return felt.error();
  const Pose& pose = at.poses[at.robot];
  Vec3 force = *felt;
  Vec3 turn = pose.turn;
  std::uint64_t which = 0;
  for (double* const one : {&force.x, &force.y, &force.z}) {
    *one += sensor.options.noise * at.normal(sensor.seed, which++);
  }
  for (double* const one : {&turn.x, &turn.y, &turn.z}) {
    *one += sensor.options.turn_noise * at.normal(sensor.seed, which++);
  }
  at.add(sensor.first, encode_imu(at.now, sensor.options.frame, pose.orientation, turn, force));
  return success();
}

Result<void> RobotSensors::lidar(const Sensor& sensor, const Instant& at) {
  const SensorOptions& options = sensor.options;
  auto cast = world_.casts
                  ? world_.physics->cast(at.robot, sensor.rays)
                  : cast_rays(*world_.scene, at.poses, at.robot, sensor.rays, options.body_m);
  if (!cast) return cast.error();
  std::vector<double>& ranges = *cast;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    double& range = ranges[i];
    if (range > options.range_m) {
      range = kInfinite;
    } else if (options.noise > 0) {
      range = std::max(0.0, range + options.noise * at.normal(sensor.seed, i));
    }
  }
  ScanHead head{options.from, options.to};
  head.between = options.rays > 1 ? (options.to - options.from) / (options.rays - 1) : 0;
  head.period = 1.0 / static_cast<double>(options.rate_hz);
  head.nearest = options.nearest_m;
  head.farthest = options.range_m;
  at.add(sensor.first, encode_scan(at.now, options.frame, head, ranges));
  return success();
}

Result<void> RobotSensors::camera(const Sensor& sensor, const Instant& at) {
  const SensorOptions& options = sensor.options;
  const std::uint32_t width = options.width;
  const std::uint32_t height = options.height;
  const bool deep = options.depth && sensor.heard[2];
  // The image is last: a program that receives it has what belongs to it.
  if (sensor.heard[1]) {
    at.add(sensor.first + 1,
           encode_camera_info(at.now, options.frame, width, height, options.focal_px()));
  }
  if (!sensor.heard[0] && !deep) return success();
  auto picture =
      world_.physics->look(at.robot, {options.mount, options.aim, width, height, options.focal_px(),
                                      options.nearest_m, options.range_m, deep});
  if (!picture) return picture.error();
  if (deep) {
    at.add(sensor.first + 2, encode_image(at.now, options.frame, width, height, "32FC1", 4),
           {bytes_of(picture->depth)});
  }
  if (sensor.heard[0]) {
    at.add(sensor.first, encode_image(at.now, options.frame, width, height, "rgb8", 3),
           {Buffer::adopt(std::move(picture->rgb))});
  }
  return success();
}

}  // namespace hyphos::cosim
