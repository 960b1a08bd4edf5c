"""Finds the knees of a few graphs, and the costs that explain them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from hyphos.lab.capacity.bench import Bench, Knee, Measured
from hyphos.lab.capacity.fit import PRIORS, Point, Priors, fit
from hyphos.lab.capacity.graph import LINK, POINTER, SHM, TCP, Graph
from hyphos.lab.capacity.model import Costs, Host, knee
from hyphos.lab.capacity.profile import Calibrated, Kind, Profile
from hyphos.lab.limits import cores_available
from hyphos.lab.machine import describe_machine
from hyphos.lab.media import Medium, Wifi

KB = 1 << 10
MAX_SIZE = 1024 * KB
# Points are measured a second time, those that were disturbed first, as long as there is time.
AGAIN_UNTIL_S = 240.0
SLOW_MBIT, SLOW_MAX_SIZE = 200.0, 32 * KB

# Small and large graphs, small and large messages, one to many, all alike and one busier than the
# others. Large messages go with few processes: a machine must hold all that is under way.
_POINTS = (
    Kind("echo", 1, 64),
    Kind("echo", 2, MAX_SIZE),
    Kind("echo", 8, 16 * KB),
    Kind("echo", 32, 64),
    Kind("fanout", 8, 64),
    Kind("fanout", 8, 256 * KB),
    Kind("pipeline", 5, 64 * KB),
    Kind("robot", 3, KB),
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
)
# Pointers know no size, but do know whether a process has the machine to itself.
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

# Where the search begins, and what a fit believes where points say little.
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
    """The graphs that are measured for a way; the largest message has `max_size` bytes. None:
    1 MB, or less where a slow link would take too long."""
    if max_size is None:
        rate = getattr(medium, "rate_mbit", None) or SLOW_MBIT
        max_size = SLOW_MAX_SIZE if rate < SLOW_MBIT else MAX_SIZE
    chosen = {POINTER: _POINTER_POINTS, LINK: _LINK_POINTS}.get(way, _POINTS)
    return [
        replace(kind, size=max_size if kind.size == MAX_SIZE else min(kind.size, max_size))
        for kind in chosen
    ]


def priors_for(way: str, medium: Medium | None, tcp: Costs | None = None) -> Priors:
    if way != LINK:
        return PRIORS | _TYPICAL[way]
    priors = PRIORS | _TYPICAL[TCP]
    if tcp is not None:
        # The same sockets: a link costs the processors about what it costs them inside.
        priors |= {name: (getattr(tcp, name), 1.5) for name in Costs.names(TCP)}
    rate = getattr(medium, "rate_mbit", None) or 10_000.0
    shared = isinstance(medium, Wifi)
    priors["wire_byte_ns"] = (8e3 / rate, 1.3 if shared else 1.1)
    priors["wire_batch_us"] = (1000.0, 3.0) if shared else (10.0, 5.0)
    # What each packet costs: spaces and acknowledgements on the air; some 100 bytes on a cable.
    priors["wire_us"] = (250.0, 2.0) if shared else (0.1 * 8e3 / rate, 2.0)
    return priors


def calibrate(
    way: str,
    medium: Medium | None,
    bench: Bench,
    told: Callable[[int, int, Kind, Knee], None] = lambda *_: None,
    max_size: int | None = None,
    tcp: Costs | None = None,
) -> Calibrated | None:
    """Measures and fits one way; None if it was stopped. `told(which, all, kind, knee)`: once
    more of one that is measured again. `tcp`: what is known of messages by TCP inside the machine,
    of use for a link."""
    began = time.monotonic()
    host = Host(float(cores()), half_duplex=isinstance(medium, Wifi))
    priors = priors_for(way, medium, tcp)
    kinds = points_for(way, max_size, medium)
    seen: list[Measured] = []
    for kind in kinds:
        graph = kind.graph(way)
        measured = bench.knee(graph, _guess(graph, way, host, priors))
        if measured is None:
            return None
        seen.append(Measured((measured,)))
        told(len(seen), len(kinds), kind, measured)
    for place in sorted(range(len(kinds)), key=lambda place: not seen[place].disturbed):
        while seen[place].doubtful and time.monotonic() - began < AGAIN_UNTIL_S:
            kind = kinds[place]
            measured = bench.knee(kind.graph(way), seen[place].guess)
            if measured is None:
                return None
            seen[place] = seen[place].and_also(measured)
            told(place + 1, len(kinds), kind, measured)
    found = [(kind, measured.scale) for kind, measured in zip(kinds, seen, strict=True)]
    fitted = fit(way, [Point(kind.graph(way), scale) for kind, scale in found], host, priors)
    return Calibrated(way, fitted, tuple(found), time.monotonic() - began, medium)


def _guess(graph: Graph, way: str, host: Host, priors: Priors) -> float:
    believed = Costs(**{name: priors[name][0] for name in Costs.names(way)})
    scale = knee(graph, {way: believed}, host)
    return 0.8 * scale if scale < math.inf else 1.0


def cores() -> float:
    return cores_available()


def empty_profile() -> Profile:
    return Profile(describe_machine(), cores(), datetime.now(UTC).isoformat(timespec="seconds"))
