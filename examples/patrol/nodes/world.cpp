// The robot's body in a built-in building: follows drive commands, and publishes sensor data, its
// frames and its model, and the truth, which is the pose of the robot and the walls.
#include <algorithm>
#include <array>
#include <mutex>

#include "check.hpp"
#include "convert.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos/msgs/std.pb.h"
#include "robot.hpp"
#include "simulator.hpp"

namespace patrol {
namespace {

using hyphos::Duration;
using hyphos::msgs::LaserScan;
using hyphos::msgs::OccupancyGrid;
using hyphos::msgs::Odometry;
using hyphos::msgs::PoseStamped;
using hyphos::msgs::Twist;

class WorldNode {
 public:
  explicit WorldNode(const hyphos::Node& node)
      : refusals_(node),
        start_(node.clock().now()),
        world_(World::building()),
        simulator_(world_, config(node)),
        transforms_(node.transforms()),
        odom_(node.publisher<Odometry>("odom")),
        truth_(node.publisher<PoseStamped>("truth")),
        scan_(node.publisher<LaserScan>("scan")),
        walls_(node.publisher<OccupancyGrid>("walls")),
        model_(node.publisher<hyphos::msgs::String>("robot_description")) {
    node.subscribe<Twist>("drive", hyphos::inline_, [this](const hyphos::Message<Twist>& m) {
      if (refusals_.refuse("drive", unusable(*m))) return;
      const std::lock_guard lock(mutex_);
      simulator_.command(m->linear().x(), m->angular().z());
    });
    OccupancyGrid walls = to_message(world_.map(kWallCell), 0);
    walls.mutable_header()->set_frame_id("world");
    walls_.publish(std::move(walls));  // latched, so that later subscribers receive it
    hyphos::msgs::String model;
    model.set_data(kModel);
    model_.publish(std::move(model));
    const SimulatorConfig& robot = simulator_.config();
    const std::array frames = {transform("world", "map", robot.start),
                               transform("base", "laser", robot.laser_mount, kLaserHeight)};
    transforms_.set_static(frames).or_throw();
    node.every(Duration{kStepNs}, [this] { step(); });
    node.every(Duration::from_ms(50), [this] { sense(); });
  }

 private:
  static constexpr std::int64_t kStepNs = 10'000'000;
  static constexpr double kWallCell = 0.02;  // m. Every face of the building is a multiple of it

  static SimulatorConfig config(const hyphos::Node& node) {
    SimulatorConfig config;
    config.seed = static_cast<std::uint64_t>(node.param("seed", 1));
    config.beams = std::clamp(node.param("beams", config.beams), 2, kMostRanges);
    config.laser_noise_m = node.param("laser_noise_m", config.laser_noise_m);
    return config;
  }

  void step() {
    Odometry odometry;
    PoseStamped truth;
    std::int64_t stamp_ns = 0;
    Pose2 wheels;
    {
      const std::lock_guard lock(mutex_);
      // Catches up with the clock after a stall of the machine.
      const std::int64_t behind_ns = (hyphos::monotonic_now() - began_).ns - simulator_.now_ns();
      const std::int64_t steps = std::clamp<std::int64_t>(behind_ns / kStepNs, 1, 20);
      for (std::int64_t i = 0; i < steps; ++i) simulator_.step(kStepNs * 1e-9);
      stamp_ns = start_.ns + simulator_.now_ns();
      wheels = simulator_.odometry();
      odometry.mutable_header()->set_stamp_ns(stamp_ns);
      set_pose(wheels, *odometry.mutable_pose()->mutable_pose());
      odometry.mutable_twist()->mutable_twist()->mutable_linear()->set_x(simulator_.speed());
      odometry.mutable_twist()->mutable_twist()->mutable_angular()->set_z(simulator_.turn_rate());
      truth.mutable_header()->set_stamp_ns(stamp_ns);
      set_pose(simulator_.truth(), *truth.mutable_pose());
    }
    odometry.mutable_header()->set_frame_id("odom");
    odometry.set_child_frame_id("base");
    truth.mutable_header()->set_frame_id("world");
    // The transform first: a subscriber of `odom` then knows the frame.
    (void)transforms_.set(transform_at(stamp_ns, "odom", "base", wheels));
    odom_.publish(std::move(odometry));
    truth_.publish(std::move(truth));
  }

  void sense() {
    Scan scan;
    {
      const std::lock_guard lock(mutex_);
      if (simulator_.now_ns() == 0) return;  // nothing has moved yet, and a stamp of 0 means unset
      scan = simulator_.scan();
    }
    scan.stamp_ns += start_.ns;
    scan_.publish(to_message(scan));
  }

  const hyphos::Refusals refusals_;
  const hyphos::Time start_;  // of the robot's clock. Stamps are relative to it
  const hyphos::Time began_ = hyphos::monotonic_now();
  const World world_;
  std::mutex mutex_;  // the two timers and `drive` run on different threads
  Simulator simulator_;
  const hyphos::Transforms transforms_;
  hyphos::Publisher<Odometry> odom_;
  hyphos::Publisher<PoseStamped> truth_;
  hyphos::Publisher<LaserScan> scan_;
  hyphos::Publisher<OccupancyGrid> walls_;
  hyphos::Publisher<hyphos::msgs::String> model_;
};

}  // namespace
}  // namespace patrol

HYPHOS_NODE(patrol::WorldNode)
