"""Recordings of ROS 1 and ROS 2 with a message of every kind, written by another library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from recordings import SECOND
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore


def ros_messages(store: Any, *, ros1: bool) -> list[tuple[str, str, Any]]:
    """(topic, type, message) of a few types that cover every rule of the mapping."""
    t = store.types
    header = {"seq": 4} if ros1 else {}
    stamp = t["builtin_interfaces/msg/Time"](sec=3, nanosec=7)
    head = t["std_msgs/msg/Header"](stamp=stamp, frame_id="laser", **header)
    vector = t["geometry_msgs/msg/Vector3"]
    turn = t["geometry_msgs/msg/Quaternion"](x=0.0, y=0.0, z=0.0, w=1.0)
    scan = t["sensor_msgs/msg/LaserScan"](
        header=head,
        angle_min=-1.0,
        angle_max=1.0,
        angle_increment=0.5,
        time_increment=0.0,
        scan_time=0.1,
        range_min=0.0,
        range_max=30.0,
        ranges=np.array([1, 2, 3], np.float32),
        intensities=np.array([], np.float32),
    )
    image = t["sensor_msgs/msg/Image"](
        header=head,
        height=1,
        width=2,
        encoding="mono8",
        is_bigendian=0,
        step=2,
        data=np.array([9, 8], np.uint8),
    )
    field = t["sensor_msgs/msg/PointField"](name="x", offset=0, datatype=7, count=1)
    cloud = t["sensor_msgs/msg/PointCloud2"](
        header=head,
        height=1,
        width=2,
        fields=[field],
        is_bigendian=False,
        point_step=4,
        row_step=8,
        data=np.array([1.5, 2.5], np.float32).view(np.uint8),
        is_dense=True,
    )
    transform = t["geometry_msgs/msg/TransformStamped"](
        header=head,
        child_frame_id="tip",
        transform=t["geometry_msgs/msg/Transform"](
            translation=vector(x=1.0, y=2.0, z=3.0), rotation=turn
        ),
    )
    tf = t["tf2_msgs/msg/TFMessage"](transforms=[transform, transform])
    odometry = t["nav_msgs/msg/Odometry"](
        header=head,
        child_frame_id="base",
        pose=t["geometry_msgs/msg/PoseWithCovariance"](
            pose=t["geometry_msgs/msg/Pose"](
                position=t["geometry_msgs/msg/Point"](x=1.0, y=0.0, z=0.0), orientation=turn
            ),
            covariance=np.arange(36, dtype=np.float64),
        ),
        twist=t["geometry_msgs/msg/TwistWithCovariance"](
            twist=t["geometry_msgs/msg/Twist"](
                linear=vector(x=0.5, y=0.0, z=0.0), angular=vector(x=0.0, y=0.0, z=0.1)
            ),
            covariance=np.zeros(36),
        ),
    )
    strange = t["shape_msgs/msg/Plane"](coef=np.zeros(4))
    return [
        ("/front/scan", "sensor_msgs/msg/LaserScan", scan),
        ("/camera", "sensor_msgs/msg/Image", image),
        ("/cloud", "sensor_msgs/msg/PointCloud2", cloud),
        ("/tf", "tf2_msgs/msg/TFMessage", tf),
        ("/odom", "nav_msgs/msg/Odometry", odometry),
        ("/strange", "shape_msgs/msg/Plane", strange),
    ]


def write_ros1(path: Path) -> Path:
    store = get_typestore(Stores.ROS1_NOETIC)
    definition = "geometry_msgs/TransformStamped[] transforms\n"
    store.register(get_types_from_msg(definition, "tf2_msgs/msg/TFMessage"))
    with Writer1(path) as writer:
        for number, (topic, kind, message) in enumerate(ros_messages(store, ros1=True)):
            connection = writer.add_connection(topic, kind, typestore=store)
            data = store.serialize_ros1(message, kind)
            writer.write(connection, SECOND + number * 1_000_000, data)
    return path


def write_ros2(path: Path, plugin: StoragePlugin) -> Path:
    store = get_typestore(Stores.ROS2_HUMBLE)
    with Writer2(path, version=9, storage_plugin=plugin) as writer:
        for number, (topic, kind, message) in enumerate(ros_messages(store, ros1=False)):
            connection = writer.add_connection(topic, kind, typestore=store)
            data = store.serialize_cdr(message, kind)
            writer.write(connection, SECOND + number * 1_000_000, data)
    return path
