"""`node.log`, the handler for Python's logging, and `hyphos log`, with real processes."""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import hyphos
import pytest
from helpers import Cli, Inbox, Program, Start, wait_until
from hyphos.msgs import Log
from hyphos.observe import look
from hyphos.tools.log import LogOptions, show_log
from late_end import end_on_arrival

TALKER = """
import sys, hyphos
node = hyphos.Node.open("mapper", domain=sys.argv[1], process="brain")
node.log.set_level("debug")
def speak():
    node.log.debug("small")
    node.log.info("at %s, %.1f V", "dock", 11.5)
    node.log.warning("battery low")
    node.log.error("grün \\udc80")
node.every(speak, rate_hz=50)
print("up", flush=True)
node.spin()
"""


def listens(domain: str) -> bool:
    """True if `hyphos log` has subscribed."""
    return any(end.channel == "log" and not end.is_publisher for _, end in look(domain).ends())


def texts(inbox: Inbox, count: int) -> list[str]:
    return [line.msg for line in inbox.wait(count)]


def test_lines_of_another_process_are_shown(python: Start, hyphos_cli: Cli, domain: str) -> None:
    talker = python(TALKER, domain)
    assert talker.line() == "up"
    code, out, err = hyphos_cli("log", "-n", "8", "--json", "-d", domain)
    assert code == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert {(line["level"], line["msg"]) for line in lines} == {
        ("debug", "small"),
        ("info", "at dock, 11.5 V"),
        ("warn", "battery low"),
        ("error", "grün ?"),
    }
    assert {(line["name"], line["function"], line["file"]) for line in lines} == {
        ("mapper", "speak", "<string>")
    }
    assert {line["line"] for line in lines if line["level"] == "warn"} == {8}
    _, out, _ = hyphos_cli("log", "-n", "3", "--level", "warn", "--where", "-d", domain)
    for line in out.splitlines():
        assert ("WARN  mapper: battery low" in line) or ("ERROR mapper: grün ?" in line)
        assert "(<string>:" in line
    code, out, err = talker.stop()
    assert code == 0
    assert "Z WARN mapper: battery low\n" in err


def test_early_subscribers_get_the_first_lines_of_a_process(
    hyphos_start: Start, python: Start, domain: str
) -> None:
    shown = hyphos_start("log", "-d", domain)
    wait_until(lambda: listens(domain), "hyphos log")
    source = """
import sys, hyphos
node = hyphos.Node.open("early", domain=sys.argv[1])
node.log.info("the very first")
node.spin()
"""
    program = python(source, domain)
    assert shown.line().endswith("INFO  early: the very first")
    program.stop()
    code, out, err = shown.stop()
    assert (code, out) == (0, "")
    assert not err or err.startswith("waiting for a line")  # if the program started slowly


def test_the_first_lines_wait_for_a_subscriber_that_stalls(
    hyphos_start: Start, domain: str
) -> None:
    shown = hyphos_start("log", "-n", "1", "-d", domain)
    wait_until(lambda: listens(domain), "hyphos log")
    shown.signal(signal.SIGSTOP)
    with hyphos.Node.open("early", domain=domain) as node:
        node.log.info("the very first")
        time.sleep(0.5)  # the stall
        shown.signal(signal.SIGCONT)
        assert shown.line().endswith("INFO  early: the very first")


def test_lines_that_arrived_before_the_end_are_shown(
    domain: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    end_on_arrival(monkeypatch)
    with hyphos.Node.open("talker", domain=domain) as node:
        latched = hyphos.Policy(latched=True)
        lines = node.publisher("lines", Log, policy=latched)
        lines.publish(Log(level=Log.INFO, name="talker", msg="ready"))
        options = LogOptions(seconds=0.1, as_json=True, channel="lines", domain=domain)
        assert show_log(options) == 0
    assert [json.loads(line)["msg"] for line in capsys.readouterr().out.splitlines()] == ["ready"]


def test_only_lines_of_selected_nodes_are_shown(hyphos_start: Start, domain: str) -> None:
    shown = hyphos_start("log", "--node", "b", "--json", "-n", "2", "-d", domain)
    wait_until(lambda: listens(domain), "hyphos log")
    with (
        hyphos.Node.open("bb", domain=domain) as other,
        hyphos.Node.open("b", domain=domain) as node,
    ):
        other.log.info("not this")
        node.log.info("this")
        logger = logging.getLogger("part")
        handler = hyphos.LogHandler(node)
        logger.addHandler(handler)
        logger.warning("and %s", "this")
        logger.removeHandler(handler)
        code, out, _ = shown.end()
    assert code == 0
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(line["name"], line["msg"]) for line in lines] == [
        ("b", "this"),
        ("b.part", "and this"),
    ]


def test_lines_of_hyphos_itself_come_with_the_process(
    python: Start, domain: str, inbox: Inbox
) -> None:
    with hyphos.Node.open("ears", domain=domain) as node:
        node.subscribe("log", Log, inbox)
        source = """
import sys, hyphos
from hyphos.msgs import Int64
node = hyphos.Node.open("n", domain=sys.argv[1], process="brain")
def broken(value):
    raise RuntimeError("oh")
node.subscribe("number", Int64, broken)
out = node.publisher("number", Int64)
out.publish(Int64(data=1))
node.spin()
"""
        program = python(source, domain)
        wait_until(lambda: any("threw" in line.msg for line in inbox.items), "the line")
        program.stop()
    [line] = [line for line in inbox.items if "threw" in line.msg]
    assert (line.name, line.level) == ("brain.graph", Log.ERROR)
    assert "node 'n': callback of channel 'number' threw" in line.msg


def test_lines_below_the_level_are_not_formatted(domain: str, inbox: Inbox) -> None:
    class Costly:
        def __str__(self) -> str:
            raise AssertionError("formatted")

    with hyphos.Node.open("a", domain=domain) as node:
        node.subscribe("log", Log, inbox)
        node.log.debug(Costly())
        node.log.debug("%s", Costly())
        assert not node.log.enabled("debug")
        node.log.set_level("error")
        node.log.warn("%s", Costly())
        node.log.set_level(None)
        node.log.info("shown")
        assert texts(inbox, 1) == ["shown"]


def test_every_reports_the_number_of_skipped_lines(
    domain: str, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [0]
    clock = SimpleNamespace(monotonic=lambda: now_s[0])
    monkeypatch.setattr(sys.modules["hyphos.log"], "time", clock)
    with hyphos.Node.open("a", domain=domain) as node:
        node.subscribe("log", Log, inbox)
        for _ in range(10):
            node.log.every(1000).warn("once in a while")
        node.log.every(1000).warn("another place")
        for now_s[0] in (0, 1, 4, 5):
            node.log.every(5).warn("again")
        found = [line.msg for line in inbox.wait(4)]
    assert found == ["once in a while", "another place", "again", "again (2 left out)"]


def test_an_exception_has_its_traceback(domain: str, inbox: Inbox) -> None:
    with hyphos.Node.open("a", domain=domain) as node:
        node.subscribe("log", Log, inbox)
        try:
            _ = 1 / 0
        except ZeroDivisionError:
            node.log.exception("cannot divide")
        [line] = inbox.wait(1)
    assert line.level == Log.ERROR
    assert line.msg.startswith("cannot divide\nTraceback")
    assert line.msg.endswith("ZeroDivisionError: division by zero")


def test_the_handler_maps_levels_and_keeps_off_stderr(
    domain: str, inbox: Inbox, capfd: pytest.CaptureFixture[str]
) -> None:
    with hyphos.Node.open("a", domain=domain) as node:
        node.subscribe("log", Log, inbox)
        logger = logging.Logger("deep.part")  # a separate logger, without the handlers of the tests
        logger.addHandler(hyphos.LogHandler(node, stderr=False))
        node.log.set_level("debug")
        for level in (5, 10, 25, 30, 45, 50, 90):
            logger.log(level, "level %d", level)
        lines = inbox.wait(7)
    assert [line.level for line in lines] == [10, 10, 20, 30, 40, 50, 50]
    assert {line.name for line in lines} == {"a.deep.part"}
    assert lines[2].msg == "level 25"
    assert lines[2].file == Path(__file__).name
    assert "level 25" not in capfd.readouterr().err


def test_a_stopped_listener_blocks_nothing_and_sees_its_losses(
    hyphos_start: Start, domain: str
) -> None:
    shown: Program = hyphos_start("log", "--level", "error", "-n", "1", "-d", domain)
    wait_until(lambda: listens(domain), "hyphos log")
    with hyphos.Node.open("a", domain=domain) as node:
        node.log.info("opens the channel")
        wait_until(lambda: _received(domain) > 0, "the first line")
        shown.signal(signal.SIGSTOP)
        for number in range(20_000):  # would not end if it waited for the listener
            node.log.info("line %d", number)
        shown.signal(signal.SIGCONT)
        wait_until(lambda: _said_last(node) and shown.popen.poll() is not None)
        code, out, _ = shown.end()
    assert code == 0
    assert "lines of this sender were lost here" in out or "lines were skipped" in out


def _said_last(node: hyphos.Node) -> bool:
    node.log.error("last")
    return True


def _received(domain: str) -> int:
    return sum(
        end.counter("received") for _, end in look(domain).ends("log") if not end.is_publisher
    )


@pytest.mark.parametrize(
    ("level", "code", "reason"),
    [("loud", 1, "give one of debug, info, warn, error, fatal"), ("", 2, "the value is empty")],
)
def test_an_unknown_level_is_refused(
    hyphos_cli: Cli, domain: str, level: str, code: int, reason: str
) -> None:
    found, _, err = hyphos_cli("log", "--level", level, "-d", domain)
    assert found == code
    assert reason in err
