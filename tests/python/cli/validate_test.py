"""`hyphos validate`: checks of a plan together with its nodes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers import Cli, Start, write_program

NODES = """
import os, signal, time
from hyphos.msgs import Int64, String

def numbers(node):
    return node.publisher("number", Int64)

def hears_numbers(node):
    return node.subscribe("number", Int64, print)

def hears_words(node):
    return node.subscribe("number", String, print)

def relay(node):
    return node.publisher("doubled", Int64), node.subscribe("number", Int64, print)

def back(node):
    return node.publisher("number", Int64), node.subscribe("doubled", Int64, print)

def failing(node):
    raise RuntimeError("no camera is attached")

def crashing(node):
    print("about to crash", flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)

def endless(node):
    time.sleep(1000)
"""

Check = Callable[..., tuple[int, dict[str, list[str]], dict[str, Any]]]


@pytest.fixture
def check(hyphos_cli: Cli, tmp_path: Path) -> Check:
    """`check(nodes, rest)` validates a plan of Python nodes. Returns the exit code, the texts by
    level, and the whole result.
    """
    (tmp_path / "nodes.py").write_text(NODES)

    def run(
        nodes: dict[str, str], rest: str = "", *words: str, processes: str = ""
    ) -> tuple[int, dict[str, list[str]], dict[str, Any]]:
        lines = ["hyphos: 1", "nodes:"]
        lines += [f'  {name}: {{python: "nodes.py:{kind}"}}' for name, kind in nodes.items()]
        each = "\n".join(f"  {name}_process: {{nodes: [{name}]}}" for name in nodes)
        lines += [processes or f"processes:\n{each}", rest]
        path = tmp_path / "robot.yaml"
        path.write_text("\n".join(lines) + "\n")
        code, out, err = hyphos_cli("validate", str(path), "--json", *words)
        assert "Traceback" not in err
        found = json.loads(out)
        texts: dict[str, list[str]] = {"error": [], "warning": [], "note": []}
        for finding in found["findings"]:
            texts[finding["level"]].append(finding["text"])
        assert found["ok"] == (code == 0)
        return code, texts, found

    return run


NOTHING: dict[str, list[str]] = {"error": [], "warning": [], "note": []}


def test_a_correct_plan_has_no_findings(check: Check) -> None:
    code, texts, found = check({"a": "numbers", "b": "hears_numbers"})
    assert (code, texts) == (0, NOTHING)
    ends = {(end["node"], end["channel"], end["publishes"], end["type"]) for end in found["ends"]}
    assert ends == {
        ("a", "number", True, "hyphos.msgs.Int64"),
        ("b", "number", False, "hyphos.msgs.Int64"),
    }


def test_two_types_on_one_channel_are_an_error(check: Check) -> None:
    code, texts, _ = check({"a": "numbers", "b": "hears_words"})
    assert code == 1
    assert texts["error"] == [
        "channel 'number' has two types: hyphos.msgs.Int64 (protobuf) in a, "
        "hyphos.msgs.String (protobuf) in b"
    ]


def test_a_type_other_than_planned_is_an_error(check: Check) -> None:
    rest = "channels: {number: {type: hyphos.msgs.Float64}}"
    code, texts, found = check({"a": "numbers", "b": "hears_numbers"}, rest)
    assert code == 1
    assert texts["error"] == [
        "channel 'number' is hyphos.msgs.Float64 in the plan, but hyphos.msgs.Int64 in node 'a'"
    ]
    assert found["findings"][0]["where"].endswith("robot.yaml:8:12")


def test_inputs_without_a_publisher_are_an_error(check: Check) -> None:
    code, texts, _ = check({"b": "hears_numbers"})
    assert code == 1
    assert texts["error"] == [
        "'number' has no publisher, but b subscribes to it: correct the name, add the node that "
        "publishes it, or name it in network. 'publishers: []' declares that a replay or a tool "
        "publishes it"
    ]
    rest = "network: {subscribers: [{ip: '10.0.0.1:5556', channels: [number]}]}"
    assert check({"b": "hears_numbers"}, rest)[1] == NOTHING


def test_outputs_without_a_subscriber_are_a_warning(check: Check) -> None:
    code, texts, _ = check({"a": "numbers"})
    assert code == 0
    assert texts["warning"] == ["'number' has no subscriber, but a publishes it"]
    assert check({"a": "numbers"}, "", "--strict")[0] == 1
    meant = "channels: {number: {publishers: [a], subscribers: []}}"
    assert check({"a": "numbers"}, meant, "--strict")[:2] == (0, NOTHING)


def test_programs_that_cannot_be_inspected_are_not_judged(check: Check, tmp_path: Path) -> None:
    write_program(tmp_path / "tool", "#!/bin/sh\n")
    processes = "  tool: {executable: ./tool}\nprocesses: {p: {nodes: [b]}}"
    code, texts, _ = check({"b": "hears_numbers"}, processes=processes)
    assert code == 0
    assert texts["note"] == [
        "'number' has no publisher, but b subscribes to it, unless tool (not inspected) do"
    ]


def test_endpoints_missing_in_the_plan_are_an_error(check: Check) -> None:
    rest = "channels: {number: {publishers: [b], subscribers: [b]}}"
    code, texts, _ = check({"a": "numbers", "b": "hears_numbers"}, rest)
    assert code == 1
    assert texts["error"] == [
        "node 'a' publishes 'number', but is not in the plan's publishers, so it is not connected "
        "to other processes"
    ]
    assert texts["warning"] == [
        "in the plan node 'b' publishes 'number', but the node does not (at its start)"
    ]


def test_a_scope_that_separates_endpoints_is_an_error(check: Check) -> None:
    rest = "channels: {number: {scope: local}}"
    code, texts, _ = check({"a": "numbers", "b": "hears_numbers"}, rest)
    assert code == 1
    assert "'number' has no route from node 'a' (process 'a_process') to 'b'" in texts["error"][0]


def test_cycles_of_blocking_channels_are_reported(check: Check) -> None:
    rest = "channels: {number: {reliability: reliable}, doubled: {reliability: reliable}}"
    nodes = {"a": "back", "b": "relay"}
    code, texts, _ = check(nodes, rest)
    assert code == 1
    assert texts["error"] == [
        "blocking channels form a cycle: a (number) → b (doubled) → a. When every queue is full, "
        "all wait forever: give one of them block_timeout_ms or another overflow rule"
    ]
    code, texts, _ = check(nodes, rest.replace("reliable}", "reliable, block_timeout_ms: 9}", 1))
    assert code == 0
    assert "It can stall for block_timeout_ms" in texts["warning"][0]
    assert check(nodes)[1] == NOTHING  # best effort drops and never waits


def test_nodes_that_cannot_be_constructed_are_reported(check: Check) -> None:
    code, texts, _ = check({"a": "failing", "b": "hears_numbers"})
    assert code == 1
    [error] = texts["error"]
    assert "node 'a' could not be set up: RuntimeError: no camera is attached" in error
    assert texts["note"] == [
        "'number' has no publisher, but b subscribes to it, unless a (not inspected) do"
    ]
    assert (
        "'a_process': its nodes were not created: crashed (SIGSEGV)"
        in (check({"a": "crashing"})[1]["error"][0])
    )
    _, texts, _ = check({"a": "endless"}, "", "--timeout", "2")
    assert "its nodes were not created within 2 s" in texts["error"][0]
    _, texts, _ = check({"a": "absent"})
    assert "has no 'absent'" in texts["error"][0]


def test_an_invalid_plan_is_reported(check: Check, hyphos_cli: Cli, tmp_path: Path) -> None:
    code, texts, _ = check({"a": "numbers"}, "channels: {number: {dept: 1}}")
    assert code == 1
    assert "channels.number.dept: unknown key (did you mean 'depth'?)" in texts["error"][0]
    code, out, err = hyphos_cli("validate", str(tmp_path / "robot.yaml"))
    assert (code, out) == (1, "")
    assert "did you mean 'depth'?" in err
    (tmp_path / "gone.yaml").write_text("hyphos: 1\nnodes: {a: {plugin: ./gone.so}}\n")
    code, _, err = hyphos_cli("validate", str(tmp_path / "gone.yaml"))
    assert code == 1
    assert "does not exist" in err


def test_the_text_output_has_one_line_per_finding(
    hyphos_cli: Cli, check: Check, tmp_path: Path
) -> None:
    check({"a": "numbers"}, "channels: {number: {}}")
    code, out, _ = hyphos_cli("validate", str(tmp_path / "robot.yaml"))
    assert code == 0
    lines = out.splitlines()
    assert lines[0].endswith(
        "robot.yaml:6:12: warning: 'number' has no subscriber, but a publishes it"
    )
    assert lines[-1] == "1 node on 1 channel inspected: 0 errors, 1 warning, 0 notes"


ROOT = Path(__file__).resolve().parents[3]
# The reader of this example needs the file of a recording.
NEEDS_A_FILE = {"examples/real_building/carmen.yaml"}
ROBOTS = sorted(
    name
    for path in ROOT.glob("examples/*/*.yaml")
    if re.search(r"^hyphos:", path.read_text(), re.MULTILINE)
    and (name := str(path.relative_to(ROOT))) not in NEEDS_A_FILE
)


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_example_is_accepted(robot: str, hyphos_cli: Cli) -> None:
    assert len(ROBOTS) >= 7
    code, out, err = hyphos_cli("validate", str(ROOT / robot), "--json")
    assert code == 0, out + err
    texts = [one["text"] for one in json.loads(out)["findings"]]
    assert not any("_params" in text for text in texts), texts  # channels of Hyphos itself


def test_an_input_from_a_replay_is_declared(
    check: Check, hyphos_start: Start, hyphos_cli: Cli, tmp_path: Path, domain: str
) -> None:
    code, texts, _ = check({"b": "hears_numbers"})
    assert code == 1
    assert "'publishers: []' declares that a replay or a tool publishes it" in texts["error"][0]
    rest = f"domain: {domain}\nchannels: {{number: {{publishers: [], subscribers: [b]}}}}"
    assert check({"b": "hears_numbers"}, rest)[:2] == (0, NOTHING)
    # The declaration does not separate a tool from the node.
    logs = str(tmp_path / "logs")
    robot = hyphos_start("run", str(tmp_path / "robot.yaml"), "--logs", logs)
    words = ("channel", "pub", "number", "Int64", "{data: 7}", "-d", domain, "--wait", "60")
    assert hyphos_cli(*words)[2].endswith("published 1 on number\n")  # and not ", no subscriber"
    robot.stop()
