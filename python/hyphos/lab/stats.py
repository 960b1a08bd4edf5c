"""Histograms that can be added, percentiles, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
CONFIDENCE = 0.95
_BLOCK = 128  # resamples at once, so that memory stays small


class Histogram:
    """Counts of values in nanoseconds, by the lowest value of each bucket (resolution 0.1 %)."""

    def __init__(self, buckets: Iterable[Sequence[int]] = ()) -> None:
        pairs = np.array(list(buckets), np.int64).reshape(-1, 2)
        pairs = pairs[pairs[:, 0].argsort(kind="stable")]
        self.values: NDArray[np.int64] = pairs[:, 0]
        self.counts: NDArray[np.int64] = pairs[:, 1]

    @property
    def count(self) -> int:
        return int(self.counts.sum())

    def sum_and_count(self) -> tuple[float, int]:
        return float(np.dot(self.values.astype(np.float64), self.counts)), self.count

    def percentile(self, percent: float) -> float:
        """The percentile by the nearest rank. NaN if empty."""
        total = self.count
        if total == 0:
            return math.nan
        rank = max(1, math.ceil(percent / 100 * total))
        at = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(self.values[at])


def pooled(histograms: Sequence[Histogram], weights: Sequence[int] | None = None) -> Histogram:
    """All histograms as one. `weights` are the multiplicities."""
    weights = weights or [1] * len(histograms)
    made = Histogram()
    used = [(h, w) for h, w in zip(histograms, weights, strict=True) if w and h.count]
    if not used:
        return made
    values = np.concatenate([h.values for h, _ in used])
    counts = np.concatenate([h.counts * w for h, w in used])
    made.values, inverse = np.unique(values, return_inverse=True)
    made.counts = np.bincount(inverse, counts).astype(np.int64)
    return made


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval of 95 % confidence."""

    value: float
    low: float
    high: float

    def to_json(self) -> list[float | None]:
        return [None if math.isnan(x) else x for x in (self.value, self.low, self.high)]


def bootstrap(
    runs: Sequence[Any], statistic: Callable[[Sequence[Any]], float], seed: int = 0
) -> Estimate:
    """`statistic` of all runs, with the interval of the percentile bootstrap (Efron 1979). It
    resamples whole runs, because messages of one run depend on each other. One run has no
    interval."""
    if not runs:
        return Estimate(math.nan, math.nan, math.nan)
    value = statistic(runs)
    if len(runs) == 1:
        return Estimate(value, math.nan, math.nan)
    return _interval(value, _resampled(runs, statistic, np.random.default_rng(seed)))


def bootstrap_mean(values: Sequence[float], seed: int = 0) -> Estimate:
    """bootstrap() of the mean, a hundred times faster."""
    if not values:
        return Estimate(math.nan, math.nan, math.nan)
    value = math.fsum(values) / len(values)
    if len(values) == 1:
        return Estimate(value, math.nan, math.nan)
    draws = _draws(len(values), np.random.default_rng(seed))
    return _interval(value, np.array(values, float)[draws].mean(axis=1))


def bootstrap_quotient(
    above: Sequence[Any],
    below: Sequence[Any],
    statistic: Callable[[Sequence[Any]], float],
    seed: int = 0,
) -> Estimate:
    """bootstrap() for a quotient of two figures whose runs were not made side by side. Each side is
    resampled independently."""
    if not above or not below:
        return Estimate(math.nan, math.nan, math.nan)
    divisor = statistic(below)
    value = statistic(above) / divisor if divisor else math.nan
    if len(above) == 1 or len(below) == 1:
        return Estimate(value, math.nan, math.nan)
    random = np.random.default_rng(seed)
    tops = _resampled(above, statistic, random)
    bottoms = _resampled(below, statistic, random)
    bottoms[bottoms == 0] = math.nan
    return _interval(value, tops / bottoms)


def _resampled(
    runs: Sequence[Any],
    statistic: Callable[[Sequence[Any]], float],
    random: np.random.Generator,
) -> NDArray[np.float64]:
    # Few runs have few different resamples, so compute each one once.
    draws = _draws(len(runs), random)
    different, inverse = np.unique(draws, axis=0, return_inverse=True)
    found = np.array([statistic([runs[j] for j in draw]) for draw in different.tolist()])
    return found[inverse.reshape(-1)]


def _draws(count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """The indices of the runs of each resample."""
    return np.sort(random.integers(0, count, (RESAMPLES, count)), axis=1)


def percentile_intervals(
    histograms: Sequence[Histogram], percents: Sequence[float], seed: int = 0
) -> list[Estimate]:
    """`bootstrap` for percentiles of the pooled histograms, one histogram for each run. Computes
    all percentiles at once, because adding histograms takes most of the time."""
    if not histograms:
        return [Estimate(math.nan, math.nan, math.nan) for _ in percents]
    whole = pooled(histograms)
    values = [whole.percentile(percent) for percent in percents]
    if len(histograms) == 1 or not whole.count:
        return [Estimate(value, math.nan, math.nan) for value in values]
    draws = _draws(len(histograms), np.random.default_rng(seed))
    different, inverse = np.unique(draws, axis=0, return_inverse=True)
    found = np.empty((len(percents), len(different)))
    for first in range(0, len(different), _BLOCK):
        some = different[first : first + _BLOCK]
        found[:, first : first + _BLOCK] = _percentiles_of(some, histograms, whole, percents)
    every = found[:, inverse.reshape(-1)]
    return [_interval(value, every[i]) for i, value in enumerate(values)]


def _percentiles_of(
    draws: NDArray[np.int64],
    histograms: Sequence[Histogram],
    whole: Histogram,
    percents: Sequence[float],
) -> NDArray[np.float64]:
    """percents × draws. NaN if the runs of a draw have no messages."""
    seen = np.zeros((len(draws), len(whole.values)), np.int64)
    for run, histogram in enumerate(histograms):
        at = np.searchsorted(whole.values, histogram.values)
        counts = np.bincount(at, histogram.counts, len(whole.values)).astype(np.int64)
        seen += np.outer((draws == run).sum(axis=1), counts)
    seen.cumsum(axis=1, out=seen)
    totals = seen[:, -1]
    found = np.empty((len(percents), len(draws)))
    for i, percent in enumerate(percents):
        ranks = np.maximum(1, np.ceil(percent / 100 * totals))
        at = (seen < ranks[:, None]).sum(axis=1)
        found[i] = np.where(totals > 0, whole.values[np.minimum(at, len(whole.values) - 1)], np.nan)
    return found


def _interval(value: float, results: NDArray[np.float64]) -> Estimate:
    if np.isnan(results).all():
        return Estimate(value, math.nan, math.nan)
    tail = (1 - CONFIDENCE) / 2 * 100
    low, high = np.nanpercentile(results, [tail, 100 - tail])
    return Estimate(value, float(low), float(high))


def wilson(hits: int, trials: int) -> Estimate:
    """A share with Wilson's interval (1927), which is valid for small counts and for 0."""
    if trials == 0:
        return Estimate(math.nan, math.nan, math.nan)
    z = 1.959964
    share = hits / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = (
        z
        / (1 + z * z / trials)
        * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    )
    return Estimate(share, max(0.0, centre - half), min(1.0, centre + half))
