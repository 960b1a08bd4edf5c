"""Programs of ROS 1 and ROS 2 communicate through both gateways of one plan."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claims import own_dds_domain, own_port
from helpers import Program, Start, repeating
from ros1_programs import Ros, needs_ros1
from ros2_gateway import needs_ros2, std_srvs

pytest.importorskip("cyclonedds.domain", reason="pip install cyclonedds")
import ros2_program as ros2
from ros2_program import RosProgram, on_loopback, take

PLAN = Path(__file__).parents[3] / "examples/15_ros1_and_ros2/robot.yaml"
ROSCPP = Path(__file__).parents[3] / "build/release/tests/gateway/ros1/ros1_roscpp_node"
pytestmark = [needs_ros1, needs_ros2]

SCANNER = """
import rospy
from sensor_msgs.msg import Joy, LaserScan
rospy.init_node("scanner")
scans = rospy.Publisher("/scan", LaserScan, queue_size=10)
sticks = rospy.Publisher("/joy", Joy, queue_size=10)
rate = rospy.Rate(20)
while not rospy.is_shutdown():
    scan = LaserScan(range_max=8.0, ranges=[0.5, 1.5])
    scan.header.frame_id = "laser"
    scan.header.stamp = rospy.Time(12, 345)
    scans.publish(scan)
    stick = Joy(axes=[0.25, -1.0], buttons=[1, 0])
    stick.header.stamp = rospy.Time(7, 8)
    sticks.publish(stick)
    rate.sleep()
"""

CALLER = """
import rospy
from std_srvs.srv import SetBool
rospy.init_node("caller")
rospy.wait_for_service("/lamp")
lamp = rospy.ServiceProxy("/lamp", SetBool)
for value in (True, False):
    answer = lamp(value)
    print(answer.success, answer.message)
rospy.spin()
"""


@pytest.fixture(scope="module")
def dds() -> Iterator[RosProgram]:
    with on_loopback(own_dds_domain()) as program:
        yield program


@pytest.fixture
def bridge(start: Start, domain: str, tmp_path: Path) -> Ros:
    """The plan, with a separate master and a separate DDS domain."""
    systems = {"one": "catkin", "two": "rosidl_default_generators"}
    packages = [std_srvs(tmp_path / name, system) for name, system in systems.items()]
    known = f"--ros, {packages[0]}, --ros, {packages[1]}"
    port = own_port()
    one = f"[--master, --set, master_port={port}, {known}]"
    two = f"[--set, domain_id={own_dds_domain()}, {known}]"
    settings = [f"domain={domain}", f"nodes.ros1.args={one}", f"nodes.ros2.args={two}"]
    words = [sys.executable, "-m", "hyphos", "run", str(PLAN), "--logs", str(tmp_path / "logs")]
    words += [word for setting in settings for word in ("--set", setting)]
    program: Program = start(*words)
    told = ""
    while "dds://" not in told or "http://" not in told:
        told += program.line()
    return Ros(start, f"http://127.0.0.1:{port}/", tmp_path)


@pytest.mark.skipif(not ROSCPP.exists(), reason="roscpp is not installed (scripts/setup ros)")
def test_a_roscpp_talker_reaches_a_ros_2_listener(bridge: Ros, dds: RosProgram) -> None:
    bridge.start(str(ROSCPP), "talker")
    reader = dds.reader("rt/in", ros2.String)
    assert [take(reader).data for _ in range(20)] == ["hi"] * 20


@pytest.mark.skipif(not ROSCPP.exists(), reason="roscpp is not installed (scripts/setup ros)")
def test_a_ros_2_talker_reaches_a_roscpp_listener(bridge: Ros, dds: RosProgram) -> None:
    listener = bridge.start(str(ROSCPP), "listener")
    writer = dds.writer("rt/out", ros2.String)
    count = itertools.count()
    with repeating(lambda: writer.write(ros2.String(str(next(count))))):
        heard = [int(listener.line()) for _ in range(50)]
    assert heard == sorted(set(heard)), "each once, in order"


def test_messages_have_the_types_of_the_other_side(bridge: Ros, dds: RosProgram) -> None:
    bridge.script(SCANNER)
    scan = take(dds.reader("rt/scan", ros2.LaserScan))
    assert (scan.header.frame_id, scan.header.stamp) == ("laser", ros2.Time(12, 345))
    assert (list(scan.ranges), scan.range_max) == ([0.5, 1.5], 8.0)
    # A type outside the standard messages.
    stick = take(dds.reader("rt/joy", ros2.Joy))
    assert stick.header.stamp == ros2.Time(7, 8)
    assert (list(stick.axes), list(stick.buttons)) == ([0.25, -1.0], [1, 0])


def test_ros_1_calls_a_service_of_ros_2(bridge: Ros, dds: RosProgram) -> None:
    with dds.serving("lamp", "from ROS 2"):
        caller = bridge.script(CALLER)
        assert [caller.line(), caller.line()] == ["False from ROS 2", "True from ROS 2"]


@pytest.mark.skipif(not ROSCPP.exists(), reason="roscpp is not installed (scripts/setup ros)")
def test_ros_2_calls_a_service_of_ros_1(bridge: Ros, dds: RosProgram) -> None:
    server = bridge.start(str(ROSCPP), "server")
    assert server.line() == "ready"
    replies = dds.reader("rr/assentReply", ros2.SetBoolResponse)
    requests = dds.writer("rq/assentRequest", ros2.SetBoolRequest)
    calls = iter(range(1, 1_000_000))
    answer: Any = take(replies, lambda: requests.write(ros2.SetBoolRequest(9, next(calls), True)))
    assert (answer.client, answer.success, answer.message) == (9, True, "yes")
