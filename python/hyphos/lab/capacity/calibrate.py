"""Measures the saturation points of a few graphs, and fits costs to them."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random

from hyphos.lab.capacity.bench import MOST_SEARCHES, Bench, Knee, Measured
from hyphos.lab.capacity.fit import PRIORS, Point, Priors, fit
from hyphos.lab.capacity.graph import LINK, POINTER, SHM, TCP, Graph
from hyphos.lab.capacity.model import Costs, Host, knee
from hyphos.lab.capacity.profile import Calibrated, Kind, Profile
from hyphos.lab.knee import SECONDS
from hyphos.lab.limits import cores_available
from hyphos.lab.machine import describe_machine
from hyphos.lab.media import Medium, Wifi

KB = 1 << 10
MAX_SIZE = 1024 * KB
# An image of 1920 × 1080 pixels of four bytes.
CAMERA = 8 * 1024 * KB
# The size of /dev/shm for queues of such images.
_CAMERA_SHM = 1 << 30
# Points are measured a second time while time remains, disturbed points first.
AGAIN_UNTIL_S = 240.0
# Runs of a search from a close guess, and the time that each process adds to a run.
SEARCH_RUNS, PROCESS_S = 7, 0.1
# Longest wait of a search for processors on the same L3 cache, because a calibration must end.
POINT_CLOSE_S, OTHER_CLOSE_S = 12.0, 24.0
SLOW_MBIT, SLOW_MAX_SIZE = 200.0, 32 * KB
CAMERA_MBIT = 1000.0

# Small and large graphs, small and large messages, one to many, equal and unequal load. Large
# messages go with few processes, because the machine must store all messages in flight.
_POINTS = (
    Kind("echo", 1, 64),
    Kind("echo", 2, MAX_SIZE),
    Kind("echo", 8, 16 * KB),
    Kind("echo", 32, 64),
    Kind("fanout", 8, 64),
    Kind("fanout", 8, 256 * KB),
    Kind("pipeline", 5, 64 * KB),
    Kind("robot", 3, KB),
    Kind("fanout", 2, CAMERA),
)
_LINK_POINTS = (
    Kind("echo", 1, 64),
    Kind("echo", 2, MAX_SIZE),
    Kind("echo", 4, 4 * KB),
    Kind("echo", 16, 64),
    Kind("fanout", 4, 64),
    Kind("fanout", 4, 64 * KB),
    Kind("pipeline", 4, 16 * KB),
    Kind("robot", 2, KB),
    Kind("fanout", 2, CAMERA),
)
# The cost of a pointer is independent of the size, but depends on the processors of its process.
_POINTER_POINTS = (
    Kind("echo", 1, 64),
    Kind("echo", 8, 64),
    Kind("echo", 32, 64),
    Kind("fanout", 16, 64),
    Kind("fanin", 4, 64),
    Kind("pipeline", 5, 64),
    Kind("apart", 2, 64),
    Kind("robot", 3, 64),
)

# The start of the search, and the priors of a fit for costs that points determine weakly.
_TYPICAL: dict[str, dict[str, tuple[float, float]]] = {
    POINTER: {
        "publish_us": (1.0, 3.0),
        "deliver_us": (1.0, 3.0),
        "wake_us": (10.0, 4.0),
        "serial": (1.0, 1.6),
    },
    SHM: {"publish_us": (1.5, 3.0), "deliver_us": (3.0, 3.0), "byte_ns": (0.001, 10.0),
          "wake_us": (12.0, 3.0)},
    TCP: {"publish_us": (3.0, 3.0), "deliver_us": (8.0, 3.0), "byte_ns": (0.2, 2.5),
          "wake_us": (25.0, 3.0)},
}  # fmt: skip


def points_for(way: str, max_size: int | None = None, medium: Medium | None = None) -> list[Kind]:
    """The measured graphs of a transport. The largest message has `max_size` bytes. None: a camera
    image, or less if a slow link or a small /dev/shm does not carry it."""
    if max_size is None:
        max_size = largest(way, medium)
    chosen = {POINTER: _POINTER_POINTS, LINK: _LINK_POINTS}.get(way, _POINTS)
    sized = [
        replace(kind, size=max_size if kind.size == CAMERA else min(kind.size, max_size))
        for kind in chosen
    ]
    return list(dict.fromkeys(sized))


def largest(way: str, medium: Medium | None = None) -> int:
    """The default size of the largest message in bytes."""
    if way == LINK:
        rate = getattr(medium, "rate_mbit", None) or CAMERA_MBIT
        if rate < CAMERA_MBIT:
            return MAX_SIZE if rate >= SLOW_MBIT else SLOW_MAX_SIZE
    if way == SHM:
        there = os.statvfs("/dev/shm")
        if there.f_blocks * there.f_frsize < _CAMERA_SHM:
            return MAX_SIZE
    return CAMERA


def priors_for(way: str, medium: Medium | None, tcp: Costs | None = None) -> Priors:
    if way != LINK:
        return PRIORS | _TYPICAL[way]
    priors = PRIORS | _TYPICAL[TCP]
    if tcp is not None:
        # The same sockets: across a link the processors pay about the same as inside the machine.
        priors |= {name: (getattr(tcp, name), 1.5) for name in Costs.names(TCP)}
    rate = getattr(medium, "rate_mbit", None) or 10_000.0
    shared = isinstance(medium, Wifi)
    priors["wire_byte_ns"] = (8e3 / rate, 1.3 if shared else 1.1)
    priors["wire_batch_us"] = (1000.0, 3.0) if shared else (10.0, 5.0)
    # The cost of each packet: gaps and acknowledgements on the air, about 100 bytes on a cable.
    priors["wire_us"] = (250.0, 2.0) if shared else (0.1 * 8e3 / rate, 2.0)
    return priors


@dataclass(frozen=True)
class Plan:
    """The calibration of one transport. `tcp` are the known costs of TCP inside the machine, which
    help with a link."""

    way: str
    medium: Medium | None = None
    max_size: int | None = None
    tcp: Costs | None = None

    @property
    def kinds(self) -> list[Kind]:
        return points_for(self.way, self.max_size, self.medium)

    def guess(self, graph: Graph) -> float:
        """The first load to try, without earlier results."""
        priors = self._priors()
        believed = Costs(**{name: priors[name][0] for name in Costs.names(self.way)})
        scale = knee(graph, {self.way: believed}, self._host())
        return 0.8 * scale if scale < math.inf else 1.0

    def expected_s(self, around_s: float) -> float:
        """The estimated duration, with an overhead of `around_s` for each run. Each graph is
        measured once, and again while time remains."""
        searches = [
            SEARCH_RUNS * (SECONDS + around_s + PROCESS_S * len(kind.graph(self.way).processes))
            for kind in self.kinds
        ]
        once = sum(searches)
        return min(2 * once, max(once, AGAIN_UNTIL_S + once / len(searches)))

    def fit(self, seen: Sequence[Measured], seconds: float) -> Calibrated:
        """Fits the costs to the measured points of `kinds`."""
        found = [(kind, one.scale) for kind, one in zip(self.kinds, seen, strict=True)]
        points = [Point(kind.graph(self.way), scale) for kind, scale in found]
        fitted = fit(self.way, points, self._host(), self._priors())
        return Calibrated(self.way, fitted, tuple(found), seconds, self.medium)

    def _priors(self) -> Priors:
        return priors_for(self.way, self.medium, self.tcp)

    def _host(self) -> Host:
        return Host(float(cores()), half_duplex=isinstance(self.medium, Wifi))


def around_s(plan: Plan, bench: Bench) -> float | None:
    """The present overhead of a run in time, measured with one run. None if stopped."""
    graph = plan.kinds[0].graph(plan.way)
    began = time.monotonic()
    if bench.run(graph, 0.1, SECONDS) is None:
        return None
    spent = time.monotonic() - began - SECONDS - PROCESS_S * len(graph.processes)
    return max(0.1, spent)


def calibrate(
    plan: Plan, bench: Bench, told: Callable[[int, int, Kind, Knee], None] = lambda *_: None
) -> Calibrated | None:
    """Measures and fits one transport. None if stopped. Calls `told(which, all, kind, knee)` after
    each search, so again for a point that is measured again."""
    began = time.monotonic()
    kinds = plan.kinds
    seen: list[Measured] = []
    for kind in kinds:
        graph = kind.graph(plan.way)
        measured = bench.knee(graph, plan.guess(graph), POINT_CLOSE_S)
        if measured is None:
            return None
        seen.append(Measured((measured,)))
        told(len(seen), len(kinds), kind, measured)
    for place in sorted(range(len(kinds)), key=lambda place: not seen[place].disturbed):
        while seen[place].doubtful and time.monotonic() - began < AGAIN_UNTIL_S:
            kind = kinds[place]
            measured = bench.knee(kind.graph(plan.way), seen[place].guess, POINT_CLOSE_S)
            if measured is None:
                return None
            seen[place] = seen[place].and_also(measured)
            told(place + 1, len(kinds), kind, measured)
    return plan.fit(seen, time.monotonic() - began)


def calibrate_among(
    plan: Plan,
    others: Sequence[Graph],
    bench: Bench,
    told: Callable[[Graph, Knee], None] = lambda *_: None,
) -> tuple[Calibrated, list[Measured]] | None:
    """Calibrates, and measures the saturation points of `others` in between. None if stopped. All
    graphs are searched in a random order, then again in another order, so that drift of the machine
    affects both groups. The results of `others` are not used for the costs."""
    points = [kind.graph(plan.way) for kind in plan.kinds]
    graphs = [*points, *others]
    seen: dict[int, Measured] = {}
    on_points_s = 0.0
    for turn in range(MOST_SEARCHES):
        for place in Random(turn).sample(range(len(graphs)), len(graphs)):
            known, is_point = seen.get(place), place < len(points)
            if known is not None and not known.doubtful:
                continue
            if known is not None and is_point and on_points_s > AGAIN_UNTIL_S:
                continue
            began = time.monotonic()
            graph = graphs[place]
            guess = plan.guess(graph) if known is None else known.guess
            found = bench.knee(graph, guess, POINT_CLOSE_S if is_point else OTHER_CLOSE_S)
            if found is None:
                return None
            on_points_s += time.monotonic() - began if is_point else 0.0
            seen[place] = Measured((found,)) if known is None else known.and_also(found)
            told(graph, found)
    measured = [seen[place] for place in range(len(graphs))]
    return plan.fit(measured[: len(points)], on_points_s), measured[len(points) :]


def cores() -> float:
    return cores_available()


def empty_profile() -> Profile:
    return Profile(describe_machine(), cores(), datetime.now(UTC).isoformat(timespec="seconds"))
