"""Simulated time, log lines and static transforms of the robot and of ROS 2 programs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyphos
import pytest
from claims import own_dds_domain
from helpers import Inbox, Program, Start, repeating, wait_until
from hyphos.msgs import Log
from ros2_gateway import needs_ros2, start_gateway, std_srvs

pytest.importorskip("cyclonedds.domain", reason="pip install cyclonedds")
import ros2_program as ros
from ros2_program import RosProgram, on_loopback, take

pytestmark = needs_ros2

SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def program() -> Iterator[RosProgram]:
    with on_loopback(own_dds_domain()) as program:
        yield program
    del program
    gc.collect()  # the settings end with the last participant


@pytest.fixture
def gateway(hyphos_start: Start, domain: str, tmp_path: Path) -> Program:
    return start_gateway(hyphos_start, domain, std_srvs(tmp_path))


@pytest.mark.usefixtures("gateway")
@pytest.mark.parametrize("reliable", [True, False])
def test_time_of_ros_2_is_the_time_of_the_robot(
    domain: str, program: RosProgram, reliable: bool
) -> None:
    with hyphos.Node.open("follower", domain=domain, process="follower", clock="sim") as node:
        writer = program.writer("rt/clock", ros.Clock, reliable=reliable)
        with repeating(lambda: writer.write(ros.Clock(ros.Time(12, 5)))):
            wait_until(lambda: node.clock.now_ns() == 12 * SECOND + 5, "the time")


@pytest.mark.usefixtures("gateway")
def test_simulated_time_reaches_a_late_subscriber(node: hyphos.Node, program: RosProgram) -> None:
    with hyphos.SimTime(node, start_ns=7 * SECOND, manual=True) as time:
        time.advance(duration_ms=500)
        reader = program.reader("rt/clock", ros.Clock, latched=True)
        heard = take(reader).clock
        while (heard.sec, heard.nanosec) == (7, 0):  # the gateway passes both values on
            heard = take(reader).clock
        assert (heard.sec, heard.nanosec) == (7, 500_000_000)


@pytest.mark.usefixtures("gateway")
def test_a_late_program_of_ros_2_gets_all_static_transforms(
    domain: str, node: hyphos.Node, program: RosProgram
) -> None:
    with hyphos.Node.open("arm", domain=domain, process="arm") as arm:
        node.transforms().set_static(hyphos.Transform("base", "laser", (1.0, 2.0, 3.0)))
        arm.transforms().set_static(hyphos.Transform("base", "hand", (4.0, 5.0, 6.0)))
        # By then the gateway has both.
        early = program.reader("rt/tf_static", ros.TFMessage, latched=True)
        for reader in (early, program.reader("rt/tf_static", ros.TFMessage, latched=True)):
            places: dict[str, float] = {}
            while set(places) != {"laser", "hand"}:
                for one in take(reader).transforms:
                    assert one.header.frame_id == "base"
                    places[one.child_frame_id] = one.transform.translation.x
            assert places == {"laser": 1.0, "hand": 4.0}


@pytest.mark.usefixtures("gateway")
def test_a_late_node_gets_static_transforms_of_two_ros_2_programs(
    domain: str, node: hyphos.Node, program: RosProgram
) -> None:
    def static(child: str, x: float) -> ros.TFMessage:
        pose = ros.Transform(ros.Vector3(x, 0, 0), ros.Quaternion(0, 0, 0, 1))
        header = ros.Header(ros.Time(1, 0), "base")
        return ros.TFMessage([ros.TransformStamped(header, child, pose)])

    writers = [program.writer("rt/tf_static", ros.TFMessage, latched=True) for _ in range(2)]
    for writer, child, x in zip(writers, ("laser", "hand"), (1.0, 4.0), strict=True):
        writer.write(static(child, x))

    def known(tree: Any) -> bool:
        return {edge.child for edge in tree.edges()} == {"laser", "hand"}

    wait_until(lambda: known(node.transforms()), "both transforms")
    with hyphos.Node.open("late", domain=domain, process="late") as late:
        wait_until(lambda: known(late.transforms()), "both transforms")
        assert list(late.transforms().get("base", "hand").translation) == [4.0, 0.0, 0.0]


@pytest.mark.usefixtures("gateway")
def test_log_lines_of_ros_2_are_log_lines_of_the_robot(
    node: hyphos.Node, inbox: Inbox, program: RosProgram
) -> None:
    node.subscribe("log", Log, inbox)
    writer = program.writer("rt/rosout", ros.Log, latched=True)
    line = ros.Log(ros.Time(12, 5), 40, "arm.motor", "too hot", "arm.cpp", "spin", 17)

    def lines() -> list[Any]:
        return [one for one in list(inbox.items) if one.msg == "too hot"]

    with repeating(lambda: writer.write(line)):
        wait_until(lambda: bool(lines()), "the line")
    heard = lines()[0]
    assert (heard.stamp_ns, heard.level) == (12 * SECOND + 5, Log.ERROR)
    assert (heard.name, heard.file, heard.function, heard.line) == (
        "arm.motor",
        "arm.cpp",
        "spin",
        17,
    )


@pytest.mark.usefixtures("gateway")
def test_log_lines_of_the_robot_are_on_rosout_once(node: hyphos.Node, program: RosProgram) -> None:
    reader = program.reader("rt/rosout", ros.Log, latched=True)
    writer = program.writer("rt/rosout", ros.Log, latched=True)
    own = ros.Log(ros.Time(1, 0), 20, "from_ros", "hello", "", "", 0)
    numbers = iter(range(1_000_000))
    heard: list[Any] = []

    def step() -> None:
        node.log.warn(f"line {next(numbers)}")
        writer.write(own)
        heard.extend(reader.take(N=100))

    def robot() -> list[str]:
        return [line.msg for line in heard if line.name == "tester"]

    def has_20() -> bool:
        step()
        return len(robot()) >= 20

    wait_until(has_20, "20 lines of the robot")
    assert len(robot()) == len(set(robot()))
    line = next(line for line in heard if line.name == "tester")
    assert line.level == 30
    # The writer's own lines come from DDS, and not from the robot once more.
    own_lines = [line for line in heard if line.name == "from_ros"]
    assert len(own_lines) <= next(numbers)
