"""Navigation of ROS 1 (move_base, map_msgs) and of ROS 2 (nav2_msgs), and transforms."""

from __future__ import annotations

_TF_ERROR = """\
uint8 NO_ERROR = 0
uint8 LOOKUP_ERROR = 1
uint8 CONNECTIVITY_ERROR = 2
uint8 EXTRAPOLATION_ERROR = 3
uint8 INVALID_ARGUMENT_ERROR = 4
uint8 TIMEOUT_ERROR = 5
uint8 TRANSFORM_ERROR = 6
uint8 error
string error_string
"""

BOTH = {
    "map_msgs/msg/OccupancyGridUpdate": (
        "std_msgs/Header header\nint32 x\nint32 y\nuint32 width\nuint32 height\nint8[] data\n"
    ),
    "map_msgs/msg/PointCloud2Update": (
        "uint32 ADD=0\nuint32 DELETE=1\nstd_msgs/Header header\nuint32 type\n"
        "sensor_msgs/PointCloud2 points\n"
    ),
    "map_msgs/msg/ProjectedMap": "nav_msgs/OccupancyGrid map\nfloat64 min_z\nfloat64 max_z\n",
    "map_msgs/msg/ProjectedMapInfo": (
        "string frame_id\nfloat64 x\nfloat64 y\nfloat64 width\nfloat64 height\n"
        "float64 min_z\nfloat64 max_z\n"
    ),
    "map_msgs/srv/GetMapROI": (
        "float64 x\nfloat64 y\nfloat64 l_x\nfloat64 l_y\n---\nnav_msgs/OccupancyGrid sub_map\n"
    ),
    "map_msgs/srv/GetPointMap": "---\nsensor_msgs/PointCloud2 map\n",
    "map_msgs/srv/GetPointMapROI": (
        "float64 x\nfloat64 y\nfloat64 z\nfloat64 r\nfloat64 l_x\nfloat64 l_y\nfloat64 l_z\n"
        "---\nsensor_msgs/PointCloud2 sub_map\n"
    ),
    "map_msgs/srv/ProjectedMapsInfo": ("map_msgs/ProjectedMapInfo[] projected_maps_info\n---\n"),
    "map_msgs/srv/SaveMap": "std_msgs/String filename\n---\n",
    "map_msgs/srv/SetMapProjections": ("---\nmap_msgs/ProjectedMapInfo[] projected_maps_info\n"),
}

ROS1 = {
    "move_base_msgs/msg/RecoveryStatus": (
        "geometry_msgs/PoseStamped pose_stamped\nuint16 current_recovery_number\n"
        "uint16 total_number_of_recoveries\nstring recovery_behavior_name\n"
    ),
    "move_base_msgs/action/MoveBase": (
        "geometry_msgs/PoseStamped target_pose\n---\n---\ngeometry_msgs/PoseStamped base_position\n"
    ),
    "tf/msg/tfMessage": "geometry_msgs/TransformStamped[] transforms\n",
    "tf/srv/FrameGraph": "---\nstring dot_graph\n",
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms\n",
    "tf2_msgs/msg/TF2Error": _TF_ERROR,
    "tf2_msgs/action/LookupTransform": """\
string target_frame
string source_frame
time source_time
duration timeout
time target_time
string fixed_frame
bool advanced
---
geometry_msgs/TransformStamped transform
tf2_msgs/TF2Error error
---
""",
    "topic_tools/srv/MuxSelect": "string topic\n---\nstring prev_topic\n",
    "topic_tools/srv/MuxAdd": "string topic\n---\n",
    "topic_tools/srv/MuxDelete": "string topic\n---\n",
    "topic_tools/srv/MuxList": "---\nstring[] topics\n",
}

ROS2 = {
    "tf2_msgs/action/LookupTransform": """\
string target_frame
string source_frame
builtin_interfaces/Time source_time
builtin_interfaces/Duration timeout
builtin_interfaces/Time target_time
string fixed_frame
bool advanced
---
geometry_msgs/TransformStamped transform
tf2_msgs/TF2Error error
---
""",
    "nav2_msgs/srv/ClearEntireCostmap": "std_msgs/Empty request\n---\nstd_msgs/Empty response\n",
    "nav2_msgs/srv/ClearCostmapAroundRobot": (
        "float32 reset_distance\n---\nstd_msgs/Empty response\n"
    ),
    "nav2_msgs/srv/LoadMap": (
        "string map_url\n---\nuint8 RESULT_SUCCESS=0\nuint8 RESULT_MAP_DOES_NOT_EXIST=1\n"
        "uint8 RESULT_INVALID_MAP_DATA=2\nuint8 RESULT_INVALID_MAP_METADATA=3\n"
        "uint8 RESULT_UNDEFINED_FAILURE=255\nnav_msgs/OccupancyGrid map\nuint8 result\n"
    ),
    "nav2_msgs/srv/ManageLifecycleNodes": """\
uint8 STARTUP = 0
uint8 PAUSE = 1
uint8 RESUME = 2
uint8 RESET = 3
uint8 SHUTDOWN = 4
uint8 CONFIGURE = 5
uint8 CLEANUP = 6
uint8 command
---
bool success
""",
    "nav2_msgs/srv/SaveMap": (
        "string map_topic\nstring map_url\nstring image_format\nstring map_mode\n"
        "float32 free_thresh\nfloat32 occupied_thresh\n---\nbool result\n"
    ),
    "nav2_msgs/action/NavigateToPose": """\
geometry_msgs/PoseStamped pose
string behavior_tree
---
uint16 NONE=0
uint16 error_code
---
geometry_msgs/PoseStamped current_pose
builtin_interfaces/Duration navigation_time
builtin_interfaces/Duration estimated_time_remaining
int16 number_of_recoveries
float32 distance_remaining
""",
}
