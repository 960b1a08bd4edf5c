"""Common ROS services. `rosbags` contains only messages, so a machine without ROS would have none.
The definitions follow the interfaces documented by ROS."""

from __future__ import annotations

from hyphos.ros.definition import Flavour

_BOTH = {
    "std_srvs/Empty": "---\n",
    "std_srvs/SetBool": "bool data\n---\nbool success\nstring message\n",
    "std_srvs/Trigger": "---\nbool success\nstring message\n",
    "nav_msgs/GetMap": "---\nnav_msgs/OccupancyGrid map\n",
    "nav_msgs/GetPlan": (
        "geometry_msgs/PoseStamped start\ngeometry_msgs/PoseStamped goal\nfloat32 tolerance\n"
        "---\nnav_msgs/Path plan\n"
    ),
    "nav_msgs/SetMap": (
        "nav_msgs/OccupancyGrid map\ngeometry_msgs/PoseWithCovarianceStamped initial_pose\n"
        "---\nbool success\n"
    ),
    "sensor_msgs/SetCameraInfo": (
        "sensor_msgs/CameraInfo camera_info\n---\nbool success\nstring status_message\n"
    ),
    "tf2_msgs/FrameGraph": "---\nstring frame_yaml\n",
}
_ROS2 = {
    "nav_msgs/LoadMap": (
        "string map_url\n---\nuint8 RESULT_SUCCESS=0\nuint8 RESULT_MAP_DOES_NOT_EXIST=1\n"
        "uint8 RESULT_INVALID_MAP_DATA=2\nuint8 RESULT_INVALID_MAP_METADATA=3\n"
        "uint8 RESULT_UNDEFINED_FAILURE=255\nnav_msgs/OccupancyGrid map\nuint8 result\n"
    ),
    "example_interfaces/AddTwoInts": "int64 a\nint64 b\n---\nint64 sum\n",
    "example_interfaces/SetBool": "bool data\n---\nbool success\nstring message\n",
    "example_interfaces/Trigger": "---\nbool success\nstring message\n",
    "rcl_interfaces/DescribeParameters": (
        "string[] names\n---\nrcl_interfaces/ParameterDescriptor[] descriptors\n"
    ),
    "rcl_interfaces/GetParameters": (
        "string[] names\n---\nrcl_interfaces/ParameterValue[] values\n"
    ),
    "rcl_interfaces/GetParameterTypes": "string[] names\n---\nuint8[] types\n",
    "rcl_interfaces/ListParameters": (
        "uint64 DEPTH_RECURSIVE=0\nstring[] prefixes\nuint64 depth\n"
        "---\nrcl_interfaces/ListParametersResult result\n"
    ),
    "rcl_interfaces/SetParameters": (
        "rcl_interfaces/Parameter[] parameters\n---\nrcl_interfaces/SetParametersResult[] results\n"
    ),
    "rcl_interfaces/SetParametersAtomically": (
        "rcl_interfaces/Parameter[] parameters\n---\nrcl_interfaces/SetParametersResult result\n"
    ),
}


def services(flavour: Flavour) -> dict[str, str]:
    """Definitions by "package/Name"."""
    return {**_BOTH, **_ROS2} if flavour is Flavour.ROS2 else dict(_BOTH)
