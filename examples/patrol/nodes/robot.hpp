#pragma once

#include "hyphos/hyphos.hpp"
#include "pose.hpp"

// The frames of the robot and its model. The tree is
//
//     world → map → odom → base → laser
//                             └── camera → camera_optical
//
// `world` moves odom → base by its wheels, and places `map` where the robot starts. The mapper
// moves map → odom, which is the correction of the wheels. `world` sets the mount of the laser, and
// the camera its own.
namespace patrol {

inline constexpr double kLaserHeight = 0.12;  // m above the floor

// The pose of a frame that moves in the plane, or is mounted at a height.
inline hyphos::Transform transform(const char* parent, const char* child, const Pose2& pose,
                                   double height_m = 0) {
  return {.parent = parent,
          .child = child,
          .translation = {pose.x, pose.y, height_m},
          .rotation = hyphos::to_quaternion({.yaw = pose.theta})};
}

inline hyphos::Transform transform_at(std::int64_t stamp_ns, const char* parent, const char* child,
                                      const Pose2& pose) {
  hyphos::Transform made = transform(parent, child, pose);
  made.stamp = hyphos::Time{stamp_ns};
  return made;
}

// The links of the robot, for displays. Their poses are those of the frames.
inline constexpr const char* kModel = R"(<?xml version="1.0"?>
<robot name="patrol">
  <material name="body"><color rgba="0.16 0.36 0.62 1"/></material>
  <material name="dark"><color rgba="0.12 0.13 0.15 1"/></material>
  <material name="light"><color rgba="0.86 0.88 0.9 1"/></material>
  <material name="lens"><color rgba="0.95 0.55 0.15 1"/></material>
  <link name="base">
    <visual>
      <origin xyz="0 0 0.11"/><material name="body"/>
      <geometry><cylinder radius="0.22" length="0.1"/></geometry>
    </visual>
    <visual>
      <origin xyz="0 0 0.17"/><material name="light"/>
      <geometry><cylinder radius="0.18" length="0.03"/></geometry>
    </visual>
    <visual>
      <origin xyz="0 0.19 0.08" rpy="1.5708 0 0"/><material name="dark"/>
      <geometry><cylinder radius="0.08" length="0.05"/></geometry>
    </visual>
    <visual>
      <origin xyz="0 -0.19 0.08" rpy="1.5708 0 0"/><material name="dark"/>
      <geometry><cylinder radius="0.08" length="0.05"/></geometry>
    </visual>
    <visual>
      <origin xyz="-0.15 0 0.03"/><material name="dark"/>
      <geometry><sphere radius="0.03"/></geometry>
    </visual>
    <visual>
      <origin xyz="0 0 0.53"/><material name="dark"/>
      <geometry><cylinder radius="0.025" length="0.7"/></geometry>
    </visual>
    <visual>
      <origin xyz="0.04 0 0.9"/><material name="light"/>
      <geometry><box size="0.08 0.16 0.07"/></geometry>
    </visual>
  </link>
  <link name="laser">
    <visual>
      <material name="lens"/>
      <geometry><cylinder radius="0.06" length="0.06"/></geometry>
    </visual>
  </link>
  <link name="camera">
    <visual>
      <origin rpy="0 1.5708 0"/><material name="lens"/>
      <geometry><cylinder radius="0.03" length="0.04"/></geometry>
    </visual>
  </link>
  <joint name="laser_mount" type="fixed">
    <parent link="base"/><child link="laser"/><origin xyz="0.1 0 0.12"/>
  </joint>
  <joint name="camera_mount" type="fixed">
    <parent link="base"/><child link="camera"/><origin xyz="0.1 0 0.9"/>
  </joint>
</robot>
)";

}  // namespace patrol
