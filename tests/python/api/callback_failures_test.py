"""Exceptions that leave callbacks: how often they are logged, and with which frames."""

from __future__ import annotations

import hyphos
import pytest
from helpers import Start, wait_until
from hyphos import _errors
from hyphos.observe import look
from hyphos.types import codec_for

BEGIN = """
import sys, time
import hyphos
from hyphos.msgs import Int64
node = hyphos.Node.open("broken", domain=sys.argv[1])
began = time.monotonic()
calls = 0
def fail(*_):
    global calls
    calls += 1
    if calls == 300:
        node.runtime.request_stop()
    raise ValueError("no route to the goal")
"""
END = """
node.spin()
print(time.monotonic() - began)
"""
CALLBACKS = {
    "timer": "node.every(fail, rate_hz=200)",
    "subscription": """
node.subscribe("n", Int64, fail, "inline")
pub = node.publisher("n", Int64)
node.every(lambda: pub.publish(Int64(data=1)), rate_hz=200)
""",
    "service": """
node.service("go", Int64, Int64, fail)
client = node.client("go", Int64, Int64)
def ask():
    try:
        client.call(Int64())
    except hyphos.Error:
        pass
node.every(ask, rate_hz=200)
""",
}


@pytest.mark.parametrize("kind", CALLBACKS)
def test_a_traceback_comes_once_a_second(python: Start, domain: str, kind: str) -> None:
    program = python(BEGIN + CALLBACKS[kind] + END, domain)
    code, out, err = program.end()
    assert code == 0, err
    count = err.count("Traceback (most recent call last)")
    assert 1 <= count <= float(out) + 2
    assert err.count("ValueError: no route to the goal (") == count  # the line with the count
    assert "in fail" in err
    assert "site-packages/hyphos" not in err
    assert "python/hyphos" not in err  # no frame of the package


WAITS = {
    "a transform": "node.transforms().get('map', 'base', timeout_ms=100_000)",
    "a reply": "node.client('absent', Int64, Int64).call(Int64(), timeout_ms=100_000)",
}


@pytest.mark.parametrize("wait", WAITS)
def test_a_callback_that_waits_ends_silently_with_the_process(
    python: Start, domain: str, wait: str
) -> None:
    source = f"""
import sys, hyphos
from hyphos.msgs import Int64
node = hyphos.Node.open("waiting", domain=sys.argv[1])
def wait():
    print("waits", flush=True)
    {WAITS[wait]}
node.every(wait, period_ms=1)
node.spin()
"""
    program = python(source, domain)
    assert program.line() == "waits"
    # The callback may run before spin() handles the signal.
    wait_until(lambda: [one.state for one in look(domain).processes] == ["ready"], "spin()")
    code, _, err = program.stop()
    assert (code, err) == (0, "")


def test_a_disconnected_error_of_a_running_process_is_logged(
    node: hyphos.Node, domain: str, capfd: pytest.CaptureFixture[str]
) -> None:
    closed = hyphos.Node.open("other", domain=domain)
    publisher = closed.publisher("n", bytes)
    closed.close()
    node.every(lambda: publisher.publish(b""), rate_hz=100)
    shown = ""

    def reported() -> bool:
        nonlocal shown
        shown += capfd.readouterr().err
        return "threw: hyphos._errors.Error" in shown

    wait_until(reported, "the log line")


def test_only_own_frames_are_shown_unless_there_are_none() -> None:
    def mine() -> None:
        codec_for(object)

    try:
        mine()
    except Exception as error:  # noqa: BLE001
        text = _errors.own_frames(error)
    assert "in mine" in text
    assert "in codec_for" not in text
    try:
        hyphos.Policy(depth=0)
    except ValueError as error:
        assert "Policy" in _errors.own_frames(error)
