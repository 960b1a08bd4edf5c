#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/physics/gazebo/server.hpp"

namespace hyphos::cosim {

/// A Gazebo server that somebody started: paused, stepped through its world-control service, and
/// believed to have stepped when it publishes poses of that very instant. What moves the models is
/// the server's affair.
///
/// Instant 0 is one step behind where the world was paused. A velocity is the way since the last
/// advance, divided by its time, and a turn likewise: Gazebo's poses have none. A step that is not
/// told of within the timeout is an error, as is a world that goes on by itself. Whatever went
/// wrong once is what every later call says.
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
  Time start_;  // of the server, at our 0
  std::int64_t steps_ = 0;
  Time now_;
  std::vector<Pose> poses_;
  std::optional<Error> broken_;
};

}  // namespace hyphos::cosim
