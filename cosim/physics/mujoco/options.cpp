#include "cosim/physics/mujoco/options.hpp"

#include <array>

#include "cosim/adapter/settings.hpp"

namespace hyphos::cosim {
namespace {

Error bad(const Setting& setting, std::string what) {
  return {Code::invalid_config, std::move(what), std::string(setting.key)};
}

Result<void> take_robot(MujocoOptions& options, const Setting& setting) {
  auto v = numbers(setting, 5);
  if (!v) return v.error();
  if (!((*v)[4] > 0)) return bad(setting, "the speed must be positive");
  MujocoRobot robot;
  robot.kind = setting.key == "ugv" ? RobotKind::ugv : RobotKind::uav;
  robot.start = {(*v)[0], (*v)[1], (*v)[2]};
  robot.yaw = (*v)[3];
  robot.speed = (*v)[4];
  options.robots.push_back(std::move(robot));
  return success();
}

Result<void> take(MujocoOptions& options, const Setting& setting) {
  if (setting.key == "ugv" || setting.key == "uav") return take_robot(options, setting);
  if (setting.key == "box") {
    auto solid = box(setting);
    if (!solid) return solid.error();
    options.boxes.push_back(*solid);
    return success();
  }
  if (setting.key == "step_us") {
    auto us = number(setting, 100, 10'000, true);
    if (!us) return us.error();
    options.step = Duration::from_us(static_cast<std::int64_t>(*us));
    return success();
  }
  if (setting.key != "waypoint" && setting.key != "loop") return unknown(setting);
  if (options.robots.empty()) return bad(setting, "must follow the line of a robot");
  MujocoRobot& robot = options.robots.back();
  auto v = numbers(setting, setting.key == "loop" ? 1 : 3);
  if (!v) return v.error();
  if (setting.key == "loop") {
    robot.loop = v->front() != 0;
  } else {
    robot.waypoints.push_back({(*v)[0], (*v)[1], (*v)[2]});
  }
  return success();
}

}  // namespace

std::string to_text(const MujocoOptions& options) {
  std::string text;
  write_setting(text, "step_us", std::array{static_cast<double>(options.step.ns / 1000)});
  for (const Box& solid : options.boxes) write_box(text, solid);
  for (const MujocoRobot& robot : options.robots) {
    const Vec3& at = robot.start;
    write_setting(text, robot.kind == RobotKind::ugv ? "ugv" : "uav",
                  std::array{at.x, at.y, at.z, robot.yaw, robot.speed});
    for (const Vec3& p : robot.waypoints) {
      write_setting(text, "waypoint", std::array{p.x, p.y, p.z});
    }
    if (robot.loop) write_setting(text, "loop", std::array{1.0});
  }
  return text;
}

Result<MujocoOptions> mujoco_options(std::string_view text) {
  MujocoOptions options;
  for (const Setting& setting : read_settings(text)) {
    if (auto taken = take(options, setting); !taken) return taken.error();
  }
  return options;
}

}  // namespace hyphos::cosim
