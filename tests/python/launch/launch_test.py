"""`hyphos run` with real processes: start order, restarts, health, shutdown and cleanup."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import hyphos
import pytest
from helpers import PATIENCE_S, Cli, Inbox, Program, Start, alive, wait_until, write_program
from hyphos.msgs import Int64, String
from launched import (
    RESTART,
    Robot,
    children_of,
    is_ready,
    pid_of,
    run_until_ready,
    runs,
    until_line,
)


@pytest.fixture
def robot(tmp_path: Path, domain: str) -> Robot:
    return Robot(tmp_path, domain)


Run = Callable[..., Program]


@pytest.fixture
def run(hyphos_start: Start, robot: Robot) -> Run:
    """`run(plan, *words)` starts `hyphos run` with logs beside the plan."""

    def make(plan: str, *words: str) -> Program:
        return hyphos_start("run", plan, "--logs", str(robot.logs), *words)

    return make


def test_processes_start_in_the_order_of_after(run: Run, robot: Robot) -> None:
    plan = robot.plan(
        {
            "third": ("notes_its_birth", "after: [second]"),
            "second": ("slow_to_stand", "after: first"),
            "first": ("slow_to_stand", ""),
        }
    )
    program = run(plan)
    until_line(program, r"^third +│ born")
    program.stop()
    times = [float(robot.log(name).split()[1]) for name in ("first", "second", "third")]
    assert times == sorted(times)
    # Each process had to be ready before the next one started.
    assert times[1] - times[0] > 0.3


def test_processes_end_in_reverse_order(run: Run, robot: Robot) -> None:
    plan = robot.plan({"low": ("quiet", ""), "high": ("quiet", "after: low")})
    program = run(plan, "--live")
    until_line(program, r"started high")
    wait_until(lambda: is_ready(robot, "high"), "high")
    low = pid_of(robot, "low")
    os.kill(pid_of(robot, "high"), signal.SIGSTOP)  # it delays the other one for a while
    program.signal(signal.SIGINT)
    code, out, err = program.end()
    assert (code, err) == (0, ""), out
    assert not alive(low)


LATCHED = (
    "channels:\n  born: {latched: true, depth: 1}\n  count: {depth: 100}\n  echo: {depth: 100}\n"
)


def whole(robot: Robot, heard: Inbox) -> bool:
    """True if the latest echo and its latched message come from the present processes."""
    echo, born, _ = (heard.items[-1].data).split(" ")
    return (int(echo), born) == (runs(robot, "echo"), str(runs(robot, "counter")))


@pytest.mark.parametrize("victim", ["counter", "echo"])
def test_a_killed_process_restarts_completely(run: Run, robot: Robot, victim: str) -> None:
    plan = robot.plan({"counter": ("Counter", RESTART), "echo": ("Echo", RESTART)}, LATCHED)
    program = run(plan)
    heard = Inbox()
    with hyphos.Node.open("outside", domain=robot.domain) as node:
        node.subscribe("echo", String, heard)
        heard.wait(5)
        for kill in range(3):
            pid = pid_of(robot, victim)
            os.kill(pid, signal.SIGKILL)
            until_line(program, f"{victim} killed by SIGKILL, restarting in")
            until_line(program, f"{victim} is back after .* \\(restart {kill + 1}\\)")

            wait_until(lambda: whole(robot, heard), "messages through the new process")
            assert pid_of(robot, victim) != pid
    code, out, _ = program.stop()
    assert code == 0, out
    assert f"{victim}: restarted 3 times" in out
    assert robot.log(victim).count("--- killed by SIGKILL, restart") == 3


def test_a_restart_costs_the_other_processes_nothing(run: Run, robot: Robot) -> None:
    plan = robot.plan({"counter": ("Counter", RESTART), "echo": ("Echo", RESTART)}, LATCHED)
    program = run(plan)
    counts = Inbox()
    with hyphos.Node.open("outside", domain=robot.domain) as node:
        # A deep queue: a machine that stalls for seconds must not look like a loss.
        node.subscribe("count", Int64, counts, policy=hyphos.Policy(depth=2000))
        counts.wait(5)
        os.kill(pid_of(robot, "echo"), signal.SIGKILL)
        until_line(program, "echo is back")
        counts.wait(len(counts.items) + 5)
        values = [count.data for count in counts.items]
    program.stop()
    assert values == list(range(values[0], values[0] + len(values)))


def test_a_process_that_keeps_failing_is_given_up(run: Run, robot: Robot) -> None:
    limits = "restart: on_failure, backoff_ms: 1, max_backoff_ms: 2, max_restarts_per_minute: 3"
    plan = robot.plan({"bad": ("failing", limits), "good": ("quiet", "")})
    code, out, _ = run(plan).end()
    assert code == 1
    assert out.count("started bad") == 4
    assert "giving up after 3 restarts within a minute (max_restarts_per_minute)" in out
    assert "cannot work" in robot.log("bad")


@pytest.mark.parametrize("number", [signal.SIGSTOP])
def test_a_stopped_process_is_found_killed_and_replaced(
    run: Run, robot: Robot, number: int
) -> None:
    plan = robot.plan({"counter": ("Counter", f"{RESTART}, health: {{heartbeat_ms: 4000}}")})
    program = run(plan)
    wait_until(lambda: is_ready(robot, "counter"), "the counter")
    pid = pid_of(robot, "counter")
    os.kill(pid, number)
    until_line(program, r"counter is unhealthy: no heartbeat for [\d.]+ s \(heartbeat_ms 4000\)")
    until_line(program, "counter is back")
    assert not alive(pid)
    assert program.stop()[0] == 0


def test_a_deadlocked_process_is_found(run: Run, robot: Robot) -> None:
    keys = f"{RESTART}, threads: 1, health: {{heartbeat_ms: 500}}"
    program = run(robot.plan({"stuck": ("Deadlocked", keys)}))
    until_line(program, "stuck is unhealthy: no heartbeat")
    until_line(program, "stuck is back")
    program.signal(signal.SIGINT)
    program.signal(signal.SIGINT)
    program.end()


def test_a_process_that_stops_publishing_is_found(run: Run, robot: Robot) -> None:
    keys = f"{RESTART}, health: {{channels: [count]}}"
    program = run(robot.plan({"mute": ("Silent", keys)}, "channels: {count: {deadline_ms: 4000}}"))
    until_line(program, r"mute is unhealthy: nothing published on 'count' for [\d.]+ s \(.* 4000\)")
    until_line(program, "mute is back")
    assert program.stop()[0] == 0


def test_unhealthy_processes_may_only_be_reported(run: Run, robot: Robot) -> None:
    program = run(robot.plan({"p": ("Counter", "health: {heartbeat_ms: 300, action: report}")}))
    wait_until(lambda: is_ready(robot, "p"), "p")
    pid = pid_of(robot, "p")
    os.kill(pid, signal.SIGSTOP)
    until_line(program, "p is unhealthy: no heartbeat")
    os.kill(pid, signal.SIGCONT)
    until_line(program, "p works again")
    assert alive(pid)
    assert program.stop()[0] == 0


def test_a_process_that_misses_its_ready_timeout_has_failed(run: Run, robot: Robot) -> None:
    plan = robot.plan(
        {"late": ("stubborn", "ready_timeout_ms: 500"), "next": ("quiet", "after: late")}
    )
    code, out, _ = run(plan).end()
    assert code == 1
    assert "late: killed: not ready after 0.5 s (ready_timeout_ms)" in out
    assert "started next" not in out


def test_nothing_outlives_a_killed_launcher(run: Run, robot: Robot) -> None:
    plan = robot.plan({"mother": ("mother", ""), "mule": ("stubborn", "")})
    program = run(plan)
    pids = [
        int(until_line(program, r"│ child (\d+)")[1]),
        pid_of(robot, "mother"),
    ]
    wait_until(lambda: "stubborn" in robot.log("mule"), "the mule")
    pids.append(int(robot.log("mule").split()[1]))
    assert all(map(alive, pids))
    program.signal(signal.SIGKILL)
    wait_until(lambda: not any(map(alive, pids)), "their ends")


def test_a_killed_launcher_leaves_no_folder(run: Run, robot: Robot) -> None:
    program = run(robot.plan({"counter": ("Counter", "")}))
    wait_until(lambda: is_ready(robot, "counter"), "the counter")
    words = Path(f"/proc/{pid_of(robot, 'counter')}/cmdline").read_text().split("\0")
    folder = Path(words[words.index("--hyphos-state") + 1])
    assert folder.is_dir()
    program.signal(signal.SIGKILL)
    wait_until(lambda: not folder.exists(), "the end of its folder")


def test_nothing_outlives_a_killed_launcher_and_guard(run: Run, robot: Robot) -> None:
    program = run(robot.plan({"counter": ("Counter", "")}))
    wait_until(lambda: is_ready(robot, "counter"), "the counter")
    pid = pid_of(robot, "counter")
    wait_until(lambda: bool(guards_of(program.popen.pid)), "the guard to have its name")
    [guard] = guards_of(program.popen.pid)
    os.kill(guard, signal.SIGKILL)
    program.signal(signal.SIGKILL)
    wait_until(lambda: not alive(pid), "its end")


def guards_of(pid: int) -> list[int]:
    names = {child: Path(f"/proc/{child}/comm").read_text() for child in children_of(pid)}
    return [child for child, name in names.items() if name.strip() == "hyphos-guard"]


def test_orphans_of_a_process_end_with_it(run: Run, robot: Robot) -> None:
    program = run(robot.plan({"mother": ("mother", ""), "other": ("quiet", "")}), "--keep-going")
    child = int(until_line(program, r"│ child (\d+)")[1])
    wait_until(lambda: is_ready(robot, "mother"), "the mother")
    os.kill(pid_of(robot, "mother"), signal.SIGKILL)
    until_line(program, "mother killed by SIGKILL")
    assert not alive(child)
    program.stop()


def test_a_second_ctrl_c_does_not_wait(run: Run, robot: Robot) -> None:
    program = run(robot.plan({"mule": ("stubborn", "stop_timeout_ms: 86400000")}))
    until_line(program, "│ stubborn")
    program.signal(signal.SIGINT)
    until_line(program, "stopping")
    program.signal(signal.SIGINT)
    until_line(program, r"stopping at once \(SIGTERM\)")
    program.signal(signal.SIGINT)
    code, out, _ = program.end()
    assert code == 1
    assert "mule killed by SIGKILL" in out


def test_two_launchers_of_one_robot_are_refused(
    run: Run, hyphos_cli: Cli, hyphos_start: Start, robot: Robot
) -> None:
    plan = robot.plan({"a": ("quiet", ""), "b": ("quiet", "")})
    first = run(plan, "-p", "a")
    until_line(first, "started a")
    code, _, err = hyphos_cli("run", plan)
    assert code == 1
    assert f"process 'a' of domain '{robot.domain}' is already run by another launcher" in err
    assert f"(pid {first.popen.pid})" in err
    assert f"kill -INT {first.popen.pid}" in err
    # Another part of the robot.
    code, out, err = run_until_ready(hyphos_start, robot.folder, plan, "-p", "b")
    assert code == 0, out + err
    first.signal(signal.SIGKILL)
    first.end()
    wait_until(lambda: runs(robot, "a") is None, "the end of a")
    assert run_until_ready(hyphos_start, robot.folder, plan)[0] == 0  # the lock is gone


def test_a_program_that_does_not_exist_is_reported(hyphos_cli: Cli, robot: Robot) -> None:
    robot.path.write_text(
        f"hyphos: 1\ndomain: {robot.domain}\nnodes: {{tool: {{executable: ./gone}}}}\n"
    )
    code, _, err = hyphos_cli("run", str(robot.path))
    assert code == 1
    assert "nodes.tool.executable" in err
    assert "does not exist" in err


def test_a_program_that_vanishes_is_retried_and_given_up(run: Run, robot: Robot) -> None:
    write_program(robot.folder / "tool", '#!/bin/sh\nrm -- "$0"\nexit 3\n')
    robot.path.write_text(
        f"hyphos: 1\ndomain: {robot.domain}\nnodes: {{tool: {{executable: ./tool}}}}\n"
        "processes: {tool: {restart: on_failure, backoff_ms: 1, max_restarts_per_minute: 2}}\n"
    )
    code, out, _ = run(str(robot.path)).end()
    assert code == 1
    assert "tool failed (3), restarting in" in out
    assert "program not found, giving up after 2 restarts within a minute" in out


def test_an_executable_is_ready_when_its_endpoints_are_open(run: Run, robot: Robot) -> None:
    write_program(
        robot.folder / "tool",
        f"#!{sys.executable}\n"
        "import sys, threading, hyphos\n"
        "from hyphos.msgs import Int64\n"
        "node = hyphos.Node.open('tool', sys.argv)\n"
        "count = node.publisher('count', Int64)\n"
        "threading.Event().wait()\n",
    )
    robot.path.write_text(
        f"hyphos: 1\ndomain: {robot.domain}\n"
        "processes: {tool: {ready: nodes}, next: {after: tool, nodes: [n]}}\n"
        'nodes: {tool: {executable: ./tool}, n: {python: "nodes.py:notes_its_birth"}}\n'
        "channels: {count: {publishers: [tool]}}\n"
    )
    program = run(str(robot.path), "--grace", "0.1")
    until_line(program, "next │ born")
    program.stop()


def test_logs_stay_below_their_bound(run: Run, robot: Robot) -> None:
    program = run(robot.plan({"chatter": ("chatter", "")}), "--log-mb", "0.05", "--quiet")
    wait_until(lambda: "done" in robot.log("chatter"), "the last line")
    assert program.stop()[0] == 0
    files = sorted(path.name for path in robot.logs.iterdir())
    assert files == ["chatter.1.log", "chatter.log"]
    assert sum(path.stat().st_size for path in robot.logs.iterdir()) <= 50_000
    kept = (robot.logs / "chatter.1.log").read_text() + robot.log("chatter")
    numbers = [int(n) for n in re.findall(r"^line (\d+) ", kept, re.M)]
    assert numbers == list(range(numbers[0], 2000))


def test_logs_go_to_the_state_folder(
    hyphos_start: Start, robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(robot.folder / "state"))
    plan = robot.plan({"chatter": ("chatter", "")})
    root = robot.folder / "state/hyphos/log/robot"
    for old in range(25):
        folder = root / f"20200101-0000{old:02}-1"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps({"pid": 2**22 + 1}))
    program = hyphos_start("run", plan)
    log = root / "latest" / "chatter.log"
    wait_until(lambda: log.exists() and "line 1999" in log.read_text(), "the last line")
    code, out, _ = program.stop()
    assert code == 0
    assert f"logs in {(root / 'latest').resolve()}" in out
    assert len([p for p in root.iterdir() if not p.is_symlink()]) == 20


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_costs_log_lines_not_the_robot(run: Run, robot: Robot) -> None:
    robot.logs.mkdir()
    (robot.logs / "chatter.log").symlink_to("/dev/full")
    program = run(robot.plan({"chatter": ("chatter", "")}))
    until_line(program, "No space left on device. Its lines are shown, but not saved")
    until_line(program, "│ done")
    assert program.stop()[0] == 0


def test_an_unusable_log_folder_is_reported(hyphos_cli: Cli, robot: Robot) -> None:
    (robot.folder / "file").write_text("")
    plan = robot.plan({"a": ("quiet", "")})
    code, _, err = hyphos_cli("run", plan, "--logs", str(robot.folder / "file" / "logs"))
    assert code == 2
    assert "file' is a file, so it cannot contain another file" in " ".join(err.split())


def test_a_blocked_terminal_does_not_stop_the_robot(run: Run, robot: Robot) -> None:
    """No process reads the output here, so its pipe is full at once."""
    plan = robot.plan({"chatter": ("chatter", ""), "counter": ("Counter", "")})
    program = run(plan)
    wait_until(lambda: "done" in robot.log("chatter"), "the last line of the log")
    heard = Inbox()
    with hyphos.Node.open("outside", domain=robot.domain) as node:
        node.subscribe("count", Int64, heard)
        heard.wait(3)
    program.stop()


def test_live_shows_restarts(run: Run, robot: Robot) -> None:
    plan = robot.plan({"counter": ("Counter", RESTART)})
    program = run(plan, "--live", "--quiet")
    wait_until(lambda: is_ready(robot, "counter"), "the counter")
    os.kill(pid_of(robot, "counter"), signal.SIGKILL)
    until_line(program, "counter is back")
    until_line(program, r"counter +running +\d+ +[\d.]+ % +[\d.]+ MB +1")
    assert program.stop()[0] == 0


def test_ten_launches_and_ctrl_cs_at_any_instant(run: Run, robot: Robot) -> None:
    """The run ends completely, however early or late Ctrl-C comes."""
    plan = robot.plan({"a": ("quiet", ""), "b": ("quiet", "after: a"), "c": ("quiet", "after: b")})
    for attempt in range(10):
        program = run(plan, "--grace", "3")
        time.sleep(0.15 * attempt)  # not a wait for an event, but a different instant for Ctrl-C
        program.signal(signal.SIGINT)
        try:
            program.popen.communicate(timeout=PATIENCE_S / 4)
        except subprocess.TimeoutExpired:
            # CPython lost the signal during its imports, before our first line: once in 200 times.
            program.signal(signal.SIGINT)
            program.popen.communicate(timeout=PATIENCE_S)
        wait_until(lambda: not any(runs(robot, name) for name in "abc"), "their ends")
