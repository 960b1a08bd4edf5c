#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>

#include "cosim/nodes/robot.hpp"
#include "hyphos/hyphos.hpp"

namespace hyphos::cosim {

/// The nodes of one robot in this process: a graph of its own, offline, in lock-step, on simulated
/// time. One callback runs at a time, in the order in which they became due, so that the same
/// inputs give the same outputs whatever the threads and the load.
///
/// A step sets the time, brings in the pose and the packets, and ends when no callback is queued or
/// running. All of that is done in finish(). It waits for a callback as long as that takes: a robot
/// that may hang belongs into a process of its own (RemoteRobot). For one thread.
class LocalRobot final : public RobotNodes {
 public:
  /// Opens the graph. Nodes are then added by load(), or by hand on runtime(), from inside
  /// Runtime::settle(). Without a plan there are only those made by hand.
  [[nodiscard]] static Result<std::unique_ptr<LocalRobot>> open(const RobotOptions& options);
  ~LocalRobot() override { node_.close(); }  // before what its callbacks use
  /// Makes the plug-in nodes.
  [[nodiscard]] Result<void> load();
  [[nodiscard]] Runtime& runtime() { return runtime_; }

  Result<std::vector<OpenChannel>> channels() override;
  Result<void> wire(const Wiring& wiring) override;
  Result<void> begin(const RobotInput& input) override;
  Result<RobotOutput> finish() override;
  Result<std::vector<RobotDrops>> drops() override;

 private:
  struct Inlet {
    Wiring::Inlet wiring;
    RawPublisher publisher;
  };

  LocalRobot(RobotOptions options, Runtime runtime, Node node, SimTime time)
      : options_(std::move(options)),
        runtime_(std::move(runtime)),
        node_(std::move(node)),
        time_(std::move(time)) {}
  Result<void> open_outlet(std::uint32_t outlet, const OpenChannel& channel);
  Result<void> open_inlet(const Wiring::Inlet& inlet);
  Result<void> open_command(const std::string& channel);
  void send(std::uint32_t outlet, const OpenChannel& channel, const Message<RawMessage>& message);
  void bring_in(const RobotInput& input);
  [[nodiscard]] Result<void> receive(const RobotInput::Arrived& arrived);
  /// Runs it on the pool, and all that comes of it.
  [[nodiscard]] Result<void> run(const std::function<void()>& work);
  [[nodiscard]] std::uint64_t stable_sender(std::uint64_t sender, const std::string& channel);

  RobotOptions options_;
  Runtime runtime_;
  Node node_;
  SimTime time_;
  std::vector<Inlet> inlets_;
  RawPublisher pose_;
  bool has_pose_ = false;
  const RobotInput* input_ = nullptr;  // of the step that has begun
  Result<void> received_ = success();

  std::mutex mutex_;  // nodes may publish from threads of their own, against the rules
  RobotOutput output_;
  std::map<std::uint64_t, std::uint64_t> senders_;  // of this run → the same in every run
  std::set<std::uint64_t> foreign_;                 // senders on other robots
};

}  // namespace hyphos::cosim
