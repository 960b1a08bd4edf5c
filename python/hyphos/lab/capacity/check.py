"""Predicts whether a graph fits a calibrated machine, with its reserve and its bottleneck."""

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
    Use,
    demand,
    each_use,
    knee,
    share_of_queues,
)
from hyphos.lab.capacity.profile import NINE_OF_TEN, Calibrated, Profile, beyond
from hyphos.lab.capacity.queues import UNSURE

MAX_ROBOTS = 1024
MAX_SIZES = 64.0  # factor of the search, up and down


class Verdict(Enum):
    FITS = "fits"
    MARGINAL = "marginal"
    DOES_NOT_FIT = "does not fit"


class End(Enum):
    """The reason why the search for the largest growth ended."""

    BREAKS = "breaks"
    CALIBRATION = "calibration"  # no prediction beyond it
    SEARCH = "search"  # the search stops there


@dataclass(frozen=True)
class Reach:
    """The largest growth that still fits."""

    factor: float
    end: End = End.BREAKS

    @property
    def open(self) -> bool:
        """Whether the graph fits there, so the true limit is higher."""
        return self.end is not End.BREAKS


@dataclass(frozen=True)
class Answer:
    """A prediction. `knee` is the factor on all rates up to which the graph is carried. It is
    between `low` and `high` with a probability of nine in ten."""

    graph: Graph
    demand: Demand
    low: float
    high: float
    size: Reach
    robots: Reach
    on_air: (
        int | None
    )  # number of such robots, each on its own hosts, that fill the air; None without Wi-Fi
    classic: float  # the saturation point by N·f·S, for comparison
    ways: dict[str, Calibrated]
    each: list[Use]  # every process, callback and queue

    @property
    def knee(self) -> float:
        return self.demand.knee

    @property
    def verdict(self) -> Verdict:
        if self.low >= 1.0:
            return Verdict.FITS
        return Verdict.DOES_NOT_FIT if self.high < 1.0 else Verdict.MARGINAL


def check(graph: Graph, profile: Profile, link: str = "", *, shared: bool = False) -> Answer:
    """Predicts. `shared` means that all hosts of the graph are this one machine. Raises Error if
    the graph is outside the calibrated range."""
    ways = profile.for_graph(graph, link)
    outside = beyond(graph, ways)
    if outside:
        raise Error(
            "unsupported",
            "outside the calibrated range, so there is no prediction: " + ", ".join(outside),
            graph.name,
            "calibrate a larger range, or measure: hyphos lab verify --measure-only",
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
        each_use(graph, costs, host),
    )


def spread(graph: Graph, ways: dict[str, Calibrated], host: Host) -> float:
    """Standard deviation of the logarithm of a graph's saturation point. It combines the deviations
    of its costs, the error of the model by the share of each transport, and the deviation of
    lateness if a short queue decides."""
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
    """The factor at which a graph breaks, within the search range and the calibrated range."""

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
    """How many of the same robot fit on the air. Each has its own processors, and its messages have
    their own path, so only the air time adds up."""
    shares = [use.share for use in Load(graph, host).uses(costs) if use.resource == AIR]
    return math.floor(1.0 / shares[0]) if shares and shares[0] > 0 else None


def _robots(graph: Graph, ways: dict[str, Calibrated], host: Host) -> Reach:
    """How many of the same robot fit side by side on the same hosts."""
    count = 0
    while count < MAX_ROBOTS:
        more = graph.copies(count + 1)
        if beyond(more, ways):
            return Reach(float(count), End.CALIBRATION)
        if not _holds(more, ways, host):
            return Reach(float(count))
        count += 1
    return Reach(float(count), End.SEARCH)
