"""Fits costs to measured knees: least squares of the logarithms, with priors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyphos.lab.capacity.graph import LINK, Graph
from hyphos.lab.capacity.model import Costs, Host, knee

Vector = NDArray[np.float64]

# Where a parameter is believed to lie before anything is measured, and by which factor that may be
# wrong: it keeps those in place of which the points tell little.
PRIORS: dict[str, tuple[float, float]] = {
    "publish_us": (3.0, 4.0),
    "deliver_us": (6.0, 4.0),
    "byte_ns": (0.1, 10.0),
    "crowd": (0.15, 2.5),
    "serial": (1.0, 1.6),
    "wire_us": (2.0, 6.0),
    "wire_byte_ns": (8.0, 4.0),
}
# A knee is searched to 6 %, and differs by some more from one search to the next.
MEASURED = 0.06
MAX_STEPS = 200


@dataclass(frozen=True)
class Point:
    """A graph and the scale at which it was found to break."""

    graph: Graph
    scale: float


@dataclass(frozen=True)
class Fitted:
    """Costs of one way; `covariance` of the logarithms of those in `names`. `error`: typical
    error of a prediction (a standard deviation of its logarithm), found by leaving out each point
    in turn."""

    way: str
    costs: Costs
    names: tuple[str, ...]
    covariance: tuple[tuple[float, ...], ...]
    error: float
    points: int


def fit(
    way: str,
    points: Sequence[Point],
    host: Host,
    others: Mapping[str, Costs] | None = None,
    priors: Mapping[str, tuple[float, float]] | None = None,
) -> Fitted:
    """The costs of `way` that explain the points; those of `others` are known."""
    known = dict(others or {})
    believed = PRIORS | dict(priors or {})
    costs, covariance = _solve(way, points, host, known, believed)
    names = costs.names(way)
    error = _left_out(way, points, host, known, believed)
    return Fitted(
        way,
        costs,
        tuple(names),
        tuple(tuple(float(x) for x in row) for row in covariance),
        error,
        len(points),
    )


def _solve(
    way: str,
    points: Sequence[Point],
    host: Host,
    known: Mapping[str, Costs],
    believed: Mapping[str, tuple[float, float]],
) -> tuple[Costs, Vector]:
    names = Costs().names(way)
    centre = np.array([math.log(believed[name][0]) for name in names])
    width = np.array([math.log(believed[name][1]) for name in names])
    measured = np.array([math.log(point.scale) for point in points])

    def residuals(logs: Vector) -> Vector:
        costs = costs_from(names, logs)
        predicted = [knee(point.graph, {**known, way: costs}, host) for point in points]
        return np.concatenate([(np.log(predicted) - measured) / MEASURED, (logs - centre) / width])

    logs, jacobian = least_squares(residuals, centre)
    covariance = np.linalg.inv(jacobian.T @ jacobian)
    return costs_from(names, logs), covariance


def costs_from(names: Sequence[str], logs: Sequence[float] | Vector) -> Costs:
    return Costs().changed({n: math.exp(float(x)) for n, x in zip(names, logs, strict=True)})


def least_squares(
    residuals: Callable[[Vector], Vector], start: Vector
) -> tuple[Vector, Vector]:
    """Where the sum of squares is least, and the Jacobian there. Levenberg's and Marquardt's
    method with differences for derivatives; for a few well-scaled unknowns."""
    at, damping = start.copy(), 1e-2
    now = residuals(at)
    jacobian = _jacobian(residuals, at, now)
    for _ in range(MAX_STEPS):
        normal = jacobian.T @ jacobian
        step = np.linalg.solve(
            normal + damping * np.diag(np.maximum(np.diag(normal), 1e-9)), -jacobian.T @ now
        )
        step = np.clip(step, -1.0, 1.0)
        then = residuals(at + step)
        if then @ then < now @ now:
            gained = (now @ now - then @ then) / max(now @ now, 1e-12)
            at, now, damping = at + step, then, max(damping / 5, 1e-9)
            jacobian = _jacobian(residuals, at, now)
            if gained < 1e-7:
                break
        else:
            damping *= 4
            if damping > 1e9:
                break
    return at, jacobian


def _jacobian(residuals: Callable[[Vector], Vector], at: Vector, now: Vector) -> Vector:
    columns = []
    for i in range(len(at)):
        moved = at.copy()
        moved[i] += 1e-4
        columns.append((residuals(moved) - now) / 1e-4)
    return np.stack(columns, axis=1)


def _left_out(
    way: str,
    points: Sequence[Point],
    host: Host,
    known: Mapping[str, Costs],
    believed: Mapping[str, tuple[float, float]],
) -> float:
    """How far off the points are that the fit has not seen."""
    misses = []
    for i, point in enumerate(points):
        rest = [*points[:i], *points[i + 1 :]]
        costs, _ = _solve(way, rest, host, known, believed)
        misses.append(math.log(knee(point.graph, {**known, way: costs}, host) / point.scale))
    # A point at the edge of the calibration is harder to guess than one within: the median, made
    # comparable to a standard deviation, is less upset by those than the mean square.
    spread = 1.48 * float(np.median(np.abs(misses))) if misses else 0.0
    return max(MEASURED, spread)


def linear_fit(points: Sequence[Point]) -> Callable[[Graph], float]:
    """The plain rival: 1/X = a + b·S of host-wide messages, least squares, nothing else."""
    from hyphos.lab.capacity.model import volume  # noqa: PLC0415

    def messages(graph: Graph) -> float:
        return sum(delivery.rate_hz for delivery in graph.deliveries())

    def mean_size(graph: Graph) -> float:
        total = messages(graph)
        return sum(d.rate_hz * d.channel.size for d in graph.deliveries()) / total

    del volume
    rows = np.array([[1.0, mean_size(point.graph)] for point in points])
    inverse = np.array([1.0 / (messages(point.graph) * point.scale) for point in points])
    weights = 1.0 / inverse  # relative errors count, not absolute ones
    (a, b), *_ = np.linalg.lstsq(rows * weights[:, None], inverse * weights, rcond=None)

    def predict(graph: Graph) -> float:
        return 1.0 / (max(1e-9, a + b * mean_size(graph)) * messages(graph))

    return predict


__all__ = ["LINK", "Fitted", "Point", "fit", "least_squares", "linear_fit"]
