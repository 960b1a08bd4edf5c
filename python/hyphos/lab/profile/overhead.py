"""hyphos lab profile --overhead: the cost of being profiled.

The flight recorder is always on, so both columns include it (bench/micro.cpp measures it alone).
This comparison is between the same graph with a reading profiler and without. Two runs of a program
differ, and other load on the machine changes from second to second. So both are measured in turns
while one graph runs: off, on, on, off, then on, off, off, on, and so on. A steady drift affects
both equally."""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos.lab.case import Case
from hyphos.lab.peers import find_peers
from hyphos.lab.profile.events import POLL_S, Collector
from hyphos.lab.reaper import folder_for_now
from hyphos.lab.results import Results, Run
from hyphos.lab.runner import Rules, Runner, Wish
from hyphos.lab.stage import Stage
from hyphos.lab.stats import Estimate, bootstrap
from hyphos.tools.console import console, print_json
from hyphos.tools.waiting import on_signals

RATE_HZ = 10_000.0
LIMIT = 1.02
BLOCK_S = 0.5
QUADS = 20
# Whether the profiler reads: turns of four, which start with either.
TURNS = ((False, True, True, False), (True, False, False, True))


@dataclass(frozen=True)
class Block:
    """A period of the graph's run."""

    profiled: bool
    cpu_ns: int  # of all processes of the graph
    messages: int
    own_cpu_s: float  # of the profiler
    seconds: float
    events: int = 0
    missed: int = 0


@dataclass(frozen=True)
class Quad:
    """Four blocks side by side, two of them profiled."""

    blocks: tuple[Block, ...]

    def us(self, profiled: bool) -> float:
        """CPU time of the graph in µs per message."""
        some = [block for block in self.blocks if block.profiled == profiled]
        return sum(block.cpu_ns for block in some) / sum(block.messages for block in some) / 1e3

    @property
    def ratio(self) -> float:
        return self.us(True) / self.us(False)


class _Graph:
    """The processes of a running domain. sample() raises Error not_found when one has ended."""

    def __init__(self, domain: str) -> None:
        self._domain = domain

    def sample(self) -> tuple[int, int]:
        """CPU time of all processes in ns, and the number of sent messages."""
        processes = _hyphos.inspect(self._domain)
        sent = sum(end.counter("sent") for one in processes for end in one.endpoints)
        if len(processes) < 2:
            raise Error("not_found", "the graph has ended", self._domain)
        try:
            used = sum(time.clock_gettime_ns(_cpu_clock(one.pid)) for one in processes)
        except OSError:
            raise Error("not_found", "the graph has ended", self._domain) from None
        return used, sent

    def block(self, seconds: float, profiled: bool) -> Block:
        collector = Collector(self._domain) if profiled else None
        used, sent = self.sample()
        began, own = time.monotonic(), time.process_time()
        while (left := began + seconds - time.monotonic()) > 0:
            time.sleep(min(left, POLL_S))
            if collector is not None:
                collector.look()
        own = time.process_time() - own
        took = time.monotonic() - began
        used_now, sent_now = self.sample()
        events, missed = (collector.count, collector.missed) if collector else (0, 0)
        return Block(profiled, used_now - used, sent_now - sent, own, took, events, missed)


def _cpu_clock(pid: int) -> int:
    """The clock of the CPU time of another process, as in clock_getcpuclockid(3). It is finer than
    /proc, which counts hundredths of a second."""
    return ~pid << 3 | 2


def measure(quads: int, seconds: float, as_json: bool, quiet: bool) -> int:
    """Returns 0, 1 if the graph certainly pays more than LIMIT, or 130 if stopped."""
    [peer, *_more] = find_peers().choose(["hyphos/shm"])
    # The run is ended after the last block. A busy machine needs more time for the blocks.
    case = Case("pair", size=1024, rate_hz=RATE_HZ, seconds=2 * 4 * quads * seconds + 30)
    made: list[Run | None] = []
    done: list[Quad] = []
    signals: list[int] = []
    with folder_for_now("profile") as folder, Stage() as stage:
        runner = Runner(Results(folder), Rules(), stage)

        def stop(number: int) -> None:
            signals.append(number)
            runner.stop()

        with on_signals(stop):
            running = threading.Thread(target=lambda: made.append(runner.one(Wish(case, peer, 0))))
            running.start()
            try:
                if _started(running, stage):
                    done = quads_of(_Graph(stage.domain), quads, seconds, quiet)
                if len(done) == quads:
                    runner.stop()
            finally:
                running.join()
            if signals:
                return 130
    [run] = made or [None]
    if len(done) < quads and (run is None or run.result is None):
        why = run.failure if run is not None else "it did not start"
        raise Error("io", f"the run failed: {why}", peer.name)
    if not done:
        raise Error("timeout", "the run ended before four blocks were measured", peer.name)
    return _tell(done, as_json)


def _started(running: threading.Thread, stage: Stage) -> bool:
    """Waits until messages flow. False if the run ended before."""
    while running.is_alive():
        running.join(POLL_S)
        processes = _hyphos.inspect(stage.domain) if stage.domain else []
        sent = sum(end.counter("sent") for one in processes for end in one.endpoints)
        if sent > RATE_HZ / 10:  # the warm-up is over
            return True
    return False


def quads_of(graph: _Graph, quads: int, seconds: float, quiet: bool) -> list[Quad]:
    done: list[Quad] = []
    for turns in itertools.cycle(TURNS):
        if len(done) == quads:
            break
        try:
            quad = Quad(tuple(graph.block(seconds, profiled) for profiled in turns))
        except Error as error:
            if error.code != "not_found":
                raise
            break  # complete quads count
        if any(block.messages == 0 for block in quad.blocks):
            continue  # the machine stood still. A graph that hangs ends by itself
        done.append(quad)
        if not quiet:
            console(stderr=True).print(f"[{len(done)}/{quads}] {quad.ratio:.3f}")
    return done


def ratio_of(quads: Sequence[Quad]) -> Estimate:
    """CPU per message with the profiler, divided by that without. It is the median, because blocks
    beside other load cost more, with or without the profiler."""
    return bootstrap(quads, lambda some: statistics.median(quad.ratio for quad in some))


def _tell(done: Sequence[Quad], as_json: bool) -> int:
    ratio = ratio_of(done)
    profiled = [block for quad in done for block in quad.blocks if block.profiled]
    told: dict[str, Any] = {
        "rate_hz": RATE_HZ,
        "quads": len(done),
        "alone_us_per_msg": statistics.median(quad.us(False) for quad in done),
        "profiled_us_per_msg": statistics.median(quad.us(True) for quad in done),
        "ratio": ratio.to_json(),
        "profiler_cores": sum(b.own_cpu_s for b in profiled) / sum(b.seconds for b in profiled),
        "events": sum(block.events for block in profiled),
        "missed": sum(block.missed for block in profiled),
    }
    if as_json:
        print_json(told)
    else:
        out = console()
        out.print(
            f"CPU of the graph at {RATE_HZ:,.0f} messages/s: {told['alone_us_per_msg']:.2f} µs a "
            f"message alone, {told['profiled_us_per_msg']:.2f} µs while profiled"
        )
        out.print(
            f"overhead {ratio.value - 1:+.1%} (95 %: {ratio.low - 1:+.1%} to {ratio.high - 1:+.1%} "
            f"from {len(done)} times four blocks of one run), the limit is {LIMIT - 1:.0%}"
        )
        out.print(
            f"the profiler itself: {told['profiler_cores']:.1%} of a core, "
            f"{told['missed']:,} of {told['events'] + told['missed']:,} events missed"
        )
    # A single quad has no interval, so the overhead is not certain.
    return 1 if ratio.low > LIMIT else 0
