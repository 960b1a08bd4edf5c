"""The arms of the ablation, and the measures of an arm by seed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from hyphos.cosim.results import Results, Row
from hyphos.cosim.runs import different_fates
from hyphos.lab.paired import Paired, of
from hyphos.lab.stats import Estimate, bootstrap_mean

BASE = "sliding_window"  # the fixed window that the paper improves
RULES = (
    BASE,
    "velocity_aware_lenient_s",
    "velocity_aware_lenient_ms",
    "algorithm_1_s",
    "algorithm_1_ms",
    "lockstep",
    "adaptive",
)
IDEAL = "ideal"  # lockstep with windows of one step: it adds no error
WINDOWS_MS = (5, 10, 20, 50)
DIFFERENCES = (-10, -5, 0, 5, 10)  # V_p - V_s in m/s
WAYS = ("towards", "along")
STEP_MS = 1
SECONDS = 10
TAIL_S = 2  # for packets that enter late
NEAR_M, FAR_M = 20.0, 120.0
METRICS = ("late_ms", "other_fate_percent", "loss_percent", "calls", "real_ms")
TITLES = {
    "late_ms": "read later than in an ideal run (ms)",
    "other_fate_percent": "packets with another fate (%)",
    "loss_percent": "loss (%)",
    "calls": "calls of the network per simulated second",
    "real_ms": "real time per simulated second (ms)",
}

_Values = dict[int, float]  # by seed


def measure(results: Results, metric: str, **where: str | float) -> _Values:
    """The values of one arm. Errors are measured against the ideal run with the same seed."""
    row = results.row(**where)
    if row is None:
        return {}
    direct = {
        "loss_percent": ("loss_percent", 1),
        "calls": ("network_syncs", SECONDS + TAIL_S),
        "real_ms": ("real_ms", SECONDS + TAIL_S),
    }
    if metric in direct:
        name, divisor = direct[metric]
        return {seed: value / divisor for seed, value in row.by_seed(name).items()}
    ideal = results.row(**(where | {"rule": IDEAL, "window_ms": STEP_MS}))
    if ideal is None:
        return {}
    if metric == "late_ms":
        there = ideal.by_seed("read_delay_ms")
        here = row.by_seed("read_delay_ms")
        return {seed: here[seed] - there[seed] for seed in here.keys() & there.keys()}
    return _fates(row, ideal)


def _fates(row: Row, ideal: Row) -> _Values:
    there = {run.seed: run.fates for run in ideal.runs if run.fates}
    return {
        run.seed: 100 * different_fates(run.fates, there[run.seed])
        for run in row.runs
        if run.fates and run.seed in there
    }


def averaged(results: Results, metric: str, arms: Sequence[dict[str, str | float]]) -> _Values:
    """The mean over arms for each seed. A seed is one world, and its arms are not independent."""
    found: dict[int, list[float]] = {}
    for where in arms:
        for seed, value in measure(results, metric, **where).items():
            if not math.isnan(value):
                found.setdefault(seed, []).append(value)
    return {seed: math.fsum(one) / len(one) for seed, one in found.items() if len(one) == len(arms)}


def arms_of(
    rule: str, windows: Sequence[float], differences: Sequence[float] = DIFFERENCES
) -> list[dict[str, str | float]]:
    return [
        {"way": way, "difference": difference, "window_ms": window, "rule": rule}
        for way, difference, window in itertools.product(WAYS, differences, windows)
    ]


def mean_of(values: _Values) -> Estimate:
    return bootstrap_mean([value for _, value in sorted(values.items())])


def paired(before: _Values, after: _Values) -> Paired | None:
    """Compares two arms by seed. Rounding errors of ns as double are removed."""
    seeds = sorted(before.keys() & after.keys())
    return of([round(after[seed] - before[seed], 9) for seed in seeds]) if seeds else None
