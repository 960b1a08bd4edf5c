"""A long-running callback does not keep other channels from their callbacks.

The busy callback ends only after enough calls of the other callbacks. If the others starved, it
would run until the timeout of the test. The result does not depend on the speed of the machine.
"""

from __future__ import annotations

import itertools
import json

import hyphos
import pytest
from helpers import PATIENCE_S, Start, wait_until
from hyphos import Policy
from hyphos.msgs import Int64

ENOUGH = 100

LISTENER = """
import ctypes, json, os, sys, time
import hyphos, numpy
from hyphos.msgs import Int64

domain, kind, threads, enough, patience_s = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:])
if kind == "one_core":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
matrix = numpy.ones((300, 300))
work = {
    "python": lambda: sum(i * i for i in range(10_000)),
    "one_core": lambda: sum(i * i for i in range(10_000)),
    "numpy": lambda: matrix @ matrix,  # without the GIL
    "asleep": lambda: time.sleep(0.01),  # without the GIL
    "holds_gil": lambda: ctypes.PyDLL(None).usleep(20_000),  # a library that keeps the GIL
}[kind]
node = hyphos.Node.open("listener", domain=domain, threads=int(threads))
quick, ticks = [], []


def slow(value):
    begin, begin_ticks, until = len(quick), len(ticks), time.monotonic() + patience_s
    while time.monotonic() < until and min(len(quick) - begin, len(ticks) - begin_ticks) < enough:
        work()
    told = {"slow": value.data, "quick": quick[begin:], "ticks": len(ticks) - begin_ticks}
    print(json.dumps(told), flush=True)


node.subscribe("slow", Int64, slow)
deep = hyphos.Policy(depth=10_000)
node.subscribe("quick", Int64, lambda value: quick.append(value.data), policy=deep)
node.every(lambda: ticks.append(1), rate_hz=100)
node.spin()
"""


@pytest.mark.parametrize(
    ("kind", "threads"),
    [("python", 2), ("numpy", 2), ("asleep", 2), ("holds_gil", 2), ("one_core", 0)],
)
def test_a_busy_callback_does_not_starve_another_channel(
    python: Start, node: hyphos.Node, domain: str, kind: str, threads: int
) -> None:
    arguments = [domain, kind, str(threads), str(ENOUGH), str(PATIENCE_S)]
    listener = python(LISTENER, *arguments)
    slow = node.publisher("slow", Int64)
    quick = node.publisher("quick", Int64, policy=Policy(depth=10_000))
    wait_until(lambda: slow.listeners + quick.listeners == 2, "the listener")
    numbers = itertools.count()
    node.every(lambda: quick.publish(Int64(data=next(numbers))), rate_hz=100)
    slow.publish(Int64(data=0))
    slow.publish(Int64(data=1))  # waits behind the first message

    told = [json.loads(listener.line()) for _ in range(2)]
    assert [one["slow"] for one in told] == [0, 1]
    for one in told:
        assert len(one["quick"]) >= ENOUGH
        assert one["ticks"] >= ENOUGH
        # Each message, in order.
        assert one["quick"] == list(range(one["quick"][0], one["quick"][0] + len(one["quick"])))
    assert listener.stop()[0] == 0
