"""Fits costs to measured saturation points: least squares of the logarithms, with priors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hyphos.lab.capacity.graph import Graph
from hyphos.lab.capacity.model import Costs, Host, Load, Vector, volume

Priors = Mapping[str, tuple[float, float]]

# The usual value of each parameter, and the factor by which it may be wrong. Keeps parameters in
# place that the points determine weakly.
PRIORS: dict[str, tuple[float, float]] = {
    "publish_us": (3.0, 4.0),
    "deliver_us": (5.0, 4.0),
    "byte_ns": (0.1, 10.0),
    "wake_us": (20.0, 4.0),
    "batch_us": (2500.0, 4.0),
    "serial": (1.0, 1.6),
    "again": (0.5, 2.0),
    "local": (0.7, 1.5),
    "send_us": (8.0, 2.0),
    "room_kb": (30.0, 2.0),
    "wire_us": (2.0, 6.0),
    "wire_batch_us": (10.0, 5.0),
    "wire_byte_ns": (8.0, 4.0),
}
# Deviation of a saturation point from one search to the next.
MEASURED = 0.10
MAX_STEPS = 100


@dataclass(frozen=True)
class Point:
    """A graph, and the factor on its rates at its measured saturation point."""

    graph: Graph
    scale: float


@dataclass(frozen=True)
class Fitted:
    """The costs of a transport with their uncertainty, as standard deviations of logarithms.
    `error` is that of a prediction, by leave-one-out. `noise` is that of the points from the model.
    `covariance` is that of the costs, in the order of Costs.names."""

    costs: Costs
    error: float
    noise: float
    covariance: tuple[tuple[float, ...], ...]


def fit(way: str, points: Sequence[Point], host: Host, priors: Priors | None = None) -> Fitted:
    """Fits the costs to the points, which use no other transport."""
    loads = [Load(point.graph, host) for point in points]
    logs = [math.log(point.scale) for point in points]
    believed = PRIORS | dict(priors or {})
    costs = _solve(way, loads, logs, believed)
    error = _left_out(way, loads, logs, believed, costs)
    return Fitted(costs, error, *_spread(way, loads, logs, believed, costs))


def slopes(load: Load, costs: Mapping[str, Costs], way: str) -> Vector:
    """The rise of the saturation point in per cent for each per cent of each cost of a
    transport."""
    names = Costs.names(way)
    at = np.log([getattr(costs[way], name) for name in names])

    def log_knee(point: Vector) -> Vector:
        return np.array([math.log(load.knee({**costs, way: _costs(names, point)}))])

    steep: Vector = _jacobian(log_knee, at, log_knee(at))[0]
    return steep


def _spread(
    way: str, loads: Sequence[Load], logs: Sequence[float], believed: Priors, costs: Costs
) -> tuple[float, tuple[tuple[float, ...], ...]]:
    """The noise, and the covariance of the costs by linear approximation at the optimum. The
    priors use up no degree of freedom for parameters that the points decide."""
    steep = np.array([slopes(load, {way: costs}, way) for load in loads])
    misses = np.log([load.knee({way: costs}) for load in loads]) - np.array(logs)
    width = np.array([math.log(believed[name][1]) for name in Costs.names(way)])
    inverse = np.linalg.inv(steep.T @ steep / MEASURED**2 + np.diag(width**-2.0))
    decided = float(np.trace(steep @ inverse @ steep.T)) / MEASURED**2
    noise = math.sqrt(float(misses @ misses) / max(1.0, len(loads) - decided))
    noise = max(MEASURED, noise)
    covariance = inverse * (noise / MEASURED) ** 2
    return noise, tuple(tuple(map(float, row)) for row in covariance)


def _solve(
    way: str,
    loads: Sequence[Load],
    logs: Sequence[float],
    believed: Priors,
    start: Costs | None = None,
) -> Costs:
    names = Costs.names(way)
    centre = np.array([math.log(believed[name][0]) for name in names])
    width = np.array([math.log(believed[name][1]) for name in names])
    measured = np.array(logs)

    def residuals(at: Vector) -> Vector:
        costs = {way: _costs(names, at)}
        predicted = np.log([load.knee(costs) for load in loads])
        return np.concatenate([(predicted - measured) / MEASURED, (at - centre) / width])

    begin = np.log([getattr(start, name) for name in names]) if start else centre
    return _costs(names, least_squares(residuals, begin))


def _costs(names: Sequence[str], at: Vector) -> Costs:
    return Costs(**{n: math.exp(float(x)) for n, x in zip(names, at, strict=True)})


def _left_out(
    way: str, loads: Sequence[Load], logs: Sequence[float], believed: Priors, whole: Costs
) -> float:
    """The leave-one-out error. The points are at the edges of the calibrated range, where
    prediction is hardest. The median, scaled to a standard deviation, is robust against a point
    that alone determines a cost."""
    misses = []
    for i, load in enumerate(loads):
        rest = [j for j in range(len(loads)) if j != i]
        costs = _solve(way, [loads[j] for j in rest], [logs[j] for j in rest], believed, whole)
        misses.append(abs(math.log(load.knee({way: costs})) - logs[i]))
    return max(MEASURED, 1.48 * float(np.median(misses)))


def least_squares(residuals: Callable[[Vector], Vector], start: Vector) -> Vector:
    """The minimum of the sum of squares, by Levenberg's and Marquardt's method with difference
    quotients. For a few unknowns of similar scale."""
    at, damping = start.copy(), 1e-2
    now = residuals(at)
    jacobian = _jacobian(residuals, at, now)
    for _ in range(MAX_STEPS):
        normal = jacobian.T @ jacobian
        damped = normal + damping * np.diag(np.maximum(np.diag(normal), 1e-9))
        step = np.clip(np.linalg.solve(damped, -jacobian.T @ now), -1.0, 1.0)
        then = residuals(at + step)
        before, after = float(now @ now), float(then @ then)
        if after >= before:
            damping *= 4
            if damping > 1e9:
                break
            continue
        gained = (before - after) / max(before, 1e-12)
        at, now, damping = at + step, then, max(damping / 5, 1e-9)
        if gained < 1e-6:
            break
        jacobian = _jacobian(residuals, at, now)
    return at


def _jacobian(residuals: Callable[[Vector], Vector], at: Vector, now: Vector) -> Vector:
    columns = []
    for i in range(len(at)):
        moved = at.copy()
        moved[i] += 1e-4
        columns.append((residuals(moved) - now) / 1e-4)
    return np.stack(columns, axis=1)


# Rivals of the model, fitted to the same points.


def classic(points: Sequence[Point]) -> Callable[[Graph], float]:
    """CSLV: N·f·S is a constant of the machine, here the geometric mean of the points."""
    constant = math.exp(
        float(np.mean([math.log(volume(point.graph) * point.scale) for point in points]))
    )
    return lambda graph: constant / volume(graph)


def linear(points: Sequence[Point]) -> Callable[[Graph], float]:
    """1/X = a + b·S, with X in messages a second of the whole machine. Least relative squares."""
    rows = np.array([[1.0, _mean_size(point.graph)] for point in points])
    inverse = np.array([1.0 / (_messages(point.graph) * point.scale) for point in points])
    (a, b), *_ = np.linalg.lstsq(rows / inverse.reshape(-1, 1), np.ones(len(points)), rcond=None)

    def predict(graph: Graph) -> float:
        return float(1.0 / (max(1e-9, a + b * _mean_size(graph)) * _messages(graph)))

    return predict


def _messages(graph: Graph) -> float:
    return sum(delivery.rate_hz for delivery in graph.deliveries())


def _mean_size(graph: Graph) -> float:
    sizes = sum(one.rate_hz * one.channel.size for one in graph.deliveries())
    return sizes / _messages(graph)
