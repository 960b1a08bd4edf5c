#pragma once

#include <memory>

#include "view/displays/display.hpp"

/// The constructors of all kinds, each in the file of its name. registry.cpp lists them.
namespace hyphos::view {

std::unique_ptr<Display> make_axes();
std::unique_ptr<Display> make_grid();
std::unique_ptr<Display> make_image();
std::unique_ptr<Display> make_laser_scan();
std::unique_ptr<Display> make_map();
std::unique_ptr<Display> make_marker();
std::unique_ptr<Display> make_marker_array();
std::unique_ptr<Display> make_odometry();
std::unique_ptr<Display> make_path();
std::unique_ptr<Display> make_points();
std::unique_ptr<Display> make_pose();
std::unique_ptr<Display> make_pose_array();
std::unique_ptr<Display> make_pose_with_covariance();
std::unique_ptr<Display> make_range();
std::unique_ptr<Display> make_robot_model();
std::unique_ptr<Display> make_transforms();
std::unique_ptr<Display> make_wrench();

}  // namespace hyphos::view
