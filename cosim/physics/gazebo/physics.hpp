#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/physics/gazebo/server.hpp"

namespace hyphos::cosim {

/// A running Gazebo server, paused and stepped through its world-control service. A step counts as
/// done when the server publishes poses of exactly that instant. The server alone moves the models.
///
/// Instant 0 is one step after the instant at which the world was paused. Gazebo's poses contain no
/// velocity. Velocity and turn are therefore the difference to the last advance, divided by its
/// duration. A step without poses within the timeout is an error, and so is a world that runs by
/// itself. After an error, every later call returns the same error.
class GazeboPhysics final : public Physics {
 public:
  explicit GazeboPhysics(GazeboOptions options) : options_(std::move(options)) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override { return {(steps_ + 1) * options_.step.ns}; }
  std::span<const Pose> poses() const override { return poses_; }
  Result<std::string> steer(NodeId robot, const Motion& motion) override;

 private:
  Result<Frame> first_frame(std::uint64_t seed, Time deadline);
  Result<Frame> meet(std::uint64_t seed, Time deadline);
  Result<void> find_start(std::uint64_t seed);
  Result<void> step(std::int64_t count);
  Result<void> take(const Frame& frame, double seconds);
  Result<void> keep(Result<void> result);

  GazeboOptions options_;
  std::unique_ptr<GazeboServer> server_;
  Time start_;  // server time at our instant 0
  std::int64_t steps_ = 0;
  Time now_;
  std::vector<Pose> poses_;
  std::optional<Error> broken_;
};

}  // namespace hyphos::cosim
