"""The layers of an experiment: of each run, and of all runs of a case."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from hyphos.lab.case import Case
from hyphos.lab.profile.events import Collection
from hyphos.lab.profile.flows import Flows
from hyphos.lab.profile.layers import LAYERS, PERCENTILES, Spread, figures_of, percentile_name
from hyphos.lab.profile.profile import PathProfile, chosen, measured, profile
from hyphos.lab.results import Row, Run
from hyphos.lab.show import case_label
from hyphos.lab.stats import Estimate


@dataclass(frozen=True)
class RunLayers:
    """The results of one run: its longest path, and the layers of its messages at each
    percentile."""

    run: Run  # its result includes the figures of the layers
    path: PathProfile
    layers: dict[float, npt.NDArray[np.float64]]  # in ns, each adds up to its percentile
    missed: int
    worst_sum_error: float
    cores: float  # used by the profiler
    found: Collection | None = None  # set if a file is requested

    @property
    def own_p50_ns(self) -> float:
        """The median by the program's own stamps, which are in the payload. The profiler does not
        use these stamps. NaN if unknown."""
        value = (self.run.result or {}).get("p50_us")
        return math.nan if value is None else float(value) * 1e3

    @property
    def apart(self) -> float:
        """The relative deviation of the sum of the layers from `own_p50_ns`."""
        return float(self.layers[PERCENTILES[0]].sum()) / self.own_p50_ns - 1.0

    def as_dict(self) -> dict[str, Any]:
        load = self.run.load
        return {
            "repeat": self.run.repeat,
            "at": self.run.at,
            "disturbed": load.disturbed,
            "load": {"foreign": load.foreign, "steal": load.steal, "speed": load.speed},
            "messages": len(self.path.ways),
            "missed": self.missed,
            "own_p50_ns": None if math.isnan(self.own_p50_ns) else round(self.own_p50_ns, 1),
            "profiler_cores": round(self.cores, 5),
            "layers_ns": {
                percentile_name(fraction): {n: round(ns, 1) for n, ns in _named(row).items()}
                for fraction, row in self.layers.items()
            },
        }


def _named(row: npt.NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(LAYERS, row.tolist(), strict=True))


def layers_of_run(run: Run, found: Collection, wanted: str, *, keep: bool) -> RunLayers | None:
    """The layers of a run. `wanted` are words of a path, default the longest path. Raises Error if
    no path matches. `keep` keeps the events for a file. None if no message was followed to its
    end."""
    told = profile(Flows(found))
    if not told.paths:
        return None
    paths = chosen(told.paths, wanted) if wanted else told.paths
    longest = max(paths, key=lambda one: (not one.inferred, len(one.hops), one.total.count))
    path = measured(told.flows, longest, run.case.count)
    layers = {fraction: around(path, fraction) for fraction in PERCENTILES}
    figures = {
        f"{percentile_name(fraction)}_{name}": None if math.isnan(value) else value
        for fraction, row in layers.items()
        for name, value in figures_of(_named(row)).items()
    }
    run = replace(run, result={**(run.result or {}), **figures})
    missed = found.missed_in_all
    kept = found if keep else None
    return RunLayers(run, path, layers, missed, told.worst_sum_error, found.cores, kept)


def around(path: PathProfile, fraction: float) -> npt.NDArray[np.float64]:
    """The mean layers of the messages within one per cent of a percentile. Their sum is that
    percentile, unlike the sum of the layers' percentiles."""
    ordered = sorted(path.ways, key=lambda way: way.total_ns)
    last = len(ordered) - 1
    low, high = (min(last, max(0, int((fraction + d) * len(ordered)))) for d in (-0.01, 0.01))
    parts = np.array([[step.parts for step in way.steps] for way in ordered[low : high + 1]])
    summed: npt.NDArray[np.float64] = parts.sum(axis=1).mean(axis=0)
    # As in the paper, without the last callback, which is not part of the latency.
    last_callback = parts[:, -1, LAYERS.index("callback")].mean()
    summed[LAYERS.index("callback")] -= last_callback
    return summed


@dataclass
class CaseProfile:
    """All runs of a case. Its figures are medians over the quiet runs if they are at least half of
    all, else over all runs (`Row.used`)."""

    case: Case
    peer: str
    names: Sequence[str]  # the parameters that distinguish it from other cases
    runs: list[RunLayers] = field(default_factory=list)
    failures: list[Run] = field(default_factory=list)
    of_many: bool = False  # several peers are profiled
    _known: dict[str, Estimate] = field(default_factory=dict, repr=False)

    @property
    def label(self) -> str:
        told = case_label(self.case, list(self.names))
        return f"{self.peer}, {told}" if self.of_many else told

    @property
    def apart(self) -> float:
        """The median over the runs of their relative deviation from the programs' own stamps."""
        known = [one.apart for one in self.used if not math.isnan(one.apart)]
        return median(known) if known else math.nan

    @cached_property
    def row(self) -> Row:
        """The row for the laboratory's criteria. Read it once all runs are there."""
        return Row(self.case, self.peer, [*(one.run for one in self.runs), *self.failures])

    @property
    def used(self) -> list[RunLayers]:
        counts = {run.repeat for run in self.row.used}
        return [one for one in self.runs if one.run.repeat in counts]

    @property
    def missed(self) -> int:
        return sum(one.missed for one in self.runs)

    @property
    def middle(self) -> RunLayers:
        """The representative run: the median one by its p50."""
        ordered = sorted(self.used, key=lambda one: float(one.layers[PERCENTILES[0]].sum()))
        return ordered[(len(ordered) - 1) // 2]

    def layer(self, fraction: float, name: str) -> Estimate:
        """The layer `name` of LAYERS, or `layers` for all, in ns."""
        found = self._estimate(f"{percentile_name(fraction)}_{name}_us")
        return Estimate(found.value * 1e3, found.low * 1e3, found.high * 1e3)

    def share(self, fraction: float, name: str) -> Estimate:
        return self._estimate(f"{percentile_name(fraction)}_{name}_share")

    def _estimate(self, metric: str) -> Estimate:
        if metric not in self._known:
            self._known[metric] = self.row.estimate(metric)
        return self._known[metric]

    def as_dict(self) -> dict[str, Any]:
        middle = self.middle
        totals = np.array([way.total_ns for one in self.used for way in one.path.ways], np.int64)
        return {
            "case": self.label,
            "peer": self.peer,
            "size": self.case.size,
            "rate_hz": self.case.rate_hz,
            "path": middle.path.name,
            "costliest": middle.path.as_dict()["costliest"],
            "end_to_end": Spread.of(totals).as_dict(),
            "layers_ns": self._by_layer(lambda p, name: round(self.layer(p, name).value, 1)),
            "layers_interval_ns": self._by_layer(lambda p, name: _ends(self.layer(p, name), 1)),
            "whole_ns": {
                percentile_name(p): _rounded(self.layer(p, "layers"), 1) for p in PERCENTILES
            },
            "shares": self._by_layer(lambda p, name: _rounded(self.share(p, name), 5)),
            "messages": middle.path.messages(),
            "shown_repeat": middle.run.repeat,
            "missed": self.missed,
            "apart_from_own_stamps": None if math.isnan(self.apart) else round(self.apart, 4),
            "disturbed": self.row.disturbed,
            "runs": [one.as_dict() for one in self.runs],
            "failures": [{"repeat": run.repeat, "why": run.failure} for run in self.failures],
        }

    def _by_layer(self, figure: Callable[[float, str], Any]) -> dict[str, dict[str, Any]]:
        return {percentile_name(p): {name: figure(p, name) for name in LAYERS} for p in PERCENTILES}


def _rounded(found: Estimate, digits: int) -> list[float | None]:
    return [None if x is None else round(x, digits) for x in found.to_json()]


def _ends(found: Estimate, digits: int) -> list[float | None]:
    """The bounds of an interval."""
    return _rounded(found, digits)[1:]
