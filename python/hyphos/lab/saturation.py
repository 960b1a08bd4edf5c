"""The highest rate that a case sustains: a search by runs on a schedule."""

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
    """The knee of a case: it held at `low_hz` of each publisher, and not at `high_hz`."""

    case: Case
    low_hz: float
    high_hz: float
    runs: list[Run] = field(default_factory=list, compare=False)
    peer: str = ""

    @property
    def open(self) -> bool:
        """Nothing failed: the search ended where it looks no further."""
        return self.high_hz >= RATES[1]

    @property
    def rate_hz(self) -> float:
        """Where the knee lies; if it is open, what is known to hold."""
        return self.low_hz if self.open else knee.between(self.low_hz, self.high_hz)

    @property
    def at_knee(self) -> Run | None:
        """The run at the highest carried rate. Of several at that rate the last one decides."""
        at_low = [
            run
            for run in self.runs
            if run.result and math.isclose(run.case.rate_hz, self.low_hz, rel_tol=1e-3)
        ]
        return at_low[-1] if at_low else None

    @property
    def volume(self) -> float:
        """N·f·S in bytes a second, which Jordan's *On the Scalability of ROS* takes for a constant
        of the machine (CSLV)."""
        return sources(self.case) * self.rate_hz * self.case.size


def plain(case: Case) -> Case:
    """Without its rate and length, which a search chooses."""
    return case.without("rate_hz", "seconds")


def save(folder: Path, knees: Sequence[Saturation]) -> None:
    """What was found, beside the runs that it was found by."""
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
    """The knees in a folder, none if nobody has looked for them there."""
    path = folder / FILE
    if not path.exists():
        return []
    try:
        return [_knee_from(one, runs) for one in json.loads(path.read_text())]
    except (ValueError, KeyError, TypeError) as error:
        raise Error(
            "corrupt",
            f"these are no knees: {error}",
            str(path),
            "`hyphos lab saturate … --resume` writes them again",
        ) from None


def _knee_from(told: dict[str, Any], runs: Sequence[Run]) -> Saturation:
    case = case_from(told["case"])
    mine = [run for run in runs if run.peer == told["peer"] and plain(run.case) == case]
    return Saturation(case, float(told["low_hz"]), float(told["high_hz"]), mine, told["peer"])


def rows(knees: Sequence[Saturation]) -> list[Row]:
    """The knees as figures that criteria judge: `knee_hz` and N·f·S, `knee_mb_per_s`."""
    found = []
    for one in knees:
        figures = {"knee_hz": one.rate_hz, "knee_mb_per_s": one.volume / 1e6}
        case = plain(one.case)
        found.append(Row(case, one.peer, [Run(case, one.peer, 0, figures)]))
    return found


def sources(case: Case) -> int:
    """Publishers with a schedule of their own."""
    return {"echo": case.pairs, "fanin": case.publishers}.get(case.workload, 1)


def holds(run: Run) -> bool:
    """Whether its load was carried, as hyphos.lab.knee defines it."""
    return run.result is not None and knee.of_result(run.result).carried


def at_rate(case: Case, rate_hz: float) -> Case:
    seconds = max(knee.SECONDS, knee.MIN_MESSAGES / rate_hz)
    return replace(case, rate_hz=float(f"{rate_hz:.4g}"), seconds=seconds)


def find(case: Case, measure: Measure, guess_hz: float = 100.0) -> Saturation | None:
    """The knee of `case`, within 6 %. `measure(case, attempt)` makes one run, or None if it was
    stopped; then the answer is None, too. What fails beside a disturbance is tried once more, since
    a machine that is called away for a moment would end the search far below. A case that does not
    hold at the lowest rate has a knee of 0."""
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
