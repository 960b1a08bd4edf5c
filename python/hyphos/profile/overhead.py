"""hyphos lab profile --overhead: what it costs a graph to be profiled.

The flight recorder is always on; its share is in both columns (bench/micro.cpp has it alone). What
is compared here is the same graph with a profiler that reads, and without: pairs of runs side by
side, in an order that rotates.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hyphos._errors import Error
from hyphos.lab.case import Case
from hyphos.lab.peers import find_peers
from hyphos.lab.reaper import folder_for_now
from hyphos.lab.results import Results
from hyphos.lab.runner import Rules, Runner, Wish
from hyphos.lab.stage import Stage
from hyphos.lab.stats import Estimate, bootstrap
from hyphos.profile.experiment import observed_run
from hyphos.tools.console import console, print_json
from hyphos.tools.waiting import on_signals

RATE_HZ = 10_000.0
LIMIT = 1.02


@dataclass(frozen=True)
class Pair:
    """CPU time of all processes of the graph, in µs a message."""

    alone_us: float
    profiled_us: float
    profiler_share: float  # of one core, of the profiler itself
    events: int
    missed: int


def measure(pairs: int, seconds: float, as_json: bool, quiet: bool) -> int:
    """0; 1 if the graph surely pays more than LIMIT; 130 if it was stopped."""
    [peer, *_more] = find_peers().choose(["hyphos/shm"])
    case = Case("pair", size=1024, rate_hz=RATE_HZ, seconds=seconds)
    done: list[Pair] = []
    with folder_for_now("profile") as folder, Stage() as stage:
        runner = Runner(Results(folder), Rules(), stage)
        with on_signals(lambda _number: runner.stop()):
            for i in range(pairs):
                pair = _pair(runner, stage, [Wish(case, peer, 2 * i + j) for j in (0, 1)], i % 2)
                if pair is None:
                    return 130
                done.append(pair)
                if not quiet:
                    ratio = pair.profiled_us / pair.alone_us
                    console(stderr=True).print(f"[{i + 1}/{pairs}] {ratio:.3f}")
    return _tell(done, as_json)


def _pair(runner: Runner, stage: Stage, wishes: list[Wish], first: int) -> Pair | None:
    """One run without the profiler and one with it; `first` says which comes first."""
    cost = [0.0, 0.0]
    share, events, missed = 0.0, 0, 0
    for profiled in (first, 1 - first):
        began, used = time.monotonic(), time.process_time()
        if profiled:
            found = observed_run(runner, stage, wishes[1])
            if found is None:
                return None
            events, missed = len(found.events), found.missed_in_all
            share = (time.process_time() - used) / (time.monotonic() - began)
        run = runner.one(wishes[profiled])
        if run is None:
            return None
        if run.result is None:
            raise Error("io", f"the run failed: {run.failure}", wishes[0].peer.name)
        cost[profiled] = float(run.result["cpu_us_per_msg"])
    return Pair(cost[0], cost[1], share, events, missed)


def ratio_of(pairs: Sequence[Pair]) -> Estimate:
    """CPU a message with the profiler over without: the median of the pairs, since a run beside
    which others worked costs more, whoever it is."""
    return bootstrap(
        pairs, lambda some: statistics.median(pair.profiled_us / pair.alone_us for pair in some)
    )


def _tell(done: Sequence[Pair], as_json: bool) -> int:
    ratio = ratio_of(done)
    told: dict[str, Any] = {
        "rate_hz": RATE_HZ,
        "pairs": len(done),
        "alone_us_per_msg": statistics.median(pair.alone_us for pair in done),
        "profiled_us_per_msg": statistics.median(pair.profiled_us for pair in done),
        "ratio": ratio.to_json(),
        "profiler_cores": sum(pair.profiler_share for pair in done) / len(done),
        "events": sum(pair.events for pair in done),
        "missed": sum(pair.missed for pair in done),
    }
    if as_json:
        print_json(told)
    else:
        out = console()
        out.print(
            f"CPU of the graph at {RATE_HZ:,.0f} messages/s: {told['alone_us_per_msg']:.2f} µs a "
            f"message alone, {told['profiled_us_per_msg']:.2f} µs while it is profiled"
        )
        out.print(
            f"overhead {ratio.value - 1:+.1%} (95 %: {ratio.low - 1:+.1%} to {ratio.high - 1:+.1%} "
            f"from {len(done)} pairs of runs); at most {LIMIT - 1:.0%} is promised"
        )
        out.print(
            f"the profiler itself: {told['profiler_cores']:.1%} of a core; "
            f"{told['missed']:,} of {told['events'] + told['missed']:,} events missed"
        )
    # With one pair there is no interval, and nothing is sure.
    return 1 if ratio.low > LIMIT else 0
