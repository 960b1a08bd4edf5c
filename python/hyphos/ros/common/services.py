"""Services of the packages with basic messages, and of every node of ROS 2."""

from __future__ import annotations

BOTH = {
    "std_srvs/srv/Empty": "---\n",
    "std_srvs/srv/SetBool": "bool data\n---\nbool success\nstring message\n",
    "std_srvs/srv/Trigger": "---\nbool success\nstring message\n",
    "nav_msgs/srv/GetMap": "---\nnav_msgs/OccupancyGrid map\n",
    "nav_msgs/srv/GetPlan": (
        "geometry_msgs/PoseStamped start\ngeometry_msgs/PoseStamped goal\nfloat32 tolerance\n"
        "---\nnav_msgs/Path plan\n"
    ),
    "nav_msgs/srv/SetMap": (
        "nav_msgs/OccupancyGrid map\ngeometry_msgs/PoseWithCovarianceStamped initial_pose\n"
        "---\nbool success\n"
    ),
    "sensor_msgs/srv/SetCameraInfo": (
        "sensor_msgs/CameraInfo camera_info\n---\nbool success\nstring status_message\n"
    ),
    "tf2_msgs/srv/FrameGraph": "---\nstring frame_yaml\n",
    "nav_msgs/srv/LoadMap": (
        "string map_url\n---\nuint8 RESULT_SUCCESS=0\nuint8 RESULT_MAP_DOES_NOT_EXIST=1\n"
        "uint8 RESULT_INVALID_MAP_DATA=2\nuint8 RESULT_INVALID_MAP_METADATA=3\n"
        "uint8 RESULT_UNDEFINED_FAILURE=255\nnav_msgs/OccupancyGrid map\nuint8 result\n"
    ),
    "diagnostic_msgs/srv/AddDiagnostics": (
        "string load_namespace\n---\nbool success\nstring message\n"
    ),
    "diagnostic_msgs/srv/SelfTest": (
        "---\nstring id\nbyte passed\ndiagnostic_msgs/DiagnosticStatus[] status\n"
    ),
}
ROS2 = {
    "visualization_msgs/srv/GetInteractiveMarkers": (
        "---\nuint64 sequence_number\nvisualization_msgs/InteractiveMarker[] markers\n"
    ),
    "example_interfaces/srv/AddTwoInts": "int64 a\nint64 b\n---\nint64 sum\n",
    "example_interfaces/srv/SetBool": "bool data\n---\nbool success\nstring message\n",
    "example_interfaces/srv/Trigger": "---\nbool success\nstring message\n",
    "rcl_interfaces/srv/DescribeParameters": (
        "string[] names\n---\nrcl_interfaces/ParameterDescriptor[] descriptors\n"
    ),
    "rcl_interfaces/srv/GetParameters": (
        "string[] names\n---\nrcl_interfaces/ParameterValue[] values\n"
    ),
    "rcl_interfaces/srv/GetParameterTypes": "string[] names\n---\nuint8[] types\n",
    "rcl_interfaces/srv/ListParameters": (
        "uint64 DEPTH_RECURSIVE=0\nstring[] prefixes\nuint64 depth\n"
        "---\nrcl_interfaces/ListParametersResult result\n"
    ),
    "rcl_interfaces/srv/SetParameters": (
        "rcl_interfaces/Parameter[] parameters\n---\nrcl_interfaces/SetParametersResult[] results\n"
    ),
    "rcl_interfaces/srv/SetParametersAtomically": (
        "rcl_interfaces/Parameter[] parameters\n---\nrcl_interfaces/SetParametersResult result\n"
    ),
    "rcl_interfaces/srv/GetLoggerLevels": (
        "string[] names\n---\nrcl_interfaces/LoggerLevel[] levels\n"
    ),
    "rcl_interfaces/srv/SetLoggerLevels": (
        "rcl_interfaces/LoggerLevel[] levels\n---\nrcl_interfaces/SetLoggerLevelsResult[] results\n"
    ),
    "action_msgs/srv/CancelGoal": (
        "action_msgs/GoalInfo goal_info\n---\nint8 ERROR_NONE=0\nint8 ERROR_REJECTED=1\n"
        "int8 ERROR_UNKNOWN_GOAL_ID=2\nint8 ERROR_GOAL_TERMINATED=3\n"
        "int8 return_code\naction_msgs/GoalInfo[] goals_canceling\n"
    ),
    "lifecycle_msgs/srv/ChangeState": ("lifecycle_msgs/Transition transition\n---\nbool success\n"),
    "lifecycle_msgs/srv/GetState": "---\nlifecycle_msgs/State current_state\n",
    "lifecycle_msgs/srv/GetAvailableStates": "---\nlifecycle_msgs/State[] available_states\n",
    "lifecycle_msgs/srv/GetAvailableTransitions": (
        "---\nlifecycle_msgs/TransitionDescription[] available_transitions\n"
    ),
    "composition_interfaces/srv/ListNodes": (
        "---\nstring[] full_node_names\nuint64[] unique_ids\n"
    ),
    "composition_interfaces/srv/LoadNode": (
        "string package_name\nstring plugin_name\nstring node_name\nstring node_namespace\n"
        "uint8 log_level\nstring[] remap_rules\nrcl_interfaces/Parameter[] parameters\n"
        "rcl_interfaces/Parameter[] extra_arguments\n"
        "---\nbool success\nstring error_message\nstring full_node_name\nuint64 unique_id\n"
    ),
    "composition_interfaces/srv/UnloadNode": (
        "uint64 unique_id\n---\nbool success\nstring error_message\n"
    ),
    "type_description_interfaces/srv/GetTypeDescription": (
        "string type_name\nstring type_hash\nbool include_type_sources true\n"
        "---\nbool successful\nstring failure_reason\n"
        "type_description_interfaces/TypeDescription type_description\n"
        "type_description_interfaces/TypeSource[] type_sources\n"
        "type_description_interfaces/KeyValue[] extra_information\n"
    ),
}

ROS1 = {
    "roscpp/srv/Empty": "---\n",
    "roscpp/srv/GetLoggers": "---\nroscpp/Logger[] loggers\n",
    "roscpp/srv/SetLoggerLevel": "string logger\nstring level\n---\n",
    "dynamic_reconfigure/srv/Reconfigure": (
        "dynamic_reconfigure/Config config\n---\ndynamic_reconfigure/Config config\n"
    ),
}
