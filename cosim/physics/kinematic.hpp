#pragma once

#include <map>
#include <variant>
#include <vector>

#include "cosim/core/simulator.hpp"

namespace hyphos::cosim {

/// A straight line for ever.
struct ConstantVelocity {
  Vec3 start;
  Vec3 velocity;
};

/// From point to point on straight lines at one speed; `loop` goes on from the last to the first,
/// else the robot stays at the last.
struct Waypoints {
  std::vector<Vec3> points;
  double speed = 1;  ///< m/s
  bool loop = false;
};

/// A horizontal circle.
struct Circle {
  Vec3 centre;
  double radius = 1;         ///< m
  double angular_speed = 1;  ///< rad/s, positive from x to y
  double phase = 0;          ///< rad at time 0
};

using Path = std::variant<ConstantVelocity, Waypoints, Circle>;

/// Where a path is at a time.
[[nodiscard]] Pose pose_at(const Path& path, Time t);

/// The pose of a robot that stands upright. Its heading is an angle, from which the next one is
/// computed: a quaternion would not give it back to the bit.
struct Level {
  Vec3 position;
  Vec3 velocity;
  double yaw = 0;   ///< rad about z, 0 along x
  double turn = 0;  ///< rad/s about z
};

/// What a robot does that its programs steer: the arc of one motion.
struct Steered {
  Time since;
  Level from;
  Motion motion;
};

/// Robots that follow given paths, one for each, or what their programs tell them, through
/// everything. A pose is computed from the time alone, or the time since the last motion was told,
/// so that it does not depend on the steps. Costs some tens of nanoseconds for a robot and step.
class Kinematic final : public Physics {
 public:
  explicit Kinematic(std::vector<Path> paths) : paths_(std::move(paths)) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override { return kNever; }
  std::span<const Pose> poses() const override { return poses_; }
  Result<std::string> steer(NodeId robot, const Motion& motion) override;
  Result<std::vector<std::byte>> save() const override;
  Result<void> restore(std::span<const std::byte> state) override;

 private:
  void place();
  [[nodiscard]] Level level(NodeId robot) const;

  std::vector<Path> paths_;
  std::map<NodeId, Steered> steered_;
  std::vector<Pose> poses_;
  Time now_;
};

}  // namespace hyphos::cosim
