"""The commands of docs/how-to/ros2_nav2.md with a program that has the topics, types and QoS of
Nav2."""

from __future__ import annotations

import gc
import shlex
import time
from collections.abc import Iterator

import hyphos
import pytest
from claims import own_dds_domain
from doc_blocks import ROOT, all_blocks, commands_of
from helpers import Cli, Inbox, Program, Start, repeating, wait_until
from hyphos.msgs import LaserScan, Odometry, Twist
from ros2_gateway import needs_ros2

pytest.importorskip("cyclonedds.domain", reason="pip install cyclonedds")
from nav2_program import Nav2
from ros2_program import Header, RosProgram, Time, on_loopback, take

pytestmark = needs_ros2
PAGE = "docs/how-to/ros2_nav2.md"


@pytest.fixture(scope="module")
def program() -> Iterator[RosProgram]:
    with on_loopback(own_dds_domain(), "LOCALHOST") as program:
        yield program
    del program
    gc.collect()  # the settings end with the last participant


@pytest.fixture
def gateway(hyphos_start: Start, domain: str) -> Program:
    words = ["--set", f"domain_id={own_dds_domain()}", "--domain", domain]
    started = hyphos_start("gateway", "ros2", *words)
    assert started.line().startswith("dds://")
    return started


def typed(first: str) -> list[str]:
    """The command of the page that begins like this, without `hyphos`."""
    assert (ROOT / PAGE).is_file()
    lines = [line for block in all_blocks() if block.page == PAGE for line in commands_of(block)]
    [found] = [line for line in lines if line.startswith(first)]
    return shlex.split(found)[1:]


def test_the_robot_and_nav2_exchange_their_topics(
    node: hyphos.Node, gateway: Program, program: RosProgram, hyphos_cli: Cli, domain: str
) -> None:
    assert gateway.popen.poll() is None
    assert typed("hyphos gateway ros2") == ["gateway", "ros2"]
    nav2 = Nav2(program)
    scan, odom = node.publisher("scan", LaserScan), node.publisher("odom", Odometry)
    frames = node.transforms()
    frames.set_static(hyphos.Transform("base_link", "laser", (0.2, 0, 0.1)))
    speeds = Inbox()
    node.subscribe("cmd_vel", Twist, speeds)

    def drive() -> None:
        now = time.time_ns()
        scan.publish(LaserScan(ranges=[1.0, 2.0], range_max=30))
        odom.publish(Odometry(child_frame_id="base_link"))
        frames.set(hyphos.Transform("odom", "base_link", (1, 0, 0), stamp_ns=now))

    with repeating(drive):
        assert list(take(nav2.scan).ranges) == [1.0, 2.0]
        assert take(nav2.odom).child_frame_id == "base_link"
        wanted = {("base_link", "laser"), ("odom", "base_link")}

        def all_seen() -> bool:
            wanted.difference_update(nav2.frames())
            return not wanted

        wait_until(all_seen, "both transforms")

        with repeating(lambda: nav2.locate(Header(_now(), "map"))):
            wait_until(lambda: _located(frames), "the transform from map to odom")
            words = ("map", "laser", "-n", "1", "--timeout", "60", "-d", domain)
            code, out, err = hyphos_cli("tf", "echo", *words)
        assert code == 0, err
        assert "laser → base_link → odom → map" in out

    goal_words = [*typed("hyphos channel pub goal_pose"), "-d", domain]
    goal = take(nav2.goal, lambda: hyphos_cli(*goal_words))
    assert (goal.header.frame_id, goal.pose.position.x) == ("map", 2.0)
    assert goal.header.stamp.sec > 1_700_000_000

    with repeating(lambda: nav2.answer(goal)):
        assert speeds.wait(1)[0].linear.x == 0.25
        # Both commands show the answer of Nav2.
        shown = [*typed("hyphos channel echo plan"), "-n", "1", "--timeout", "60", "-d", domain]
        code, out, err = hyphos_cli(*shown)
        assert (code, out) == (0, "x: 2.0\n---\n"), err
        shown = [*typed("hyphos channel echo cmd_vel"), "-n", "1", "--timeout", "60", "-d", domain]
        code, out, err = hyphos_cli(*shown)
        assert code == 0, err
        assert "x: 0.25" in out


def _now() -> Time:
    now = time.time_ns()
    return Time(now // 10**9, now % 10**9)


def _located(frames: hyphos.Transforms) -> bool:
    try:
        return bool(frames.get("map", "laser").translation[0] > 0)
    except hyphos.Error:
        return False
