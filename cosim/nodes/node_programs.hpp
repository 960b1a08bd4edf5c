#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/core/engine.hpp"
#include "cosim/nodes/command_guard.hpp"
#include "cosim/nodes/robot.hpp"

namespace hyphos::cosim {

/// A channel whose messages cross the network. Every other channel stays on its robot.
struct CrossingChannel {
  std::string name;          ///< at the sender
  std::string as;            ///< channel name at the receiver. Empty: the same
  std::vector<NodeId> from;  ///< sending robots. Empty: all
  std::vector<NodeId> to;    ///< each gets its own packet. Empty: one packet to everyone
};

/// Hyphos nodes as the programs of robots. A message published on a crossing channel becomes one
/// packet, or one packet for each receiving robot. Its bytes follow docs/reference/wire.md. The
/// packet is delivered into the graphs of the robots that it reaches.
///
/// A robot runs only when something is due: a timer, a pose, or a packet. Robots do not influence
/// each other within an instant, so several may run at once. Their sends, and the first error, are
/// ordered by robot number, as if the robots ran one after the other.
class NodePrograms final : public Programs {
 public:
  struct Options {
    std::vector<std::string> names;  ///< names of the robots, by node, for errors
    std::vector<CrossingChannel> channels;
    std::string pose_channel = "odom";
    std::string command_channel = "cmd_vel";
    std::int64_t pose_rate_hz = 50;
    /// By node. Empty: a command holds until the next one, without limits.
    std::vector<CommandLimits> limits{};
    std::shared_ptr<Sensors> sensors{};  ///< null: no robot has sensors
    bool transforms = true;              ///< the poses on `tf` as well
    std::size_t at_once = 0;             ///< robots that run at the same time. 0: one per processor
  };
  /// `robots` are ordered by node. Null means that nothing runs on that robot. Errors: not_found (a
  /// channel without a sender or a receiver), type_mismatch, and the errors of the robots.
  [[nodiscard]] static Result<std::unique_ptr<NodePrograms>> open(
      Options options, std::vector<std::unique_ptr<RobotNodes>> robots);

  void step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
            Outbox& outbox) override;
  Time next_event_time() const override;
  Result<void> failure() const override;

  /// The messages lost inside robots until now, and the motion commands that were refused.
  [[nodiscard]] Result<std::vector<Lost>> lost();
  /// The commands that were limited or ended by their time limit. Adds to `in_part`.
  void add_in_part(std::map<NodeId, InPart>& in_part) const;

 private:
  struct Robot {
    std::unique_ptr<RobotNodes> nodes;
    std::vector<OpenChannel> open;
    std::vector<std::uint32_t> outbound_channels;  // index in Options::channels, by outbound
    Time next;                                     // the first step is due at once
    std::int64_t poses = -1;                       // poses sent so far. -1: it subscribes to none
    CommandGuard guard{};
    RobotInput input;
    Time now;  // of the last step
    Result<void> begun = success();

    [[nodiscard]] const OpenChannel* find(const std::string& name) const;
  };

  NodePrograms(Options options, Step pose_step)
      : options_(std::move(options)), pose_step_(pose_step) {}
  Result<void> wire();
  Result<void> connect(std::uint32_t channel, std::vector<Wiring>& wirings);
  void run_due(Outbox& outbox);
  Result<void> finish(NodeId node, Outbox& outbox);
  Result<void> take(NodeId node, RobotOutput output, Outbox& outbox);
  [[nodiscard]] bool is_due(NodeId node, Time now) const;
  void sense(NodeId node, Time now, std::span<const Pose> poses);
  Result<void> wire_body(NodeId node, Wiring& wiring);
  Result<void> wire_sensors(NodeId node, Wiring& wiring);
  [[nodiscard]] Time pose_due(const Robot& robot) const;
  [[nodiscard]] Time sensor_due(NodeId node) const;
  [[nodiscard]] std::string opened_channels() const;

  Options options_;
  Step pose_step_;
  std::vector<Robot> robots_;
  std::vector<NodeId> due_;  // robots due in this step
  std::optional<Error> failure_;
};

}  // namespace hyphos::cosim
