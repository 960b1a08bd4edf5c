#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "cosim/core/engine.hpp"
#include "cosim/nodes/command_guard.hpp"
#include "cosim/sense/sensors.hpp"

namespace hyphos::cosim {

/// The bodies of the robots of a real-time run: sends time, pose and readings to the process that
/// publishes them in the world of each robot (follow()), and steers the robots by the commands that
/// come back. It never waits: a datagram that does not fit into a socket is dropped and counted.
/// Threads: that of the emulator.
class Bodies {
 public:
  struct Options {
    std::vector<std::string> names{};  ///< names of the robots, by node
    std::int64_t pose_rate_hz = 50;
    std::string command_channel = "cmd_vel";
    std::vector<CommandLimits> limits{};   ///< by node
    std::vector<std::int64_t> clock_hz{};  ///< by node
    std::shared_ptr<Sensors> sensors{};    ///< null: none
  };
  /// `sockets` by node: a SOCK_SEQPACKET each, -1 for a robot without a body. The object closes
  /// them. Errors: invalid_config (a rate).
  [[nodiscard]] static Result<std::unique_ptr<Bodies>> open(Options options,
                                                            const std::vector<int>& sockets);

  /// Everything due at the end of a window. Errors: those of physics and sensors.
  [[nodiscard]] Result<void> window(Time now, Physics& physics);

  /// Commands that were refused, and datagrams that did not fit.
  [[nodiscard]] std::vector<Lost> lost() const;
  /// Commands that were followed in part, by robot.
  [[nodiscard]] std::map<NodeId, InPart> in_part() const;
  [[nodiscard]] std::uint64_t motions() const { return motions_; }

 private:
  struct Robot {
    UniqueFd socket;
    Step clock_step;
    std::int64_t clocks = 0;
    std::int64_t poses = 0;
    CommandGuard guard;
    std::uint64_t dropped = 0;  // datagrams that did not fit
  };
  explicit Bodies(Options options, Step pose_step)
      : options_(std::move(options)), pose_step_(pose_step) {}
  Result<void> take_commands(NodeId node, Time now, Physics& physics);
  Result<void> steer(NodeId node, const Motion& motion, Time now, Physics& physics);
  Result<void> tell(NodeId node, Time now, std::span<const Pose> poses);

  Options options_;
  Step pose_step_;
  std::vector<std::unique_ptr<Robot>> robots_;  // null: no body
  std::map<NodeId, InPart> in_part_;
  std::vector<Reading> readings_;
  std::uint64_t motions_ = 0;
};

}  // namespace hyphos::cosim
