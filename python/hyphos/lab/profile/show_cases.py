"""The layers of an experiment's cases, for the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hyphos.lab import findings
from hyphos.lab.profile.layers import LAYERS, PERCENTILES, percentile_name
from hyphos.lab.profile.runs import CaseProfile, RunLayers
from hyphos.lab.stats import Estimate
from hyphos.observe import duration
from hyphos.tools.console import table


def outcome(one: RunLayers) -> str:
    """The outcome of a run, in a line."""
    said = ", ".join(
        f"{percentile_name(fraction)} {duration(float(row.sum()))}"
        for fraction, row in one.layers.items()
    )
    return said + (" (disturbed)" if one.run.load.disturbed else "")


def print_cases(out: Console, done: Sequence[CaseProfile], title: str) -> None:
    out.print(_table(done, f"{title}: layers of the messages at each percentile"))
    if any(len(one.used) > 1 for one in done):
        out.print(
            "[dim]Medians of the runs, with intervals of 95 % by a bootstrap over whole runs. The "
            "layers of each run add up, their medians need not.[/dim]"
        )
    for one in done:
        if not math.isnan(one.apart):
            out.print(
                f"[dim]{one.label}: the layers of the p50 add up to {abs(one.apart):.1%} "
                f"{'less' if one.apart < 0 else 'more'} than by the programs' own stamps[/dim]"
            )
        if one.missed:
            out.print(f"{one.label}: {one.missed:,} events were missed")
        for run in one.failures:
            out.print(f"{one.label}: [red]run {run.repeat + 1} failed: {escape(run.failure)}[/red]")


def _table(done: Sequence[CaseProfile], title: str) -> Table:
    crossed = [
        n for n in LAYERS if any(one.layer(p, n).value > 0 for one in done for p in PERCENTILES)
    ]
    heads = ["publish → callback", *crossed]
    right = ["messages", "runs", *heads]
    made = table(title, ["case", "", "messages", "runs", *heads], right)
    made.columns[0].no_wrap = True
    for one in done:
        for fraction in PERCENTILES:
            made.add_row(
                one.label,
                percentile_name(fraction),
                f"{sum(len(run.path.ways) for run in one.used):,}",
                runs_of(len(one.runs), one.row.disturbed),
                _cell(one.layer(fraction, "layers"), math.nan),
                *(
                    _cell(one.layer(fraction, name), one.share(fraction, name).value)
                    for name in crossed
                ),
            )
    return made


def runs_of(count: int, disturbed: int) -> str:
    return f"{count}" + (f" ({disturbed} disturbed)" if disturbed else "")


def _cell(ns: Estimate, share: float) -> str:
    """A duration and its share, with the interval below."""
    part = "" if math.isnan(share) else f" {share:.0%}"
    between = "" if math.isnan(ns.low) else f"\n[dim]{interval(ns.low, ns.high)}[/dim]"
    return f"{duration(ns.value)}{part}{between}"


def interval(low: float, high: float) -> str:
    """From 1 µs to 3 µs → 1–3 µs. Shows both units if they differ."""
    first, unit = duration(low).split(" ")
    last = duration(high)
    return f"{first}–{last}" if last.endswith(f" {unit}") else f"{first} {unit}–{last}"


def print_findings(out: Console, found: Sequence[Mapping[str, Any]]) -> None:
    """Prints the published findings, their verdicts, and the differences."""
    for one in found:
        for line in findings.lines(one):
            out.print(line)
