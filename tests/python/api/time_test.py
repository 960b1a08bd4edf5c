"""Simulated time in Python: real processes, the command line, two machines."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyphos
import pytest
from helpers import Cli, Inbox, Program, Start, wait_until

MS = 1_000_000

FOLLOWER = """
import sys, hyphos
node = hyphos.Node.open(sys.argv[2], domain=sys.argv[1], process=sys.argv[2], clock="sim")
calls = 0
def call():
    global calls
    calls += 1
    print("calls", calls, flush=True)
timer = node.every(call, period_ms=float(sys.argv[3]))
print("ready", flush=True)
node.spin()
"""

LOOP = """
import sys, hyphos
node = hyphos.Node.open("loop", domain=sys.argv[1], process="loop", clock="sim")
print("ready", flush=True)
try:
    rate = hyphos.Rate(node.clock, rate_hz=10)
    while rate.sleep():
        print("turn", flush=True)
    print("stopped", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.fixture
def simulator(hyphos_start: Start, domain: str) -> Program:
    """`hyphos time sim`, paused at 1000 s."""
    program = hyphos_start("time", "sim", "--paused", "--start", "1000", "-d", domain)
    assert program.line().startswith("simulated time on channel clock: 1000.000 s, paused")
    return program


def clocks(hyphos_cli: Cli, domain: str) -> dict[str, dict[str, Any]]:
    code, out, err = hyphos_cli("time", "--json", "-d", domain)
    assert code == 0, err
    return {entry["process"]: entry["clock"] for entry in json.loads(out)}


def test_steps_call_the_timers_of_two_processes_exactly(
    python: Start, hyphos_cli: Cli, simulator: Program, domain: str
) -> None:
    fast = python(FOLLOWER, domain, "fast", "10")
    slow = python(FOLLOWER, domain, "slow", "25")
    assert fast.line() == slow.line() == "ready"

    def ready() -> bool:
        seen = clocks(hyphos_cli, domain)
        return all(seen[name]["now_ns"] == 1000_000 * MS for name in ("fast", "slow"))

    wait_until(ready, "the time in both processes")
    assert hyphos_cli("time", "step", "0.05", "-d", domain)[0] == 0
    code, out, _ = hyphos_cli("time", "step", "0.1", "-d", domain)
    assert (code, out) == (0, "1000.150 s, paused, speed 1\n")
    assert [fast.line() for _ in range(15)][-1] == "calls 15"
    assert [slow.line() for _ in range(6)][-1] == "calls 6"
    # One more step calls exactly the timers that are due: nothing was called in between.
    assert hyphos_cli("time", "step", "0.025", "-d", domain)[0] == 0
    assert [fast.line(), fast.line()] == ["calls 16", "calls 17"]
    assert slow.line() == "calls 7"
    assert fast.stop()[1] == slow.stop()[1] == ""
    assert simulator.stop()[0] == 0


def test_time_can_resume_speed_up_pause_and_jump(
    python: Start, hyphos_cli: Cli, simulator: Program, domain: str
) -> None:
    follower = python(FOLLOWER, domain, "follower", "1000")
    assert follower.line() == "ready"
    assert hyphos_cli("time", "speed", "100", "-d", domain)[1].endswith("paused, speed 100\n")
    assert "running" in hyphos_cli("time", "resume", "-d", domain)[1]
    assert follower.line() == "calls 1"
    assert "paused" in hyphos_cli("time", "pause", "-d", domain)[1]
    jumps = clocks(hyphos_cli, domain)["follower"]["jumps"]
    assert hyphos_cli("time", "jump", "5", "-d", domain)[1] == "5.000 s, paused, speed 100\n"
    wait_until(lambda: clocks(hyphos_cli, domain)["follower"]["now_ns"] == 5000 * MS, "the jump")
    assert clocks(hyphos_cli, domain)["follower"]["jumps"] == jumps + 1
    out = hyphos_cli("time", "-d", domain)[1]
    assert "sim, from clock" in out
    assert "simulated, paused, speed 100" in out
    simulator.stop()


def test_impossible_requests_are_refused_with_a_reason(
    hyphos_cli: Cli, simulator: Program, domain: str
) -> None:
    code, _, err = hyphos_cli("time", "speed", "5000", "-d", domain)
    assert code == 1
    assert "above 0 and at most 1000" in err
    code, _, err = hyphos_cli("time", "step", "soon", "-d", domain)
    assert code == 1
    assert "'soon' is not a number of seconds" in err
    hyphos_cli("time", "resume", "-d", domain)
    code, _, err = hyphos_cli("time", "step", "1", "-d", domain)
    assert code == 1
    assert "Pause it to step" in err
    code, _, err = hyphos_cli("time", "sim", "-d", domain)
    assert code == 1
    assert "already publishes the time on channel 'clock'" in err
    simulator.stop()


def test_commands_without_a_simulator_are_an_error(hyphos_cli: Cli, domain: str) -> None:
    code, _, err = hyphos_cli("time", "pause", "-d", domain)
    assert code == 1
    assert f"no simulated time on channel 'clock' of domain '{domain}'" in err
    assert "hyphos time sim" in err


def test_a_killed_simulator_can_be_replaced(
    python: Start, hyphos_cli: Cli, hyphos_start: Start, simulator: Program, domain: str
) -> None:
    follower = python(FOLLOWER, domain, "follower", "10")
    assert follower.line() == "ready"

    def at(ns: int) -> None:
        wait_until(lambda: clocks(hyphos_cli, domain)["follower"]["now_ns"] == ns, f"{ns}")

    at(1000_000 * MS)
    simulator.popen.kill()
    simulator.popen.wait()
    again = hyphos_start("time", "sim", "--paused", "--start", "50", "-d", domain)
    again.line()
    at(50_000 * MS)
    assert hyphos_cli("time", "step", "0.02", "-d", domain)[0] == 0
    assert [follower.line(), follower.line()] == ["calls 1", "calls 2"]
    again.stop()


def test_ctrl_c_ends_a_loop_that_waits_for_paused_time(
    python: Start, hyphos_cli: Cli, simulator: Program, domain: str
) -> None:
    loop = python(LOOP, domain)
    assert loop.line() == "ready"
    wait_until(lambda: clocks(hyphos_cli, domain)["loop"]["ready"], "the time")
    code, out, _ = loop.stop()
    assert (code, out) == (0, "interrupted\n")
    simulator.stop()


def test_the_clock_of_a_node_reads_sleeps_and_jumps(
    node: hyphos.Node, domain: str, inbox: Inbox
) -> None:
    assert node.clock.mode == "real"
    assert node.clock.sleep_for(duration_ms=1)
    assert node.clock.elapsed_ns() > MS
    assert abs(node.clock.now_s() - node.clock.now_ns() / 1e9) < 60
    with hyphos.Node.open("sim", domain=domain, process="sim", clock="sim") as follower:
        follower.on_clock_jump(lambda jump: inbox(jump.after_ns))
        with hyphos.SimTime(node, start_ns=7 * MS, manual=True) as time:
            assert inbox.wait(1) == [7 * MS]
            assert time.advance(duration_ms=3)
            wait_until(lambda: follower.clock.now_ns() == 10 * MS)
            assert follower.clock.base_ns() == 7 * MS
            assert follower.clock.elapsed_s() == pytest.approx(0.003)
            time.jump(time_ns=1 * MS)
            assert inbox.wait(2)[1] == 1 * MS
            assert follower.clock.jumps == 2
            with pytest.raises(hyphos.Error, match="positive"):
                time.pause()
                time.step(duration_ms=-1)


def test_invalid_options_are_refused(domain: str) -> None:
    with pytest.raises(ValueError, match="'real' or 'sim'"):
        hyphos.Node.open("x", domain=domain, clock="fast")
    with hyphos.Node.open("y", domain=domain) as node:
        with pytest.raises(TypeError, match="either period_ms or rate_hz"):
            hyphos.Rate(node.clock)
        with pytest.raises(hyphos.Error, match="positive"):
            hyphos.Rate(node.clock, period_ms=0)


def test_a_node_of_a_plan_provides_the_time(start: Start, hyphos_cli: Cli, tmp_path: Path) -> None:
    domain = f"py{os.getpid()}-plan"
    plan = tmp_path / "robot.yaml"
    plan.write_text(
        f"hyphos: 1\ndomain: {domain}\nclock: {{mode: sim, speed: 3}}\n"
        "processes: {maker: {nodes: [time]}}\n"
        'nodes: {time: {python: "hyphos.clock:SimTimeNode", params: {start_ns: 0}}}\n'
    )
    robot = start(sys.executable, "-m", "hyphos", "run", str(plan))
    wait_until(
        lambda: (seen := clocks(hyphos_cli, domain).get("maker")) is not None and seen["ready"],
        "the time",
    )
    assert clocks(hyphos_cli, domain)["maker"]["speed"] == 3
    assert "paused" in hyphos_cli("time", "pause", "-d", domain)[1]
    assert robot.stop()[0] == 0


# --- Two machines: network namespaces, and a time namespace for a separate clock ------------------

SENDER = """
import sys, time, hyphos
from hyphos.msgs import Int64
node = hyphos.Node.open("sender", sys.argv)
out = node.publisher("number", Int64)
node.every(lambda: out.publish(Int64(data=time.monotonic_ns())), rate_hz=50)
node.spin()
"""

RECEIVER = """
import sys, time, hyphos
from hyphos.msgs import Int64
node = hyphos.Node.open("receiver", sys.argv)
node.subscribe("number", Int64, lambda number, info: None)
node.spin()
"""


def _namespaces_work() -> bool:
    if os.geteuid() != 0 or not all(shutil.which(word) for word in ("unshare", "ip", "nsenter")):
        return False
    tried = subprocess.run(
        ["unshare", "--net", "--time", "--fork", "--monotonic", "1000", "true"],
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


@pytest.fixture
def two_machines() -> Iterator[tuple[str, str]]:
    """Two network namespaces with a veth pair: 10.78.0.1 and 10.78.0.2."""
    if not _namespaces_work():
        pytest.skip("network and time namespaces may not be made here (needs root)")
    names = (f"hyt{os.getpid()}a", f"hyt{os.getpid()}b")

    def run(*words: str) -> None:
        subprocess.run(words, check=True, capture_output=True)

    try:
        for name in names:
            run("ip", "netns", "add", name)
        run("ip", "link", "add", "hyt0", "netns", names[0], "type", "veth", "peer", "name", "hyt1",
            "netns", names[1])  # fmt: skip
        for i, name in enumerate(names):
            inside = ("nsenter", f"--net=/run/netns/{name}")
            run(*inside, "ip", "addr", "add", f"10.78.0.{i + 1}/24", "dev", f"hyt{i}")
            run(*inside, "ip", "link", "set", "lo", "up")
            run(*inside, "ip", "link", "set", f"hyt{i}", "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def test_the_offset_of_a_remote_clock_has_an_uncertainty(
    two_machines: tuple[str, str], start: Start, hyphos_cli: Cli, tmp_path: Path
) -> None:
    ahead_ns = 86_400 * 10**9  # the sender's machine was started a day earlier
    domain = f"py{os.getpid()}-two"
    plan = tmp_path / "robot.yaml"
    plan.write_text(
        f"hyphos: 1\ndomain: {domain}\n"
        "hosts: {far: {address: 10.78.0.1}, near: {address: 10.78.0.2}}\n"
        "processes: {far: {host: far, nodes: [sender]}, near: {host: near, nodes: [receiver]}}\n"
        "nodes: {sender: {}, receiver: {}}\n"
        "channels: {number: {type: hyphos.msgs.Int64, publishers: [sender], "
        "subscribers: [receiver]}}\n"
    )

    def program(source: str, host: str) -> list[str]:
        arguments = ["--hyphos-plan", str(plan), "--hyphos-process", host]
        return [sys.executable, "-c", source, *arguments]

    start(
        "nsenter", f"--net=/run/netns/{two_machines[0]}", "unshare", "--time", "--fork",
        "--kill-child", "--monotonic", "86400", *program(SENDER, "far"),
    )  # fmt: skip
    near = start("nsenter", f"--net=/run/netns/{two_machines[1]}", *program(RECEIVER, "near"))

    def peers() -> list[dict[str, Any]]:
        out = hyphos_cli("time", "--json", "-d", domain)[1]
        mine = [entry for entry in json.loads(out) if entry["process"] == "near"]
        return mine[0]["peers"] if mine else []

    wait_until(lambda: bool(peers()) and peers()[0]["samples"] >= 8, "eight exchanges")
    peer = peers()[0]
    assert peer["process"] == "far"
    assert abs(peer["offset_ns"] - ahead_ns) <= peer["uncertainty_ns"]
    assert peer["uncertainty_ns"] > 0
    assert peer["round_trip_ns"] <= 2 * peer["uncertainty_ns"]
    # Both machines share one wall clock, so its offset has the same uncertainty.
    assert abs(peer["wall_ahead_ns"]) <= peer["uncertainty_ns"] + MS
    table = hyphos_cli("time", "-d", domain)[1]
    assert "Clocks of other machines" in table
    assert "far at tcp://10.78.0.1" in table

    # Latencies use the measured offset. Without it they would be a day off.
    def latency() -> Any:
        ends = [e for p in hyphos._hyphos.inspect(domain) for e in p.endpoints]
        return next(e.latency for e in ends if e.channel == "number" and not e.is_publisher)

    wait_until(lambda: latency().count > 0, "messages")
    assert latency().max_ns < 3_600 * 10**9
    code, out, _ = hyphos_cli("channel", "delay", "number", "-n", "1", "-d", domain)
    assert code == 0
    assert "±" in out, "the uncertainty is missing"
    near.stop()
