"""Whether a graph fits on what was calibrated, by how much, and what breaks first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from hyphos._errors import Error
from hyphos.lab.capacity.fit import MEASURED, classic, slopes
from hyphos.lab.capacity.graph import Graph
from hyphos.lab.capacity.model import (
    AIR,
    Costs,
    Demand,
    Host,
    Load,
    demand,
    knee,
    share_of_queues,
)
from hyphos.lab.capacity.profile import NINE_OF_TEN, Calibrated, Profile, beyond
from hyphos.lab.capacity.queues import UNSURE

MAX_ROBOTS = 1024
MAX_SIZES = 64.0  # times larger or smaller


class Verdict(Enum):
    FITS = "fits"
    MARGINAL = "marginal"
    DOES_NOT_FIT = "does not fit"


class End(Enum):
    """Where the search for how far something can grow has ended."""

    BREAKS = "breaks"
    CALIBRATION = "calibration"  # nothing is said beyond
    SEARCH = "search"  # nobody looked further


@dataclass(frozen=True)
class Reach:
    """How far something can grow."""

    factor: float
    end: End = End.BREAKS

    @property
    def open(self) -> bool:
        """It holds there, and who knows how far beyond."""
        return self.end is not End.BREAKS


@dataclass(frozen=True)
class Answer:
    """A prediction. `knee`: the factor on all rates up to which the graph holds, from `low` to
    `high` with a probability of nine in ten."""

    graph: Graph
    demand: Demand
    low: float
    high: float
    size: Reach
    robots: Reach
    on_air: int | None  # such robots, each on hosts of its own, that fill the air; None without it
    classic: float  # the knee after N·f·S, for comparison
    ways: dict[str, Calibrated]

    @property
    def knee(self) -> float:
        return self.demand.knee

    @property
    def verdict(self) -> Verdict:
        if self.low >= 1.0:
            return Verdict.FITS
        return Verdict.DOES_NOT_FIT if self.high < 1.0 else Verdict.MARGINAL


def check(graph: Graph, profile: Profile, link: str = "", *, shared: bool = False) -> Answer:
    """Predicts. `shared`: all hosts of the graph are this one machine. Error if the graph lies
    outside of what was calibrated."""
    ways = profile.for_graph(graph, link)
    outside = beyond(graph, ways)
    if outside:
        raise Error(
            "unsupported",
            "this lies outside of the calibration, and is not guessed: " + "; ".join(outside),
            graph.name,
            "calibrate further, or measure it: hyphos lab verify --measure-only",
        )
    host = profile.host(ways, shared=shared)
    costs = {way: one.costs for way, one in ways.items()}
    found = demand(graph, costs, host)
    endless = found.knee == math.inf
    factor = 1.0 if endless else math.exp(NINE_OF_TEN * spread(graph, ways, host))
    points = [point for one in ways.values() for point in one.measured()]
    return Answer(
        graph,
        found,
        found.knee / factor,
        found.knee * factor,
        _furthest(graph.with_sizes, ways, host),
        _robots(graph, ways, host),
        _on_air(graph, costs, host),
        classic(points)(graph),
        ways,
    )


def spread(graph: Graph, ways: dict[str, Calibrated], host: Host) -> float:
    """Standard deviation of the logarithm of a graph's knee: of the costs that it rests on, of what
    the model misses, by the share that each way has in it, and of how late messages are where a
    short queue decides."""
    load, costs = Load(graph, host), {way: one.costs for way, one in ways.items()}
    variance = noise = 0.0
    for way, one in ways.items():
        steep = slopes(load, costs, way)
        variance += float(steep @ np.array(one.fitted.covariance) @ steep)
        noise += abs(float(steep.sum())) * one.fitted.noise**2
    variance += (UNSURE * share_of_queues(load, costs)) ** 2
    return math.sqrt(variance + max(MEASURED**2, noise))


def _holds(graph: Graph, ways: dict[str, Calibrated], host: Host) -> bool:
    return knee(graph, {way: one.costs for way, one in ways.items()}, host) >= 1.0


def _furthest(grown: Callable[[float], Graph], ways: dict[str, Calibrated], host: Host) -> Reach:
    """The factor at which a graph breaks, as far as the search goes and the calibration."""

    def end(factor: float) -> End | None:
        graph = grown(factor)
        if beyond(graph, ways):
            return End.CALIBRATION
        return None if _holds(graph, ways, host) else End.BREAKS

    low, high = 1 / MAX_SIZES, MAX_SIZES
    if not _holds(grown(low), ways, host):
        return Reach(0.0)
    why = end(high)
    if why is None:
        return Reach(high, End.SEARCH)
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        found = end(middle)
        if found is None:
            low = middle
        else:
            high, why = middle, found
    return Reach(low, why)


def _on_air(graph: Graph, costs: Mapping[str, Costs], host: Host) -> int | None:
    """How many of the same robot the air has room for. Each has processors of its own, and the
    messages of each have their own way, so that only the time on the air adds up."""
    shares = [use.share for use in Load(graph, host).uses(costs) if use.resource == AIR]
    return math.floor(1.0 / shares[0]) if shares and shares[0] > 0 else None


def _robots(graph: Graph, ways: dict[str, Calibrated], host: Host) -> Reach:
    """How many of the same robot hold side by side on the same hosts."""
    count = 0
    while count < MAX_ROBOTS:
        more = graph.copies(count + 1)
        if beyond(more, ways):
            return Reach(float(count), End.CALIBRATION)
        if not _holds(more, ways, host):
            return Reach(float(count))
        count += 1
    return Reach(float(count), End.SEARCH)
