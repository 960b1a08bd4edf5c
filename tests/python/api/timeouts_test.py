"""Timeouts of every size: the longest ones wait, zero does not, and a negative one is an error or
the same as zero.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import hyphos
import pytest
from helpers import PATIENCE_S, wait_until
from hyphos.msgs import String

LONGEST_MS = [1e12, 9.3e12, 1e300, math.inf]


def begun(call: Callable[[], Any]) -> Future[Any]:
    """Runs a call in a thread."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - the test sees it
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


@pytest.mark.parametrize("timeout_ms", LONGEST_MS)
def test_the_longest_timeouts_wait(node: hyphos.Node, domain: str, timeout_ms: float) -> None:
    with hyphos.Node.open("other", domain=domain) as other:
        client = other.client("late", String, String)
        remote = other.remote_params("tester")
        tree = other.transforms()
        waits: list[Future[Any]] = [
            begun(lambda: client.wait_for_server(timeout_ms=timeout_ms)),
            begun(lambda: client.call(String(data="a"), timeout_ms=timeout_ms)),
            begun(lambda: remote.wait(timeout_ms)),
            begun(lambda: tree.get("map", "base", timeout_ms=timeout_ms)),
            tree.wait("map", "base", timeout_ms=timeout_ms),
        ]
        with pytest.raises(hyphos.Error):  # the waits that ended too early have ended by now
            client.wait_for_server(timeout_ms=20)
        assert not any(one.done() for one in waits)
        server = node.service("late", String, String, lambda ask: ask)
        speed = node.params().declare("speed", 0.5)
        tree.set(hyphos.Transform("map", "base", stamp_ns=1))
        wait_until(lambda: all(one.done() for one in waits), "the ends of all waits")
        for one in waits:
            one.result(PATIENCE_S)
        remote.set({"speed": 1.5}, timeout_ms)
        assert speed.value == 1.5
        server.close()


def test_a_timeout_of_zero_does_not_wait(node: hyphos.Node) -> None:
    client = node.client("nobody", String, String)
    remote = node.remote_params("nobody")
    tree = node.transforms()
    for call in (
        lambda: client.wait_for_server(timeout_ms=0),
        lambda: client.call(String(), timeout_ms=0),
        lambda: remote.wait(0),
        lambda: remote.wait(-1),
        lambda: remote.set({"x": 1}, -1),
        lambda: tree.get("map", "base", timeout_ms=-1),
        lambda: tree.wait("map", "base", timeout_ms=0).result(PATIENCE_S),
    ):
        with pytest.raises(hyphos.Error):
            call()


@pytest.mark.parametrize("timeout_ms", [-1, -1e300, -math.inf, math.nan])
def test_a_negative_timeout_of_a_call_is_an_error(node: hyphos.Node, timeout_ms: float) -> None:
    client = node.client("nobody", String, String)
    with pytest.raises(ValueError, match="timeout_ms must not be negative"):
        client.wait_for_server(timeout_ms=timeout_ms)
    with pytest.raises(ValueError, match="timeout_ms must not be negative"):
        client.call(String(), timeout_ms=timeout_ms)
