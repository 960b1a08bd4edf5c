"""Stands in for Nav2: its topics, types and QoS, on Cyclone DDS. It sees a scan and the transforms,
and answers a goal with a plan and a velocity. The types are read at run time, so postponed
annotations are not allowed here.
"""

# Without the package, mypy does not know its base class.
# mypy: disable-error-code="call-arg,misc"

from dataclasses import dataclass
from typing import Any

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, sequence
from ros2_program import Header, LaserScan, RosProgram


@dataclass
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Point(IdlStruct, typename="geometry_msgs::msg::dds_::Point_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Pose(IdlStruct, typename="geometry_msgs::msg::dds_::Pose_"):
    position: Point
    orientation: Quaternion


@dataclass
class PoseStamped(IdlStruct, typename="geometry_msgs::msg::dds_::PoseStamped_"):
    header: Header
    pose: Pose


@dataclass
class PoseWithCovariance(IdlStruct, typename="geometry_msgs::msg::dds_::PoseWithCovariance_"):
    pose: Pose
    covariance: array[float64, 36]


@dataclass
class Twist(IdlStruct, typename="geometry_msgs::msg::dds_::Twist_"):
    linear: Vector3
    angular: Vector3


@dataclass
class TwistWithCovariance(IdlStruct, typename="geometry_msgs::msg::dds_::TwistWithCovariance_"):
    twist: Twist
    covariance: array[float64, 36]


@dataclass
class Odometry(IdlStruct, typename="nav_msgs::msg::dds_::Odometry_"):
    header: Header
    child_frame_id: str
    pose: PoseWithCovariance
    twist: TwistWithCovariance


@dataclass
class NavPath(IdlStruct, typename="nav_msgs::msg::dds_::Path_"):
    header: Header
    poses: sequence[PoseStamped]


@dataclass
class Transform(IdlStruct, typename="geometry_msgs::msg::dds_::Transform_"):
    translation: Vector3
    rotation: Quaternion


@dataclass
class TransformStamped(IdlStruct, typename="geometry_msgs::msg::dds_::TransformStamped_"):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
class TFMessage(IdlStruct, typename="tf2_msgs::msg::dds_::TFMessage_"):
    transforms: sequence[TransformStamped]


class Nav2:
    """Costmap and controller read scan and odom as sensor data, the navigator reads goals reliably,
    and tf2 keeps static transforms."""

    def __init__(self, program: RosProgram) -> None:
        self.scan = program.reader("rt/scan", LaserScan, reliable=False)
        self.odom = program.reader("rt/odom", Odometry, reliable=False)
        self.goal = program.reader("rt/goal_pose", PoseStamped)
        self.moving = program.reader("rt/tf", TFMessage)
        self.fixed = program.reader("rt/tf_static", TFMessage, latched=True)
        self.plan = program.writer("rt/plan", NavPath)
        self.speed = program.writer("rt/cmd_vel", Twist)
        self.place = program.writer("rt/tf", TFMessage)

    def answer(self, goal: Any) -> None:
        """Plans to the goal, and drives ahead."""
        self.plan.write(NavPath(goal.header, [goal]))
        self.speed.write(Twist(Vector3(0.25, 0.0, 0.0), Vector3(0.0, 0.0, 0.0)))

    def locate(self, header: Header) -> None:
        """The transform from map to odom, as of a localisation."""
        here = Transform(Vector3(1.0, 2.0, 0.0), Quaternion(0.0, 0.0, 0.0, 1.0))
        self.place.write(TFMessage([TransformStamped(header, "odom", here)]))

    def frames(self) -> set[tuple[str, str]]:
        """The pairs of parent and child that have arrived from the robot."""
        return {
            (one.header.frame_id, one.child_frame_id)
            for reader in (self.moving, self.fixed)
            for message in reader.take(N=100)
            for one in message.transforms
        }
