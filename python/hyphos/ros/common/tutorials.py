"""The packages of the tutorials of ROS: the first services, actions and types of a newcomer."""

from __future__ import annotations

_POSE = "float32 x\nfloat32 y\nfloat32 theta\nfloat32 linear_velocity\nfloat32 angular_velocity\n"

BOTH = {
    "turtlesim/msg/Color": "uint8 r\nuint8 g\nuint8 b\n",
    "turtlesim/msg/Pose": _POSE,
    "turtlesim/srv/Kill": "string name\n---\n",
    "turtlesim/srv/SetPen": "uint8 r\nuint8 g\nuint8 b\nuint8 width\nuint8 off\n---\n",
    "turtlesim/srv/Spawn": ("float32 x\nfloat32 y\nfloat32 theta\nstring name\n---\nstring name\n"),
    "turtlesim/srv/TeleportAbsolute": "float32 x\nfloat32 y\nfloat32 theta\n---\n",
    "turtlesim/srv/TeleportRelative": "float32 linear\nfloat32 angular\n---\n",
}

ROS1 = {
    "actionlib_tutorials/action/Averaging": """\
int32 samples
---
float32 mean
float32 std_dev
---
int32 sample
float32 data
float32 mean
float32 std_dev
""",
    "actionlib_tutorials/action/Fibonacci": (
        "int32 order\n---\nint32[] sequence\n---\nint32[] sequence\n"
    ),
    "roscpp_tutorials/srv/TwoInts": "int64 a\nint64 b\n---\nint64 sum\n",
    "rospy_tutorials/msg/Floats": "float32[] data\n",
    "rospy_tutorials/srv/AddTwoInts": "int64 a\nint64 b\n---\nint64 sum\n",
}

ROS2 = {
    "action_tutorials_interfaces/action/Fibonacci": (
        "int32 order\n---\nint32[] sequence\n---\nint32[] partial_sequence\n"
    ),
    "example_interfaces/action/Fibonacci": (
        "int32 order\n---\nint32[] sequence\n---\nint32[] sequence\n"
    ),
    "turtlesim/action/RotateAbsolute": (
        "float32 theta\n---\nfloat32 delta\n---\nfloat32 remaining\n"
    ),
}
