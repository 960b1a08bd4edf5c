"""Tables and verdicts of the laboratory on the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from hyphos.lab.asserts import Verdict
from hyphos.lab.case import Case, label
from hyphos.lab.results import RATES, Row
from hyphos.lab.saturation import Saturation
from hyphos.lab.stats import Estimate
from hyphos.tools.console import table

_ANY_WIDTH = 10_000
LATENCY = ("p50_us", "p95_us", "p99_us", "open_p99_us")
TITLES = {
    "p50_us": "p50 µs",
    "p95_us": "p95 µs",
    "p99_us": "p99 µs",
    "open_p99_us": "p99 from due µs",
    "mean_us": "mean µs",
    "average_delay_p50_us": "average delay µs (10 messages)",
    "average_delay_p5_us": "p5 of these",
    "average_delay_p95_us": "p95 of these",
    "publishing_rate_hz": "publishing rate Hz",
    "publishing_rate_low_hz": "slowest window",
    "publishing_rate_high_hz": "fastest window",
    "cpu_utilization": "CPU utilization %",
    "daemon_cpu_utilization": "daemon's share %",
    "pub_cpu_utilization": "publisher's share %",
    "messages_per_s": "messages/s",
    "mb_per_s": "MB/s",
    "latency_mb_per_s": "size ÷ mean latency MB/s",
    "cpu_us_per_msg": "CPU µs/msg",
}
KNEE = ["carried Hz", "failed Hz", "messages/s", "MB/s", "p50 µs there", "N·f·S MB/s"]


def number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if 0 < abs(value) < 0.095:
        return f"{value:.2g}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def with_interval(estimate: Estimate) -> str:
    """12.3 [11.9–12.8]"""
    if math.isnan(estimate.low):
        return number(estimate.value)
    return f"{number(estimate.value)} [dim]{number(estimate.low)}–{number(estimate.high)}[/dim]"


def case_label(case: Case, varied: list[str]) -> str:
    return ", ".join(label(name, getattr(case, name)) for name in varied) or case.workload


def metrics_of(rows: list[Row]) -> tuple[str, ...]:
    if rows and all(row.case.uncapped for row in rows):
        return (*RATES, "mb_per_s", "cpu_utilization")
    floods = any(row.case.floods for row in rows)
    return (
        ("messages_per_s", "mb_per_s", "cpu_us_per_msg") if floods else (*LATENCY, "cpu_us_per_msg")
    )


def by_workload(rows: list[Row], varied: list[str]) -> list[tuple[list[Row], list[str]]]:
    """Groups of rows with the same kind of figures, and the parameters that differ in each group.
    An experiment may have several workloads."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.case.workload, []).append(row)
    if len(groups) < 2:
        return [(rows, varied)]
    return [
        (group, list(group[0].case.differing([row.case for row in group])))
        for group in groups.values()
    ]


def missing_of(rows: list[Row]) -> tuple[str, ...]:
    """The columns for missing messages: `lost`, and `unsent` if there are any."""
    return ("unsent", "lost") if any(row.total("unsent") for row in rows) else ("lost",)


@dataclass(frozen=True)
class Line:
    """One line of a table of results: one case and peer."""

    case: str
    peer: str
    failure: str  # if set, there are no figures
    figures: list[Estimate]
    missing: list[int]  # counts for the columns of missing_of()
    runs: str
    ratio: Estimate | None  # to the base


def result_lines(
    rows: list[Row],
    varied: list[str],
    base: str,
    figures: Sequence[str] = (),
    unlike: Collection[str] = (),
) -> tuple[list[str], list[Line]]:
    """The column heads, and one line for each case and peer. With `base` also the ratio to that
    peer, except for peers in `unlike`. `figures` replaces the default metrics."""
    metrics, missing = figures or metrics_of(rows), missing_of(rows)
    bases = {row.case: row for row in rows if row.peer == base and row.done}
    heads = ["case", "peer", *(TITLES.get(one, one) for one in metrics), *missing, "runs"]
    if bases:
        heads.append(f"{TITLES.get(metrics[0], metrics[0])} ÷ {base}")
    lines = []
    for row in rows:
        alike = not {row.peer, row.peer.split("/")[0]} & set(unlike)
        below = bases.get(row.case) if row.done and alike else None
        lines.append(
            Line(
                case_label(row.case, varied),
                row.peer,
                "" if row.done else row.failure,
                [row.estimate(metric) for metric in metrics] if row.done else [],
                [row.total(name) for name in missing],
                f"{len(row.done)}" + (f" ({row.disturbed} disturbed)" if row.disturbed else ""),
                row.ratio(below, metrics[0]) if below else None,
            )
        )
    return heads, lines


def result_table(
    out: Console,
    rows: list[Row],
    varied: list[str],
    base: str,
    figures: Sequence[str] = (),
    unlike: Collection[str] = (),
) -> Table:
    """A table that fits the width of `out`. If the intervals do not fit, it omits them (the report
    has them), and wraps words before it truncates anything."""
    lines = result_lines(rows, varied, base, figures, unlike)
    whole = _result_table(*lines, with_interval)
    anywhere = out.options.update(width=_ANY_WIDTH)
    if out.measure(whole, options=anywhere).maximum <= out.width:
        return whole
    narrow = _result_table(*lines, lambda estimate: number(estimate.value))
    for place, column in enumerate(narrow.columns):
        column.no_wrap, column.overflow = place == 1, "fold"
    return narrow


def _result_table(heads: list[str], lines: list[Line], shown: Callable[[Estimate], str]) -> Table:
    made = table("", heads, heads[2:])
    made.columns[0].no_wrap = made.columns[1].no_wrap = True
    for line in lines:
        if line.failure:
            made.add_row(line.case, line.peer, f"[red]{line.failure}[/red]")
            continue
        cells = [shown(figure) for figure in line.figures]
        cells += [f"[red]{count:,}[/red]" if count else "0" for count in line.missing]
        cells.append(line.runs)
        cells += [shown(line.ratio)] if line.ratio else []
        made.add_row(line.case, line.peer, *cells)
    return made


def unlike_lines(rows: list[Row], unlike: Mapping[str, str]) -> list[str]:
    """Lines below a table: the reasons why some peers have no ratio."""
    there = {name for row in rows for name in (row.peer, row.peer.split("/")[0])}
    return [f"{name} has no ratio: {why}" for name, why in unlike.items() if name in there]


def knee_cells(knee: Saturation) -> list[str]:
    there = knee.at_knee
    told = (there.result if there else None) or {}
    return [
        number(knee.low_hz) if knee.low_hz else "–",
        "none" if knee.open else number(knee.high_hz),
        number(told.get("messages_per_s")),
        number(told.get("mb_per_s")),
        number(told.get("p50_us")),
        number(knee.volume / 1e6),
    ]


def verdict_lines(verdicts: list[Verdict], varied: list[str]) -> list[str]:
    return [
        f"{'[green]met   [/green]' if v.met else '[red]missed[/red]'} {v.criterion.text}  "
        f"({v.row.peer}, {case_label(v.row.case, v.named(varied))}: "
        f"{with_interval(Estimate(v.value, v.low, v.high))}){_doubts(v)}"
        for v in verdicts
    ]


def verdict_summary(verdicts: list[Verdict]) -> str:
    """11 met (2 of them uncertain), 1 missed"""
    told = []
    for word, met in (("met", True), ("missed", False)):
        some = [one for one in verdicts if one.met is met]
        doubtful = sum(one.uncertain for one in some)
        doubt = f" ({doubtful} of them uncertain)" if doubtful else ""
        told.append(f"{len(some)} {word}{doubt}")
    return ", ".join(told)


def _doubts(verdict: Verdict) -> str:
    text = "  [yellow]uncertain: the limit is inside the interval[/yellow]"
    text = text if verdict.uncertain else ""
    if verdict.disturbed:
        text += f"  [yellow]{verdict.disturbed} of {verdict.runs} runs disturbed[/yellow]"
    return text
