"""Motion planning (moveit_msgs), and the packages that its messages contain."""

from __future__ import annotations

_ERRORS = """\
int32 val
int32 SUCCESS=1
int32 FAILURE=99999
int32 PLANNING_FAILED=-1
int32 INVALID_MOTION_PLAN=-2
int32 MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE=-3
int32 CONTROL_FAILED=-4
int32 UNABLE_TO_AQUIRE_SENSOR_DATA=-5
int32 TIMED_OUT=-6
int32 PREEMPTED=-7
int32 START_STATE_IN_COLLISION=-10
int32 START_STATE_VIOLATES_PATH_CONSTRAINTS=-11
{start_state}int32 GOAL_IN_COLLISION=-12
int32 GOAL_VIOLATES_PATH_CONSTRAINTS=-13
int32 GOAL_CONSTRAINTS_VIOLATED=-14
{goal_state}int32 INVALID_GROUP_NAME=-15
int32 INVALID_GOAL_CONSTRAINTS=-16
int32 INVALID_ROBOT_STATE=-17
int32 INVALID_LINK_NAME=-18
int32 INVALID_OBJECT_NAME=-19
int32 FRAME_TRANSFORM_FAILURE=-21
int32 COLLISION_CHECKING_UNAVAILABLE=-22
int32 ROBOT_STATE_STALE=-23
int32 SENSOR_INFO_STALE=-24
int32 COMMUNICATION_FAILURE=-25
{crash}int32 NO_IK_SOLUTION=-31
"""
_CONTACT = """\
uint32 ROBOT_LINK=0
uint32 WORLD_OBJECT=1
uint32 ROBOT_ATTACHED=2
std_msgs/Header header
geometry_msgs/Point position
geometry_msgs/Vector3 normal
float64 depth
string contact_body_1
uint32 body_type_1
string contact_body_2
uint32 body_type_2
"""
_SHAPES = """\
shape_msgs/SolidPrimitive[] primitives
geometry_msgs/Pose[] primitive_poses
shape_msgs/Mesh[] meshes
geometry_msgs/Pose[] mesh_poses
"""

_PLAN_REQUEST = """\
moveit_msgs/WorkspaceParameters workspace_parameters
moveit_msgs/RobotState start_state
moveit_msgs/Constraints[] goal_constraints
moveit_msgs/Constraints path_constraints
moveit_msgs/TrajectoryConstraints trajectory_constraints
moveit_msgs/GenericTrajectory[] reference_trajectories
string pipeline_id
string planner_id
string group_name
int32 num_planning_attempts
float64 allowed_planning_time
float64 max_velocity_scaling_factor
float64 max_acceleration_scaling_factor
string {link}
float64 max_cartesian_speed
"""

_LIMITS = """\
string joint_name
bool has_position_limits
float64 min_position
float64 max_position
bool has_velocity_limits
float64 max_velocity
bool has_acceleration_limits
float64 max_acceleration
"""
_EXECUTION = """\
moveit_msgs/RobotTrajectory trajectory
{controllers}---
moveit_msgs/MoveItErrorCodes error_code
---
string state
"""

BOTH = {
    "octomap_msgs/msg/Octomap": (
        "std_msgs/Header header\nbool binary\nstring id\nfloat64 resolution\nint8[] data\n"
    ),
    "octomap_msgs/msg/OctomapWithPose": (
        "std_msgs/Header header\ngeometry_msgs/Pose origin\noctomap_msgs/Octomap octomap\n"
    ),
    "octomap_msgs/srv/BoundingBoxQuery": (
        "geometry_msgs/Point min\ngeometry_msgs/Point max\n---\n"
    ),
    "octomap_msgs/srv/GetOctomap": "---\noctomap_msgs/Octomap map\n",
    "object_recognition_msgs/msg/ObjectType": "string key\nstring db\n",
    "moveit_msgs/msg/AllowedCollisionEntry": "bool[] enabled\n",
    "moveit_msgs/msg/AllowedCollisionMatrix": (
        "string[] entry_names\nmoveit_msgs/AllowedCollisionEntry[] entry_values\n"
        "string[] default_entry_names\nbool[] default_entry_values\n"
    ),
    "moveit_msgs/msg/AttachedCollisionObject": (
        "string link_name\nmoveit_msgs/CollisionObject object\nstring[] touch_links\n"
        "trajectory_msgs/JointTrajectory detach_posture\nfloat64 weight\n"
    ),
    "moveit_msgs/msg/BoundingVolume": _SHAPES,
    "moveit_msgs/msg/CartesianPoint": (
        "geometry_msgs/Pose pose\ngeometry_msgs/Twist velocity\ngeometry_msgs/Accel acceleration\n"
    ),
    "moveit_msgs/msg/CartesianTrajectory": (
        "std_msgs/Header header\nstring tracked_frame\n"
        "moveit_msgs/CartesianTrajectoryPoint[] points\n"
    ),
    "moveit_msgs/msg/CollisionObject": f"""\
std_msgs/Header header
geometry_msgs/Pose pose
string id
object_recognition_msgs/ObjectType type
{_SHAPES}shape_msgs/Plane[] planes
geometry_msgs/Pose[] plane_poses
string[] subframe_names
geometry_msgs/Pose[] subframe_poses
byte ADD=0
byte REMOVE=1
byte APPEND=2
byte MOVE=3
byte operation
""",
    "moveit_msgs/msg/ConstraintEvalResult": "bool result\nfloat64 distance\n",
    "moveit_msgs/msg/Constraints": (
        "string name\nmoveit_msgs/JointConstraint[] joint_constraints\n"
        "moveit_msgs/PositionConstraint[] position_constraints\n"
        "moveit_msgs/OrientationConstraint[] orientation_constraints\n"
        "moveit_msgs/VisibilityConstraint[] visibility_constraints\n"
    ),
    "moveit_msgs/msg/ContactInformation": _CONTACT,
    "moveit_msgs/msg/CostSource": (
        "float64 cost_density\ngeometry_msgs/Vector3 aabb_min\ngeometry_msgs/Vector3 aabb_max\n"
    ),
    "moveit_msgs/msg/DisplayTrajectory": (
        "string model_id\nmoveit_msgs/RobotTrajectory[] trajectory\n"
        "moveit_msgs/RobotState trajectory_start\n"
    ),
    "moveit_msgs/msg/GenericTrajectory": (
        "std_msgs/Header header\ntrajectory_msgs/JointTrajectory[] joint_trajectory\n"
        "moveit_msgs/CartesianTrajectory[] cartesian_trajectory\n"
    ),
    "moveit_msgs/msg/JointConstraint": (
        "string joint_name\nfloat64 position\nfloat64 tolerance_above\nfloat64 tolerance_below\n"
        "float64 weight\n"
    ),
    "moveit_msgs/msg/LinkPadding": "string link_name\nfloat64 padding\n",
    "moveit_msgs/msg/LinkScale": "string link_name\nfloat64 scale\n",
    "moveit_msgs/msg/MotionPlanDetailedResponse": (
        "moveit_msgs/RobotState trajectory_start\nstring group_name\n"
        "moveit_msgs/RobotTrajectory[] trajectory\nstring[] description\n"
        "float64[] processing_time\nmoveit_msgs/MoveItErrorCodes error_code\n"
    ),
    "moveit_msgs/msg/MotionPlanResponse": (
        "moveit_msgs/RobotState trajectory_start\nstring group_name\n"
        "moveit_msgs/RobotTrajectory trajectory\nfloat64 planning_time\n"
        "moveit_msgs/MoveItErrorCodes error_code\n"
    ),
    "moveit_msgs/msg/MotionSequenceItem": (
        "moveit_msgs/MotionPlanRequest req\nfloat64 blend_radius\n"
    ),
    "moveit_msgs/msg/MotionSequenceRequest": "moveit_msgs/MotionSequenceItem[] items\n",
    "moveit_msgs/msg/MotionSequenceResponse": (
        "moveit_msgs/MoveItErrorCodes error_code\nmoveit_msgs/RobotState sequence_start\n"
        "moveit_msgs/RobotTrajectory[] planned_trajectories\nfloat64 planning_time\n"
    ),
    "moveit_msgs/msg/ObjectColor": "string id\nstd_msgs/ColorRGBA color\n",
    "moveit_msgs/msg/OrientationConstraint": """\
std_msgs/Header header
geometry_msgs/Quaternion orientation
string link_name
float64 absolute_x_axis_tolerance
float64 absolute_y_axis_tolerance
float64 absolute_z_axis_tolerance
uint8 parameterization
uint8 XYZ_EULER_ANGLES=0
uint8 ROTATION_VECTOR=1
float64 weight
""",
    "moveit_msgs/msg/PlannerInterfaceDescription": (
        "string name\nstring pipeline_id\nstring[] planner_ids\n"
    ),
    "moveit_msgs/msg/PlannerParams": ("string[] keys\nstring[] values\nstring[] descriptions\n"),
    "moveit_msgs/msg/PlanningOptions": """\
moveit_msgs/PlanningScene planning_scene_diff
bool plan_only
bool look_around
int32 look_around_attempts
float64 max_safe_execution_cost
bool replan
int32 replan_attempts
float64 replan_delay
""",
    "moveit_msgs/msg/PlanningScene": """\
string name
moveit_msgs/RobotState robot_state
string robot_model_name
geometry_msgs/TransformStamped[] fixed_frame_transforms
moveit_msgs/AllowedCollisionMatrix allowed_collision_matrix
moveit_msgs/LinkPadding[] link_padding
moveit_msgs/LinkScale[] link_scale
moveit_msgs/ObjectColor[] object_colors
moveit_msgs/PlanningSceneWorld world
bool is_diff
""",
    "moveit_msgs/msg/PlanningSceneComponents": """\
uint32 SCENE_SETTINGS=1
uint32 ROBOT_STATE=2
uint32 ROBOT_STATE_ATTACHED_OBJECTS=4
uint32 WORLD_OBJECT_NAMES=8
uint32 WORLD_OBJECT_GEOMETRY=16
uint32 OCTOMAP=32
uint32 TRANSFORMS=64
uint32 ALLOWED_COLLISION_MATRIX=128
uint32 LINK_PADDING_AND_SCALING=256
uint32 OBJECT_COLORS=512
uint32 components
""",
    "moveit_msgs/msg/PlanningSceneWorld": (
        "moveit_msgs/CollisionObject[] collision_objects\noctomap_msgs/OctomapWithPose octomap\n"
    ),
    "moveit_msgs/msg/PositionConstraint": (
        "std_msgs/Header header\nstring link_name\ngeometry_msgs/Vector3 target_point_offset\n"
        "moveit_msgs/BoundingVolume constraint_region\nfloat64 weight\n"
    ),
    "moveit_msgs/msg/RobotState": (
        "sensor_msgs/JointState joint_state\n"
        "sensor_msgs/MultiDOFJointState multi_dof_joint_state\n"
        "moveit_msgs/AttachedCollisionObject[] attached_collision_objects\nbool is_diff\n"
    ),
    "moveit_msgs/msg/RobotTrajectory": (
        "trajectory_msgs/JointTrajectory joint_trajectory\n"
        "trajectory_msgs/MultiDOFJointTrajectory multi_dof_joint_trajectory\n"
    ),
    "moveit_msgs/msg/TrajectoryConstraints": "moveit_msgs/Constraints[] constraints\n",
    "moveit_msgs/msg/VisibilityConstraint": """\
float64 target_radius
geometry_msgs/PoseStamped target_pose
int32 cone_sides
geometry_msgs/PoseStamped sensor_pose
float64 max_view_angle
float64 max_range_angle
uint8 SENSOR_Z=0
uint8 SENSOR_Y=1
uint8 SENSOR_X=2
uint8 sensor_view_direction
float64 weight
""",
    "moveit_msgs/msg/WorkspaceParameters": (
        "std_msgs/Header header\ngeometry_msgs/Vector3 min_corner\n"
        "geometry_msgs/Vector3 max_corner\n"
    ),
    "moveit_msgs/srv/ApplyPlanningScene": ("moveit_msgs/PlanningScene scene\n---\nbool success\n"),
    "moveit_msgs/srv/GetMotionPlan": (
        "moveit_msgs/MotionPlanRequest motion_plan_request\n---\n"
        "moveit_msgs/MotionPlanResponse motion_plan_response\n"
    ),
    "moveit_msgs/srv/GetMotionSequence": (
        "moveit_msgs/MotionSequenceRequest request\n---\n"
        "moveit_msgs/MotionSequenceResponse response\n"
    ),
    "moveit_msgs/srv/GetPlanningScene": (
        "moveit_msgs/PlanningSceneComponents components\n---\nmoveit_msgs/PlanningScene scene\n"
    ),
    "moveit_msgs/srv/GetPositionFK": (
        "std_msgs/Header header\nstring[] fk_link_names\nmoveit_msgs/RobotState robot_state\n---\n"
        "geometry_msgs/PoseStamped[] pose_stamped\nstring[] fk_link_names\n"
        "moveit_msgs/MoveItErrorCodes error_code\n"
    ),
    "moveit_msgs/srv/GetPositionIK": (
        "moveit_msgs/PositionIKRequest ik_request\n---\nmoveit_msgs/RobotState solution\n"
        "moveit_msgs/MoveItErrorCodes error_code\n"
    ),
    "moveit_msgs/srv/GetStateValidity": (
        "moveit_msgs/RobotState robot_state\nstring group_name\n"
        "moveit_msgs/Constraints constraints\n---\nbool valid\n"
        "moveit_msgs/ContactInformation[] contacts\nmoveit_msgs/CostSource[] cost_sources\n"
        "moveit_msgs/ConstraintEvalResult[] constraint_result\n"
    ),
    "moveit_msgs/srv/QueryPlannerInterfaces": (
        "---\nmoveit_msgs/PlannerInterfaceDescription[] planner_interfaces\n"
    ),
    "moveit_msgs/srv/SaveMap": "string filename\n---\nbool success\n",
    "moveit_msgs/srv/LoadMap": "string filename\n---\nbool success\n",
    "moveit_msgs/action/MoveGroup": """\
moveit_msgs/MotionPlanRequest request
moveit_msgs/PlanningOptions planning_options
---
moveit_msgs/MoveItErrorCodes error_code
moveit_msgs/RobotState trajectory_start
moveit_msgs/RobotTrajectory planned_trajectory
moveit_msgs/RobotTrajectory executed_trajectory
float64 planning_time
---
string state
""",
    "moveit_msgs/action/MoveGroupSequence": (
        "moveit_msgs/MotionSequenceRequest request\n"
        "moveit_msgs/PlanningOptions planning_options\n---\n"
        "moveit_msgs/MotionSequenceResponse response\n---\nstring state\n"
    ),
}

ROS1 = {
    "moveit_msgs/msg/JointLimits": _LIMITS,
    "moveit_msgs/action/ExecuteTrajectory": _EXECUTION.format(controllers=""),
    "moveit_msgs/msg/MotionPlanRequest": _PLAN_REQUEST.format(
        link="cartesian_speed_end_effector_link"
    ),
    "moveit_msgs/msg/CartesianTrajectoryPoint": (
        "moveit_msgs/CartesianPoint point\nduration time_from_start\n"
    ),
    "moveit_msgs/msg/MoveItErrorCodes": _ERRORS.format(start_state="", goal_state="", crash=""),
    "moveit_msgs/msg/PositionIKRequest": """\
string group_name
moveit_msgs/RobotState robot_state
moveit_msgs/Constraints constraints
bool avoid_collisions
string ik_link_name
geometry_msgs/PoseStamped pose_stamped
string[] ik_link_names
geometry_msgs/PoseStamped[] pose_stamped_vector
duration timeout
""",
}

ROS2 = {
    "moveit_msgs/msg/JointLimits": _LIMITS + "bool has_jerk_limits\nfloat64 max_jerk\n",
    "moveit_msgs/action/ExecuteTrajectory": _EXECUTION.format(
        controllers="string[] controller_names\n"
    ),
    "moveit_msgs/msg/MotionPlanRequest": _PLAN_REQUEST.format(link="cartesian_speed_limited_link"),
    "moveit_msgs/msg/CartesianTrajectoryPoint": (
        "moveit_msgs/CartesianPoint point\nbuiltin_interfaces/Duration time_from_start\n"
    ),
    "moveit_msgs/msg/MoveItErrorCodes": _ERRORS.format(
        start_state="int32 START_STATE_INVALID=-26\n",
        goal_state="int32 GOAL_STATE_INVALID=-27\nint32 UNRECOGNIZED_GOAL_TYPE=-28\n",
        crash="int32 CRASH=-29\nint32 ABORT=-30\n",
    )
    + "string message\nstring source\n",
    "moveit_msgs/msg/PositionIKRequest": """\
string group_name
moveit_msgs/RobotState robot_state
moveit_msgs/Constraints constraints
bool avoid_collisions
string ik_link_name
geometry_msgs/PoseStamped pose_stamped
string[] ik_link_names
geometry_msgs/PoseStamped[] pose_stamped_vector
builtin_interfaces/Duration timeout
""",
}
