"""The ros1 gateway, its master, and the ROS 1 programs of Debian."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from claims import own_port
from helpers import PATIENCE_S, Program, Start, wait_until
from ros1_programs import PROGRAMS, Ros, listener_of, needs_ros1, next_data

PROBE = PROGRAMS / "ros1_probe"
ROSCPP = PROGRAMS / "ros1_roscpp_node"
pytestmark = [
    pytest.mark.skipif(not PROBE.exists(), reason="the gateways are not built"),
    needs_ros1,
]


class Probe:
    """A gateway with an in-memory graph, in a separate process."""

    def __init__(self, start: Start, *options: str) -> None:
        self.program = start(str(PROBE), *options, keys=True)
        self.master = self.program.line().strip()

    def ask(self, *words: str) -> str:
        self.program.type(" ".join(words) + "\n")
        return self.program.line().strip()

    @property
    def heard(self) -> int:
        return int(self.ask("heard"))


@pytest.fixture
def probe(start: Start) -> Probe:
    return Probe(start, "master=true", "master_port=0")


@pytest.fixture
def ros(start: Start, probe: Probe, tmp_path: Path) -> Ros:
    made = Ros(start, probe.master, tmp_path)
    wait_until(lambda: "/out" in made.run("rostopic", "list"), "the robot's topics")
    return made


SERVER = """
import rospy
from std_srvs.srv import SetBool, SetBoolResponse
def serve(request):
    if not request.data:
        raise rospy.ServiceException("only the truth")
    return SetBoolResponse(True, "yes")
rospy.init_node("server")
rospy.Service("/assent", SetBool, serve)
print("ready")
rospy.spin()
"""

CALLER = """
import rospy
from std_srvs.srv import SetBool
rospy.wait_for_service("/negate")
for persistent in (False, True):
    negate = rospy.ServiceProxy("/negate", SetBool, persistent=persistent)
    print([negate(value).success for value in (True, False) * 20] == [False, True] * 20)
"""


def test_ros_tools_see_the_robots_topics_and_services(ros: Ros) -> None:
    assert ros.run("rostopic", "type", "/out").strip() == "std_msgs/String"
    wait_until(lambda: ros.run("rosservice", "list").split() == ["/negate"], "the service")
    assert ros.run("rosservice", "type", "/negate").strip() == "std_srvs/SetBool"
    assert "success: False" in ros.run("rosservice", "call", "/negate", "true")


def test_the_gateway_is_a_normal_ros_node(ros: Ros) -> None:
    assert ros.run("rosnode", "list").split() == ["/hyphos"]
    # The ping gives up after 3 s.
    wait_until(lambda: "xmlrpc reply" in ros.run("rosnode", "ping", "-c", "1", "/hyphos"), "a ping")
    echo = ros.start("rostopic", "echo", "/out")
    info = ""

    def is_whole() -> bool:
        nonlocal info
        info = ros.run("rosnode", "info", "/hyphos")
        return "rostopic" in info and " * /negate" in info

    wait_until(is_whole, "the connection and the service")
    assert " * /out [std_msgs/String]" in info
    assert " * direction: outbound" in info
    echo.popen.kill()


def test_messages_flow_between_ros_and_the_robot(ros: Ros, probe: Probe) -> None:
    echo = ros.start("rostopic", "echo", "/out")
    ros.start("rostopic", "pub", "-r", "20", "/in", "std_msgs/String", "data: 'to and fro'")
    assert next_data(echo) == "to and fro"
    assert "rostopic" in probe.ask("publishers", "/in")


def test_a_late_subscriber_gets_the_latched_message(ros: Ros) -> None:
    assert "once" in ros.run("rostopic", "echo", "-n", "1", "/latched")


def test_latched_ros_messages_reach_a_late_gateway(start: Start, probe: Probe, ros: Ros) -> None:
    ros.start("rostopic", "pub", "-l", "/in", "std_msgs/String", "data: kept")
    wait_until(lambda: probe.heard == 1, "the message")
    late = Probe(start, f"master_uri={probe.master}", "node=late", "channels=")
    wait_until(lambda: late.heard == 1, "the latched message")


def test_a_subscriber_of_another_type_is_refused_and_counted(ros: Ros, probe: Probe) -> None:
    listener = ros.script(listener_of("/out", "Int32"))
    wait_until(lambda: int(probe.ask("counted", "type_mismatch")) > 0, "the refusal")
    listener.popen.kill()


@pytest.fixture(params=["rospy", "roscpp"])
def library(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if name == "roscpp" and not ROSCPP.exists():
        pytest.skip("roscpp is not installed (scripts/setup ros)")
    return name


@pytest.mark.cell("worlds", "rospy", "service")
@pytest.mark.cell("worlds", "roscpp", "service")
def test_the_robot_calls_a_ros_service(ros: Ros, probe: Probe, library: str) -> None:
    def begin() -> Program:
        made = ros.script(SERVER) if library == "rospy" else ros.start(str(ROSCPP), "server")
        assert made.line().strip() == "ready"
        wait_until(
            lambda: not probe.ask("call", "/assent", "01").startswith("error"), "the service"
        )
        return made

    server = begin()
    for _ in range(20):
        assert bytes.fromhex(probe.ask("call", "/assent", "01")) == b"\1\3\0\0\0yes"
    refusal = probe.ask("call", "/assent", "00")
    assert refusal.startswith("error the server refused the call: ")
    assert library == "roscpp" or "only the truth" in refusal
    server.popen.kill()
    server.popen.wait()
    assert probe.ask("call", "/assent", "01").startswith("error")
    begin()


@pytest.mark.cell("worlds", "rospy", "service")
@pytest.mark.cell("worlds", "roscpp", "service")
def test_ros_calls_a_service_of_the_robot(ros: Ros, library: str) -> None:
    caller = ros.script(CALLER) if library == "rospy" else ros.start(str(ROSCPP), "caller")
    assert caller.line().strip() == "True"
    assert caller.line().strip() == "True", "over a persistent connection"


@pytest.mark.skipif(not ROSCPP.exists(), reason="roscpp is not installed (scripts/setup ros)")
@pytest.mark.cell("worlds", "roscpp", "topic")
def test_roscpp_nodes_communicate_through_the_robot(ros: Ros, probe: Probe) -> None:
    listener = ros.start(str(ROSCPP), "listener")
    talker = ros.start(str(ROSCPP), "talker")
    for _ in range(20):
        assert listener.line().strip() == "hi"
    assert probe.ask("publishers", "/in") == "/roscpp_talker"
    talker.popen.send_signal(signal.SIGTERM)
    wait_until(lambda: not probe.ask("publishers", "/in"), "its end")
    ros.start(str(ROSCPP), "talker")
    assert listener.line().strip() == "hi"


def test_a_killed_publisher_leaves_nothing(ros: Ros, probe: Probe) -> None:
    for _ in range(3):
        before = probe.heard
        talker = ros.start("rostopic", "pub", "-r", "50", "/in", "std_msgs/String", "data: hi")
        wait_until(lambda before=before: probe.heard > before, "the talker")  # type: ignore[misc]
        talker.popen.send_signal(signal.SIGKILL)
        talker.popen.wait()
        wait_until(lambda: not probe.ask("publishers", "/in"), "its end")
        wait_until(lambda: "/in" not in ros.run("rostopic", "list"), "the master to forget it")


def test_a_killed_subscriber_does_not_disturb_another(ros: Ros) -> None:
    first = ros.script(listener_of("/out", name="first"))
    second = ros.script(listener_of("/out", name="second"))
    ros.start("rostopic", "pub", "-r", "50", "/in", "std_msgs/String", "data: hi")
    assert first.line().strip() == "hi"
    assert second.line().strip() == "hi"
    first.popen.send_signal(signal.SIGKILL)
    for _ in range(20):
        assert second.line().strip() == "hi"


def test_our_master_stores_parameters(ros: Ros) -> None:
    ros.run("rosparam", "set", "/robot", "{speed: 1.5, wheels: [front, rear], ready: true}")
    assert ros.run("rosparam", "get", "/robot/speed").strip() == "1.5"
    assert ros.run("rosparam", "list").split() == ["/robot/ready", "/robot/speed", "/robot/wheels"]
    ros.run("rosparam", "set", "/robot/speed", "2")
    whole = ros.run("rosparam", "get", "/robot")
    assert whole.split() == ["ready:", "true", "speed:", "2", "wheels:", "-", "front", "-", "rear"]
    ros.run("rosparam", "delete", "/robot/speed")
    assert not ros.succeeds("rosparam", "get", "/robot/speed")


def test_a_second_node_of_the_same_name_ends_the_first(ros: Ros) -> None:
    first = ros.script(listener_of("/out"))
    # Its last registration. A later one would end the second node.
    wait_until(lambda: "/listener" in ros.run("rostopic", "info", "/out"), "the first")
    second = ros.script(listener_of("/out"))
    assert first.popen.wait(PATIENCE_S) is not None
    assert second.popen.poll() is None


@pytest.fixture
def rosmaster(start: Start, tmp_path: Path) -> Callable[[int], tuple[Ros, Program]]:
    """`rosmaster(port)` starts the master of ROS."""

    def begin(port: int) -> tuple[Ros, Program]:
        ros = Ros(start, f"http://127.0.0.1:{port}/", tmp_path)
        process = ros.start("rosmaster", "--core", "-p", str(port))
        wait_until(lambda: ros.succeeds("rostopic", "list"), "rosmaster")
        return ros, process

    return begin


def test_the_gateway_survives_a_restart_of_the_ros_master(
    start: Start, rosmaster: Callable[[int], tuple[Ros, Program]]
) -> None:
    port = own_port()
    probe = Probe(start, f"master_uri=http://127.0.0.1:{port}")
    for _ in range(2):  # the first time the gateway starts before the master
        ros, master = rosmaster(port)
        before = probe.heard
        echo = ros.start("rostopic", "echo", "/out")
        talker = ros.start("rostopic", "pub", "-r", "20", "/in", "std_msgs/String", "data: hi")
        assert next_data(echo) == "hi"
        assert probe.heard > before
        wait_until(lambda: "/negate" in ros.run("rosservice", "list"), "the service")  # noqa: B023
        assert "success: True" in ros.run("rosservice", "call", "/negate", "false")
        for each in (talker, echo, master):
            each.popen.send_signal(signal.SIGKILL)
            each.popen.wait()
        wait_until(lambda: not probe.ask("publishers", "/in"), "the talker's end")


def test_a_node_that_is_killed_by_name_leaves_the_graph(ros: Ros) -> None:
    ros.run("rosnode", "kill", "/hyphos")
    wait_until(lambda: not ros.run("rosnode", "list").split(), "its end")
