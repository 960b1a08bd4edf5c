"""hyphos.testing in lock-step: exact times, no transport, one callback at a time."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import hyphos
import pytest
from hyphos import Struct
from hyphos.msgs import Int64, String
from hyphos.testing import Robot, RobotError
from hyphos.testing.few_nodes import Program
from testing_nodes import PLAN, write_robot


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write_robot(tmp_path)


def data(robot: Robot, channel: str) -> list[int]:
    return [message.data for message in robot.messages(channel)]


def test_step_advances_the_time_of_all_nodes(plan: Path) -> None:
    with Robot(plan, lockstep=True) as robot:
        assert robot.elapsed == 0
        robot.step(0.95)
        assert robot.elapsed == pytest.approx(0.95)
        assert data(robot, "count") == list(range(1, 10))
        assert data(robot, "doubled") == list(range(2, 20, 2))


def test_timers_run_at_their_exact_times() -> None:
    seen: list[int] = []

    def timed(node: hyphos.Node) -> None:
        clock = node.clock
        node.every(lambda: seen.append(clock.elapsed_ns()), period_ms=3)

    with Robot(nodes={"timed": timed}, lockstep=True, tick_ms=100) as robot:
        robot.step(0.01)
    assert seen == [3_000_000, 6_000_000, 9_000_000]


def test_expect_steps_until_the_message_comes(plan: Path) -> None:
    with Robot(plan, lockstep=True) as robot:
        assert robot.expect("doubled", lambda m: m.data == 10, within=1).data == 10
        assert robot.elapsed == pytest.approx(0.5)
        assert robot.expect("doubled").data == 12  # the next one, not an earlier one


def test_a_message_that_does_not_come_is_described(plan: Path) -> None:
    with Robot(plan, lockstep=True) as robot:
        with pytest.raises(RobotError, match=r"none of 10 messages on 'count' within 1 s") as found:
            robot.expect("count", lambda m: m.data < 0, within=1)
        assert '{"data": "10"}' in str(found.value)
        with pytest.raises(
            RobotError, match="It has no publisher: the robot publishes count, doubled"
        ):
            robot.expect("cuont", within=0.1)


def test_fresh_skips_earlier_messages(plan: Path) -> None:
    with Robot(plan, lockstep=True) as robot:
        robot.step(0.5)
        assert robot.expect("count", fresh=True).data == 6


def test_expect_none_fails_on_a_message(plan: Path) -> None:
    with Robot(plan, lockstep=True) as robot:
        robot.expect_none("count", lambda m: m.data > 5, during=0.5)
        with pytest.raises(RobotError, match=r'must not come: \{"data": "8"\}'):
            robot.expect_none("count", lambda m: m.data == 8)


def test_publish_reaches_the_nodes(plan: Path) -> None:
    with Robot(plan, lockstep=True, nodes=["doubler"]) as robot:
        robot.publish("count", Int64(data=21))
        assert data(robot, "doubled") == [42]
        with pytest.raises(RobotError, match="no subscriber of 'nothing'"):
            robot.publish("nothing", Int64(), within=0.1)


def test_a_few_nodes_need_no_plan(tmp_path: Path) -> None:
    write_robot(tmp_path)

    class Talker:
        def __init__(self, node: hyphos.Node) -> None:
            word = node.param("word", "hello")
            talk = node.publisher("greeting", String)
            node.every(lambda: talk.publish(String(data=word)), rate_hz=10)

    nodes: dict[str, Program] = {"talker": Talker, "counter": "nodes.py:Counter"}
    params: dict[str, dict[str, Any]] = {"talker": {"word": "hi"}, "counter": {"first": 7}}
    with Robot(nodes=nodes, params=params, lockstep=True, base=tmp_path) as robot:
        assert robot.expect("greeting").data == "hi"
        assert robot.expect("count").data == 7


def test_a_class_of_the_test_replaces_a_node_of_the_plan(plan: Path) -> None:
    class Fake:
        def __init__(self, node: hyphos.Node) -> None:
            count = node.publisher("count", Int64)
            value = node.param("first", 1)
            node.every(lambda: count.publish(Int64(data=100 * value)), rate_hz=10)

    settings = ["nodes.counter.params.first=7"]
    with Robot(plan, lockstep=True, nodes={"counter": Fake}, settings=settings) as robot:
        assert robot.expect("doubled").data == 1400
    with pytest.raises(hyphos.Error, match="a text cannot") as found:
        Robot(plan, lockstep=True, nodes={"counter": "nodes.py:Counter"}).__enter__()
    assert "settings=['nodes.counter.python=nodes.py:Counter']" in found.value.advice
    with pytest.raises(hyphos.Error, match="the plan has no node 'absent'"):
        Robot(plan, lockstep=True, nodes={"absent": Fake}).__enter__()
    with pytest.raises(hyphos.Error, match="only with lockstep=True"):
        Robot(plan, nodes=["counter"]).__enter__()


def test_settings_change_the_plan(plan: Path) -> None:
    settings = ["nodes.counter.params.first=100"]
    with Robot(plan, lockstep=True, settings=settings) as robot:
        assert robot.expect("count").data == 100


def test_an_exception_in_a_callback_fails_the_test(tmp_path: Path) -> None:
    plan = write_robot(tmp_path, PLAN.replace("nodes.py:Doubler", "nodes.py:Fragile"))
    with (
        pytest.raises(RobotError, match=r"at 0.3 s: .*'count' threw: ValueError: cannot double 3"),
        Robot(plan, lockstep=True, failures=tmp_path / "kept") as robot,
    ):
        robot.step(1)
    with Robot(plan, lockstep=True, allow_exceptions=True) as robot:
        robot.step(1)
        assert robot.count("doubled") == 9


def test_an_exception_in_a_timer_fails_the_test(tmp_path: Path) -> None:
    plan = write_robot(tmp_path, 'hyphos: 1\nnodes: {bad: {python: "nodes.py:BadTimer"}}\n')
    with (
        pytest.raises(RobotError, match="timer's callback threw: KeyError: 'no such key'"),
        Robot(plan, lockstep=True, failures=tmp_path / "kept") as robot,
    ):
        robot.step(1)


def test_the_exception_of_a_constructor_is_raised_with_its_trace(tmp_path: Path) -> None:
    plan = write_robot(tmp_path, 'hyphos: 1\nnodes: {bad: {python: "nodes.py:broken"}}\n')
    failures = tmp_path / "kept"
    with (
        pytest.raises(RuntimeError, match="the motor driver is missing") as found,
        Robot(plan, lockstep=True, failures=failures),
    ):
        pass
    assert found.traceback[-1].name == "broken"


def test_a_failure_keeps_messages_and_drawing(tmp_path: Path) -> None:
    plan = write_robot(tmp_path)
    robot = Robot(plan, lockstep=True, failures=tmp_path / "kept", name="the test")
    with pytest.raises(ZeroDivisionError), robot:
        robot.step(0.5)
        _ = 1 / 0
    assert robot.kept == tmp_path / "kept/the test"
    drawing = next(iter(robot.kept.glob("graph.*"))).read_text()
    assert "doubler" in drawing
    with hyphos.testing.Robot(nodes={"n": lambda node: None}, lockstep=True) as other:  # noqa: ARG005
        other.play(robot.kept / "messages.mcap")
        assert other.elapsed == pytest.approx(0.4)
    assert not list(tmp_path.glob("kept/*/*.yaml"))


def test_a_passed_test_leaves_nothing(tmp_path: Path) -> None:
    plan = write_robot(tmp_path)
    before = (set(sys.modules), list(sys.path), os.sched_getaffinity(0))
    with Robot(plan, lockstep=True, failures=tmp_path / "kept") as robot:
        assert "nodes" in sys.modules
        robot.step(0.1)
    assert "nodes" not in sys.modules
    assert before[1:] == (list(sys.path), os.sched_getaffinity(0))
    assert not (tmp_path / "kept").exists()


def test_modules_of_two_plans_with_one_name_are_separate(tmp_path: Path) -> None:
    for folder, word in (("a", "first"), ("b", "second")):
        at = tmp_path / folder
        at.mkdir()
        (at / "talk.py").write_text(
            "from hyphos.msgs import String\n"
            "class Talk:\n"
            "    def __init__(self, node):\n"
            "        pub = node.publisher('word', String)\n"
            f"        node.every(lambda: pub.publish(String(data='{word}')), rate_hz=10)\n"
        )
        (at / "robot.yaml").write_text("hyphos: 1\nnodes: {talk: {python: talk}}\n")
        with Robot(at / "robot.yaml", lockstep=True) as robot:
            assert robot.expect("word").data == word


def test_installed_packages_below_the_plan_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / ".venv/site-packages"
    installed.mkdir(parents=True)
    (installed / "hyphos_test_installed.py").write_text("")
    monkeypatch.syspath_prepend(installed)
    (tmp_path / "talk.py").write_text(
        "import hyphos_test_installed\nclass Talk:\n    def __init__(self, node):\n        pass\n"
    )
    (tmp_path / "robot.yaml").write_text("hyphos: 1\nnodes: {talk: {python: talk}}\n")
    with Robot(tmp_path / "robot.yaml", lockstep=True):
        assert "talk" in sys.modules
    assert "talk" not in sys.modules
    assert sys.modules.pop("hyphos_test_installed")


POSE = Struct("test.Pose", [("x", "f8")])


def test_types_that_a_test_cannot_find_are_given() -> None:
    def poser(node: hyphos.Node) -> None:
        pub = node.publisher("pose", POSE)
        node.every(lambda: pub.publish(POSE(x=1.5)), rate_hz=10)

    with (
        Robot(nodes={"poser": poser}, lockstep=True) as robot,
        pytest.raises(hyphos.Error, match=r"'pose' carries test.Pose \(struct\)") as found,
    ):
        robot.expect("pose")
    assert "types={'pose': Struct(...)}" in found.value.advice
    with Robot(nodes={"poser": poser}, lockstep=True, types={"pose": POSE}) as robot:
        assert robot.expect("pose").x == 1.5


def test_nodes_that_cannot_run_in_lock_step_are_named(tmp_path: Path) -> None:
    more = "  tool: {executable: ./tool}\nchannels:"
    plan = write_robot(tmp_path, PLAN.replace("channels:", more))
    with (
        Robot(plan, lockstep=True) as robot,
        pytest.raises(RobotError, match="tool does not run in lock-step: it is a separate program"),
    ):
        robot.expect("from_tool", within=0.1)
    with pytest.raises(hyphos.Error, match="tool does not run in lock-step"):
        Robot(plan, lockstep=True, nodes=["tool"]).__enter__()
    with pytest.raises(hyphos.Error, match="the plan has no node 'absent'"):
        Robot(plan, lockstep=True, nodes=["absent"]).__enter__()


def test_drops_beyond_a_number_fail_the_test(tmp_path: Path) -> None:
    def burst(node: hyphos.Node) -> None:
        pub = node.publisher("burst", Int64)

        def send() -> None:
            for number in range(20):
                pub.publish(Int64(data=number))

        node.every(send, period_ms=100)
        node.subscribe("burst", Int64, lambda _: None)

    def run(most: int | None) -> None:
        with Robot(
            nodes={"burst": burst}, lockstep=True, max_drops=most, failures=tmp_path
        ) as robot:
            robot.step(0.1)

    run(None)
    run(10)
    with pytest.raises(RobotError, match=r"10 messages were dropped, and max_drops is 9\n.*burst"):
        run(9)


def test_a_channel_without_subscriber_fails_the_test(tmp_path: Path) -> None:
    plan = write_robot(tmp_path, PLAN.replace(", subscribers: []", ""))
    Robot(plan, lockstep=True).__enter__().close()
    with (
        pytest.raises(RobotError, match="'doubled' has no subscriber, but doubler publishes it"),
        Robot(plan, lockstep=True, require_subscribers=True, failures=tmp_path / "kept"),
    ):
        pass
    with Robot(write_robot(tmp_path), lockstep=True, require_subscribers=True, strict=True):
        pass


def test_keep_messages_bounds_the_memory(plan: Path) -> None:
    with Robot(plan, lockstep=True, keep_messages=3) as robot:
        robot.step(1)
        assert data(robot, "count") == [8, 9, 10]
        assert robot.count("count") == 10
    with Robot(plan, lockstep=True, keep_bytes=4) as robot:
        robot.step(1)
        assert data(robot, "count") == [9, 10]
