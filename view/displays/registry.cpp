#include "view/displays/registry.hpp"

#include <algorithm>

#include "view/displays/kinds.hpp"

namespace hyphos::view {

bool DisplayKind::shows(std::string_view type) const {
  return std::ranges::find(types, type) != types.end();
}

std::span<const DisplayKind> display_kinds() {
  using Types = std::vector<std::string_view>;
  static const std::vector<DisplayKind> kKinds = {
      {"points",
       "Points",
       "Point clouds by colour, field or height",
       Types{"hyphos.msgs.PointCloud"},
       {},
       &make_points},
      {"laser_scan",
       "Laser scan",
       "Sweeps of a planar laser",
       Types{"hyphos.msgs.LaserScan"},
       {},
       &make_laser_scan},
      {"map",
       "Map",
       "Occupancy grid or costmap",
       Types{"hyphos.msgs.OccupancyGrid"},
       {},
       &make_map},
      {"path", "Path", "Path as a line or axes", Types{"hyphos.msgs.Path"}, {}, &make_path},
      {"odometry",
       "Odometry",
       "Pose, covariance and trail of odometry",
       Types{"hyphos.msgs.Odometry"},
       {},
       &make_odometry},
      {"pose",
       "Pose",
       "Pose with its past as axes or arrows",
       Types{"hyphos.msgs.PoseStamped"},
       {},
       &make_pose},
      {"pose_with_covariance",
       "Pose with covariance",
       "Pose and the ellipsoid of its covariance",
       Types{"hyphos.msgs.PoseWithCovarianceStamped"},
       {},
       &make_pose_with_covariance},
      {"pose_array",
       "Poses",
       "Set of poses, e.g. particles",
       Types{"hyphos.msgs.PoseArray"},
       {},
       &make_pose_array},
      {"transforms",
       "Transforms",
       "Tree of frames, with the age of each",
       Types{"hyphos.msgs.TfMessage"},
       {},
       &make_transforms},
      {"image",
       "Image",
       "Camera image in the scene or in a corner",
       Types{"hyphos.msgs.Image", "hyphos.msgs.CompressedImage"},
       {{"calibration", "camera_info", "hyphos.msgs.CameraInfo"}},
       &make_image},
      {"marker",
       "Marker",
       "One shape for each message",
       Types{"hyphos.msgs.Marker"},
       {},
       &make_marker},
      {"marker_array",
       "Markers",
       "Sets of shapes",
       Types{"hyphos.msgs.MarkerArray"},
       {},
       &make_marker_array},
      {"robot_model",
       "Robot model",
       "Links of a URDF model",
       Types{"hyphos.msgs.String"},
       {{"joints", "joint_states", "hyphos.msgs.JointState"}},
       &make_robot_model,
       "robot_description"},
      {"wrench",
       "Wrench",
       "Force and torque as arrows",
       Types{"hyphos.msgs.WrenchStamped"},
       {},
       &make_wrench},
      {"range", "Range", "Distance as a cone", Types{"hyphos.msgs.Range"}, {}, &make_range},
      {"grid", "Grid", "Ground of lines", Types{}, {}, &make_grid},
      {"axes", "Axes", "Axes of one frame", Types{}, {}, &make_axes},
  };
  return kKinds;
}

const DisplayKind* find_display_kind(std::string_view name) {
  const auto kinds = display_kinds();
  const auto found = std::ranges::find(kinds, name, &DisplayKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

const DisplayKind* display_kind_for(std::string_view type, std::string_view channel) {
  const auto kinds = display_kinds();
  const auto found = std::ranges::find_if(kinds, [&](const DisplayKind& each) {
    return each.shows(type) && channel.ends_with(each.only_channel);
  });
  return found == kinds.end() ? nullptr : &*found;
}

std::vector<std::string> display_settings(const DisplayKind& kind) {
  const auto display = kind.make();
  std::vector<std::string> names;
  for (const Property& each : display->properties().all()) names.push_back(each.name);
  return names;
}

}  // namespace hyphos::view
