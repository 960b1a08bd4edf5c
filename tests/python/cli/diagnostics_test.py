"""`hyphos diagnostics`: the summary of reports and counters."""

from __future__ import annotations

import json
import threading
from typing import Any

import hyphos
import pytest
from helpers import Cli, Start, look_until, wait_until
from hyphos.msgs import DiagnosticArray, DiagnosticStatus, Int64, KeyValue
from hyphos.tools import diagnostics
from hyphos.tools.diagnostics import Component, Summary, reports_of
from late_end import end_on_arrival

DRIVER = """
import sys, hyphos
from hyphos.msgs import DiagnosticArray, DiagnosticStatus, Int64
node = hyphos.Node.open("driver", domain=sys.argv[1], process="body")
level, text = int(sys.argv[2]), sys.argv[3]
deep = hyphos.Policy(depth=10_000)  # none is dropped, however long a thread stalls
reports = node.publisher("diagnostics", DiagnosticArray, policy=deep)
numbers = node.publisher("number", Int64, policy=deep)
def fail(number):
    if sys.argv[4] == "throws":
        raise ValueError("broken")
node.subscribe("number", Int64, fail, policy=deep)
def report():
    status = DiagnosticStatus(name="laser/front", level=level, message=text)
    reports.publish(DiagnosticArray(status=[status]))
    numbers.publish(Int64(data=1))
node.every(report, rate_hz=50)
print("up", flush=True)
node.spin()
"""


def component(name: str, level: int, seen_s: float, message: str = "") -> Component:
    return Component(name, level, message, seen_s=seen_s)


def test_a_silent_component_becomes_stale_once() -> None:
    summary = Summary(stale_s=5)
    summary.add(component("a", 0, seen_s=10, message="fine"))
    summary.add(component("b", 0, seen_s=12))
    assert summary.age(15) == []
    [stale] = summary.age(15.1)
    assert (stale.name, stale.level) == ("a", DiagnosticStatus.STALE)
    assert stale.message == "no report for 5 s, the last one was: fine"
    assert summary.age(15.2) == []
    assert summary.level == DiagnosticStatus.ERROR  # one stale component is an error of the robot
    assert summary.counts() == [1, 0, 0, 1]
    assert summary.add(component("a", 0, seen_s=16, message="fine"))
    assert summary.level == DiagnosticStatus.OK


def test_a_robot_without_any_report_is_stale() -> None:
    summary = Summary(stale_s=5)
    summary.add(component("a", 0, seen_s=0))
    summary.age(6)
    assert summary.level == DiagnosticStatus.STALE


def test_only_a_new_level_or_message_is_a_change() -> None:
    summary = Summary(stale_s=5)
    assert summary.add(component("a", 0, 1, "x"))
    assert not summary.add(component("a", 0, 2, "x"))
    assert summary.add(component("a", 1, 3, "x"))
    assert summary.add(component("a", 1, 4, "y"))


def test_the_number_of_components_is_bounded() -> None:
    summary = Summary(stale_s=5)
    for i in range(5000):
        summary.add(component(str(i), 0, i))
    assert len(summary.components()) == 4096
    assert summary.dropped == 5000 - 4096
    assert summary.components()[-1].name == "999"


def test_any_report_of_a_robot_is_accepted() -> None:
    message = DiagnosticArray(
        status=[
            DiagnosticStatus(),
            DiagnosticStatus(level=17, name="x", values=[KeyValue(key="rpm", value="3")]),  # type: ignore[arg-type]
        ]
    )
    first, second = reports_of(message, 1.0)
    assert (first.name, first.level) == ("(no name)", 0)
    assert (second.level, second.values) == (DiagnosticStatus.STALE, {"rpm": "3"})


@pytest.mark.parametrize(
    ("level", "mode", "code", "worst"),
    [(0, "works", 0, "ok"), (1, "works", 0, "warn"), (2, "works", 1, "error"),
     (0, "throws", 1, "error")],
)  # fmt: skip
def test_the_summary_has_reports_and_counters_of_each_node(
    python: Start, hyphos_cli: Cli, domain: str, level: int, mode: str, code: int, worst: str
) -> None:
    driver = python(DRIVER, domain, str(level), "9.1 Hz", mode)
    assert driver.line() == "up"

    def whole(told: tuple[int, str, str]) -> bool:
        """True if a report and an exception came while the command collected."""
        return "laser/front" in told[1] and (mode == "works" or "exceptions" in told[1])

    found, out, err = look_until(
        whole, lambda: hyphos_cli("diagnostics", "--json", "--for", "0.5", "-d", domain), "a report"
    )
    assert found == code, err
    summary: dict[str, Any] = json.loads(out)
    assert summary["level"] == worst
    by_name = {each["name"]: each for each in summary["components"]}
    assert set(by_name) == {"laser/front", "node driver"}
    assert by_name["laser/front"]["level"] == ("ok", "warn", "error")[level]
    assert by_name["laser/front"]["message"] == "9.1 Hz"
    node = by_name["node driver"]
    assert node["values"]["process"] == "body"
    assert node["level"] == ("error" if mode == "throws" else "ok")
    assert ("exceptions in callbacks" in node["message"]) == (mode == "throws")
    words = ("diagnostics", "--level", "error", "--for", "0.5", "-d", domain)
    found, out, _ = look_until(
        lambda told: told[1].splitlines()[-1].startswith(f"{worst}: "),
        lambda: hyphos_cli(*words),
        "a report",
    )
    assert ("laser/front" in out) == (level == 2)
    driver.stop()


def test_reports_that_arrived_before_the_end_are_in_the_summary(
    domain: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    end_on_arrival(monkeypatch)
    with hyphos.Node.open("driver", domain=domain) as node:
        latched = hyphos.Policy(latched=True)
        reports = node.publisher("diagnostics", DiagnosticArray, policy=latched)
        reports.publish(DiagnosticArray(status=[DiagnosticStatus(name="arm", message="fine")]))
        assert diagnostics.show_diagnostics(
            diagnostics.DiagnosticOptions(seconds=0.1, as_json=True, domain=domain)
        ) == 0  # fmt: skip
    names = [one["name"] for one in json.loads(capsys.readouterr().out)["components"]]
    assert names == ["arm", "node driver"]


def test_a_node_that_drops_messages_has_a_warning(hyphos_cli: Cli, domain: str) -> None:
    gate = threading.Event()
    with hyphos.Node.open("slow", domain=domain) as node:
        numbers = node.publisher("number", Int64, policy=hyphos.Policy(depth=1))
        node.subscribe("number", Int64, lambda _: gate.wait())

        def drop() -> None:
            numbers.publish(Int64(data=1))

        node.every(drop, rate_hz=100)
        code, out, err = look_until(
            lambda told: "dropped" in json.loads(told[1])["components"][0]["message"],
            lambda: hyphos_cli("diagnostics", "--json", "--for", "0.5", "-d", domain),
            "a drop",
        )
        gate.set()
    assert code == 0, err
    summary = json.loads(out)
    assert summary["level"] == "warn"
    [node_status] = summary["components"]
    assert node_status["level"] == "warn"
    assert node_status["message"].endswith("messages dropped")


def test_follow_prints_changes_and_stale_components(hyphos_start: Start, domain: str) -> None:
    with hyphos.Node.open("driver", domain=domain) as node:
        reports = node.publisher("diagnostics", DiagnosticArray)
        shown = hyphos_start("diagnostics", "--follow", "--json", "--stale-ms", "300", "-d", domain)
        wait_until(lambda: reports.listeners > 0, "hyphos diagnostics")
        # In one message, because a machine that stalls between two would make the arm stale.
        reports.publish(
            DiagnosticArray(
                status=[
                    DiagnosticStatus(name="arm", level=level, message="hot")  # type: ignore[arg-type]
                    for level in (0, 0, 1)
                ]
            )
        )
        lines: list[dict[str, Any]] = []
        while len(lines) < 3:
            line = json.loads(shown.line())
            if line["name"] == "arm":
                lines.append(line)
        assert [line["level"] for line in lines] == ["ok", "warn", "stale"]
        assert lines[-1]["message"] == "no report for 0.3 s, the last one was: hot"
        code, _, err = shown.stop()
        assert code == 1, err


@pytest.mark.parametrize("words", [("--level", "bad"), ("--stale-ms", "1"), ("--for", "0")])
def test_wrong_options_are_refused(hyphos_cli: Cli, domain: str, words: tuple[str, str]) -> None:
    code, _, err = hyphos_cli("diagnostics", *words, "-d", domain)
    assert code in (1, 2)
    assert words[0] in err


def test_an_empty_domain_is_an_error(hyphos_cli: Cli, domain: str) -> None:
    code, _, err = hyphos_cli("diagnostics", "-d", domain)
    assert code == 1
    assert "no Hyphos process runs" in err
