"""The highest rate that a case carries, searched by runs on a schedule."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.lab import knee
from hyphos.lab.case import Case, case_from
from hyphos.lab.results import Row, Run

RAMP = 4.0
RATES = (0.1, 1e6)
FILE = "saturation.json"

Measure = Callable[[Case, int], Run | None]


@dataclass(frozen=True)
class Saturation:
    """The saturation point of a case, between the carried `low_hz` and the failed `high_hz` of each
    publisher."""

    case: Case
    low_hz: float
    high_hz: float
    runs: list[Run] = field(default_factory=list, compare=False)
    peer: str = ""

    @property
    def open(self) -> bool:
        """Whether no rate failed up to the limit of the search."""
        return self.high_hz >= RATES[1]

    @property
    def rate_hz(self) -> float:
        """The saturation point. If it is open, the highest carried rate."""
        return self.low_hz if self.open else knee.between(self.low_hz, self.high_hz)

    @property
    def at_knee(self) -> Run | None:
        """The run at the highest carried rate. The last of several runs at that rate decides."""
        at_low = [
            run
            for run in self.runs
            if run.result and math.isclose(run.case.rate_hz, self.low_hz, rel_tol=1e-3)
        ]
        return at_low[-1] if at_low else None

    @property
    def volume(self) -> float:
        """N·f·S in bytes a second. Jordan's *On the Scalability of ROS* assumes a constant of the
        machine (CSLV)."""
        return sources(self.case) * self.rate_hz * self.case.size


def plain(case: Case) -> Case:
    """The case without rate and length, which a search chooses."""
    return case.without("rate_hz", "seconds")


def save(folder: Path, knees: Sequence[Saturation]) -> None:
    """Writes the saturation points beside their runs."""
    told = [
        {
            "case": asdict(plain(one.case)),
            "peer": one.peer,
            "low_hz": one.low_hz,
            "high_hz": one.high_hz,
            "rate_hz": one.rate_hz,
            "volume": one.volume,
        }
        for one in knees
    ]
    (folder / FILE).write_text(json.dumps(told, indent=1) + "\n")


def load(folder: Path, runs: Sequence[Run]) -> list[Saturation]:
    """The saturation points in a folder. Empty without a search there."""
    path = folder / FILE
    if not path.exists():
        return []
    try:
        return [_knee_from(one, runs) for one in json.loads(path.read_text())]
    except (ValueError, KeyError, TypeError) as error:
        raise Error(
            "corrupt",
            f"not a list of saturation points: {error}",
            str(path),
            "`hyphos lab saturate … --resume` writes them again",
        ) from None


def _knee_from(told: dict[str, Any], runs: Sequence[Run]) -> Saturation:
    case = case_from(told["case"])
    mine = [run for run in runs if run.peer == told["peer"] and plain(run.case) == case]
    return Saturation(case, float(told["low_hz"]), float(told["high_hz"]), mine, told["peer"])


def rows(knees: Sequence[Saturation]) -> list[Row]:
    """The saturation points as metrics for criteria: `knee_hz`, and N·f·S as `knee_mb_per_s`."""
    found = []
    for one in knees:
        figures = {"knee_hz": one.rate_hz, "knee_mb_per_s": one.volume / 1e6}
        case = plain(one.case)
        found.append(Row(case, one.peer, [Run(case, one.peer, 0, figures)]))
    return found


def sources(case: Case) -> int:
    """The number of publishers with their own schedule."""
    return {"echo": case.pairs, "fanin": case.publishers}.get(case.workload, 1)


def holds(run: Run) -> bool:
    """Whether the load was carried by the definition in hyphos.lab.knee."""
    return run.result is not None and knee.of_result(run.result).carried


def at_rate(case: Case, rate_hz: float) -> Case:
    seconds = max(knee.SECONDS, knee.MIN_MESSAGES / rate_hz)
    return replace(case, rate_hz=float(f"{rate_hz:.4g}"), seconds=seconds)


def find(case: Case, measure: Measure, guess_hz: float = 100.0) -> Saturation | None:
    """The saturation point of `case`, within 6 %. `measure(case, attempt)` makes one run, or
    returns None if stopped, and so does find(). A failure beside a disturbance is tried once more,
    because a short interruption of the machine would end the search far below. A case that fails at
    the lowest rate has a saturation point of 0."""
    low, high = 0.0, math.inf
    rate = guess_hz
    runs: list[Run] = []
    while low == 0.0 or high > low * knee.RESOLUTION:
        run = measure(at_rate(case, rate), 0)
        if run is not None and not holds(run) and run.load.disturbed:
            runs.append(run)
            run = measure(at_rate(case, rate), 1)
        if run is None:
            return None
        runs.append(run)
        if holds(run):
            low = max(low, rate)
        else:
            high = min(high, rate)
        if high < math.inf and low > 0:
            rate = math.sqrt(low * high)
        elif low > 0:
            rate = low * RAMP
        else:
            rate = high / RAMP
        if rate > RATES[1]:
            return Saturation(case, low, RATES[1], runs)
        if rate < RATES[0]:
            return Saturation(case, 0.0, high, runs)
    return Saturation(case, low, high, runs)
