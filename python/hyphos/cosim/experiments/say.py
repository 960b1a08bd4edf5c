"""Figures and notes of tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hyphos.cosim.experiment import Figure
from hyphos.cosim.results import Row
from hyphos.lab.stats import Estimate


def plain(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    text = f"{value:,.0f}" if value == 0 or abs(value) >= 100 else f"{value:.3g}"
    return text.replace("-", "−")


def figure(one: Estimate) -> Figure:
    if math.isnan(one.low):
        return Figure(plain(one.value))
    return Figure(plain(one.value), f"{plain(one.low)} to {plain(one.high)}")


def estimate(row: Row | None, metric: str) -> Figure:
    if row is None:
        return Figure("–", "not run")
    if row.failure and not row.values(metric):
        return Figure("–", "cannot run")
    return figure(row.estimate(metric))


def shape(name: str, found: Sequence[float], told: Sequence[float | None]) -> str:
    """Describes how similarly both series rise, independent of their size."""
    pairs = [
        (a, b) for a, b in zip(found, told, strict=True) if b is not None and not math.isnan(a)
    ]
    if len(pairs) < 3:
        return f"{name}: too few distances to compare."
    here, there = [a for a, _ in pairs], [b for _, b in pairs]
    ends = (
        f"{plain(here[0])} to {plain(here[-1])} here, {plain(there[0])} to {plain(there[-1])} there"
    )
    if any(max(one) <= 1.01 * min(one) for one in (here, there)):
        return f"{name}: {ends}; one series is constant."
    return f"{name}: {ends}; rank correlation {spearman(here, there):.2f}."


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """The rank correlation. Equal values share their rank."""
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: Sequence[float]) -> list[float]:
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]
