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
#include "hyphos/codec.hpp"

/// A robot whose programs are Hyphos nodes, as the engine sees it.
namespace hyphos::cosim {

/// Which nodes run on a robot.
struct RobotOptions {
  std::string name;
  std::filesystem::path plan;
  std::vector<std::string> settings{};  ///< of the plan, as `--set`
  std::vector<std::string> nodes{};     ///< of the plan; empty: all
};

/// A channel that the nodes have opened.
struct OpenChannel {
  std::string name;
  TypeId type;
};

/// How the channels of a robot meet the world outside of it.
struct Wiring {
  struct Inlet {
    std::string sent_as;       ///< the channel at the sender
    std::vector<NodeId> from;  ///< senders; empty: all
    std::string channel;       ///< where it arrives here
    TypeId type;
  };
  std::vector<std::string> outlets{};  ///< channels whose messages leave
  std::vector<Inlet> inlets{};
  std::string pose_channel{};     ///< gets hyphos.msgs.Odometry; empty: nobody listens
  std::string command_channel{};  ///< hyphos.msgs.Twist that steer it; empty: nobody steers
};

/// Whether a list of robots has this one; an empty one has all.
[[nodiscard]] inline bool among(const std::vector<NodeId>& robots, NodeId robot) {
  return robots.empty() || std::ranges::find(robots, robot) != robots.end();
}

/// What a robot is given at an instant.
struct RobotInput {
  struct Arrived {
    NodeId from = 0;
    Buffer packet;
  };
  Time now;
  std::optional<Pose> pose{};
  std::vector<Arrived> packets{};  ///< in order
};

/// What came of it.
struct RobotOutput {
  struct Sent {
    std::uint32_t outlet = 0;  ///< index in Wiring::outlets
    Buffer packet;
  };
  std::vector<Sent> sent{};
  std::optional<Motion> motion{};
  Time next = kNever;  ///< unless something arrives, nothing is done before this
};

/// Messages that never reached a callback, by channel and reason: "drop.queue.overflow".
struct RobotDrops {
  std::string channel;
  std::string reason;
  std::uint64_t count = 0;
};

/// Calls come in this order: channels, wire, then steps with instants that never go back. Any error
/// ends the robot.
class RobotNodes {
 public:
  RobotNodes() = default;
  RobotNodes(const RobotNodes&) = delete;
  RobotNodes& operator=(const RobotNodes&) = delete;
  virtual ~RobotNodes() = default;

  [[nodiscard]] virtual Result<std::vector<OpenChannel>> channels() = 0;
  /// What latched channels hold already is in the first step's output. Errors: type_mismatch.
  [[nodiscard]] virtual Result<void> wire(const Wiring& wiring) = 0;
  /// Gives the robot its input and lets its nodes run until all of them are at rest.
  [[nodiscard]] Result<RobotOutput> step(const RobotInput& input) {
    if (auto begun = begin(input); !begun) return begun.error();
    return finish();
  }
  /// The halves of a step: between them other robots may be stepped, and this one is asked for
  /// nothing else. `input` lasts until the second. Where begin() fails there is no finish().
  [[nodiscard]] virtual Result<void> begin(const RobotInput& input) = 0;
  [[nodiscard]] virtual Result<RobotOutput> finish() = 0;
  [[nodiscard]] virtual Result<std::vector<RobotDrops>> drops() = 0;
};

}  // namespace hyphos::cosim
