"""Results → medians, ratios, Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bench_cases import BARS, INNER_BARS, SECTIONS, Case, Section, wire_time_us
from bench_machine import Load


@dataclass
class Run:
    result: dict[str, Any]
    load: Load


@dataclass
class Row:
    """All repeats of one case by one peer."""

    case: Case
    name: str
    runs: list[Run] = field(default_factory=list)
    failure: str = ""

    @property
    def disturbed(self) -> int:
        return sum(run.load.disturbed for run in self.runs)

    def used(self) -> list[Run]:
        """The quiet runs, if there are enough of them to stand for the row."""
        quiet = [run for run in self.runs if not run.load.disturbed]
        return quiet if len(quiet) * 2 >= len(self.runs) else self.runs

    def median(self, metric: str) -> float | None:
        values = [run.result[metric] for run in self.used() if run.result.get(metric) is not None]
        return statistics.median(values) if values else None

    def total(self, key: str) -> int:
        return sum(int(run.result.get(key) or 0) for run in self.runs)


def find(rows: Iterable[Row], case: Case, name: str) -> Row | None:
    return next((row for row in rows if row.case == case and row.name == name), None)


def base_value(rows: list[Row], case: Case, name: str, metric: str) -> float | None:
    if name == "wire":
        return wire_time_us(case.size)
    if name == "1":
        return 1.0
    row = find(rows, case, name)
    return row.median(metric) if row else None


def number(value: float | None) -> str:
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(value: float | None, base: float | None) -> str:
    return "–" if value is None or not base else f"{value / base:.2f}"


def table(header: list[str], body: list[list[str]], text_columns: int) -> str:
    rule = ["---"] * text_columns + ["---:"] * (len(header) - text_columns)
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *body])


def section_table(section: Section, rows: list[Row]) -> str:
    floods = section.higher_is_better
    header = [
        "case",
        "peer",
        "p50 µs",
        "p95",
        "p99",
        "max",
        "publish call µs",
        "CPU µs/msg",
        "publisher CPU",
        "memory MB",
        "messages/s" if floods else "samples",
        "MB/s",
        "lost",
        f"{section.metric} ÷ {section.base}",
        "disturbed",
    ]
    body = []
    for row in rows:
        if row.failure:
            body.append([row.case.label, row.name, f"failed: {row.failure}"] + [""] * 12)
            continue
        base = base_value(rows, row.case, section.base, section.metric)
        volume = number(row.median("messages_per_s")) if floods else str(row.total("samples"))
        body.append(
            [
                row.case.label,
                row.name,
                *(
                    number(row.median(key))
                    for key in (
                        "p50_us",
                        "p95_us",
                        "p99_us",
                        "max_us",
                        "pub_cost_p50_us",
                        "cpu_us_per_msg",
                        "pub_cpu_us_per_msg",
                        "memory_mb",
                    )
                ),
                volume,
                number(row.median("mb_per_s")),
                str(row.total("lost")),
                ratio(row.median(section.metric), base),
                f"{row.disturbed}/{len(row.runs)}",
            ]
        )
    if section.base == "wire":
        for case in dict.fromkeys(row.case for row in rows):
            wire = number(wire_time_us(case.size))
            body.append([case.label, "wire (computed)", wire] + [""] * 10 + ["1.00", ""])
    return f"### {section.title}\n\n{table(header, body, 2)}\n"


def bar_lines(rows: list[Row]) -> list[list[str]]:
    lines = []
    for bar in BARS:
        for row in rows:
            if row.name != bar.subject or row.case.section != bar.section or row.failure:
                continue
            if bar.size not in (0, row.case.size):
                continue
            values = [
                row.median(base[1:])
                if base.startswith(".")
                else base_value(rows, row.case, base, bar.metric)
                for base in bar.bases
            ]
            known = [value for value in values if value]
            value = float(row.total("lost")) if bar.metric == "lost" else row.median(bar.metric)
            if not known or value is None:
                continue
            measured = value / (max(known) if bar.at_least else min(known))
            met = measured >= bar.limit if bar.at_least else measured <= bar.limit
            sign = "≥" if bar.at_least else "≤"
            lines.append(
                [
                    bar.text,
                    row.case.label,
                    f"{measured:.2f}",
                    f"{sign} {bar.limit}",
                    "met" if met else "**missed**",
                ]
            )
    for text, section, name, metric, numerator, denominator, limit in INNER_BARS:
        mine = {
            row.case.label: row
            for row in rows
            if row.case.section == section and row.name == name and not row.failure
        }
        if numerator not in mine or denominator not in mine:
            continue
        top, bottom = mine[numerator].median(metric), mine[denominator].median(metric)
        if top is None or not bottom:
            continue
        lines.append(
            [
                text,
                f"{numerator} ÷ {denominator}",
                f"{top / bottom:.2f}",
                f"≤ {limit}",
                "met" if top / bottom <= limit else "**missed**",
            ]
        )
    return lines


def markdown(command: str, machine: dict[str, str], rows: list[Row], absent: list[str]) -> str:
    parts = [
        f"Made by `{command}`.\n",
        "Machine: " + ", ".join(f"{key} {value}" for key, value in machine.items()) + ".\n",
        "Medians over the repeats of interleaved runs; samples, losses are sums. Latency runs "
        "from the start of the publish call to the start of the callback. A run is disturbed "
        "when other programs took over 5 % of the machine or the hypervisor over 2 %; the "
        "medians leave those out where at least half of the runs were quiet.\n",
    ]
    parts += [f"Not measured: {line}\n" for line in absent]
    for section in SECTIONS:
        mine = [row for row in rows if row.case.section == section.name]
        if mine:
            parts.append(section_table(section, mine))
    if lines := bar_lines(rows):
        bars = table(["bar", "case", "measured", "limit", ""], lines, 2)
        parts.append(f"### Bars\n\n{bars}\n")
    return "\n".join(parts)
