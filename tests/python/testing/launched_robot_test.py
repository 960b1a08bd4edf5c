"""hyphos.testing in real time: processes of a plan, or a few nodes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import hyphos
import pytest
from helpers import alive, wait_until
from hyphos import _hyphos
from hyphos.msgs import Int64, String
from hyphos.testing import Robot, RobotError
from hyphos.testing.observed import Observed
from testing_nodes import PLAN, write_robot

MORTAL = """
hyphos: 1
processes: {one: {nodes: [mortal]}, two: {nodes: [counter]}}
nodes: {mortal: {python: "nodes.py:Mortal"}, counter: {python: "nodes.py:Counter"}}
"""


def test_the_block_begins_when_the_robot_is_ready(tmp_path: Path) -> None:
    deep = PLAN.replace("Int64, pub", "Int64, depth: 1000, pub")  # a stall must not cause a drop
    with Robot(write_robot(tmp_path, deep), strict=True, max_drops=0) as robot:
        names = {p.name: p.state for p in _hyphos.inspect(robot.domain)}
        assert names["source"] == names["sink"] == "ready"
        first = robot.expect("count", within=30).data
        assert robot.expect("doubled", lambda m: m.data >= 2 * first, within=30)
        inside = robot.node.runtime.endpoints()
        assert {e.channel for e in inside if not e.is_publisher} >= {"count", "doubled"}
    assert _hyphos.inspect(robot.domain) == []


def test_publish_waits_for_the_subscribers(tmp_path: Path) -> None:
    with Robot(write_robot(tmp_path), processes=["sink"]) as robot:
        robot.publish("count", Int64(data=21), within=30)
        assert robot.expect("doubled", within=30).data == 42
        with pytest.raises(RobotError, match=r"no subscriber of 'nothing' within 0.1 s"):
            robot.publish("nothing", Int64(), within=0.1)


def test_a_few_nodes_run_in_real_time(tmp_path: Path) -> None:
    write_robot(tmp_path)
    nodes = {"counter": "nodes.py:Counter", "doubler": "nodes.py:Doubler"}
    with Robot(nodes=nodes, base=tmp_path) as robot:
        value = robot.expect("doubled", within=30).data
        robot.expect("doubled", lambda m: m.data == value + 2, within=30)
    assert "nodes" not in sys.modules
    fragile = {**nodes, "doubler": "nodes.py:Fragile"}
    with (
        pytest.raises(RobotError, match=r"ValueError: cannot double \d"),
        Robot(nodes=fragile, base=tmp_path, failures=tmp_path / "kept") as robot,
    ):
        robot.expect("doubled", lambda m: m.data > 6, within=60)


def test_an_exception_in_any_process_fails_the_test(tmp_path: Path) -> None:
    plan = write_robot(tmp_path, PLAN.replace("nodes.py:Doubler", "nodes.py:Fragile"))
    robot = Robot(plan, failures=tmp_path / "kept", name="fragile")
    words = r"callback of channel 'count' threw: .*cannot double \d"
    with pytest.raises(RobotError, match=words), robot:
        robot.expect("doubled", lambda m: m.data > 6, within=60)
    assert robot.kept is not None
    assert "cannot double " in (robot.kept / "sink.log").read_text()
    assert "doubler" in next(iter(robot.kept.glob("graph.*"))).read_text()
    with Robot(plan, allow_exceptions=True) as robot:
        robot.expect("doubled", lambda m: m.data > 6, within=60)


def test_an_exception_in_a_timer_of_a_process_fails_the_test(tmp_path: Path) -> None:
    plan = write_robot(tmp_path, 'hyphos: 1\nnodes: {bad: {python: "nodes.py:BadTimer"}}\n')
    log = tmp_path / "kept/bad/main.log"
    with (
        pytest.raises(
            RobotError, match=r"process 'main': exceptions left callbacks: .*no such key"
        ),
        Robot(plan, failures=tmp_path / "kept", name="bad") as robot,
    ):
        place = robot.folder / "main.log"
        wait_until(lambda: place.exists() and "no such key" in place.read_text())
    assert "Traceback" in log.read_text()


def test_a_process_that_fails_ends_the_wait(tmp_path: Path) -> None:
    failures = tmp_path / "kept"
    with (
        pytest.raises(RobotError, match=r"process 'one' failed \(3\)"),
        Robot(write_robot(tmp_path, MORTAL), failures=failures) as robot,
    ):
        robot.publish("end", Int64(data=3), within=30)
        robot.expect("nothing", within=60)


def test_a_robot_that_cannot_start_shows_its_log(tmp_path: Path) -> None:
    plan = write_robot(tmp_path, 'hyphos: 1\nnodes: {bad: {python: "nodes.py:broken"}}\n')
    with pytest.raises(
        RobotError, match=r"process 'main' failed(.|\n)*the motor driver is missing"
    ):
        Robot(plan, failures=tmp_path / "kept").__enter__()
    plan = write_robot(tmp_path, 'hyphos: 1\nnodes: {bad: {python: "nodes.py:Absent"}}\n')
    with pytest.raises(RobotError, match="has no 'Absent'"):
        Robot(plan, failures=tmp_path / "kept").__enter__()


def test_a_killed_process_does_not_fail_the_test(tmp_path: Path) -> None:
    with Robot(write_robot(tmp_path, MORTAL)) as robot:
        pid = robot.expect("alive", within=30).data
        robot.kill("one")
        assert not alive(pid)
        robot.expect("count", fresh=True, within=30)  # the other process continues
        with pytest.raises(hyphos.Error, match="no process 'absent' runs, only one, two"):
            robot.kill("absent")
        with pytest.raises(hyphos.Error, match="process 'one' has ended: killed by SIGKILL"):
            robot.kill("one")


@pytest.mark.parametrize("backoff_ms", [1, 500])
def test_a_killed_process_is_restarted_as_the_plan_says(tmp_path: Path, backoff_ms: int) -> None:
    restart = f"[mortal], restart: on_failure, backoff_ms: {backoff_ms}}}"
    plan = MORTAL.replace("[mortal]}", restart)
    with Robot(write_robot(tmp_path, plan)) as robot:
        pid = robot.expect("alive", within=30).data
        robot.kill("one")
        robot.expect_ready("one")
        assert robot.expect("alive", lambda m: m.data != pid, within=30)


def test_the_output_of_a_process_can_be_expected(tmp_path: Path) -> None:
    plan = write_robot(tmp_path, MORTAL.replace("nodes.py:Mortal", "nodes.py:greeter"))
    with Robot(plan) as robot:
        assert robot.expect_output("one", r"^hello (\w+)$", within=30)[1] == "you"
        with pytest.raises(RobotError, match=r"'one' matches .hi. within 0\.1 s, the last line is"):
            robot.expect_output("one", "hi", within=0.1)
        with pytest.raises(hyphos.Error, match="no process 'absent', only one, two"):
            robot.expect_output("absent", "hello", within=30)


def test_a_paused_process_publishes_nothing(tmp_path: Path) -> None:
    with Robot(write_robot(tmp_path, MORTAL)) as robot:
        pid = robot.expect("alive", within=30).data
        robot.pause("one")
        wait_until(
            lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        )
        for _ in range(2):  # until the last message from before the pause has passed
            robot.expect("count", fresh=True, within=30)
        count = robot.count("alive")
        robot.expect("count", within=30)
        assert robot.count("alive") == count
        robot.resume("one")
        robot.expect("alive", fresh=True, within=30)


def test_a_damaged_sensor_in_real_time(tmp_path: Path) -> None:
    with Robot(write_robot(tmp_path), intercept=["count"], strict=True) as robot:
        robot.expect("doubled", within=30)
        robot.damage("count", lambda m: Int64(data=-m.data))
        robot.expect("doubled", lambda m: m.data < 0, within=30)
        robot.cut("count")
        wait_until(lambda: robot.lost("count") > 0, "a lost message")
        count = robot.count("count")
        wait_until(lambda: robot.lost("count") > 2, "more lost messages")
        assert robot.count("count") == count
        robot.repair()
        robot.expect("doubled", lambda m: m.data > 0, fresh=True, within=30)


def test_a_recording_is_played_in_real_time(tmp_path: Path) -> None:
    plan = write_robot(tmp_path)
    with Robot(plan, lockstep=True, nodes=["counter"]) as robot:
        robot.step(0.3)
        robot.record(tmp_path / "drive.mcap")
    with Robot(plan, processes=["sink"]) as robot:
        robot.play(tmp_path / "drive.mcap")
        assert robot.expect("doubled", lambda m: m.data == 6, within=30)
        robot.record(tmp_path / "out.mcap", ["doubled"])
        robot.expect_golden(tmp_path / "out.mcap", ["doubled"], update=False)


def test_strict_fails_on_a_use_that_the_plan_does_not_have(tmp_path: Path) -> None:
    plan = write_robot(tmp_path, PLAN.replace("publishers: [doubler]", "publishers: [counter]"))
    failures = tmp_path / "kept"
    with (
        pytest.raises(RobotError, match="'doubler' publishes 'doubled', but is not in the plan's"),
        Robot(plan, strict=True, failures=failures) as robot,
    ):
        robot.expect("count", within=30)
    with Robot(plan, failures=failures) as robot:
        robot.expect("count", within=30)


def test_nothing_is_left_of_a_robot(tmp_path: Path) -> None:
    """Also if the test is interrupted."""
    robot = Robot(write_robot(tmp_path, MORTAL), failures=tmp_path / "kept")
    pids = []
    with pytest.raises(KeyboardInterrupt), robot:
        pids.append(robot.expect("alive", within=30).data)
        raise KeyboardInterrupt
    assert not alive(pids[0])
    assert not Path(f"/dev/shm/hyphos-{os.getuid()}/{robot.domain}").exists()


def test_a_robot_ends_with_a_killed_test(tmp_path: Path) -> None:
    write_robot(tmp_path, MORTAL)
    source = (
        "from hyphos.testing import Robot\n"
        "with Robot('robot.yaml') as robot:\n"
        "    print(robot.expect('alive', within=30).data, flush=True)\n"
        "    robot.expect('nothing', within=600)\n"
    )
    words = [sys.executable, "-c", source]
    popen = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert popen.stdout is not None
    pid = int(popen.stdout.readline())
    popen.send_signal(signal.SIGKILL)
    popen.communicate()
    wait_until(lambda: not alive(pid), "the end of the robot")


TWO_PUBLISHERS = """
hyphos: 1
nodes: {one: {python: "nodes.py:Counter"}, two: {python: "nodes.py:Counter"}}
"""


def test_two_publishers_of_one_process_are_one_connection(tmp_path: Path) -> None:
    with Robot(write_robot(tmp_path, TWO_PUBLISHERS)) as robot:
        robot.expect("count", within=30)
    nodes = {"one": "nodes.py:Counter", "two": "nodes.py:Counter"}
    with Robot(nodes=nodes, base=tmp_path) as robot:
        robot.expect("count", within=30)


def test_a_channel_with_local_scope_needs_no_connection(tmp_path: Path) -> None:
    one_process = PLAN.replace("source: {nodes: [counter]}", "main: {nodes: [counter, doubler]}")
    one_process = one_process.replace("  sink: {nodes: [doubler]}\n", "")
    local = one_process.replace("count: {type", "count: {scope: local, type")
    with Robot(write_robot(tmp_path, local)) as robot:
        robot.expect("doubled", within=30)
        assert robot.count("count") == 0


def test_a_publisher_without_connection_is_named(domain: str, node: hyphos.Node) -> None:
    count, word = node.publisher("count", Int64), node.publisher("word", String)
    observed = Observed(domain, {"channels": []}, threading.Condition())
    try:
        observed.node.subscribe("count", String, lambda _: None)
        observed.node.subscribe("word", String, lambda _: None)
        observed.watch(lambda _: None)
        wait_until(lambda: word.listeners > 0, "the connection")
        assert count.listeners == 0
        with pytest.raises(RobotError, match=r"connect to all publishers of 'count' in 0.1 s"):
            observed.connect(0.1)
    finally:
        observed.close()
