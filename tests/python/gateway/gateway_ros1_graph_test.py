"""`hyphos gateway ros1`: messages of a robot in a ROS 1 graph."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import hyphos
import pytest
from claims import own_port
from helpers import PATIENCE_S, Inbox, Start, wait_until
from hyphos import _hyphos
from hyphos.msgs import LaserScan, String
from hyphos.ros.definition import Flavour
from hyphos.ros.importing import import_types
from hyphos.ros.typebook import TypeBook
from ros1_programs import PROGRAMS, Ros, listener_of, needs_actionlib, needs_ros1, next_data
from ros_corpus import write_package
from rosbags.highlevel import AnyReader

PAGE = PROGRAMS.parents[4] / "docs/how-to/gateway_ros1.md"
PROGRAM = PROGRAMS.parents[2] / "gateway/hyphos-gateway"
pytestmark = [
    pytest.mark.skipif(not PROGRAM.exists(), reason="the gateways are not built"),
    needs_ros1,
]


COUNTER = """
import rospy
from std_msgs.msg import String
rospy.init_node("counter")
publisher = rospy.Publisher("/both", String, queue_size=10)
rate = rospy.Rate(50)
count = 0
while not rospy.is_shutdown():
    publisher.publish(str(-count))
    count += 1
    rate.sleep()
"""


# Runs two nodes, each with a latched publisher.
LATCHED = """
import rospy
from std_msgs.msg import String
rospy.init_node("{name}")
publisher = rospy.Publisher("/names", String, queue_size=10, latch=True)
publisher.publish("{name}")
rospy.spin()
"""

# A ROS node that tunes the robot: it prints the parameters that it sees and the results of its
# changes.
TUNER = """
import sys
import time
import rospy
def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\\n")
    sys.stdout.flush()
while True:
    try:
        rospy.get_master().getPid()
        break
    except OSError:
        time.sleep(0.05)
rospy.init_node("tuner")
while not all(map(rospy.has_param, ("/tester/speed", "/tester/laser/names"))):
    time.sleep(0.05)
say(rospy.get_param("/tester/speed"))
say(rospy.get_param("/tester/laser/names"))
rospy.set_param("/tester", {"speed": 1, "laser": {"names": ["c"]}})
while not isinstance(rospy.get_param("/tester/speed"), float):
    time.sleep(0.05)
say("set")
rospy.set_param("/tester/speed", 7.0)
while rospy.get_param("/tester/speed") != 1.0:
    time.sleep(0.05)
say("refused")
rospy.set_param("/tuner/gains", [0.5, 1.5])
rospy.spin()
"""


# Both directions of a type that no installed package has.
LEVELS = """
import sys
import genpy.dynamic
import rospy
Level = genpy.dynamic.generate_dynamic("tank_msgs/Level", "float64 litres\\n")["tank_msgs/Level"]
def hear(message):
    sys.stdout.write("%s\\n" % message.litres)
    sys.stdout.flush()
rospy.init_node("levels")
rospy.Subscriber("/level", Level, hear)
publisher = rospy.Publisher("/tank", Level, queue_size=10)
rate = rospy.Rate(50)
while not rospy.is_shutdown():
    publisher.publish(12.5)
    rate.sleep()
"""
# The usual server of actionlib: a newer goal preempts the older one.
CLIMBER = """
import actionlib
import rospy
from actionlib.msg import TestAction, TestFeedback, TestResult
def execute(goal):
    while goal.goal > 100 and not server.is_preempt_requested():
        server.publish_feedback(TestFeedback(goal.goal))
        rospy.sleep(0.02)
    if goal.goal > 100:
        server.set_preempted(TestResult(-1))
    else:
        server.set_succeeded(TestResult(2 * goal.goal))
rospy.init_node("climber")
server = actionlib.SimpleActionServer("climb", TestAction, execute, auto_start=False)
server.start()
rospy.spin()
"""
# A client of actionlib with two goals at once.
ROUTER = """
import sys
import threading
import actionlib
import rospy
from actionlib.msg import TestAction, TestGoal
from actionlib_msgs.msg import GoalStatus
rospy.init_node("router")
client = actionlib.ActionClient("climb", TestAction)
client.wait_for_server()
heard = threading.Event()
def send(to):
    done = threading.Event()
    def changed(handle):
        if handle.get_comm_state() == actionlib.CommState.DONE:
            done.set()
    return client.send_goal(TestGoal(to), changed, lambda *_: heard.set()), done
first, first_done = send(101)
heard.wait()
second, second_done = send(21)
for handle, done in ((first, first_done), (second, second_done)):
    done.wait()
    name = GoalStatus.to_string(handle.get_goal_status())
    sys.stdout.write("%s %d\\n" % (name, handle.get_result().result))
    sys.stdout.flush()
"""
ROSCPP = PROGRAMS / "ros1_roscpp_node"
LIBRARIES = [
    pytest.param(
        name,
        marks=[
            pytest.mark.cell("worlds", name, "unknown type"),
            pytest.mark.skipif(
                name == "roscpp" and not ROSCPP.exists(),
                reason="roscpp is not installed (scripts/setup core ros)",
            ),
        ],
    )
    for name in ("rospy", "roscpp")
]


@pytest.fixture
def ros(hyphos_start: Start, start: Start, domain: str, tmp_path: Path) -> Ros:
    gateway = hyphos_start("gateway", "ros1", "--master", "--set", "master_port=0", "-d", domain)
    return Ros(start, gateway.line().strip(), tmp_path)


@pytest.mark.cell("worlds", "rospy", "topic")
@pytest.mark.cell("worlds", "Hyphos Python", "topic")
def test_robot_channels_are_ros_topics(node: hyphos.Node, ros: Ros) -> None:
    scans = node.publisher("scan", LaserScan)
    words = node.publisher("words", String)
    node.every(lambda: words.publish(String(data="to ROS")), rate_hz=50)
    wait_until(lambda: "/scan" in ros.run("rostopic", "list"), "the topic")
    assert ros.run("rostopic", "type", "/scan").strip() == "sensor_msgs/LaserScan"
    assert next_data(ros.start("rostopic", "echo", "/words")) == "to ROS"
    del scans


@pytest.mark.cell("worlds", "rospy", "topic")
@pytest.mark.cell("worlds", "Hyphos Python", "topic")
def test_ros_topics_reach_the_robot(node: hyphos.Node, ros: Ros) -> None:
    inbox = Inbox()
    node.subscribe("in", String, inbox)
    ros.start("rostopic", "pub", "-r", "20", "/in", "std_msgs/String", "data: from ROS")
    assert inbox.wait(1)[0].data == "from ROS"


def test_a_topic_in_both_directions_has_no_echo(node: hyphos.Node, ros: Ros) -> None:
    numbers = iter(range(1, 1_000_000))
    words = node.publisher("both", String)
    node.every(lambda: words.publish(String(data=str(next(numbers)))), rate_hz=50)
    inbox = Inbox()
    node.subscribe("both", String, inbox)
    listener = ros.script(listener_of("/both"))
    ros.script(COUNTER)
    wait_until(lambda: any(int(each.data) < 0 for each in inbox.items), "a message from ROS")
    from_robot: list[int] = []
    from_ros: list[int] = []
    # One of the two may stall while the other continues.
    while len(from_robot) + len(from_ros) < 200 or min(len(from_robot), len(from_ros)) <= 10:
        number = int(listener.line())
        (from_robot if number > 0 else from_ros).append(abs(number))
    for heard in (from_robot, from_ros):
        assert heard == sorted(set(heard)), "each once"
    at_the_robot = [int(each.data) for each in list(inbox.items)]
    assert len(at_the_robot) == len(set(at_the_robot))
    assert ros.run("rosnode", "info", "/hyphos").count("* topic: /both") >= 2


@pytest.mark.skipif(
    not shutil.which("rosbag"), reason="no rosbag; scripts/setup core ros installs it"
)
def test_rosbag_records_the_robot_and_plays_to_it(
    node: hyphos.Node, ros: Ros, tmp_path: Path
) -> None:
    scans = node.publisher("scan", LaserScan)
    numbers = iter(range(1, 1_000_000))

    def step() -> None:
        number = next(numbers)
        scan = LaserScan(angle_min=-1, ranges=[number, 0.5, float("inf")])
        scan.header.frame_id, scan.header.stamp_ns = "laser", number * 1_000_000_007
        scans.publish(scan)

    node.every(step, rate_hz=50)
    bag = tmp_path / "scans.bag"
    # At most the depth of a channel, so that no message is lost to a late receiver.
    count = 8
    recorder = ros.start("rosbag", "record", "-O", str(bag), "-l", str(count), "/scan")
    assert recorder.popen.wait(PATIENCE_S) == 0
    with AnyReader([bag]) as reader:
        recorded: list[Any] = [
            reader.deserialize(data, at.msgtype) for at, _, data in reader.messages()
        ]
    stamps = [each.header.stamp.sec * 10**9 + each.header.stamp.nanosec for each in recorded]
    assert len(stamps) == count
    assert stamps == sorted(set(stamps))
    for scan, stamp in zip(recorded, stamps, strict=True):
        assert scan.header.frame_id == "laser"
        assert list(scan.ranges) == [stamp // 1_000_000_007, 0.5, float("inf")]

    inbox = Inbox()
    node.subscribe("played", LaserScan, inbox)
    # At its end, the player may not have sent its last message yet.
    player = ros.start(
        "rosbag", "play", "--keep-alive", "--wait-for-subscribers", str(bag), "/scan:=/played"
    )
    try:
        played = inbox.wait(count)
    finally:
        player.stop()  # SIGKILL would not reach the player, which is a child of this program
    assert [each.header.stamp_ns for each in played] == stamps
    for scan, stamp in zip(played, stamps, strict=True):
        assert scan.header.frame_id == "laser"
        assert list(scan.ranges) == [stamp // 1_000_000_007, 0.5, float("inf")]
        assert scan.angle_min == -1


def _walk_through() -> list[tuple[str, str]]:
    """The commands in the first part of the page, each with the last line of its printed output."""
    part = PAGE.read_text().split("## From a robot to data on the screen")[1].split("\n## ")[0]
    steps: list[tuple[str, str]] = []
    for block in re.findall(r"^```\n(.*?)^```", part, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], ""))
            else:
                steps[-1] = (steps[-1][0], line)
    return steps


def test_the_page_works_as_printed(start: Start, domain: str, tmp_path: Path) -> None:
    port = own_port()
    ros = Ros(start, f"http://localhost:{port}", tmp_path)
    ros.start("rosmaster", "--core", "-p", str(port))
    wait_until(lambda: ros.succeeds("rosparam", "list"), "the master")
    steps = _walk_through()
    # the fixture `ros` sets the real address
    assert steps[0] == ("export ROS_MASTER_URI=http://localhost:11311", "")
    assert len(steps) >= 7

    def plain(line: str) -> list[str]:
        """The line without the parts that differ between runs: numbers, and the space between
        columns.
        """
        return re.sub(r"\d+", "0", line.replace(domain, "0")).split()

    for command, said in steps[1:]:
        words = shlex.split(command)
        if words[0] == "hyphos":
            words = [sys.executable, "-m", *words, "-d", domain]
        if "foxglove" in words:
            words += ["--port", "0"]  # the default port of this machine may be in use
        for wait in (["channel", "list"], ["channel", "echo"]):
            if words[3:5] == wait:  # a user types more slowly than this test
                _wait_for_channel("chatter", domain)
        # output and errors together, as on a screen
        program = ros.start("bash", "-c", f"exec {shlex.join(words)} 2>&1")
        while said and plain(program.line()) != plain(said):
            pass


def _wait_for_channel(channel: str, domain: str) -> None:
    def is_there() -> bool:
        return any(
            end.channel == channel
            for process in _hyphos.inspect(domain)
            for end in process.endpoints
        )

    wait_until(is_there, channel)


@pytest.fixture(params=["ours", "rosmaster"])
def either(
    request: pytest.FixtureRequest, hyphos_start: Start, start: Start, domain: str, tmp_path: Path
) -> Ros:
    """A graph with our master, or with the master of ROS."""
    if request.param == "ours":
        ours: Ros = request.getfixturevalue("ros")
        return ours
    port = own_port()
    made = Ros(start, f"http://127.0.0.1:{port}/", tmp_path)
    made.start("rosmaster", "--core", "-p", str(port))
    # The gateway starts before the master.
    hyphos_start(
        "gateway", "ros1", "--set", f"master_uri={made.variables['ROS_MASTER_URI']}", "-d", domain
    ).line()
    return made


@pytest.mark.cell("worlds", "rospy", "parameters")
@pytest.mark.cell("worlds", "Hyphos Python", "parameters")
def test_node_parameters_are_ros_parameters(node: hyphos.Node, either: Ros) -> None:
    ros = either
    params = node.params()
    speed = params.declare("speed", 0.5, range=(0, 2))
    names = params.declare("laser.names", ["a", "b"])
    tuner = ros.script(TUNER)
    assert [tuner.line().strip() for _ in range(2)] == ["0.5", "['a', 'b']"]
    assert tuner.line().strip() == "set"
    wait_until(lambda: names.value == ["c"], "what ROS has set")
    assert speed.value == 1.0
    assert tuner.line().strip() == "refused"
    assert speed.value == 1.0
    of_ros = node.remote_params("ros1")
    wait_until(lambda: "tuner.gains" in of_ros.values(), "the parameters of ROS")
    assert of_ros.values()["tuner.gains"] == [0.5, 1.5]
    of_ros.set({"tuner.gains": [2.5]}, timeout_ms=PATIENCE_S * 1000)
    wait_until(lambda: "2.5" in ros.run("rosparam", "get", "/tuner/gains"), "what the robot sets")


@pytest.mark.cell("worlds", "rospy", "latched")
@pytest.mark.cell("worlds", "Hyphos Python", "latched")
def test_late_subscribers_get_each_latched_ros_publisher(
    node: hyphos.Node, ros: Ros, domain: str
) -> None:
    for name in ("one", "two"):
        ros.script(LATCHED.format(name=name))
    first = Inbox()
    latched = hyphos.Policy(latched=True)
    node.subscribe("names", String, first, policy=latched)
    wait_until(lambda: {each.data for each in first.items} == {"one", "two"}, "both")
    with hyphos.Node.open("late", domain=domain) as late:
        for _ in range(2):  # including the second subscription of a process
            inbox = Inbox()
            late.subscribe("names", String, inbox, policy=latched)
            assert {each.data for each in inbox.wait(2)} == {"one", "two"}


@pytest.mark.cell("worlds", "rospy", "latched")
@pytest.mark.cell("worlds", "Hyphos Python", "latched")
def test_late_ros_subscribers_get_each_latched_publisher(node: hyphos.Node, ros: Ros) -> None:
    latched = hyphos.Policy(latched=True)
    publishers = [node.publisher("place", String, policy=latched) for _ in range(2)]
    for number, publisher in enumerate(publishers):
        publisher.publish(String(data=f"place {number}"))
    wait_until(lambda: "/place" in ros.run("rostopic", "list"), "the topic")
    for name in ("first", "second"):  # the first opens the connection, the second is late
        echo = ros.script(listener_of("/place", name=name))
        assert {echo.line().strip(), echo.line().strip()} == {"place 0", "place 1"}


@pytest.mark.skipif(not ROSCPP.exists(), reason="roscpp is not installed (scripts/setup core ros)")
@pytest.mark.cell("worlds", "roscpp", "latched")
def test_latched_messages_of_roscpp_and_the_robot_reach_late_nodes(
    node: hyphos.Node, ros: Ros, domain: str
) -> None:
    latched = hyphos.Policy(latched=True)
    ros.start(str(ROSCPP), "keeper")
    wait_until(lambda: "/names" in ros.run("rostopic", "list"), "the topic")
    inbox = Inbox()
    node.subscribe("names", String, inbox, policy=latched)
    assert inbox.wait(1)[0].data == "kept"
    publisher = node.publisher("place", String, policy=latched)
    publisher.publish(String(data="kitchen"))
    _wait_for_channel("place", domain)
    wait_until(lambda: "/place" in ros.run("rostopic", "list"), "the topic")
    assert ros.start(str(ROSCPP), "listener", "/place").line().strip() == "kitchen"


@pytest.mark.skipif(not ROSCPP.exists(), reason="roscpp is not installed (scripts/setup core ros)")
@pytest.mark.cell("worlds", "roscpp", "topic")
def test_roscpp_receives_datagrams_of_a_channel(node: hyphos.Node, ros: Ros) -> None:
    publisher = node.publisher("long", String)
    node.every(lambda: publisher.publish(String(data="x" * 5000)), rate_hz=50)
    listener = ros.start(str(ROSCPP), "udp", "/long", "500")
    assert [listener.line().strip() for _ in range(20)] == ["5000"] * 20
    assert "UDPROS" in ros.run("rosnode", "info", "/hyphos")
    listener.signal(signal.SIGKILL)
    wait_until(lambda: "UDPROS" not in ros.run("rosnode", "info", "/hyphos"), "the end")


@pytest.mark.skipif(not ROSCPP.exists(), reason="roscpp is not installed (scripts/setup core ros)")
@pytest.mark.cell("worlds", "roscpp", "parameters")
def test_roscpp_reads_and_sets_a_parameter_of_a_node(node: hyphos.Node, ros: Ros) -> None:
    speed = node.params().declare("speed", 0.5)
    tuner = ros.start(str(ROSCPP), "tuner")
    assert tuner.line().strip() == "0.5"
    wait_until(lambda: speed.value == 1.0, "the new value")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_type_of_one_node_passes_both_ways(
    node: hyphos.Node, ros: Ros, tmp_path: Path, library: str
) -> None:
    package = write_package(tmp_path / "tank_msgs", {"Level": "float64 litres\n"})
    import_types([package], tmp_path / "protos", Flavour.ROS1)
    level = TypeBook([tmp_path / "protos"]).get("ros1.tank_msgs.msg.Level")
    inbox = Inbox()
    node.subscribe("tank", level, inbox)
    publisher = node.publisher("level", level)
    node.every(lambda: publisher.publish(level(litres=2.5)), rate_hz=50)
    program = ros.script(LEVELS) if library == "rospy" else ros.start(str(ROSCPP), "level")
    assert float(program.line()) == 2.5
    assert inbox.wait(1)[0].litres == 12.5


def _climb() -> tuple[Any, Any, Any]:
    book = TypeBook()
    goal, feedback, result = (
        book.get(f"ros1.actionlib.msg.Test{part}") for part in ("Goal", "Feedback", "Result")
    )
    return goal, feedback, result


@needs_actionlib
def test_a_newer_goal_of_the_robot_preempts_an_older_one_in_ros(
    node: hyphos.Node, ros: Ros
) -> None:
    goal, feedback, result = _climb()
    client = node.action_client("climb", goal, feedback, result)
    ros.script(CLIMBER)
    client.wait_for_server(timeout_ms=PATIENCE_S * 1000)
    heard = Inbox()
    first = client.send(goal(goal=101), heard)
    assert heard.wait(1)[0].feedback == 101
    second = client.send(goal(goal=21))
    ends = [one.result(timeout_ms=PATIENCE_S * 1000) for one in (first, second)]
    assert [(end.state, end.value.result) for end in ends] == [("canceled", -1), ("succeeded", 42)]


@needs_actionlib
def test_a_newer_goal_of_ros_preempts_an_older_one_of_the_robot(
    node: hyphos.Node, ros: Ros
) -> None:
    goal, feedback, result = _climb()

    def execute(one: Any) -> None:
        if one.value.goal <= 100:
            one.succeed(result(result=2 * one.value.goal))
            return
        one.feedback(feedback(feedback=one.value.goal))
        assert one.wait_for(PATIENCE_S * 1000)
        assert one.preempted
        one.canceled(result(result=-1))

    node.action("climb", goal, feedback, result, execute, policy="preempt")
    router = ros.script(ROUTER)
    assert [router.line().strip() for _ in range(2)] == ["PREEMPTED -1", "SUCCEEDED 42"]
