"""Tests that the laboratory detects delays, losses and stalls of known size."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hyphos.lab.case import Case
from hyphos.lab.machine import describe_machine
from hyphos.lab.peers import Peer, find_peers
from hyphos.lab.reaper import folder_for_now
from hyphos.lab.results import Results, Row, Run
from hyphos.lab.runner import Runner, Wish, side_by_side
from hyphos.lab.show import number
from hyphos.lab.stats import wilson
from hyphos.tools.console import console, table
from hyphos.tools.waiting import on_signals

PEER = "hyphos/shm"
# Fault injection wakes a separate thread for each delayed message. The reference is delayed too, so
# both include this wake-up, and the difference is the delay alone.
REFERENCE_MS = 0.2
DELAYS_MS = (1.0, 5.0, 20.0)
WITHIN = 0.02
LOSS = 0.01
STALL_MS = 100.0


@dataclass(frozen=True)
class Check:
    """One injected effect, and whether it was measured."""

    what: str
    injected: str
    measured: str
    bound: str
    met: bool


def _delayed(milliseconds: float, seconds: float) -> Case:
    return Case("pair", seconds=seconds, faults=f"{{delay_ms: {milliseconds}}}")


def _cases(seconds: float) -> dict[str, Case]:
    cases = {f"{ms:g} ms": _delayed(ms, seconds) for ms in (REFERENCE_MS, *DELAYS_MS)}
    cases["loss"] = Case("pair", rate_hz=1000, seconds=seconds, faults=f"{{loss: {LOSS}}}")
    cases["stall"] = Case("pair", rate_hz=200, seconds=max(seconds, 3), stall_ms=STALL_MS)
    return cases


def wishes(peer: Peer, seconds: float, repeats: int) -> list[Wish]:
    return [
        wish
        for repeat in range(repeats)
        for case in _cases(seconds).values()
        for wish in side_by_side(case, [peer], repeat)
    ]


def check_all(rows: list[Row], seconds: float) -> list[Check]:
    """The injected effects beside the measured ones."""
    by_case = {row.case: row for row in rows}
    found = {name: by_case[case] for name, case in _cases(seconds).items()}
    reference = found[f"{REFERENCE_MS:g} ms"]
    return [
        *(delay_check(reference, found[f"{ms:g} ms"], ms) for ms in DELAYS_MS),
        loss_check(found["loss"]),
        stall_check(found["stall"]),
    ]


def delay_check(reference: Row, row: Row, milliseconds: float) -> Check:
    expected = (milliseconds - REFERENCE_MS) * 1e3
    shift = row.estimate("p50_us").value - reference.estimate("p50_us").value
    return Check(
        f"delay of {milliseconds:g} ms, over {REFERENCE_MS:g} ms",
        f"{expected:.0f} µs",
        f"{number(shift)} µs ({(shift / expected - 1) * 100:+.2f} %)",
        f"within {WITHIN * 100:g} %",
        abs(shift - expected) <= WITHIN * expected,
    )


def loss_check(row: Row) -> Check:
    lost = row.total("lost")
    share = wilson(lost, lost + row.total("received"))
    return Check(
        "loss",
        f"{LOSS * 100:g} %",
        f"{share.value * 100:.2f} %",
        f"{LOSS * 100:g} % is in {share.low * 100:.2f}–{share.high * 100:.2f} %",
        share.low <= LOSS <= share.high,
    )


def stall_check(row: Row) -> Check:
    """A subscriber that stops for 100 ms once a second makes a tenth of all messages wait, for 0 to
    100 ms. So the slowest hundredth waits for 90 ms or longer. A sender that waits for each message
    to arrive would see only one late message a second."""
    share = STALL_MS / 1000
    expected = STALL_MS * (1 - 0.01 / share)
    seen = row.estimate("open_p99_us").value / 1e3
    met = not math.isnan(seen) and 0.8 * expected <= seen <= STALL_MS * 1.1
    return Check(
        f"subscriber that stops for {STALL_MS:g} ms once a second",
        f"p99 of {expected:.0f} ms",
        f"{number(seen)} ms",
        f"{0.8 * expected:.0f}–{STALL_MS * 1.1:.0f} ms",
        met,
    )


def selftest(seconds: float, repeats: int, quiet: bool) -> int:
    """hyphos lab selftest: 0 if all effects were found, 1 if not, 130 if stopped."""
    [peer] = find_peers().choose([PEER])
    err = console(stderr=True)

    def told(run: Run, done: int, total: int) -> None:
        if not quiet:
            err.print(f"[{done}/{total}] {run.failure or 'measured'}", highlight=False)

    with folder_for_now("selftest") as folder:
        results = Results(folder)
        runner = Runner(results)
        with on_signals(lambda _number: runner.stop()):
            runner.measure(wishes(peer, seconds, repeats), told)
        if runner.stopped:
            return 130
        checks = check_all(results.rows(), seconds)  # reads histograms from the folder
    machine = describe_machine()
    made = table("", ["effect", "injected", "measured", "bound", ""], [])
    for check in checks:
        verdict = "[green]found[/green]" if check.met else "[red]missed[/red]"
        made.add_row(check.what, check.injected, check.measured, check.bound, verdict)
    out = console()
    out.print(made)
    out.print(
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, "
        f"processors: {machine['processors']}"
    )
    return 0 if all(check.met for check in checks) else 1
