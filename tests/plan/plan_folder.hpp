#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "hyphos/plan.hpp"

namespace hyphos {

inline Plan plan_of(const std::string& text, const PlanOptions& options = {}) {
  return parse_plan(text, "r.yaml", options).or_throw();
}

/// A folder that is removed after the test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("hyphos_plan_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
  [[nodiscard]] std::string text(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

using Names = std::vector<std::string>;

/// A robot in three processes.
inline constexpr const char* kThreeProcesses = R"(hyphos: 1
hosts:
  ugv: {address: 10.0.0.1, netns: n1}
  base: {address: 10.0.0.2}
processes:
  sense: {host: ugv, nodes: [world]}
  drive: {host: ugv, nodes: [driver], endpoint: "tcp://*:7000"}
  think: {host: base, nodes: [mapper]}
nodes: {world: , driver: , mapper: }
channels:
  scan: {publishers: [world], subscribers: [mapper, driver]}
  cmd: {publishers: [mapper], subscribers: [driver]}
  inner: {publishers: [world], subscribers: [world], scope: local}
  forced: {publishers: [world, driver], subscribers: [world, driver], transport: zmq}
  open: {scope: machine}
)";

}  // namespace hyphos
