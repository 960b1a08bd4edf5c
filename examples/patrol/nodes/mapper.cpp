// Builds a map from laser scans and wheel odometry. Publishes the robot's pose in it, and the
// transform map → odom, which is the correction of the wheels.
#include "mapper.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "check.hpp"
#include "convert.hpp"
#include "hyphos/hyphos.hpp"
#include "odometry_track.hpp"
#include "png.hpp"
#include "robot.hpp"

namespace patrol {
namespace {

using hyphos::msgs::LaserScan;
using hyphos::msgs::Odometry;
using hyphos::msgs::PoseStamped;

MapperConfig config_of(const hyphos::Node& node) {
  MapperConfig config;
  config.start = {node.param("start_x", 0.0), node.param("start_y", 0.0),
                  node.param("start_yaw", 0.0)};
  config.keyframe_every = static_cast<std::size_t>(
      std::max<std::int64_t>(0, node.param("keyframe_every", std::int64_t{0})));
  OdometryNoise& noise = config.odometry;
  noise.translation_per_m = node.param("odometry_translation_per_m", noise.translation_per_m);
  noise.rotation_per_rad = node.param("odometry_rotation_per_rad", noise.rotation_per_rad);
  noise.rotation_per_m = node.param("odometry_rotation_per_m", noise.rotation_per_m);
  noise.translation_floor_m = node.param("odometry_translation_floor_m", noise.translation_floor_m);
  noise.rotation_floor_rad = node.param("odometry_rotation_floor_rad", noise.rotation_floor_rad);
  return config;
}

class MapperNode {
 public:
  explicit MapperNode(const hyphos::Node& node)
      : refusals_(node),
        mount_{node.param("laser_x", 0.1), node.param("laser_y", 0.0),
               node.param("laser_yaw", 0.0)},
        map_period_ns_(hyphos::Duration::from_seconds(node.param("map_period_s", 0.5)).ns),
        file_(node.param("map_file", "")),
        mapper_(config_of(node)),
        transforms_(node.param("publish_transform", true) ? std::optional(node.transforms())
                                                          : std::nullopt),
        pose_(node.publisher<PoseStamped>("pose")),
        map_(node.publisher<hyphos::msgs::OccupancyGrid>("map")) {
    node.subscribe<Odometry>("odom", hyphos::inline_, [this](const hyphos::Message<Odometry>& m) {
      if (refusals_.refuse("odom", unusable(*m))) return;
      odometry_.add(m->header().stamp_ns(), get_pose(m->pose().pose()));
    });
    node.subscribe<LaserScan>("scan", hyphos::serial,
                              [this](const hyphos::Message<LaserScan>& m) { integrate(*m); });
  }
  MapperNode(const MapperNode&) = delete;
  MapperNode& operator=(const MapperNode&) = delete;

  // Callbacks have ended. Closes all loops, draws the map once more, and writes it.
  ~MapperNode() {
    if (file_.empty()) return;
    const auto scans = static_cast<unsigned long long>(mapper_.stats().scans);
    const std::string refused =
        refusals_.count() > 0 ? ", " + std::to_string(refusals_.count()) + " messages refused" : "";
    if (scans == 0) {
      std::fprintf(stderr, "no map: no scan came with odometry%s\n", refused.c_str());
      return;
    }
    try {
      mapper_.finish();
      write_png(file_, draw_map(mapper_.grid().snapshot(), mapper_.trajectory()));
      const char* nothing = mapper_.grid().width() == 0 ? ", none with a range in its limits" : "";
      std::printf("map of %llu scans%s%s: %s\n", scans, nothing, refused.c_str(), file_.c_str());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "the map was not written: %s\n", error.what());
    }
  }

 private:
  void integrate(const LaserScan& message) {
    if (refusals_.refuse("scan", unusable(message))) return;
    const std::optional<Pose2> odometry = odometry_.at(message.header().stamp_ns());
    if (refusals_.refuse("scan", odometry ? "" : "no odometry has come yet")) return;
    const Pose2 pose = mapper_.add_scan(from_message(message, mount_), *odometry);
    if (transforms_) {
      (void)transforms_->set(transform_at(message.header().stamp_ns(), "map", "odom",
                                          compose(pose, inverse(*odometry))));
    }
    PoseStamped out;
    *out.mutable_header() = message.header();
    out.mutable_header()->set_frame_id("map");
    set_pose(pose, *out.mutable_pose());
    pose_.publish(std::move(out));
    publish_map(message.header().stamp_ns());
  }

  void publish_map(std::int64_t stamp_ns) {
    // A stamp may be before the last one if the clock was set back.
    const std::int64_t since_ns = stamp_ns - last_map_ns_;
    const bool due = since_ns >= map_period_ns_ || since_ns < 0 || last_map_ns_ == 0;
    if (!due || mapper_.revision() == last_revision_) return;
    last_map_ns_ = stamp_ns;
    last_revision_ = mapper_.revision();
    map_.publish(to_message(mapper_.grid().snapshot(), stamp_ns));
  }

  const hyphos::Refusals refusals_;
  const Pose2 mount_;
  const std::int64_t map_period_ns_;
  const std::string file_;
  Mapper mapper_;  // only the serial `scan` callback uses it
  std::int64_t last_map_ns_ = 0;
  std::uint64_t last_revision_ = 0;
  OdometryTrack odometry_;
  const std::optional<hyphos::Transforms> transforms_;
  hyphos::Publisher<PoseStamped> pose_;
  hyphos::Publisher<hyphos::msgs::OccupancyGrid> map_;
};

}  // namespace
}  // namespace patrol

HYPHOS_NODE(patrol::MapperNode)
