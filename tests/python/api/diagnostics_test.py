"""The periodic reports of a node about its components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hyphos
import pytest
from helpers import Cli, Inbox, look_until, wait_until
from hyphos import DiagnosticReport
from hyphos.msgs import DiagnosticArray, DiagnosticStatus

Fill = Callable[[DiagnosticReport], object]


@pytest.fixture
def received(node: hyphos.Node, inbox: Inbox) -> Inbox:
    node.subscribe("diagnostics", DiagnosticArray, inbox)
    return inbox


def seldom(node: hyphos.Node) -> hyphos.Diagnostics:
    """Reports far apart, so that only publish() of the test makes one."""
    return hyphos.Diagnostics(node, period_ms=3_600_000)


def says(level: str, message: str, **values: Any) -> Fill:
    return lambda report: getattr(report, level)(message, **values)


def reported(node: hyphos.Node, received: Inbox, fill: Fill) -> DiagnosticStatus:
    diagnostics = seldom(node)
    diagnostics.add("arm", fill)
    diagnostics.publish()
    [status] = received.wait(1)[0].status
    found: DiagnosticStatus = status
    return found


def test_a_report_has_the_worst_level_and_its_messages(node: hyphos.Node, received: Inbox) -> None:
    def fill(report: DiagnosticReport) -> None:
        report.ok("fine")
        report.warn("hot", celsius=71.5)
        report.warn("noisy")
        report.ok("late")

    status = reported(node, received, fill)
    assert (status.level, status.message) == (DiagnosticStatus.WARN, "hot; noisy")
    assert status.name == "tester: arm"


def test_values_are_texts_numbers_and_bools(node: hyphos.Node, received: Inbox) -> None:
    def fill(report: DiagnosticReport) -> None:
        report.ok("", port="/dev/a", volts=21.5, count=-3, on=True)
        report.value("motor current", 2.0)

    status = reported(node, received, fill)
    assert [(pair.key, pair.value) for pair in status.values] == [
        ("port", "/dev/a"), ("volts", "21.5"), ("count", "-3"), ("on", "true"),
        ("motor current", "2"),
    ]  # fmt: skip


def test_a_report_without_a_level_is_an_error(node: hyphos.Node, received: Inbox) -> None:
    status = reported(node, received, lambda report: report.value("n", 1))
    assert (status.level, status.message) == (
        DiagnosticStatus.ERROR, "the check reported no level",
    )  # fmt: skip


def test_all_checks_are_reported_each_period(node: hyphos.Node, received: Inbox) -> None:
    diagnostics = hyphos.Diagnostics(node, period_ms=10, hardware_id="SN 12")
    diagnostics.add("left", says("ok", "turns"))
    diagnostics.add("right", says("stale", "silent"))
    wait_until(lambda: len([m for m in received.items if len(m.status) == 2]) >= 2, "two reports")
    diagnostics.close()
    last = received.items[-1]
    assert last.header.stamp_ns > 0
    assert [status.name for status in last.status] == ["tester: left", "tester: right"]
    assert [status.level for status in last.status] == [DiagnosticStatus.OK, DiagnosticStatus.STALE]
    assert {status.hardware_id for status in last.status} == {"SN 12"}


def test_a_check_is_replaced_and_removed(node: hyphos.Node, received: Inbox) -> None:
    diagnostics = seldom(node)
    diagnostics.publish()  # nothing to report, no message
    for name, message in (("arm", "old"), ("leg", "leg"), ("arm", "new")):
        diagnostics.add(name, says("ok", message))
    diagnostics.publish()
    diagnostics.remove("arm")
    diagnostics.remove("arm")
    diagnostics.publish()
    both, one = received.wait(2)
    assert [status.message for status in both.status] == ["new", "leg"]
    assert [status.message for status in one.status] == ["leg"]


def test_an_exception_is_an_error_and_hides_no_other_check(
    node: hyphos.Node, received: Inbox
) -> None:
    def fail(report: DiagnosticReport) -> None:
        report.ok("fine")
        raise OSError("no reply")

    diagnostics = seldom(node)
    diagnostics.add("arm", fail)
    diagnostics.add("leg", says("ok", "walks"))
    for _ in range(2):
        with pytest.raises(OSError, match="no reply"):
            diagnostics.publish()
    for message in received.wait(2):
        arm, leg = message.status
        assert (arm.level, arm.message) == (DiagnosticStatus.ERROR, "OSError: no reply")
        assert (leg.level, leg.message) == (DiagnosticStatus.OK, "walks")


def test_an_exception_under_the_timer_is_shown(
    node: hyphos.Node, received: Inbox, hyphos_cli: Cli, domain: str
) -> None:
    diagnostics = hyphos.Diagnostics(node, period_ms=10)
    diagnostics.add("arm", lambda _: 1 / 0)
    assert received.wait(1)[0].status[0].message == "ZeroDivisionError: division by zero"
    words = ("diagnostics", "--for", "0.5", "-d", domain)
    code, _out, err = look_until(
        lambda told: "tester: arm" in told[1], lambda: hyphos_cli(*words), "a report"
    )
    assert code == 1, err
    diagnostics.close()


def test_publish_in_a_check_has_no_effect(node: hyphos.Node, received: Inbox) -> None:
    diagnostics = seldom(node)

    def again(report: DiagnosticReport) -> None:
        diagnostics.publish()
        report.ok("once")

    diagnostics.add("arm", again)
    diagnostics.publish()
    diagnostics.publish()
    assert [len(message.status) for message in received.wait(2)] == [1, 1]
    assert len(received.items) == 2
