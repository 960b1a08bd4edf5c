"""Injected faults of hyphos.testing: lost, changed and repeated messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hyphos
import pytest
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
