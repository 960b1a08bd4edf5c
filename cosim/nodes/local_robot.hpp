#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "base/mutex.hpp"
#include "cosim/nodes/in_step.hpp"
#include "cosim/nodes/robot.hpp"
#include "hyphos/hyphos.hpp"

namespace hyphos::cosim {

/// The nodes of one robot in this process: a graph of its own, offline, in lockstep, on simulated
/// time. One callback runs at a time, in the order in which callbacks became due. The same inputs
/// therefore give the same outputs, independent of threads and load.
///
/// A step sets the time, delivers the pose and the packets, and ends when no callback is queued or
/// running. finish() does all of this. It waits for a callback without a time limit, so a robot
/// that may hang belongs in a separate process (RemoteRobot). Threads: use from one thread.
class LocalRobot final : public RobotNodes {
 public:
  /// Opens the graph. load() then adds nodes, or the caller adds nodes on runtime() from inside
  /// Runtime::settle(). Without a plan there are only nodes added by the caller.
  [[nodiscard]] static Result<std::unique_ptr<LocalRobot>> open(const RobotOptions& options);
  ~LocalRobot() override { node_.close(); }  // before the members that its callbacks use
  /// Creates the plug-in nodes.
  [[nodiscard]] Result<void> load();
  [[nodiscard]] Runtime& runtime() { return runtime_; }

  Result<std::vector<OpenChannel>> channels() override;
  Result<void> wire(const Wiring& wiring) override;
  Result<void> begin(const RobotInput& input) override;
  Result<RobotOutput> finish() override;
  Result<std::vector<RobotDrops>> drops() override;

 private:
  LocalRobot(RobotOptions options, InStep process)
      : options_(std::move(options)),
        runtime_(std::move(process.runtime)),
        node_(std::move(process.node)),
        time_(std::move(process.time)) {}
  Result<void> open_outbound(std::uint32_t outbound, const OpenChannel& channel);
  Result<void> open_poses(const Wiring& wiring);
  Result<void> open_sensors(const std::vector<SensorChannel>& sensors);
  Result<void> open_command(const std::string& channel);
  void send(std::uint32_t outbound, const OpenChannel& channel, const Message<RawMessage>& message);
  void bring_in(const RobotInput& input);
  /// Runs `work` on the pool, and waits for all resulting callbacks.
  [[nodiscard]] Result<void> run(const std::function<void()>& work);
  [[nodiscard]] std::uint64_t stable_sender(std::uint64_t sender, const std::string& channel)
      HYPHOS_REQUIRES(mutex_);

  RobotOptions options_;
  Runtime runtime_;
  Node node_;
  SimTime time_;
  Arrivals arrivals_;
  std::vector<RawPublisher> sensors_;  // by number
  RawPublisher pose_;
  RawPublisher frame_;
  bool has_pose_ = false;
  bool has_frame_ = false;
  const RobotInput* input_ = nullptr;  // of the current step
  Result<void> received_ = success();

  Mutex mutex_;  // nodes may break the rules and publish from their own threads
  RobotOutput output_ HYPHOS_GUARDED_BY(mutex_);
  // id in this run → id that all runs share
  std::map<std::uint64_t, std::uint64_t> senders_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::cosim
