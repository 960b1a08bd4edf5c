"""What a laboratory tells on the terminal."""

from __future__ import annotations

import math

from rich.table import Table

from hyphos.lab.asserts import Verdict
from hyphos.lab.case import Case, label
from hyphos.lab.results import Row
from hyphos.lab.saturation import Saturation
from hyphos.lab.stats import Estimate
from hyphos.tools.console import table

LATENCY = ("p50_us", "p95_us", "p99_us", "open_p99_us")
TITLES = {
    "p50_us": "p50 µs",
    "p95_us": "p95 µs",
    "p99_us": "p99 µs",
    "open_p99_us": "p99 from due µs",
    "messages_per_s": "messages/s",
    "mb_per_s": "MB/s",
    "cpu_us_per_msg": "CPU µs/msg",
}


def number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def with_interval(estimate: Estimate) -> str:
    """12.3 [11.9–12.8]"""
    if math.isnan(estimate.low):
        return number(estimate.value)
    return f"{number(estimate.value)} [dim]{number(estimate.low)}–{number(estimate.high)}[/dim]"


def case_label(case: Case, varied: list[str]) -> str:
    return ", ".join(label(name, getattr(case, name)) for name in varied) or case.workload


def metrics_of(rows: list[Row]) -> tuple[str, ...]:
    floods = any(row.case.floods for row in rows)
    return (
        ("messages_per_s", "mb_per_s", "cpu_us_per_msg") if floods else (*LATENCY, "cpu_us_per_msg")
    )


def result_table(rows: list[Row], varied: list[str], base: str) -> Table:
    """One line for each case and peer; with `base`, also how many times that peer's figure."""
    metrics = metrics_of(rows)
    bases = {row.case: row for row in rows if row.peer == base and row.done}
    heads = ["case", "peer", *(TITLES[metric] for metric in metrics), "lost", "runs"]
    if bases:
        heads.append(f"{TITLES[metrics[0]]} ÷ {base}")
    made = table("", heads, heads[2:])
    made.columns[0].no_wrap = made.columns[1].no_wrap = True
    for row in rows:
        cells = [case_label(row.case, varied), row.peer]
        if not row.done:
            made.add_row(*cells, f"[red]{row.failure}[/red]")
            continue
        cells += [with_interval(row.estimate(metric)) for metric in metrics]
        lost = row.total("lost")
        cells.append(f"[red]{lost:,}[/red]" if lost else "0")
        cells.append(
            f"{len(row.done)}" + (f" ({row.disturbed} disturbed)" if row.disturbed else "")
        )
        if row.case in bases:
            cells.append(with_interval(row.ratio(bases[row.case], metrics[0])))
        made.add_row(*cells)
    return made


def knee_cells(knee: Saturation) -> list[str]:
    there = knee.at_knee
    told = (there.result if there else None) or {}
    return [
        number(knee.low_hz) if knee.low_hz else "–",
        number(knee.high_hz),
        number(told.get("messages_per_s")),
        number(told.get("mb_per_s")),
        number(told.get("p50_us")),
        number(knee.volume / 1e6),
    ]


def verdict_lines(verdicts: list[Verdict], varied: list[str]) -> list[str]:
    return [
        f"{'[green]met   [/green]' if v.met else '[red]missed[/red]'} {v.criterion.text}  "
        f"({v.row.peer}, {case_label(v.row.case, varied)}: {number(v.value)})"
        for v in verdicts
    ]
