#pragma once

#include <ignition/msgs/boolean.pb.h>
#include <ignition/msgs/pose_v.pb.h>
#include <ignition/msgs/world_control.pb.h>

#include "gz_subset.pb.h"

/// The message types of the two families. The name of a type is part of the protocol. The encoded
/// bytes are the same in both families.
namespace hyphos::cosim {

struct IgnitionFamily {
  static constexpr const char* kName = "ignition";
  using Boolean = ignition::msgs::Boolean;
  using Poses = ignition::msgs::Pose_V;
  using WorldControl = ignition::msgs::WorldControl;
};

struct GzFamily {
  static constexpr const char* kName = "gz";
  using Boolean = gz::msgs::Boolean;
  using Poses = gz::msgs::Pose_V;
  using WorldControl = gz::msgs::WorldControl;
};

}  // namespace hyphos::cosim
