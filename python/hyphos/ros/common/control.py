"""control_msgs, controller_manager_msgs and ackermann_msgs: controllers of joints and of cars."""

from __future__ import annotations

_ERRORS = """\
int32 error_code
int32 SUCCESSFUL = 0
int32 INVALID_GOAL = -1
int32 INVALID_JOINTS = -2
int32 OLD_HEADER_TIMESTAMP = -3
int32 PATH_TOLERANCE_VIOLATED = -4
int32 GOAL_TOLERANCE_VIOLATED = -5
string error_string
"""

BOTH = {
    "control_msgs/msg/GripperCommand": "float64 position\nfloat64 max_effort\n",
    "control_msgs/msg/JointTolerance": (
        "string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration\n"
    ),
    "control_msgs/action/GripperCommand": """\
control_msgs/GripperCommand command
---
float64 position
float64 effort
bool stalled
bool reached_goal
---
float64 position
float64 effort
bool stalled
bool reached_goal
""",
    "control_msgs/action/JointTrajectory": (
        "trajectory_msgs/JointTrajectory trajectory\n---\n---\n"
    ),
    "ackermann_msgs/msg/AckermannDrive": (
        "float32 steering_angle\nfloat32 steering_angle_velocity\n"
        "float32 speed\nfloat32 acceleration\nfloat32 jerk\n"
    ),
    "ackermann_msgs/msg/AckermannDriveStamped": (
        "std_msgs/Header header\nackermann_msgs/AckermannDrive drive\n"
    ),
}

ROS1 = {
    "control_msgs/msg/JointControllerState": """\
Header header
float64 set_point
float64 process_value
float64 process_value_dot
float64 error
float64 time_step
float64 command
float64 p
float64 i
float64 d
float64 i_clamp
bool antiwindup
""",
    "control_msgs/msg/JointJog": (
        "Header header\nstring[] joint_names\n"
        "float64[] displacements\nfloat64[] velocities\nfloat64 duration\n"
    ),
    "control_msgs/msg/JointTrajectoryControllerState": """\
Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
""",
    "control_msgs/msg/PidState": """\
Header header
duration timestep
float64 error
float64 error_dot
float64 p_error
float64 i_error
float64 d_error
float64 p_term
float64 i_term
float64 d_term
float64 i_max
float64 i_min
float64 output
""",
    "control_msgs/srv/QueryCalibrationState": "---\nbool is_calibrated\n",
    "control_msgs/srv/QueryTrajectoryState": (
        "time time\n---\nstring[] name\nfloat64[] position\nfloat64[] velocity\n"
        "float64[] acceleration\n"
    ),
    "control_msgs/action/FollowJointTrajectory": f"""\
trajectory_msgs/JointTrajectory trajectory
JointTolerance[] path_tolerance
JointTolerance[] goal_tolerance
duration goal_time_tolerance
---
{_ERRORS}---
Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
""",
    "control_msgs/action/PointHead": """\
geometry_msgs/PointStamped target
geometry_msgs/Vector3 pointing_axis
string pointing_frame
duration min_duration
float64 max_velocity
---
---
float64 pointing_angle_error
""",
    "control_msgs/action/SingleJointPosition": """\
float64 position
duration min_duration
float64 max_velocity
---
---
Header header
float64 position
float64 velocity
float64 error
""",
    "controller_manager_msgs/msg/HardwareInterfaceResources": (
        "string hardware_interface\nstring[] resources\n"
    ),
    "controller_manager_msgs/msg/ControllerState": (
        "string name\nstring state\nstring type\n"
        "controller_manager_msgs/HardwareInterfaceResources[] claimed_resources\n"
    ),
    "controller_manager_msgs/srv/ListControllerTypes": (
        "---\nstring[] types\nstring[] base_classes\n"
    ),
    "controller_manager_msgs/srv/ListControllers": (
        "---\ncontroller_manager_msgs/ControllerState[] controller\n"
    ),
    "controller_manager_msgs/srv/LoadController": "string name\n---\nbool ok\n",
    "controller_manager_msgs/srv/ReloadControllerLibraries": "bool force_kill\n---\nbool ok\n",
    "controller_manager_msgs/srv/SwitchController": """\
string[] start_controllers
string[] stop_controllers
int32 strictness
int32 BEST_EFFORT=1
int32 STRICT=2
bool start_asap
float64 timeout
---
bool ok
""",
    "controller_manager_msgs/srv/UnloadController": "string name\n---\nbool ok\n",
}

ROS2 = {
    "control_msgs/msg/DynamicJointState": (
        "std_msgs/Header header\nstring[] joint_names\n"
        "control_msgs/InterfaceValue[] interface_values\n"
    ),
    "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values\n",
    "control_msgs/msg/JointComponentTolerance": (
        "string joint_name\nuint16 component\nfloat64 position\nfloat64 velocity\n"
        "float64 acceleration\n"
    ),
    "control_msgs/msg/JointControllerState": """\
std_msgs/Header header
float64 set_point
float64 process_value
float64 process_value_dot
float64 error
float64 time_step
float64 command
float64 p
float64 i
float64 d
float64 i_clamp
bool antiwindup
""",
    "control_msgs/msg/JointJog": (
        "std_msgs/Header header\nstring[] joint_names\n"
        "float64[] displacements\nfloat64[] velocities\nfloat64 duration\n"
    ),
    "control_msgs/action/FollowJointTrajectory": f"""\
trajectory_msgs/JointTrajectory trajectory
trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory
control_msgs/JointTolerance[] path_tolerance
control_msgs/JointComponentTolerance[] component_path_tolerance
control_msgs/JointTolerance[] goal_tolerance
control_msgs/JointComponentTolerance[] component_goal_tolerance
builtin_interfaces/Duration goal_time_tolerance
---
{_ERRORS}---
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
string[] multi_dof_joint_names
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_desired
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_actual
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_error
""",
    "control_msgs/action/PointHead": """\
geometry_msgs/PointStamped target
geometry_msgs/Vector3 pointing_axis
string pointing_frame
builtin_interfaces/Duration min_duration
float64 max_velocity
---
---
float64 pointing_angle_error
""",
    "control_msgs/action/SingleJointPosition": """\
float64 position
builtin_interfaces/Duration min_duration
float64 max_velocity
---
---
std_msgs/Header header
float64 position
float64 velocity
float64 error
""",
    "control_msgs/msg/JointTrajectoryControllerState": """\
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint reference
trajectory_msgs/JointTrajectoryPoint feedback
trajectory_msgs/JointTrajectoryPoint error
trajectory_msgs/JointTrajectoryPoint output
string[] multi_dof_joint_names
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_reference
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_feedback
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_error
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_output
float64 speed_scaling_factor
""",
}
