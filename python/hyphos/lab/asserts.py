"""Criteria such as `hyphos/shm size=1KB: p99_us < 500`, for a user's own CI and for the findings of
papers."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from hyphos._errors import Error
from hyphos.lab.case import NUMBERS, Case, size_label
from hyphos.lab.profile.layers import METRICS as LAYER_METRICS
from hyphos.lab.reader import PARAMETERS
from hyphos.lab.results import COUNTS, KNEE_METRICS, METRICS, Row
from hyphos.lab.stats import Estimate

_ALONG = (*NUMBERS, "speed", "stall_ms", "shm_mb")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
    # Equal within a factor: 1 / limit <= value <= limit.
    "~": lambda value, limit: 1 / limit <= value <= limit,
}
_FORM = re.compile(
    r"(?:(?P<where>[^:]*):)?\s*(?P<metric>[a-z0-9_]+)"
    r"(?:\s*(?P<how>/|\s-\s)\s*(?P<base>[\w/-]+))?"
    r"(?:\s+by\s+(?P<by>\w+)|\s+(?P<spread>spread)"
    r"|\s+from\s+(?P<name>\w+)=(?P<start>[^\s=]*)\s+to\s+(?P<end>[^\s=]+))?\s*"
    r"(?P<sign><=|>=|<|>|==|~)\s*(?P<limit>[-+0-9.eE]+)\s*"
)


@dataclass(frozen=True)
class Criterion:
    """`[PEER] [PARAMETER=VALUE …]: METRIC < LIMIT`, for every row that it fits. `~ LIMIT` means
    equal within that factor. Instead of a metric it may name:

    - `METRIC / PEER`, a quotient, or `METRIC - PEER`, the excess over that peer,
    - `METRIC by PARAMETER`, the exponent x of METRIC ~ PARAMETERˣ over the cases that differ only
      in this parameter,
    - `METRIC from PARAMETER=VALUE to VALUE`, the factor between these two values (also of
      `METRIC / PEER`),
    - `METRIC spread`, the largest value of all cases of a peer divided by the smallest."""

    text: str
    metric: str
    sign: str
    limit: float
    peer: str = ""
    base: str = ""
    where: dict[str, str] = field(default_factory=dict)
    by: str = ""  # the parameter along which the metric is judged
    ends: tuple[str, str] = ("", "")  # first and last value of the parameter; empty: all
    adds: bool = False  # subtract the base instead of dividing by it
    spread: bool = False  # over all cases of a peer

    @property
    def of_knees(self) -> bool:
        """Whether only `hyphos lab saturate` measures the metric."""
        return self.metric in KNEE_METRICS

    @property
    def of_layers(self) -> bool:
        """Whether only `hyphos lab profile` measures the metric."""
        return self.metric in LAYER_METRICS

    def fits(self, row: Row) -> bool:
        if self.peer and self.peer not in (row.peer, row.peer.split("/")[0]):
            return False
        special = self.of_layers or self.of_knees
        if special and not any(self.metric in (run.result or {}) for run in row.runs):
            return False
        return all(_same(row.case, name, text) for name, text in self.where.items())


@dataclass(frozen=True)
class Verdict:
    criterion: Criterion
    row: Row  # the first one, if along a parameter
    value: float
    met: bool  # by the value alone, without its interval
    low: float = math.nan  # bounds of the interval; NaN without one
    high: float = math.nan
    runs: int = 0  # number of runs behind the value
    disturbed: int = 0  # how many of these runs were disturbed

    @property
    def uncertain(self) -> bool:
        """Whether the limit is inside the interval, so that a new measurement may be judged
        differently."""
        limit = self.criterion.limit
        limits = (limit, 1 / limit) if self.criterion.sign == "~" else (limit,)
        return any(self.low <= one <= self.high for one in limits)

    @property
    def word(self) -> str:
        said = "met" if self.met else "missed"
        return f"{said}, uncertain" if self.uncertain else said

    def to_json(self) -> dict[str, Any]:
        value, low, high = Estimate(self.value, self.low, self.high).to_json()
        return {
            "criterion": self.criterion.text,
            "peer": self.row.peer,
            "case": asdict(self.row.case),
            "figure": value,
            "low": low,
            "high": high,
            "limit": self.criterion.limit,
            "met": self.met,
            "uncertain": self.uncertain,
            "runs": self.runs,
            "disturbed": self.disturbed,
        }

    def named(self, varied: list[str]) -> list[str]:
        """The parameters that distinguish the case from others."""
        return [name for name in varied if name != self.criterion.by]


def _same(case: Case, name: str, text: str) -> bool:
    value = getattr(case, name)
    if name == "size":
        return text.lower().replace(" ", "") in (
            str(value),
            size_label(value).lower().replace(" ", ""),
        )
    try:
        return float(text) == float(value)
    except ValueError:
        return text == str(value)


def parse(text: str) -> Criterion:
    """Raises Error with the fault and an example."""
    example = "write for example: hyphos/shm size=1KB: p99_us < 500, or: lost == 0"
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise Error("invalid_config", f"'{text}' is not a criterion", "assert", example)
    if match["metric"] not in (*METRICS, *COUNTS, *LAYER_METRICS, *KNEE_METRICS):
        known = ", ".join((*METRICS, *COUNTS, *KNEE_METRICS))
        raise Error(
            "invalid_config",
            f"unknown metric '{match['metric']}'",
            "assert",
            f"use one of {known}, or with `hyphos lab profile --experiment` p95_queue_share etc.",
        )
    try:
        limit = float(match["limit"])
    except ValueError:
        raise Error(
            "invalid_config", f"'{match['limit']}' is not a number", "assert", example
        ) from None
    if not math.isfinite(limit) or (match["sign"] == "~" and limit < 1):
        advice = "give a factor of 1 or more with ~" if match["sign"] == "~" else example
        raise Error("invalid_config", f"'{match['limit']}' is not a limit", "assert", advice)
    if match["base"] and match["by"]:
        raise Error("invalid_config", f"'{text}': give either a peer or 'by'", "assert", example)
    by = match["by"] or match["name"] or ""
    if by and by not in (PARAMETERS if match["name"] else _ALONG):
        raise Error("invalid_config", f"'{by}' is not a numeric parameter", "assert", example)
    if (by or match["spread"]) and match["metric"] in COUNTS:
        raise Error(
            "invalid_config", f"'{match['metric']}' is a count, which cannot be compared", "assert"
        )
    peer = ""
    where: dict[str, str] = {}
    for word in (match["where"] or "").split():
        name, equals, value = word.partition("=")
        if not equals:
            peer = word
        elif name in ("workload", *PARAMETERS):
            where[name] = value
        else:
            raise Error("invalid_config", f"unknown parameter '{name}'", "assert", example)
    base, ends = match["base"] or "", (match["start"] or "", match["end"] or "")
    adds = (match["how"] or "").strip() == "-"
    return Criterion(
        text.strip(),
        match["metric"],
        match["sign"],
        limit,
        peer,
        base,
        where,
        by,
        ends,
        adds,
        bool(match["spread"]),
    )


def unmeasured(criterion: Criterion, cases: Sequence[Case], peers: Collection[str]) -> str:
    """The reason why these peers and cases give no value for a criterion. Empty if they may give
    one."""
    if criterion.of_layers:
        return "only `hyphos lab profile --experiment` measures layers"
    if criterion.of_knees:
        return "only `hyphos lab saturate` finds saturation points"
    for name in filter(None, (criterion.peer, criterion.base)):
        if not any(name in (one, one.split("/")[0]) or name.split("/")[0] == one for one in peers):
            return f"'{name}' is not measured here. Measured are: {', '.join(sorted(peers))}"
    fitting = [
        case
        for case in cases
        if all(_same(case, name, text) for name, text in criterion.where.items())
    ]
    if not fitting:
        return "no case has these values"
    for end in filter(None, criterion.ends):
        if not any(_same(case, criterion.by, end) for case in fitting):
            return f"no case has {criterion.by}={end}"
    return ""


def meets(criterion: Criterion, value: float) -> bool:
    return not math.isnan(value) and _OPERATORS[criterion.sign](value, criterion.limit)


def judge(
    criteria: list[Criterion],
    rows: list[Row],
    value_of: Callable[[Criterion, Row, list[Row]], Estimate] | None = None,
) -> list[Verdict]:
    """Every criterion on every row that it fits. `value_of` gives the judged value, by default the
    figure of the row. Raises Error if a criterion fits no row, as it would judge nothing."""
    verdicts = []
    for criterion in criteria:
        fitting = [row for row in rows if criterion.fits(row) and row.peer != criterion.base]
        if criterion.spread:
            values = _spread(criterion, fitting, rows)
        elif criterion.by:
            values = _along(criterion, fitting, rows)
        else:
            values = [([row], (value_of or _value)(criterion, row, rows)) for row in fitting]
        if not values:
            raise Error("not_found", f"no measured row fits '{criterion.text}'")
        for group, found in values:
            value = found.value
            met = meets(criterion, value)
            used = [run for row in group for run in row.used]
            disturbed = sum(run.load.disturbed for run in used)
            verdicts.append(
                Verdict(
                    criterion, group[0], value, met, found.low, found.high, len(used), disturbed
                )
            )
    return verdicts


def judge_each(
    criteria: Sequence[Criterion], rows: list[Row]
) -> list[tuple[Criterion, list[Verdict]]]:
    """Judges each criterion by itself. A criterion that fits no measured row has no verdicts."""
    found = []
    for criterion in criteria:
        try:
            found.append((criterion, judge([criterion], rows)))
        except Error as error:
            if error.code != "not_found":
                raise
            found.append((criterion, []))
    return found


def _certain(value: float) -> Estimate:
    """An estimate without an interval."""
    return Estimate(value, math.nan, math.nan)


def _spread(
    criterion: Criterion, fitting: list[Row], rows: list[Row]
) -> list[tuple[list[Row], Estimate]]:
    """The largest value divided by the smallest, over all cases of each peer."""
    groups: dict[str, list[Row]] = {}
    for row in fitting:
        if row.done:
            groups.setdefault(row.peer, []).append(row)
    found = []
    for group in groups.values():
        values = [_value(criterion, row, rows).value for row in group]
        if len(values) > 1:
            widest = max(values) / min(values) if min(values) > 0 else math.inf
            found.append((group, _certain(widest)))
    return found


def _along(
    criterion: Criterion, fitting: list[Row], rows: list[Row]
) -> list[tuple[list[Row], Estimate]]:
    """Groups of rows that differ in one parameter only, and the trend along this parameter."""
    groups: dict[tuple[str, Case], list[Row]] = {}
    for row in fitting:
        # The length of runs may differ too, because it often depends on the rate.
        groups.setdefault((row.peer, row.case.without(criterion.by, "seconds")), []).append(row)
    found = (
        (
            group,
            _quotient(criterion, group, rows) if criterion.ends[1] else _exponent(criterion, group),
        )
        for group in groups.values()
    )
    return [(group, _certain(value)) for group, value in found if value is not None]


def _exponent(criterion: Criterion, rows: list[Row]) -> float | None:
    """x of metric ~ parameterˣ, by least squares of the logarithms. None for a single point."""
    pairs = [
        (float(getattr(row.case, criterion.by)), row.estimate(criterion.metric).value)
        for row in rows
        if row.done
    ]
    points = [(math.log(x), math.log(y)) for x, y in pairs if x > 0 and y > 0]
    if len({x for x, _ in points}) < 2:
        return None
    x_mean, y_mean = (fmean(column) for column in zip(*points, strict=True))
    steep = sum((x - x_mean) * (y - y_mean) for x, y in points)
    return steep / sum((x - x_mean) ** 2 for x, _ in points)


def _quotient(criterion: Criterion, group: list[Row], rows: list[Row]) -> float | None:
    ends = [
        next((row for row in group if row.done and _same(row.case, criterion.by, value)), None)
        for value in criterion.ends
    ]
    if ends[0] is None or ends[1] is None:
        return None
    before, after = (_value(criterion, row, rows).value for row in ends if row)
    return after / before if before else math.nan


def _value(criterion: Criterion, row: Row, rows: list[Row]) -> Estimate:
    if criterion.metric in COUNTS:
        return _certain(float(row.total(criterion.metric)) if row.done else math.nan)
    if not criterion.base:
        return row.estimate(criterion.metric)
    for other in rows:
        if other.peer == criterion.base and other.case == row.case:
            compare = row.excess if criterion.adds else row.ratio
            return compare(other, criterion.metric)
    return _certain(math.nan)
