#pragma once

#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "cosim/core/simulator.hpp"

namespace hyphos::cosim {

/// An endless straight line.
struct ConstantVelocity {
  Vec3 start;
  Vec3 velocity;
};

/// Straight lines from point to point at one speed. With `loop` the robot continues from the last
/// point to the first, otherwise it stays at the last point.
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

/// The legs of Waypoints, with everything that does not depend on time.
struct Course {
  struct Leg {
    Vec3 from;
    Vec3 way;
    double size = 0;  ///< m
    Vec3 velocity;
    double yaw = 0;
    Quaternion orientation{};
  };
  explicit Course(const Waypoints& path);

  std::vector<Leg> legs;
  double total = 0;  ///< m
};

/// The pose on a path at time `t`.
[[nodiscard]] Pose pose_at(const Path& path, Time t);

/// The pose of an upright robot. Its heading is an angle, because the next heading is computed from
/// it. A quaternion would not reproduce the angle bit by bit.
struct Level {
  Vec3 position;
  Vec3 velocity;
  double yaw = 0;   ///< rad about z, 0 along x
  double turn = 0;  ///< rad/s about z
};

/// The motion of a steered robot: one arc.
struct Steered {
  Time since;
  Level from;
  Motion motion;
};

/// Robots that follow given paths, one for each robot, or the commands of their programs. They pass
/// through everything. A pose depends only on the time, or on the time since the last command, so
/// it does not depend on the steps. Cost: some tens of nanoseconds per robot and step.
class Kinematic final : public Physics {
 public:
  explicit Kinematic(std::vector<Path> paths);

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
  [[nodiscard]] Pose pose(NodeId robot) const;

  std::vector<Path> paths_;
  std::vector<std::optional<Course>> courses_;  // of paths that are Waypoints
  std::map<NodeId, Steered> steered_;
  std::vector<Pose> poses_;
  Time now_;
};

}  // namespace hyphos::cosim
