"""Golden recordings of hyphos.testing: recordings as input and as expected output."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from hyphos import Attached
from hyphos.msgs import Image, Int64, LaserScan, PoseStamped
from hyphos.testing import Robot, RobotError
from hyphos.testing.near import Near
from testing_nodes import write_robot


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write_robot(tmp_path)


def pose(x: float, stamp_ns: int = 0) -> PoseStamped:
    made = PoseStamped()
    made.header.stamp_ns = stamp_ns
    made.pose.position.x = x
    return made


def test_a_run_equals_its_own_golden_recording(plan: Path, tmp_path: Path) -> None:
    golden = tmp_path / "golden/run.mcap"
    for update in (True, False):
        with Robot(plan, lockstep=True) as robot:
            robot.step(1)
            robot.expect_golden(golden, time_tolerance=0, update=update)
    with (
        pytest.raises(RobotError, match=r"doubled: message 1: data: 202 instead of 2") as found,
        Robot(
            plan,
            lockstep=True,
            settings=["nodes.counter.params.first=101"],
            failures=tmp_path / "kept",
        ) as robot,
    ):
        robot.step(1.1)
        robot.expect_golden(golden, ["doubled"])
    assert "count: " not in str(found.value)
    assert len(str(found.value).splitlines()) == 4  # the first three of the channel


def test_a_missing_golden_recording_names_the_option(plan: Path, tmp_path: Path) -> None:
    with Robot(plan, lockstep=True) as robot, pytest.raises(hyphos.Error) as found:
        robot.expect_golden(tmp_path / "none.mcap", update=False)
    assert "--hyphos-update-golden" in found.value.advice


def test_channels_and_counts_are_compared(plan: Path, tmp_path: Path) -> None:
    golden = tmp_path / "golden.mcap"
    with Robot(plan, lockstep=True) as robot:
        robot.step(1)
        robot.record(golden)
    with Robot(plan, lockstep=True, nodes=["counter"]) as robot:
        robot.step(0.8)
        with pytest.raises(RobotError) as found:
            robot.expect_golden(golden)
    assert str(found.value).splitlines()[1:] == [
        "  count: 8 messages instead of 10",
        "  doubled: 0 messages instead of 10",
    ]
    with Robot(plan, lockstep=True, keep_messages=5) as robot:
        robot.step(1)
        with pytest.raises(RobotError, match="count: the oldest 5 messages are not kept"):
            robot.expect_golden(golden, ["count"])


def test_times_count_with_a_time_tolerance(tmp_path: Path) -> None:
    golden = tmp_path / "golden.mcap"

    def poser(node: hyphos.Node) -> None:
        pub = node.publisher("x", Int64)
        wait = node.param("wait", 100)
        node.every(lambda: pub.publish(Int64()), period_ms=100)
        node.every(lambda: pub.publish(Int64()), period_ms=wait)

    for wait, update in ((250, True), (260, False)):
        with Robot(
            nodes={"poser": poser}, params={"poser": {"wait": wait}}, lockstep=True
        ) as robot:
            robot.step(0.29)
            robot.expect_golden(golden, time_tolerance=0.011, update=update)
            if not update:
                with pytest.raises(RobotError, match=r"x: message 3: 0.01 s late"):
                    robot.expect_golden(golden, time_tolerance=0.009)


def test_a_recording_is_the_input_of_a_robot(plan: Path, tmp_path: Path) -> None:
    drive = tmp_path / "drive.mcap"
    with Robot(plan, lockstep=True, nodes=["counter"]) as robot:
        robot.step(1)
        robot.record(drive)
    with Robot(plan, lockstep=True, nodes=["doubler"], begin_at=drive) as robot:
        assert robot.node.clock.now_ns() == 1_100_000_000
        robot.play(drive)
        assert robot.elapsed == pytest.approx(0.9)
        assert [m.data for m in robot.messages("doubled")] == list(range(2, 22, 2))
    with Robot(plan, lockstep=True, nodes=["doubler"]) as robot:
        robot.play(drive, remap={"count": "other"})
        assert robot.count("doubled") == 0
        with pytest.raises(hyphos.Error, match="no channel to play; it has count"):
            robot.play(drive, ["absent"])


def test_a_channel_of_the_robot_is_not_played(plan: Path, tmp_path: Path) -> None:
    drive = tmp_path / "drive.mcap"
    with Robot(plan, lockstep=True) as robot:
        robot.step(1)
        robot.record(drive)
    with Robot(plan, lockstep=True, nodes=["doubler"]) as robot:
        robot.play(drive)
        assert robot.count("doubled") == 10


@pytest.mark.parametrize(
    ("near", "one", "other", "lines"),
    [
        (Near(), Int64(data=1), Int64(data=1), []),
        (Near(), Int64(data=1), Int64(data=2), ["data: 1 instead of 2"]),
        (Near(1), Int64(data=1), Int64(data=2), []),
        (Near(0.1), pose(1.0), pose(1.05), []),
        (Near(0.01), pose(1.0), pose(1.05), ["pose.position.x: 1.0 instead of 1.05"]),
        (Near(), pose(1, 5), pose(1, 6), ["header.stamp_ns: 5 instead of 6"]),
        (Near(ignore=["header.stamp_ns"]), pose(1, 5), pose(1, 6), []),
        (Near(ignore=["header"]), pose(1, 5), pose(1, 6), []),
        (Near(), pose(math.nan), pose(math.nan), []),
        (
            Near(),
            LaserScan(ranges=[1, 2]),
            LaserScan(ranges=[1]),
            ["ranges: 2 values instead of 1"],
        ),
        (
            Near(0.1),
            LaserScan(ranges=[1, 2]),
            LaserScan(ranges=[1.05, 3]),
            ["ranges[1]: 2.0 instead of 3.0"],
        ),
        (
            Near(),
            Attached(Image(width=1), [np.zeros(4, np.uint8)]),
            Attached(Image(width=1), [np.array([0, 1, 0, 2], np.uint8)]),
            ["buffer 0: 2 of 4 bytes differ"],
        ),
        (
            Near(),
            Attached(Image(), [np.zeros(4, np.uint8)]),
            Attached(Image(), []),
            ["buffers of [4] bytes instead of []"],
        ),
    ],
)
def test_messages_are_compared_field_by_field(
    near: Near, one: Any, other: Any, lines: list[str]
) -> None:
    assert list(near.differences(one, other)) == lines
