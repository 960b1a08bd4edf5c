// Drives the robot around by its own map: explores, then patrols.
#include "planner.hpp"

#include <mutex>

#include "check.hpp"
#include "convert.hpp"
#include "hyphos/hyphos.hpp"

namespace patrol {
namespace {

using hyphos::msgs::OccupancyGrid;
using hyphos::msgs::Path;
using hyphos::msgs::PoseStamped;
using hyphos::msgs::Twist;

class PlannerNode {
 public:
  explicit PlannerNode(const hyphos::Node& node)
      : refusals_(node),
        max_speed_(node.params().declare<double>(
            "max_speed", {.value = PlannerConfig().max_speed,
                          .unit = "m/s",
                          .description = "how fast the robot drives where there is room",
                          .range = {0.05, 2}})),
        max_turn_rate_(
            node.params().declare<double>("max_turn_rate", {.value = PlannerConfig().max_turn_rate,
                                                            .unit = "rad/s",
                                                            .description = "how fast it turns",
                                                            .range = {0.1, 4}})),
        planner_(PlannerConfig()),
        drive_(node.publisher<Twist>("drive")),
        path_(node.publisher<Path>("path")) {
    node.subscribe<OccupancyGrid>("map", hyphos::serial, [this](const auto& m) {
      if (refusals_.refuse("map", unusable(*m))) return;
      const GridMap map = from_message(*m);
      const std::lock_guard lock(mutex_);
      planner_.set_map(map);
    });
    node.subscribe<PoseStamped>("pose", hyphos::serial, [this](const auto& m) {
      if (!refusals_.refuse("pose", unusable(*m))) steer(*m);
    });
  }

 private:
  void steer(const PoseStamped& message) {
    Drive drive;
    Path path;
    {
      const std::lock_guard lock(mutex_);
      const double now_s = static_cast<double>(message.header().stamp_ns()) * 1e-9;
      planner_.set_limits(*max_speed_, *max_turn_rate_);
      drive = planner_.update(get_pose(message.pose()), now_s);
      // A stamp may be before the last one if the clock was set back.
      if (now_s >= next_path_s_ || now_s < next_path_s_ - 0.5) {
        next_path_s_ = now_s + 0.5;
        *path.mutable_header() = message.header();
        for (const Point2 p : planner_.path()) {
          set_pose({p.x, p.y, 0}, *path.add_poses()->mutable_pose());
        }
      }
    }
    Twist twist;
    twist.mutable_linear()->set_x(drive.speed);
    twist.mutable_angular()->set_z(drive.turn_rate);
    drive_.publish(std::move(twist));
    if (path.poses_size() > 0) path_.publish(std::move(path));
  }

  const hyphos::Refusals refusals_;
  std::mutex mutex_;  // `map` and `pose` callbacks run on different threads
  const hyphos::Param<double> max_speed_;
  const hyphos::Param<double> max_turn_rate_;
  Planner planner_;
  double next_path_s_ = 0;
  hyphos::Publisher<Twist> drive_;
  hyphos::Publisher<Path> path_;
};

}  // namespace
}  // namespace patrol

HYPHOS_NODE(patrol::PlannerNode)
