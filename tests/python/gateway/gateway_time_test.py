"""Time, log lines, static transforms and diagnostics of the robot and of other worlds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hyphos
import pytest
from helpers import Inbox, Program, Start, repeating, wait_until
from hyphos import Transform
from hyphos.msgs import DiagnosticArray, DiagnosticStatus, Log
from ros1_programs import Ros, needs_ros1
from ros_tcp_client import RosTcpClient
from ros_tcp_client import connected as ros_tcp
from rosbridge_probe import RawClient, connected, needs_gateway

pytestmark = needs_gateway

SECOND = 1_000_000_000


def serve(start: Start, domain: str, *words: str) -> str:
    return start("gateway", *words, "--port", "0", "-d", domain).line().strip()


@pytest.fixture
def browser(hyphos_start: Start, domain: str) -> Iterator[RawClient]:
    with connected(serve(hyphos_start, domain, "rosbridge")) as client:
        yield client


@pytest.fixture
def unity(hyphos_start: Start, domain: str) -> Iterator[RosTcpClient]:
    address = serve(hyphos_start, domain, "ros_tcp")
    with ros_tcp(int(address.rpartition(":")[2]), ros2=False) as client:
        yield client


@pytest.fixture
def ros1(hyphos_start: Start, start: Start, domain: str, tmp_path: Path) -> Ros:
    words = ("gateway", "ros1", "--master", "--set", "master_port=0", "-d", domain)
    return Ros(start, hyphos_start(*words).line().strip(), tmp_path)


@contextmanager
def simulated(domain: str) -> Iterator[hyphos.Node]:
    """A node that follows simulated time."""
    with hyphos.Node.open("follower", domain=domain, process="follower", clock="sim") as node:
        yield node


def spinning(ros: Ros, text: str) -> Program:
    return ros.script("import rospy\nrospy.init_node('tester')\n" + text)


def test_time_of_rosbridge_is_the_time_of_the_robot(domain: str, browser: RawClient) -> None:
    with simulated(domain) as node:
        browser.say(op="advertise", topic="/clock", type="rosgraph_msgs/Clock")
        clock = {"clock": {"secs": 12, "nsecs": 5}}

        def tick() -> None:
            browser.say(op="publish", topic="/clock", msg=clock)

        with repeating(tick):
            wait_until(lambda: node.clock.now_ns() == 12 * SECOND + 5, "the time")


def test_time_of_ros_tcp_is_the_time_of_the_robot(domain: str, unity: RosTcpClient) -> None:
    with simulated(domain) as node:
        unity.publish("/clock", "rosgraph_msgs/Clock")
        body = (12).to_bytes(4, "little") + (5).to_bytes(4, "little")
        with repeating(lambda: unity.send("/clock", body)):
            wait_until(lambda: node.clock.now_ns() == 12 * SECOND + 5, "the time")


def test_simulated_time_reaches_a_late_client_of_rosbridge(
    node: hyphos.Node, browser: RawClient
) -> None:
    with hyphos.SimTime(node, start_ns=7 * SECOND, manual=True) as time:
        time.advance(duration_ms=500)
        browser.say(op="subscribe", topic="/clock")
        heard = browser.hear()
        assert heard["msg"] == {"clock": {"secs": 7, "nsecs": 500_000_000}}


@needs_ros1
def test_time_of_ros_1_is_the_time_of_the_robot(domain: str, ros1: Ros) -> None:
    with simulated(domain) as node:
        spinning(
            ros1,
            "from rosgraph_msgs.msg import Clock\n"
            "out = rospy.Publisher('/clock', Clock, queue_size=1)\n"
            "import time\n"
            "while not rospy.is_shutdown():\n"
            "    out.publish(Clock(rospy.Time(12, 5)))\n"
            "    time.sleep(0.05)\n",
        )
        wait_until(lambda: node.clock.now_ns() == 12 * SECOND + 5, "the time")


@needs_ros1
def test_a_ros_1_node_follows_simulated_time(node: hyphos.Node, ros1: Ros) -> None:
    ros1.run("rosparam", "set", "/use_sim_time", "true")
    with hyphos.SimTime(node, start_ns=7 * SECOND, manual=True) as time:
        program = spinning(
            ros1,
            "import sys\n"
            "while rospy.get_time() == 0: pass\n"
            "sys.stdout.write(repr(rospy.get_time()) + '\\n')\n"
            "sys.stdout.flush()\n"
            "rospy.spin()\n",
        )
        with repeating(lambda: time.advance(duration_ms=1)):
            assert 7.0 < float(program.line()) < 1000.0


@needs_ros1
def test_a_gateway_with_simulated_time_sets_use_sim_time(
    hyphos_start: Start, start: Start, domain: str, tmp_path: Path
) -> None:
    words = ("gateway", "ros1", "--master", "--set", "master_port=0")
    options = ("--hyphos-domain", domain, "--hyphos-clock", "sim")
    ros = Ros(start, hyphos_start(*words, *options).line().strip(), tmp_path)
    wait_until(lambda: ros.succeeds("rosparam", "get", "/use_sim_time"), "the parameter")
    assert ros.run("rosparam", "get", "/use_sim_time").strip() == "true"


@needs_ros1
def test_log_lines_of_ros_1_are_log_lines_of_the_robot(
    node: hyphos.Node, inbox: Inbox, ros1: Ros
) -> None:
    node.subscribe("log", Log, inbox)
    spinning(
        ros1,
        "rate = rospy.Rate(20)\n"
        "while not rospy.is_shutdown():\n"
        "    rospy.logerr('the arm is hot')\n"
        "    rate.sleep()\n",
    )

    def lines() -> list[Any]:
        return [line for line in list(inbox.items) if line.msg == "the arm is hot"]

    wait_until(lambda: bool(lines()), "a line of ROS")
    line = lines()[0]
    assert line.name == "/tester"
    assert line.level == Log.ERROR
    assert line.line > 0
    assert line.stamp_ns > 1_600_000_000 * SECOND


@needs_ros1
def test_log_lines_of_the_robot_are_on_rosout_of_ros_1(node: hyphos.Node, ros1: Ros) -> None:
    program = spinning(
        ros1,
        "import sys\n"
        "from rosgraph_msgs.msg import Log\n"
        "def hear(line):\n"
        "    if line.name != '/tester':\n"
        "        sys.stdout.write('%d %s %s\\n' % (line.level, line.name, line.msg))\n"
        "        sys.stdout.flush()\n"
        "rospy.Subscriber('/rosout', Log, hear)\n"
        "rospy.spin()\n",
    )
    with repeating(lambda: node.log.warn("the battery is low")):
        while (line := program.line().strip()) != "4 tester the battery is low":
            assert "tester" not in line, line


@needs_ros1
def test_a_late_node_of_ros_1_gets_all_static_transforms(
    domain: str, node: hyphos.Node, ros1: Ros
) -> None:
    with hyphos.Node.open("arm", domain=domain, process="arm") as arm:
        node.transforms().set_static(Transform("base", "laser", (1.0, 2.0, 3.0)))
        arm.transforms().set_static(Transform("base", "hand", (4.0, 5.0, 6.0)))
        wait_until(lambda: "/tf_static" in ros1.run("rostopic", "list"), "the topic")
        program = spinning(
            ros1,
            "import sys\n"
            # rospy comes without tf2_msgs, so that the names are found in the bytes.
            "def hear(message):\n"
            "    names = [one for one in ('laser', 'hand') if one.encode() in message._buff]\n"
            "    sys.stdout.write(' '.join(names) + '\\n')\n"
            "    sys.stdout.flush()\n"
            "rospy.Subscriber('/tf_static', rospy.AnyMsg, hear)\n"
            "rospy.spin()\n",
        )
        found: set[str] = set()
        while found != {"laser", "hand"}:
            found |= set(program.line().split())


def test_a_late_client_gets_all_static_transforms(
    domain: str, node: hyphos.Node, browser: RawClient, unity: RosTcpClient
) -> None:
    with hyphos.Node.open("arm", domain=domain, process="arm") as arm:
        node.transforms().set_static(Transform("base", "laser", (1.0, 2.0, 3.0)))
        arm.transforms().set_static(Transform("base", "hand", (4.0, 5.0, 6.0)))
        browser.say(op="subscribe", topic="/tf_static", type="tf2_msgs/TFMessage")
        found: set[str] = set()
        while found != {"laser", "hand"}:
            transforms = browser.hear()["msg"]["transforms"]
            found |= {one["child_frame_id"] for one in transforms}
        unity.subscribe("/tf_static", "tf2_msgs/TFMessage")
        text = b""
        while not (b"laser" in text and b"hand" in text):
            text += unity.read_named("/tf_static")


def test_a_client_of_rosbridge_gets_log_lines(node: hyphos.Node, browser: RawClient) -> None:
    browser.say(op="subscribe", topic="/log", type="rcl_interfaces/msg/Log")
    with repeating(lambda: node.log.warn("the battery is low")):
        while (line := browser.hear()["msg"])["msg"] != "the battery is low":
            pass
    assert (line["name"], line["level"]) == ("tester", 30)
    assert json.dumps(line["stamp"]).count(":") == 2


def test_a_client_of_rosbridge_gets_diagnostics(node: hyphos.Node, browser: RawClient) -> None:
    browser.say(op="subscribe", topic="/diagnostics", type="diagnostic_msgs/DiagnosticArray")
    diagnostics = hyphos.Diagnostics(node, hardware_id="SN 1205")
    diagnostics.add("charge", lambda report: report.warn("low", volts=21.5))
    with repeating(diagnostics.publish):
        [status] = browser.hear()["msg"]["status"]
    assert (status["name"], status["level"]) == ("tester: charge", 1)
    assert (status["message"], status["hardware_id"]) == ("low", "SN 1205")
    assert status["values"] == [{"key": "volts", "value": "21.5"}]


def test_diagnostics_of_a_client_are_reports_of_the_robot(
    node: hyphos.Node, inbox: Inbox, browser: RawClient
) -> None:
    node.subscribe("diagnostics", DiagnosticArray, inbox)
    topic = {"topic": "/diagnostics", "type": "diagnostic_msgs/DiagnosticArray"}
    report = {
        **{"level": 2, "name": "arm: motor", "message": "hot", "hardware_id": "7"},
        "values": [{"key": "t", "value": "90"}],
    }
    browser.say(op="advertise", **topic)
    with repeating(lambda: browser.say(op="publish", msg={"status": [report]}, **topic)):
        [status] = inbox.wait(1)[0].status
    assert (status.name, status.level) == ("arm: motor", DiagnosticStatus.ERROR)
    assert (status.message, status.hardware_id) == ("hot", "7")
    assert [(one.key, one.value) for one in status.values] == [("t", "90")]
