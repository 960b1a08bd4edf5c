"""The summary at the end of a run: means over the run, for processes that end at any time."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from helpers import Start, wait_until
from hyphos.observe import ChannelState, Delays, drops_of, look
from hyphos.tools.totals import Totals, reason_of
from looks import End, look_at, publisher, subscriber


def test_rates_are_means_over_the_run() -> None:
    totals = Totals(100.0)
    for second in range(11):
        totals.add(look_at(100 + second, (1, [publisher(20 * second)]), (2, [subscriber(0)])))
    state = totals.channels()["scan"]
    assert state.rate_hz == pytest.approx(20)
    assert state.megabytes_per_s == pytest.approx(0.02)
    assert state.megabytes_text == "0.02"
    assert (state.sent, state.publishers, state.subscribers) == (200, 1, 1)


@pytest.mark.parametrize("seed", range(30))
def test_means_do_not_depend_on_the_order_of_ends(seed: int) -> None:
    """Processes start and end at any time, with snapshots at any time. The mean is the number of
    sent messages over the time in which any process could send.
    """
    chance = random.Random(seed)
    lives = []
    start = 0.0
    for number in range(chance.randint(1, 4)):  # one after another, like a process that restarts
        end = start + chance.uniform(2, 10)
        lives.append((number, start, end, chance.randint(1, 100)))
        start = end + chance.uniform(0, 1)
    totals = Totals(0.0)
    times = sorted([chance.uniform(0, start + 3) for _ in range(60)])
    sent: dict[int, float] = {}
    seen = []
    for at in times:
        there = [(n, [publisher(int((at - a) * hz))]) for n, a, b, hz in lives if a <= at <= b]
        if there:
            seen.append(at)
            sent.update((n, ends[0].counter("sent")) for n, ends in there)
        totals.add(look_at(at, *there))
    state = totals.channels()["scan"]
    assert state.sent == sum(sent.values())
    least, most = min(hz for *_, hz in lives), max(hz for *_, hz in lives)
    gaps = 1 + 2 * len(lives) / (seen[-1] - seen[0])
    assert least / gaps / 2 <= state.rate_hz <= most * gaps
    assert state.rate_hz > 0


def test_a_run_with_one_snapshot_has_a_rate() -> None:
    totals = Totals(10.0)
    totals.add(look_at(12.0, (1, [publisher(20)])))
    assert totals.channels()["scan"].rate_hz == pytest.approx(10)


def test_snapshots_after_the_end_change_nothing() -> None:
    totals = Totals(0.0)
    for second in range(5):
        totals.add(look_at(second, (1, [publisher(10 * second)])))
    before = totals.channels()["scan"].rate_hz
    for second in range(5, 20):
        totals.add(look_at(second))
    assert totals.channels()["scan"].rate_hz == before == pytest.approx(10)


def test_drops_are_named_with_counts_and_reasons() -> None:
    totals = Totals(0.0)
    ends = [subscriber(20, queue_overflow=18)]
    totals.add(look_at(1, (1, [publisher(38, **{"drop.shm.no_memory": 2})]), (2, ends)))
    assert totals.drops() == [
        "scan → mapper: 18 of 38 dropped, queue full",
        "laser → scan: 2 dropped of 38 sent, no shared memory left",
    ]


def test_drops_of_a_process_that_restarted_are_added() -> None:
    totals = Totals(0.0)
    totals.add(look_at(1, (1, [subscriber(2, queue_overflow=3)])))
    totals.add(look_at(2, (2, [subscriber(4, queue_overflow=1)])))
    assert totals.drops() == ["scan → mapper: 4 of 10 dropped, queue full"]


def test_many_drops_are_shortened() -> None:
    totals = Totals(0.0)
    ends = [End(f"c{i}", "n", False, {"drop.queue.overflow": i + 1}) for i in range(40)]
    totals.add(look_at(1, (1, ends)))
    lines = totals.drops()
    assert len(lines) < 20
    assert lines[0] == "c39 → n: 40 of 40 dropped, queue full"


def test_every_drop_reason_has_a_text() -> None:
    assert reason_of("drop.queue.overflow") == "queue full"
    assert reason_of("drop.zmq.gap") == "lost in transit"
    assert reason_of("drop.new.reason") == "new.reason"


def test_channels_of_other_machines_have_means() -> None:
    totals = Totals(0.0)
    for second in range(6):
        sent = min(second, 4) * 30
        gone = second == 5  # the publisher has ended, and the row shows 0 Hz
        row = ChannelState("base: scan", publishers=0 if gone else 1, sent=0 if gone else sent)
        row.delays = Delays({1000: 1})
        totals.add_row(float(second), row)
    state = totals.channels()["base: scan"]
    assert state.rate_hz == pytest.approx(30)
    assert state.sent == 120
    assert state.delays.count == 6


NODES = """
import time
from hyphos.msgs import Int64

class Fast:
    def __init__(self, node):
        self.number = node.publisher("number", Int64)
        node.every(lambda: self.number.publish(Int64(data=1)), rate_hz=200)

class Slow:
    def __init__(self, node):
        node.subscribe("number", Int64, lambda _: time.sleep(0.05))
"""


@pytest.mark.parametrize("live", [[], ["--live", "--quiet"]], ids=["plain", "live"])
def test_run_names_the_drops_at_its_end(
    hyphos_start: Start, tmp_path: Path, domain: str, live: list[str]
) -> None:
    (tmp_path / "nodes.py").write_text(NODES)
    plan = tmp_path / "robot.yaml"
    plan.write_text(
        f"hyphos: 1\ndomain: {domain}\nprocesses: {{a: {{nodes: [fast]}}, b: {{nodes: [slow]}}}}\n"
        'nodes: {fast: {python: "nodes:Fast"}, slow: {python: "nodes:Slow"}}\n'
    )
    program = hyphos_start("run", str(plan), *live)
    wait_until(lambda: any(drops_of(end) for _, end in look(domain).ends("number")), "a drop")
    code, out, err = program.stop()
    assert code == 0, out + err
    found = re.search(r"number → slow: ([\d,]+) of ([\d,]+) dropped, queue full", out)
    assert found, out
    lost, whole = (int(number.replace(",", "")) for number in found.groups())
    assert 0 < lost < whole
    if live:
        table = out.partition("mean CPU and rates")[2]
        assert table.count("transport") == 1
        assert re.search(r"^ number +shm +[1-9][\d.]* Hz", table, re.MULTILINE)
