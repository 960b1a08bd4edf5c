#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "occupancy_grid.hpp"
#include "pose.hpp"
#include "pose_graph.hpp"
#include "scan.hpp"
#include "scan_matcher.hpp"

namespace patrol {

// The accuracy of the wheels: standard deviations of a motion, as a part of that motion.
struct OdometryNoise {
  double translation_per_m = 0.10;    // m/m
  double rotation_per_rad = 0.10;     // rad/rad
  double rotation_per_m = 0.05;       // rad/m
  double translation_floor_m = 0.04;  // m per scan
  double rotation_floor_rad = 0.02;   // rad per scan
};

struct MapperConfig {
  Pose2 start;      // of the robot in the map, at the first scan
  GridConfig grid;  // of the drawn map
  OdometryNoise odometry;

  double match_range_m = 20.0;       // longer returns are not matched
  std::size_t match_points = 240;    // a denser scan is thinned to about this many
  double field_resolution_m = 0.05;  // m per cell of the likelihood field
  double field_sigma_m = 0.08;       // of the field's Gaussian
  double min_score = 0.35;           // below this score the match is rejected and odometry is used

  double keyframe_travel_m = 0.30;  // keep a scan if no keyframe is closer than this ...
  double keyframe_turn_rad = 0.30;  // ... and turned less than this,
  std::size_t keyframe_crowd = 3;   // and fewer than this many are within twice both limits
  std::size_t keyframe_every = 0;   // or if it is the n-th scan since the last keyframe, 0: never
  std::size_t max_keyframes = 20'000;  // after these the mapper only localises

  double reference_travel_m = 12.0;      // scans are matched to keyframes within this travel
  std::size_t reference_keyframes = 40;  // and to at most this many keyframes

  double loop_radius_m = 4.0;  // the largest drift of odometry and matching
  double loop_turn_rad = 0.35;
  double loop_every_m = 0.6;     // travel between two attempts
  double loop_min_score = 0.62;  // the part of the scans that must agree

  std::size_t redraws_per_scan = 12;  // after a loop closes, keyframes redrawn with each new scan
};

struct MapperStats {
  std::uint64_t scans = 0;
  std::uint64_t unmatched = 0;  // scans placed by odometry alone
  std::uint64_t keyframes = 0;
  std::uint64_t loops_tried = 0;
  std::uint64_t loops_closed = 0;
  std::uint64_t redraws = 0;  // whole maps redrawn
  double last_score = 0.0;    // of the last match, in [0, 1]
};

// Builds a map from laser scans and wheel odometry, and localises the robot in it. Each scan is
// matched to a likelihood field of the surrounding keyframes. Keyframes form a pose graph. The
// mapper searches for places seen before, verifies each loop by a second match that agrees, and
// adds it to the graph. The grid is drawn from the keyframes at their adjusted poses.
// Deterministic. Not thread-safe. Cost: a few ms per scan. Closing a loop solves the whole graph:
// tens of ms at 1000 keyframes. Memory: about 15 KB per keyframe of 360 beams, and the grid.
class Mapper {
 public:
  explicit Mapper(MapperConfig config = {});

  // odometry: the pose of the robot from its wheels at the time of the scan, in any fixed frame.
  // Returns the pose of the robot in the map. Later knowledge does not change returned poses: see
  // trajectory().
  Pose2 add_scan(const Scan& scan, const Pose2& odometry);

  [[nodiscard]] const Pose2& pose() const { return pose_; }
  // The map. The reference is valid until the next call of a non-const member.
  [[nodiscard]] const OccupancyGrid& grid() const { return *grid_; }
  // Rises with every change of the map.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  // The path of the robot by present knowledge, with a point about every 5 cm.
  [[nodiscard]] std::vector<Pose2> trajectory() const;
  [[nodiscard]] const MapperStats& stats() const { return stats_; }

  // Adjusts the whole graph once more and draws the whole map. For the end of a recording.
  void finish();

 private:
  struct Keyframe {
    Scan scan;
    std::vector<Point2> points;   // thinned returns, in the frame of the robot
    std::vector<Point2> surface;  // the walls through the points, without gaps between beams
    Pose2 drawn;                  // the pose at which the map shows it
  };
  struct LoopMatch {
    std::size_t from;  // the older keyframe
    std::size_t to;    // the newer
    Pose2 measured;
    Eigen::Matrix3d information;
  };
  struct TrailPoint {
    std::size_t keyframe;
    Pose2 offset;  // from that keyframe
  };

  [[nodiscard]] const Pose2& pose_of(std::size_t keyframe) const {
    return graph_.poses()[keyframe];
  }
  void match(const std::vector<Point2>& returns, const Pose2& moved);
  bool keyframe_wanted() const;
  void add_keyframe(const Scan& scan, const std::vector<Point2>& points);
  void choose_reference();
  void refresh_reference();
  std::vector<Point2> gather(const std::vector<std::size_t>& keyframes,
                             std::vector<Point2> Keyframe::* points, const Pose2& frame) const;
  std::vector<std::size_t> nearest(const std::vector<double>& travel, const Pose2& to,
                                   std::size_t count) const;
  void try_loop(std::size_t keyframe);
  std::optional<std::size_t> loop_candidate(std::size_t keyframe) const;
  std::optional<LoopMatch> match_loop(std::size_t older, std::size_t newer) const;
  bool confirmed(const LoopMatch& match) const;
  void close_loop(const LoopMatch& match);
  void adjust();
  void draw(OccupancyGrid& grid, std::size_t keyframe);
  void redraw_some(std::size_t count);
  void remember_trail();

  MapperConfig config_;
  Pose2 pose_;
  std::optional<Pose2> last_odometry_;
  // The information of pose_ before the next match, in its own frame, from the match or from the
  // wheels.
  Eigen::Matrix3d pose_information_ = Eigen::Matrix3d::Zero();
  Eigen::Matrix3d edge_information_ = Eigen::Matrix3d::Zero();

  PoseGraph graph_;
  std::vector<Keyframe> keyframes_;
  std::uint64_t kept_at_ = 0;        // stats_.scans at the last keyframe
  std::size_t reference_ = 0;        // the closest keyframe to the robot
  std::vector<std::size_t> active_;  // keyframes in field_
  std::unique_ptr<LikelihoodField> field_;
  Pose2 field_made_at_;

  double since_loop_try_ = 0.0;  // m
  std::vector<LoopMatch> unconfirmed_;

  std::unique_ptr<OccupancyGrid> grid_;
  std::unique_ptr<OccupancyGrid> next_grid_;  // while redrawing
  std::size_t next_drawn_ = 0;
  bool redraw_wanted_ = false;
  std::uint64_t revision_ = 0;
  std::vector<TrailPoint> trail_;
  MapperStats stats_;
};

}  // namespace patrol
