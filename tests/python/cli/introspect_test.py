"""`hyphos top`, `hyphos graph` and shell completion with a running robot."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import hyphos
import pytest
from helpers import (
    Cli,
    OnTerminalStart,
    Program,
    Start,
    look_until,
    wait_until,
    write_program,
)
from hyphos.msgs import Int64
from hyphos.observe import ChannelState, Delays
from hyphos.supervise.children import Usage
from hyphos.tools.top import ChannelRow, ProcessRow, sort_rows

ROBOT = """
import sys, threading, hyphos
from hyphos.msgs import Int64
node = hyphos.Node.open("talker", domain=sys.argv[1], process="body")
deep = hyphos.Policy(depth=10_000)  # none is dropped, however long a thread stalls
count = node.publisher("count", Int64, policy=deep)
busy = node.publisher("busy", Int64, policy=hyphos.Policy(depth=2))
gate = threading.Event()
node.subscribe("count", Int64, lambda _: None)
node.subscribe("busy", Int64, lambda _: gate.wait(60))
for i in range(20):
    busy.publish(Int64(data=i))
node.every(lambda: count.publish(Int64(data=1)), rate_hz=200)
node.service("map/save", Int64, Int64, lambda request: request)
node.params().declare("speed_limit", 0.5)
print("up", flush=True)
node.runtime.spin()
gate.set()
"""


@pytest.fixture
def robot(python: Start, domain: str) -> Iterator[Program]:
    """A robot in another process: one normal channel, and one with a slow subscriber."""
    program = python(ROBOT, domain)
    assert program.line() == "up"
    yield program
    program.popen.kill()


def test_top_shows_processes_and_channels(robot: Program, hyphos_cli: Cli, domain: str) -> None:
    def look() -> Any:
        code, out, err = hyphos_cli("top", "--json", "-i", "0.5", "-s", "drops", "-d", domain)
        assert code == 0, err
        return json.loads(out)

    def flows(told: Any) -> bool:
        [count] = [c for c in told["channels"] if c["name"] == "count"]
        whole, queue = count["latency_ns"], count["queue_ns"]
        return bool(min(count["rate_hz"], whole["count"]) > 0 and queue["p99"] <= whole["p99"] * 2)

    told = look_until(flows, look, "messages on the channel count")
    [process] = [p for p in told["processes"] if p["name"] == "body"]
    assert (process["pid"], process["nodes"]) == (robot.popen.pid, ["talker"])
    assert process["memory_bytes"] > 1e6
    assert [c["name"] for c in told["channels"]] == ["busy", "count"]  # drops first
    busy, count = told["channels"]
    assert busy["drops"] >= 17
    assert (busy["rate_hz"], count["drops"]) == (0, 0)
    assert count["rate_hz"] > 0
    assert count["latency_ns"]["count"] > 0
    assert count["queue_ns"]["p99"] <= count["latency_ns"]["p99"] * 2
    code, out, _ = hyphos_cli("top", "--once", "-i", "0.1", "-d", domain)
    assert code == 0
    assert "queue p99" in out


@pytest.mark.parametrize("end", ["q", "\x03"])
@pytest.mark.usefixtures("robot")
def test_top_is_live_and_restores_the_terminal(
    hyphos_terminal: OnTerminalStart, domain: str, end: str
) -> None:
    program = hyphos_terminal("top", "-i", "0.1", "-d", domain)
    program.read_until("by name")
    program.type("d")
    program.read_until("by drops")
    program.type(end)
    program.read_until("\x1b[?1049l")  # the normal screen of the terminal is back
    assert program.end() == 0


def test_top_sorts_each_table_by_its_own_columns() -> None:
    processes = [
        ProcessRow(name, "ready", "h", pid, cpu, memory, [])
        for name, pid, cpu, memory in (("b", 1, 5.0, 9), ("a", 2, 1.0, 7), ("c", 3, 9.0, 8))
    ]
    channels = [
        ChannelRow(ChannelState(name, rate_hz=rate), Delays({ns: 1}), drops)
        for name, rate, ns, drops in (("y", 1.0, 5, 0.0), ("x", 2.0, 9, 0.0), ("z", 3.0, 1, 4.0))
    ]

    def order(by: str) -> tuple[str, str]:
        p, c = sort_rows(processes, channels, by)
        return "".join(row.name for row in p), "".join(row.state.name for row in c)

    assert order("name") == ("abc", "xyz")
    assert order("cpu") == ("cba", "xyz")
    assert order("memory") == ("bca", "xyz")
    assert order("rate") == ("abc", "zxy")
    assert order("queue") == ("abc", "xyz")
    assert order("drops") == ("abc", "zxy")
    assert Usage().cpu_s == 0


@pytest.mark.usefixtures("robot")
def test_graph_shows_rate_latency_and_drops_on_the_edges(hyphos_cli: Cli, domain: str) -> None:
    def look() -> Any:
        code, out, err = hyphos_cli("graph", "-f", "json", "-w", "0.5", "-d", domain)
        assert code == 0, err
        return json.loads(out)

    def flows(told: Any) -> bool:
        ends = [edge for edge in told["edges"] if edge["channel"] == "count"]
        return all(end["rate_hz"] > 0 for end in ends)

    told = look_until(flows, look, "messages on the channel count")
    assert [p["nodes"] for p in told["processes"] if p["name"] == "body"] == [["talker"]]
    assert {c["name"]: c["type"] for c in told["channels"]} == {
        "busy": "hyphos.msgs.Int64",
        "count": "hyphos.msgs.Int64",
    }
    edges = {(e["channel"], e["publishes"]): e for e in told["edges"]}
    assert len(edges) == 4
    assert edges["count", True]["rate_hz"] > 0
    assert edges["count", False]["latency_ns"]["p99"] > 0
    assert edges["busy", False]["drops"] >= 17


@pytest.mark.usefixtures("robot")
def test_graph_draws_dot_and_svg(hyphos_cli: Cli, domain: str, tmp_path: Path) -> None:
    code, out, _ = hyphos_cli("graph", "-w", "0.2", "-d", domain)
    assert code == 0
    assert out.startswith("digraph")
    [red] = [line for line in out.splitlines() if "dropped" in line]
    assert '"channel busy" -> "node talker"' in red
    assert "#c62828" in red
    file = tmp_path / "new" / "robot.svg"
    code, out, err = hyphos_cli("graph", "-o", str(file), "-w", "0.2", "-d", domain)
    assert (code, out) == (0, ""), err
    assert "<svg" in file.read_text()
    assert "talker" in file.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["top", "--once"], "no Hyphos process runs in domain"),
        (["top", "--sort", "speed"], "unknown --sort 'speed': give one of name, rate"),
        (["graph"], "no Hyphos process runs in domain"),
        (
            ["graph", "--format", "gif"],
            "unknown --format 'gif': give one of dot, svg, png",
        ),
    ],
)
def test_mistakes_end_in_one_sentence(
    hyphos_cli: Cli, domain: str, words: list[str], message: str
) -> None:
    code, out, err = hyphos_cli(*words, "-d", domain)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(hyphos_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Complete:
    """`complete("hyphos to")` returns the completions that bash offers for the last word."""

    def offered(words: str) -> list[str]:
        with monkeypatch.context() as shell:
            shell.setenv("_HYPHOS_COMPLETE", "complete_bash")
            shell.setenv("COMP_WORDS", words)
            shell.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
            _, out, err = hyphos_cli()
        assert err == ""
        return out.split()

    return offered


@pytest.mark.usefixtures("robot")
def test_names_of_the_running_robot_are_completed(complete: Complete, domain: str) -> None:
    at = f"-d {domain}"
    assert complete(f"hyphos channel echo {at} ") == ["busy", "count"]
    assert complete(f"hyphos channel hz {at} co") == ["count"]
    assert complete(f"hyphos node info {at} ") == ["talker"]
    assert complete(f"hyphos service call {at} ma") == ["map/save"]
    assert complete(f"hyphos param get {at} tal") == ["talker"]
    # A shell does not wait for a stalled node during completion.
    speed = partial(complete, f"hyphos param get {at} talker spe")
    look_until(lambda found: found == ["speed_limit"], speed, "the parameter of the node")
    assert complete(f"hyphos log {at} --node ") == ["talker"]
    assert complete(f"hyphos foxglove {at} busy co") == ["count"]


def test_names_of_the_co_simulator_are_completed(complete: Complete) -> None:
    scenario = Path(__file__).resolve().parents[3] / "examples/cosim/emulate.yaml"
    assert complete("hyphos cosim run x.yaml --method slid") == ["sliding_window"]
    assert complete("hyphos cosim experiment paper_m") == ["paper_mesh"]
    assert complete(f"hyphos cosim emulate {scenario} --on ") == ["husky1", "husky2"]
    assert complete("hyphos cosim emulate nowhere.yaml --on ") == []


def test_without_a_robot_completion_is_empty_and_silent(complete: Complete, domain: str) -> None:
    assert complete(f"hyphos channel echo -d {domain} ") == []
    assert complete(f"hyphos param get -d {domain} nobody x") == []
    assert "top" in complete("hyphos to")


def test_starting_and_ending_processes_are_reported(
    hyphos_cli: Cli, complete: Complete, domain: str
) -> None:
    with hyphos.Node.open("first", domain=domain) as node:
        _alone = node.publisher("alone", Int64)
        wait_until(lambda: complete(f"hyphos channel info -d {domain} a") == ["alone"])
    del node, _alone
    wait_until(lambda: hyphos_cli("top", "--once", "-i", "0.05", "-d", domain)[0] == 1, "its end")


NAMESAKE = """
import sys, hyphos
node = hyphos.Node.open("talker", domain=sys.argv[1], process=sys.argv[2])
count = node.publisher(sys.argv[2], bytes)
node.every(lambda: print("up", flush=True), rate_hz=50)
node.spin()
"""


def test_two_nodes_with_one_name_are_reported(python: Start, hyphos_cli: Cli, domain: str) -> None:
    first = python(NAMESAKE, domain, "body")
    assert first.line() == "up"
    code, _, err = hyphos_cli("node", "list", "-d", domain)
    assert (code, err) == (0, "")
    second = python(NAMESAKE, domain, "brain")
    assert second.line() == "up"
    code, _, err = hyphos_cli("node", "list", "-d", domain)
    assert code == 0
    assert "warning: 2 nodes have the name 'talker': body (" in err
    assert "brain (" in err
    warning = f"node 'talker' also runs in process 'body' (pid {first.popen.pid})"
    wait_until(lambda: warning in second.errors(), "the warning")
    second.stop()
    _, _, warned = first.stop()
    assert "also runs" not in warned


def test_a_node_of_another_machine_is_shown_by_ssh(
    hyphos_cli: Cli, robot: Program, domain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert robot.popen.poll() is None
    # Stands in for ssh: runs the command line on this machine, as the shell there would.
    folder = tmp_path / "bin"
    folder.mkdir()
    write_program(folder / "ssh", '#!/bin/sh\necho "host $1" >&2\nshift\nexec sh -c "$*"\n')
    write_program(folder / "hyphos", f'#!/bin/sh\nexec {sys.executable} -m hyphos "$@"\n')
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    code, out, err = hyphos_cli("node", "info", "talker", "--ssh", "pi@robot", "-d", domain)
    assert (code, err) == (0, "host pi@robot\n")
    assert "body" in out
    code, out, _ = hyphos_cli("node", "list", "--json", "--ssh", "pi@robot", "-d", domain)
    assert [row["node"] for row in json.loads(out)] == ["talker"]
    code, _, err = hyphos_cli("node", "info", "x; y", "--ssh", "pi@robot", "-d", domain)
    assert code == 1
    assert "no node 'x; y' in domain" in err
    code, _, err = hyphos_cli("node", "list", "--ssh", "-oProxyCommand=x", "-d", domain)
    assert code != 0
    code, _, err = hyphos_cli("node", "list", "--ssh=-oProxyCommand=x", "-d", domain)
    assert code == 1
    assert "this is not USER@HOST" in err
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = hyphos_cli("node", "list", "--ssh", "pi@robot", "-d", domain)
    assert code == 1
    assert "apt install ssh" in err


def test_a_missing_node_is_looked_for_elsewhere(
    hyphos_cli: Cli, robot: Program, domain: str
) -> None:
    assert robot.popen.poll() is None
    code, _, err = hyphos_cli("node", "info", "mapper", "-d", domain)
    assert code == 1
    assert "no node 'mapper' in domain" in err
    assert "hyphos node info mapper --ssh HOST" in err
