"""The highest rate that a case sustains: a search by runs on a schedule."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.lab.case import Case, case_from
from hyphos.lab.results import Run

# A run holds if no more is lost and no more comes late than this. Above its capacity a case falls
# behind all the time: 5 % too much for a second leave half of the messages 25 ms late or more.
MAX_LOST = 0.01
MAX_LATE_MS = 25.0
LATE_PERIODS = 3.0
RESOLUTION = 1.06
RAMP = 4.0
SECONDS = 1.0
MIN_MESSAGES = 40
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
        return self.low_hz if self.open else math.sqrt(self.low_hz * self.high_hz)

    @property
    def at_knee(self) -> Run | None:
        """The fastest run that held."""
        return max(filter(holds, self.runs), key=lambda run: run.case.rate_hz, default=None)

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
            "case": asdict(plain(knee.case)),
            "peer": knee.peer,
            "low_hz": knee.low_hz,
            "high_hz": knee.high_hz,
            "rate_hz": knee.rate_hz,
            "volume": knee.volume,
        }
        for knee in knees
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


def sources(case: Case) -> int:
    """Publishers with a schedule of their own."""
    return {"echo": case.pairs, "fanin": case.publishers}.get(case.workload, 1)


def holds(run: Run) -> bool:
    """Whether everything arrived, and in time."""
    told = run.result
    if told is None or not told["received"]:
        return False
    if told["sent"] < told["planned"]:  # a publisher gave up
        return False
    flows = told["flows"] / told["sources"]
    if told["lost"] > MAX_LOST * told["sent"] * flows:
        return False
    late_ms = max(MAX_LATE_MS, LATE_PERIODS * 1e3 / run.case.rate_hz)
    median_ms = run.histogram("open_histogram_ns").percentile(50) / 1e6
    return median_ms - _transit_ms(run) <= late_ms


def _transit_ms(run: Run) -> float:
    """What a message takes that meets no other: large ones on slow links are not late."""
    return run.histogram("open_histogram_ns").percentile(1) / 1e6


def at_rate(case: Case, rate_hz: float) -> Case:
    seconds = max(SECONDS, MIN_MESSAGES / rate_hz)
    return replace(case, rate_hz=float(f"{rate_hz:.4g}"), seconds=seconds)


def find(case: Case, measure: Measure, guess_hz: float = 100.0) -> Saturation | None:
    """The knee of `case`, within 6 %. `measure(case, attempt)` makes one run, or None if it was
    stopped; then the answer is None, too. What fails beside a disturbance is tried once more, since
    a machine that is called away for a moment would end the search far below. A case that does not
    hold at the lowest rate has a knee of 0."""
    low, high = 0.0, math.inf
    rate = guess_hz
    runs: list[Run] = []
    while low == 0.0 or high > low * RESOLUTION:
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
