"""Injected faults of hyphos.testing: lost, changed and repeated messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hyphos
import pytest
from helpers import wait_until
from hyphos.msgs import Int64
from hyphos.testing import Robot
from testing_nodes import PLAN, write_robot


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write_robot(tmp_path)


def data(robot: Robot, channel: str) -> list[int]:
    return [message.data for message in robot.messages(channel)]


@pytest.mark.parametrize("intercept", [["count"], ["*"]])
def test_an_intercepted_channel_is_unchanged_without_a_fault(
    plan: Path, intercept: list[str]
) -> None:
    with Robot(plan, lockstep=True, intercept=intercept, strict=True) as robot:
        robot.step(0.5)
        assert data(robot, "count") == [1, 2, 3, 4, 5]
        assert data(robot, "doubled") == [2, 4, 6, 8, 10]


def test_a_damaged_sensor_gives_other_values(plan: Path) -> None:
    def worse(message: Int64) -> Int64:
        return Int64(data=message.data + 1000)

    with Robot(plan, lockstep=True, intercept=["count"]) as robot:
        robot.damage("count", worse)
        assert robot.expect("doubled").data == 2002
        robot.repair("count")
        assert robot.expect("doubled").data == 4


def test_a_fault_may_lose_and_repeat_messages(plan: Path) -> None:
    def odd_twice(message: Int64) -> Any:
        return [message, message] if message.data % 2 else None

    with Robot(plan, lockstep=True, intercept=["count"]) as robot:
        robot.damage("count", odd_twice)
        robot.step(0.5)
        assert data(robot, "count") == [1, 1, 3, 3, 5, 5]
        assert robot.lost("count") == 2


def test_a_cut_channel_brings_nothing(plan: Path) -> None:
    with Robot(plan, lockstep=True, intercept=["*"]) as robot:
        robot.expect("doubled", lambda m: m.data == 4)
        robot.cut("count")
        robot.expect_none("doubled")
        assert robot.lost("count") == 10
        robot.repair()
        assert robot.expect("doubled").data == 26
        robot.cut()
        robot.step(1)
        assert (robot.lost("count"), robot.lost("doubled")) == (20, 0)


def test_a_random_loss_depends_on_the_seed_alone(plan: Path) -> None:
    found = []
    for seed in (1, 1, 2):
        with Robot(plan, lockstep=True, intercept=["count"]) as robot:
            robot.lose("count", 0.5, seed=seed)
            robot.step(5)
            found.append(data(robot, "count"))
    assert found[0] == found[1] != found[2]
    assert 10 < len(found[0]) < 40


def test_a_renamed_channel_can_be_intercepted(tmp_path: Path) -> None:
    text = PLAN.replace("  count: {", "  front/count: {")
    text = text.replace('Counter"}', 'Counter", remap: {count: front/count}}')
    text = text.replace('Doubler"}', 'Doubler", remap: {count: front/count}}')
    with Robot(write_robot(tmp_path, text), lockstep=True, intercept=["front/count"]) as robot:
        robot.damage("front/count", lambda m: Int64(data=-m.data))
        assert robot.expect("doubled").data == -2


def test_an_exception_in_a_fault_fails_the_test(plan: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match="ZeroDivisionError"),
        Robot(plan, lockstep=True, intercept=["count"], failures=tmp_path / "kept") as robot,
    ):
        robot.damage("count", lambda m: m.data / 0)
        robot.step(1)


def test_channels_that_cannot_be_intercepted_are_named(plan: Path) -> None:
    with Robot(plan, lockstep=True) as robot, pytest.raises(hyphos.Error) as found:
        robot.cut("count")
    assert "intercept=['count']" in found.value.advice
    with pytest.raises(hyphos.Error, match="the plan does not name its publishers"):
        Robot(plan, lockstep=True, intercept=["absent"]).__enter__()


# --- One link of several ------------------------------------------------------------------------

TWO = """
class Second:
    def __init__(self, node):
        out = node.publisher("tripled", Int64)
        node.subscribe("count", Int64, lambda m: out.publish(Int64(data=3 * m.data)))
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A plan in which two nodes of two processes subscribe to one channel."""
    text = PLAN.replace("nodes:\n", 'nodes:\n  second: {python: "nodes.py:Second"}\n')
    text += "  tripled: {type: hyphos.msgs.Int64, publishers: [second], subscribers: []}\n"
    text = text.replace("subscribers: [doubler]", "subscribers: [doubler, second]")
    plan = write_robot(tmp_path, text)
    module = tmp_path / "nodes.py"
    module.write_text(module.read_text() + TWO)
    return plan


def test_one_subscriber_loses_its_link(two: Path) -> None:
    with Robot(two, lockstep=True, intercept=["count:second"], strict=True) as robot:
        robot.step(0.2)
        robot.cut("count", to="second")
        robot.step(0.2)
        assert data(robot, "tripled") == [3, 6]
        assert data(robot, "doubled") == [2, 4, 6, 8], "the other subscriber"
        assert robot.lost("count", to="second") == 2
        robot.repair("count", to="second")
        robot.damage("count", lambda m: Int64(data=-m.data), to="second")
        robot.step(0.1)
        robot.repair()
        robot.lose("count", 1.0, to="second")
        robot.step(0.1)
        assert data(robot, "tripled") == [3, 6, -15]
        assert data(robot, "count") == [1, 2, 3, 4, 5, 6]


def test_a_channel_and_its_link_have_faults_of_their_own(two: Path) -> None:
    with Robot(two, lockstep=True, intercept=["*", "count:second"]) as robot:
        robot.damage("count", lambda m: Int64(data=m.data + 10))
        robot.damage("count", lambda m: None if m.data % 2 else m, to="second")
        robot.step(0.4)
        assert data(robot, "doubled") == [22, 24, 26, 28]
        assert data(robot, "tripled") == [36, 42]
        robot.repair(to="second")
        robot.step(0.1)
        assert data(robot, "tripled") == [36, 42, 45]


def test_the_test_publishes_through_a_link(two: Path) -> None:
    with Robot(
        two, lockstep=True, nodes=["doubler", "second"], intercept=["count:second"]
    ) as robot:
        robot.publish("count", Int64(data=1))
        robot.cut(to="second")
        robot.publish("count", Int64(data=2))
        assert (data(robot, "doubled"), data(robot, "tripled")) == ([2, 4], [3])


def test_a_link_between_processes_is_cut(two: Path) -> None:
    with Robot(two, intercept=["count:second"], strict=True) as robot:
        robot.expect("tripled", within=30)
        passed: list[int] = []

        def note(count: Int64) -> Int64:
            passed.append(count.data)
            return count

        robot.damage("count", note, to="second")
        wait_until(lambda: bool(passed), "a message on the link")
        robot.cut("count", to="second")
        wait_until(lambda: robot.lost("count", to="second") > 0, "a lost message")
        robot.expect("tripled", lambda m: m.data == 3 * passed[-1], within=30)  # the last one
        there = robot.count("tripled")
        for _ in range(2):
            robot.expect("doubled", fresh=True, within=30)
        assert robot.count("tripled") == there
        robot.repair("count", to="second")
        robot.expect("tripled", fresh=True, within=30)


def test_links_that_cannot_be_intercepted_are_named(two: Path) -> None:
    with pytest.raises(hyphos.Error, match="does not name 'seconds' as a subscriber of 'count'"):
        Robot(two, lockstep=True, intercept=["count:seconds"]).__enter__()
    with (
        Robot(two, lockstep=True, intercept=["count"]) as robot,
        pytest.raises(hyphos.Error, match="'count:second' is not intercepted, only count"),
    ):
        robot.cut("count", to="second")
