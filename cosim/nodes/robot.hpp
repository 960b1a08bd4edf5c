#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/sense/sensors.hpp"
#include "hyphos/codec.hpp"

/// The engine's view of a robot whose programs are Hyphos nodes.
namespace hyphos::cosim {

/// The nodes that run on a robot.
struct RobotOptions {
  std::string name;
  std::filesystem::path plan;
  std::vector<std::string> settings{};  ///< overrides of the plan, as with `--set`
  std::vector<std::string> nodes{};     ///< nodes of the plan. Empty: all
};

/// A channel that the nodes have opened.
struct OpenChannel {
  std::string name;
  TypeId type;
};

/// The connections between the channels of a robot and the outside.
struct Wiring {
  struct Inbound {
    std::string sent_as;       ///< channel name at the sender
    std::vector<NodeId> from;  ///< senders. Empty: all
    std::string channel;       ///< channel name on this robot
    TypeId type;
  };
  std::vector<std::string> outbound_channels{};  ///< channels whose messages leave
  std::vector<Inbound> inbound_channels{};
  /// The channel of each sensor, by its number. An empty name: no subscriber.
  std::vector<SensorChannel> sensor_channels{};
  std::string pose_channel{};     ///< receives hyphos.msgs.Odometry. Empty: no subscriber
  std::string frame_channel{};    ///< receives the pose as hyphos.msgs.TfMessage. Empty: none
  std::string command_channel{};  ///< hyphos.msgs.Twist that steer it. Empty: no publisher
};

/// True if the list contains this robot. An empty list contains all robots.
[[nodiscard]] inline bool among(const std::vector<NodeId>& robots, NodeId robot) {
  return robots.empty() || std::ranges::find(robots, robot) != robots.end();
}

/// The input of a robot at an instant.
struct RobotInput {
  struct Arrived {
    NodeId from = 0;
    Buffer packet;
  };
  Time now;
  std::optional<Pose> pose{};
  std::vector<Reading> readings{};  ///< of sensors with a channel in Wiring
  std::vector<Arrived> packets{};   ///< in the order of delivery
};

/// The result of a step.
struct RobotOutput {
  struct Sent {
    std::uint32_t outbound = 0;  ///< index in Wiring::outbound_channels
    Buffer packet;
  };
  std::vector<Sent> sent{};
  std::optional<Motion> motion{};
  Time next = kNever;  ///< without new input, the robot does nothing before it
};

/// Messages that never reached a callback, by channel and reason: "drop.queue.overflow".
struct RobotDrops {
  std::string channel;
  std::string reason;
  std::uint64_t count = 0;
};

/// Call order: channels, wire, then steps at instants that never decrease. Any error ends the
/// robot.
class RobotNodes {
 public:
  RobotNodes() = default;
  RobotNodes(const RobotNodes&) = delete;
  RobotNodes& operator=(const RobotNodes&) = delete;
  virtual ~RobotNodes() = default;

  [[nodiscard]] virtual Result<std::vector<OpenChannel>> channels() = 0;
  /// True if the robot accepts messages on channels that are not open yet: programs behind a
  /// gateway open a channel once it has a publisher.
  [[nodiscard]] virtual bool accepts_any() const { return false; }
  /// The output of the first step contains the values that latched channels already hold. Errors:
  /// type_mismatch.
  [[nodiscard]] virtual Result<void> wire(const Wiring& wiring) = 0;
  /// Passes the input to the robot and runs its nodes until all of them are idle.
  [[nodiscard]] Result<RobotOutput> step(const RobotInput& input) {
    if (auto begun = begin(input); !begun) return begun.error();
    return finish();
  }
  /// The two halves of a step. Between them other robots may be stepped, and this robot must not be
  /// called. `input` must stay valid until finish(). If begin() fails, do not call finish().
  [[nodiscard]] virtual Result<void> begin(const RobotInput& input) = 0;
  [[nodiscard]] virtual Result<RobotOutput> finish() = 0;
  [[nodiscard]] virtual Result<std::vector<RobotDrops>> drops() = 0;
};

}  // namespace hyphos::cosim
