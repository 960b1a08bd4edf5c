#include "cosim/scenario/model.hpp"

#include <filesystem>

namespace hyphos::cosim {
namespace {

namespace fs = std::filesystem;
using config::Section;

constexpr std::size_t kMostWords = 64;

std::vector<std::string> names(const Section& model, const char* key) {
  std::vector<std::string> all;
  for (const config::Word& word : model.words(key)) all.push_back(word.text);
  if (all.size() > kMostWords) model.error(key, "at most 64 names are possible");
  return all;
}

void read_wheels(const Section& model, RobotModel& to) {
  to.left = names(model, "left");
  to.right = names(model, "right");
  for (const char* key : {"left", "right", "wheel_radius_m", "track_m"}) {
    if (model.has(key)) continue;
    model.error(key,
                "is missing: `drive: wheels` needs the actuators or joints `left` and `right`, "
                "`wheel_radius_m` and `track_m`");
    return;
  }
  to.wheel_radius = model.real("wheel_radius_m", 0.1, 1e-3, 10);
  to.track = model.real("track_m", 0.5, 1e-3, 100);
  to.torque = model.real("torque_nm", to.torque, 1e-3, 1e5);
}

}  // namespace

RobotModel read_model(const Section& robot, const std::string& path, bool mujoco,
                      config::Problems& problems) {
  RobotModel made;
  if (!robot.has("model")) return made;
  if (!mujoco) {
    robot.error("model", "only valid with `physics.simulator: mujoco`");
    return made;
  }
  const Section model(robot.find("model"), robot.path("model"), problems,
                      {"file", "folder", "drive", "left", "right", "wheel_radius_m", "track_m",
                       "torque_nm", "rotors"});
  if (!model.has("file")) {
    model.error("file", "is missing: give a model in MuJoCo's format (.xml) or in URDF (.urdf)");
    return made;
  }
  const fs::path beside = fs::path(path).parent_path();
  made.file = (beside / model.text("file", "")).lexically_normal().string();
  const std::string folder = model.text("folder", "");
  made.folder = folder.empty() ? fs::path(made.file).parent_path().string()
                               : (beside / folder).lexically_normal().string();
  if (made.folder.empty()) made.folder = ".";
  std::error_code error;
  if (!fs::is_regular_file(made.file, error)) {
    model.error("file", "there is no file '" + made.file + "'");
  }
  made.drive = model.choice<Drive>(
      "drive", Drive::none,
      {{"none", Drive::none}, {"wheels", Drive::wheels}, {"rotors", Drive::rotors}});
  if (made.drive == Drive::wheels) read_wheels(model, made);
  if (made.drive == Drive::rotors) {
    made.rotors = names(model, "rotors");
    if (made.rotors.empty()) model.error("rotors", "is missing: give the names of the motors");
  }
  for (const char* key : {"left", "right", "wheel_radius_m", "track_m", "torque_nm"}) {
    if (model.has(key) && made.drive != Drive::wheels) {
      model.error(key, "only valid with `drive: wheels`");
    }
  }
  if (model.has("rotors") && made.drive != Drive::rotors) {
    model.error("rotors", "only valid with `drive: rotors`");
  }
  return made;
}

}  // namespace hyphos::cosim
