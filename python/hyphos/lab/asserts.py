"""Criteria such as `hyphos/shm size=1KB: p99_us < 500`, for a user's own CI."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from hyphos._errors import Error
from hyphos.lab.case import Case, size_label
from hyphos.lab.experiment import PARAMETERS
from hyphos.lab.results import METRICS, Row

COUNTS = ("lost", "duplicates", "corrupt", "late_sends")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
}
_FORM = re.compile(
    r"(?:(?P<where>[^:]*):)?\s*(?P<metric>[a-z0-9_]+)(?:\s*/\s*(?P<base>[\w/-]+))?\s*"
    r"(?P<sign><=|>=|<|>|==)\s*(?P<limit>[-+0-9.eE]+)\s*"
)


@dataclass(frozen=True)
class Criterion:
    """`[PEER] [PARAMETER=VALUE …]: METRIC [/ PEER] < LIMIT`, for every row that it fits."""

    text: str
    metric: str
    sign: str
    limit: float
    peer: str = ""
    base: str = ""
    where: dict[str, str] = field(default_factory=dict)

    def fits(self, row: Row) -> bool:
        if self.peer and self.peer not in (row.peer, row.peer.split("/")[0]):
            return False
        return all(_same(row.case, name, text) for name, text in self.where.items())


@dataclass(frozen=True)
class Verdict:
    criterion: Criterion
    row: Row
    value: float
    met: bool


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
    """Error that names what is wrong, and an example."""
    example = "write for example: hyphos/shm size=1KB: p99_us < 500, or: lost == 0"
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise Error("invalid_config", f"'{text}' is no criterion", "assert", example)
    if match["metric"] not in (*METRICS, *COUNTS):
        known = ", ".join((*METRICS, *COUNTS))
        raise Error(
            "invalid_config", f"there is no '{match['metric']}'", "assert", f"it is {known}"
        )
    try:
        limit = float(match["limit"])
    except ValueError:
        raise Error(
            "invalid_config", f"'{match['limit']}' is no number", "assert", example
        ) from None
    peer = ""
    where: dict[str, str] = {}
    for word in (match["where"] or "").split():
        name, equals, value = word.partition("=")
        if not equals:
            peer = word
        elif name in PARAMETERS:
            where[name] = value
        else:
            raise Error("invalid_config", f"there is no parameter '{name}'", "assert", example)
    return Criterion(
        text.strip(), match["metric"], match["sign"], limit, peer, match["base"] or "", where
    )


def judge(
    criteria: list[Criterion],
    rows: list[Row],
    value_of: Callable[[Criterion, Row, list[Row]], float] | None = None,
) -> list[Verdict]:
    """Every criterion on every row that it fits. Error if it fits none: it would say nothing.
    `value_of` says what is judged; by default the row's own figure."""
    verdicts = []
    for criterion in criteria:
        fitting = [row for row in rows if criterion.fits(row) and row.peer != criterion.base]
        if not fitting:
            raise Error("not_found", f"nothing was measured that '{criterion.text}' is about")
        for row in fitting:
            value = (value_of or _value)(criterion, row, rows)
            met = not math.isnan(value) and _OPERATORS[criterion.sign](value, criterion.limit)
            verdicts.append(Verdict(criterion, row, value, met))
    return verdicts


def _value(criterion: Criterion, row: Row, rows: list[Row]) -> float:
    if criterion.metric in COUNTS:
        return float(row.total(criterion.metric)) if row.done else math.nan
    if not criterion.base:
        return row.estimate(criterion.metric).value
    for other in rows:
        if other.peer == criterion.base and other.case == row.case:
            return row.ratio(other, criterion.metric).value
    return math.nan
