#include "cosim/physics/mujoco/options.hpp"

#include <algorithm>
#include <array>

#include "cosim/adapter/settings.hpp"
#include "cosim/world/settings.hpp"

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

Result<std::vector<std::string>> words(const Setting& setting) {
  std::vector<std::string> all;
  for (const std::string_view value : setting.values) {
    auto word = from_word(value);
    if (!word) return word.error();
    all.push_back(std::move(*word));
  }
  return all;
}

/// A setting of the last robot, in addition to its path.
Result<void> take_model(MujocoRobot& robot, const Setting& setting) {
  RobotModel& model = robot.model;
  if (setting.key == "wheels") {
    auto v = numbers(setting, 3);
    if (!v) return v.error();
    if (!((*v)[0] > 0 && (*v)[1] > 0 && (*v)[2] > 0))
      return bad(setting, "the values must be positive");
    model.drive = Drive::wheels;
    model.wheel_radius = (*v)[0];
    model.track = (*v)[1];
    model.torque = (*v)[2];
    return success();
  }
  auto read = words(setting);
  if (!read) return read.error();
  if (setting.key == "left") {
    model.left = std::move(*read);
  } else if (setting.key == "right") {
    model.right = std::move(*read);
  } else if (setting.key == "rotors") {
    model.drive = Drive::rotors;
    model.rotors = std::move(*read);
  } else if (setting.key == "model" && read->size() == 2) {
    model.file = std::move((*read)[0]);
    model.folder = std::move((*read)[1]);
  } else if (setting.key == "name" && read->size() == 1) {
    robot.name = std::move(read->front());
  } else {
    return bad(setting, "expected one word for `name`, and file and folder for `model`");
  }
  return success();
}

void write_words(std::string& text, std::string_view key, const std::vector<std::string>& all) {
  text += key;
  for (const std::string& word : all) text += " " + as_word(word);
  text += '\n';
}

void write_model(std::string& text, const MujocoRobot& robot) {
  const RobotModel& model = robot.model;
  if (!robot.name.empty()) write_words(text, "name", {robot.name});
  if (model.file.empty()) return;
  write_words(text, "model", {model.file, model.folder});
  if (model.drive == Drive::wheels) {
    write_setting(text, "wheels", std::array{model.wheel_radius, model.track, model.torque});
    write_words(text, "left", model.left);
    write_words(text, "right", model.right);
  }
  if (model.drive == Drive::rotors) write_words(text, "rotors", model.rotors);
}

bool of_model(std::string_view key) {
  constexpr std::array<std::string_view, 6> kKeys{"name", "model", "wheels",
                                                  "left", "right", "rotors"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

Result<void> take(MujocoOptions& options, const Setting& setting) {
  if (is_terrain(setting)) {
    if (!options.terrain) options.terrain.emplace();
    return take_terrain(setting, *options.terrain);
  }
  if (setting.key == "mesh") {
    auto mesh = read_mesh(setting);
    if (!mesh) return mesh.error();
    options.meshes.push_back(std::move(*mesh));
    return success();
  }
  if (setting.key == "ugv" || setting.key == "uav") return take_robot(options, setting);
  if (setting.key == "box") {
    auto solid = box(setting);
    if (!solid) return solid.error();
    options.boxes.push_back(*solid);
    return success();
  }
  if (setting.key == "color") {
    auto v = numbers(setting, 3);
    if (!v) return v.error();
    if (options.boxes.empty()) return bad(setting, "must follow the line of a box");
    options.colors.resize(options.boxes.size());
    options.colors.back() = Color{(*v)[0], (*v)[1], (*v)[2]};
    return success();
  }
  if (setting.key == "step_us") {
    auto us = number(setting, 100, 10'000, true);
    if (!us) return us.error();
    options.step = Duration::from_us(static_cast<std::int64_t>(*us));
    return success();
  }
  const bool model = of_model(setting.key);
  if (setting.key != "waypoint" && setting.key != "loop" && !model) return unknown(setting);
  if (options.robots.empty()) return bad(setting, "must follow the line of a robot");
  MujocoRobot& robot = options.robots.back();
  if (model) return take_model(robot, setting);
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
  for (std::size_t i = 0; i < options.boxes.size(); ++i) {
    write_box(text, options.boxes[i]);
    if (i >= options.colors.size() || !options.colors[i]) continue;
    const Color& color = *options.colors[i];
    write_setting(text, "color", std::array{color.red, color.green, color.blue});
  }
  if (options.terrain) write_terrain(text, *options.terrain);
  for (const Mesh& mesh : options.meshes) write_mesh(text, mesh);
  for (const MujocoRobot& robot : options.robots) {
    const Vec3& at = robot.start;
    write_setting(text, robot.kind == RobotKind::ugv ? "ugv" : "uav",
                  std::array{at.x, at.y, at.z, robot.yaw, robot.speed});
    for (const Vec3& p : robot.waypoints) {
      write_setting(text, "waypoint", std::array{p.x, p.y, p.z});
    }
    if (robot.loop) write_setting(text, "loop", std::array{1.0});
    write_model(text, robot);
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
