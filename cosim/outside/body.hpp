#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/nodes/in_step.hpp"
#include "hyphos/hyphos.hpp"

namespace hyphos::cosim {

/// The names of a body and of its channels.
struct BodyNames {
  std::string robot;
  std::string domain = "0";
  std::string prefix{};  ///< empty, or the namespace of all channels except `clock`
  std::string pose_channel = "odom";
  std::string command_channel = "cmd_vel";
  bool transforms = true;  ///< publish `tf`
  std::vector<SensorChannel> sensors{};
};

/// The body of a simulated robot in a Hyphos domain of this machine: it publishes the simulated
/// time, the odometry and the sensors, and subscribes to the motion command. Programs see a robot
/// as if it were real, and a gateway brings all channels to ROS. Threads: use from one.
/// `on_command` is called by a thread of the library.
class Body {
 public:
  using OnCommand = std::function<void(const Motion&)>;
  [[nodiscard]] static Result<std::unique_ptr<Body>> open(const BodyNames& names,
                                                          OnCommand on_command);
  ~Body() { node_.close(); }  // before the members that its callbacks use
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  void set_time(Time now);
  void publish_pose(const Pose& pose, Time now);
  /// Publishes the pose as a transform on `tf`. Returns false if `tf` has no subscriber.
  bool publish_frame(const Pose& pose, Time now);
  void publish(const Reading& reading) { publish_reading(sensors_, reading); }

  [[nodiscard]] Node& node() { return node_; }
  [[nodiscard]] Runtime& runtime() { return runtime_; }
  [[nodiscard]] Time now() const { return time_.now(); }
  /// "odom" → "husky1/odom", and back. Names without the prefix stay the same.
  [[nodiscard]] std::string outer(const std::string& channel) const;
  [[nodiscard]] std::string inner(const std::string& channel) const;
  /// The channels that other processes of the domain have open, by their outer names.
  [[nodiscard]] Result<std::map<std::string, TypeId>> opened_by_programs() const;
  /// Messages of `cmd_vel` that could not be decoded.
  [[nodiscard]] std::uint64_t unreadable() const { return unreadable_.load(); }

 private:
  Body(BodyNames names, InStep process)
      : names_(std::move(names)),
        runtime_(std::move(process.runtime)),
        node_(std::move(process.node)),
        time_(std::move(process.time)) {}
  Result<void> open_channels(OnCommand on_command);

  BodyNames names_;
  Runtime runtime_;
  Node node_;
  SimTime time_;
  std::string frame_;
  RawPublisher pose_;
  std::optional<RawPublisher> tf_;
  std::vector<RawPublisher> sensors_;
  std::atomic<std::uint64_t> unreadable_{0};
};

}  // namespace hyphos::cosim
