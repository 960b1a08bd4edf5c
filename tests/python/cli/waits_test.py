"""A command that waits reports after two seconds, on stderr, the thing it waits for and the
endpoints that exist meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import hyphos
import pytest
from helpers import PATIENCE_S, Cli, Inbox, Program, Start, wait_until
from hyphos.msgs import String, TfMessage
from hyphos.observe import look
from hyphos.tools.waits import channel_lines, reporting


@pytest.fixture
def robot(domain: str) -> Iterator[hyphos.Node]:
    """A robot that publishes one value, answers no request, and never sets a transform."""
    ended = threading.Event()

    def reset(_request: String) -> String:
        ended.wait(PATIENCE_S)
        return String()

    with hyphos.Node.open("sim", domain=domain, process="body") as node:
        once = node.publisher("safety", String)
        node.subscribe("safety", String, heard := Inbox())
        once.publish(String(data="stop"))
        heard.wait(1)
        node.subscribe("cmd_vel", String, Inbox())
        kept = [node.publisher("tf", TfMessage), node.service("reset", String, String, reset)]
        node.params().declare("speed", 1.0)
        node.runtime.ready()
        yield node
        ended.set()
        del kept


def errors_until(program: Program, words: list[str]) -> str:
    """Reads stderr until every word has appeared."""
    read = ""
    while not all(word in read for word in words):
        read += program.error_line() + "\n"
    return read


# The command, and the parts of its report.
WAITS = [
    (
        ("channel", "echo", "safety"),
        ["waiting for a message on 'safety'", "publisher sim (process body, pid ", ": 1 sent"],
    ),
    (
        ("channel", "echo", "absent", "--timeout", "60"),
        ["'absent'", "no publisher of 'absent' on this machine", "processes in domain", "body"],
    ),
    (
        ("channel", "echo", "cmd_vel"),
        ["no publisher of 'cmd_vel'", "subscriber sim (process body, pid ", ": 0 received"],
    ),
    (
        ("channel", "hz", "safety", "-w", "60"),
        ["measuring 'safety' for 60 s", "publisher sim", "1 sent", "subscriber sim", "1 received"],
    ),
    (
        ("channel", "pub", "note", "String", "{data: x}", "--wait", "60"),
        ["waiting for a subscriber of 'note', for at most 60 s", "body"],
    ),
    (("log",), ["waiting for a line of level debug or higher", "'log'"]),
    (
        ("tf", "echo", "map", "laser", "--timeout", "60"),
        ["from 'laser' to 'map'", "'tf' sent nothing yet", "frames so far: none"],
    ),
    (("tf", "tree", "--wait", "60"), ["collecting transforms for 60 s", "publisher sim"]),
    (("tf", "monitor", "-w", "60"), ["measuring transforms for 60 s", "publisher sim"]),
    (
        ("service", "call", "reset", "{}", "--timeout", "60"),
        ["waiting for the reply of 'reset'", "server sim (process body, pid ", ": 1 requests"],
    ),
    (
        ("param", "get", "late", "speed", "--timeout", "60"),
        ["waiting for the parameters of node 'late'", "nodes with parameters: sim"],
    ),
    (("record", "absent"), ["nothing to record yet on absent: no publisher", "body"]),
    (("record", "tf"), ["nothing to record yet on tf", "publisher sim", ": 0 sent"]),
    (("time", "pause"), ["waiting for the source of simulated time on channel 'clock'"]),
]


@pytest.mark.parametrize(("words", "report"), WAITS, ids=[" ".join(words) for words, _ in WAITS])
def test_a_wait_names_its_thing_and_the_endpoints(
    words: tuple[str, ...],
    report: list[str],
    hyphos_start: Start,
    robot: hyphos.Node,  # noqa: ARG001
    domain: str,
) -> None:
    program = hyphos_start(*words, "-d", domain)
    errors_until(program, report)
    program.stop()


def test_the_report_is_printed_once_and_only_while_waiting(
    capfd: pytest.CaptureFixture[str],
) -> None:
    asked = threading.Event()

    def text() -> str:
        asked.set()
        return "waiting"

    with reporting(text, 0.0):
        assert asked.wait(60)
    assert capfd.readouterr().err == "waiting\n"
    with reporting(text, 1e6) as end_report:
        end_report()
    with reporting(text, 1e6):
        pass
    with reporting(text, 0.0, limit_s=0.0):  # it never lasts as long
        pass
    assert capfd.readouterr().err == ""


def test_a_report_counts_the_endpoints_that_it_omits(domain: str, python: Start) -> None:
    source = f"""
import hyphos
node = hyphos.Node.open("many", domain={domain!r})
kept = [node.subscribe("text", bytes, print) for _ in range(20)]
node.runtime.ready()
print("ready", flush=True)
node.spin()
"""
    program = python(source)
    assert program.line() == "ready"
    lines = channel_lines("head", domain, "text", *(f"text{n}" for n in range(30)))
    assert sum("subscriber many" in line for line in lines) == 8
    assert "  and 12 more subscribers" in lines
    assert lines[-1] == "  and 23 more channels"
    program.stop()


# A node that does not run is an error at once, with the nodes that do.
@pytest.mark.parametrize("name", ["simm", "planner"])
@pytest.mark.parametrize("words", [("set", "speed", "2"), ("get", "speed"), ("list",)])
def test_parameters_of_a_missing_node_fail_at_once(
    words: tuple[str, ...], name: str, hyphos_cli: Cli, robot: hyphos.Node, domain: str
) -> None:
    assert robot.name == "sim"
    code, out, err = hyphos_cli("param", words[0], name, *words[1:], "-d", domain)
    assert (code, out) == (1, "")
    assert f"no node '{name}' in domain '{domain}'" in err
    assert ("did you mean 'sim'?" if name == "simm" else "Nodes with parameters: sim") in err
    assert "waiting" not in err  # the report of a wait


def test_a_node_that_starts_later_is_awaited_with_a_timeout(
    hyphos_start: Start, domain: str
) -> None:
    program = hyphos_start("param", "get", "late", "speed", "--timeout", "60", "-d", domain)
    wait_until(lambda: bool(look(domain).processes), "the command")
    with hyphos.Node.open("late", domain=domain) as node:
        node.params().declare("speed", 2.5)
        node.runtime.ready()
        code, out, _ = program.end()
    assert (code, out) == (0, "2.5\n")


def test_a_silent_channel_is_reported_by_hz(hyphos_cli: Cli, domain: str) -> None:
    with hyphos.Node.open("sim", domain=domain) as node:
        node.subscribe("text", String, Inbox())
        code, out, _ = hyphos_cli("channel", "hz", "text", "-n", "1", "-w", "0.1", "-d", domain)
    assert (code, out) == (0, "0.00 Hz  (0 sent, 0 dropped, no publisher)\n")
