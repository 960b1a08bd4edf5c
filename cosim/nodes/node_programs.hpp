#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/core/engine.hpp"
#include "cosim/nodes/robot.hpp"

namespace hyphos::cosim {

/// A channel whose messages cross the network. Every other channel stays on its robot.
struct CrossingChannel {
  std::string name;          ///< at the sender
  std::string as;            ///< where it arrives; empty: the same
  std::vector<NodeId> from;  ///< robots whose messages leave; empty: all
  std::vector<NodeId> to;    ///< each gets a packet of its own; empty: one packet to everyone
};

/// Hyphos nodes as the programs of robots. A message that is published on a crossing channel is one
/// packet (or one for each robot it is for) with the bytes of docs/wire.md, and is brought into the
/// graphs of the robots that it reaches.
///
/// A robot runs only when something is due: a timer, a pose, or a packet. Robots hear nothing of
/// each other within an instant, so that several may run at once; what they send, and the first
/// error, are in the order of their numbers, as if one had run after the other.
class NodePrograms final : public Programs {
 public:
  struct Options {
    std::vector<std::string> names;  ///< of the robots, by node, for errors
    std::vector<CrossingChannel> channels;
    std::string pose_channel = "odom";
    std::string command_channel = "cmd_vel";
    std::int64_t pose_rate_hz = 50;
    std::size_t at_once = 0;  ///< robots that may run at the same time; 0: one on each processor
  };
  /// `robots` by node; null: nothing runs on it. Errors: not_found (a channel that nobody sends or
  /// receives), type_mismatch, and those of the robots.
  [[nodiscard]] static Result<std::unique_ptr<NodePrograms>> open(
      Options options, std::vector<std::unique_ptr<RobotNodes>> robots);

  void step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
            Outbox& outbox) override;
  Time next_event_time() const override;
  Result<void> failure() const override;

  /// What was lost inside of robots until now.
  [[nodiscard]] Result<std::vector<Lost>> lost();

 private:
  struct Robot {
    std::unique_ptr<RobotNodes> nodes;
    std::vector<OpenChannel> open;
    std::vector<std::uint32_t> outlets;  // index in Options::channels, of each outlet
    Time next;                           // the first step is due at once
    std::int64_t poses = -1;             // told so far; -1: it wants none
    RobotInput input;
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
  [[nodiscard]] bool is_due(const Robot& robot, Time now) const;
  [[nodiscard]] Time pose_due(const Robot& robot) const;
  [[nodiscard]] std::string opened_channels() const;

  Options options_;
  Step pose_step_;
  std::vector<Robot> robots_;
  std::vector<NodeId> due_;  // in this step
  std::optional<Error> failure_;
};

}  // namespace hyphos::cosim
