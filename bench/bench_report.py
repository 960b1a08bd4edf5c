"""Turns results into medians, ratios and Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from bench_cases import BARS, INNER_BARS, SECTIONS, Entry, Section, wire_time_us
from hyphos.lab.results import Row
from hyphos.lab.show import number


@dataclass(frozen=True)
class Line:
    """All repeats of one entry by one peer."""

    entry: Entry
    row: Row

    @property
    def name(self) -> str:
        return self.row.peer

    def median(self, metric: str) -> float | None:
        """The median of the figures of the runs."""
        values = [run.result[metric] for run in self.row.used if run.result]
        known = [value for value in values if value is not None]
        return statistics.median(known) if known else None


def find(lines: Iterable[Line], entry: Entry, name: str) -> Line | None:
    return next((line for line in lines if line.entry == entry and line.name == name), None)


def base_value(lines: list[Line], entry: Entry, name: str, metric: str) -> float | None:
    if name == "wire":
        return wire_time_us(entry.case.size)
    if name == "1":
        return 1.0
    line = find(lines, entry, name)
    return line.median(metric) if line else None


def ratio(value: float | None, base: float | None) -> str:
    return "–" if value is None or not base else f"{value / base:.2f}"


def table(header: list[str], body: list[list[str]], text_columns: int) -> str:
    rule = ["---"] * text_columns + ["---:"] * (len(header) - text_columns)
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *body])


def section_table(section: Section, lines: list[Line]) -> str:
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
    for line in lines:
        row = line.row
        if not row.done:
            body.append([line.entry.label, line.name, f"failed: {row.failure}"] + [""] * 12)
            continue
        base = base_value(lines, line.entry, section.base, section.metric)
        volume = number(line.median("messages_per_s")) if floods else str(row.total("samples"))
        body.append(
            [
                line.entry.label,
                line.name,
                *(
                    number(line.median(key))
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
                number(line.median("mb_per_s")),
                str(row.total("lost")),
                ratio(line.median(section.metric), base),
                f"{row.disturbed}/{len(row.runs)}",
            ]
        )
    if section.base == "wire":
        for entry in dict.fromkeys(line.entry for line in lines):
            wire = number(wire_time_us(entry.case.size))
            body.append([entry.label, "wire (computed)", wire] + [""] * 10 + ["1.00", ""])
    return f"### {section.title}\n\n{table(header, body, 2)}\n"


def bar_lines(lines: list[Line]) -> list[list[str]]:
    made = []
    for bar in BARS:
        for line in lines:
            entry = line.entry
            if line.name != bar.subject or entry.section != bar.section or not line.row.done:
                continue
            if bar.size not in (0, entry.case.size):
                continue
            values = [
                line.median(base[1:])
                if base.startswith(".")
                else base_value(lines, entry, base, bar.metric)
                for base in bar.bases
            ]
            known = [value for value in values if value]
            lost = float(line.row.total("lost"))
            value = lost if bar.metric == "lost" else line.median(bar.metric)
            if not known or value is None:
                continue
            measured = value / (max(known) if bar.at_least else min(known))
            met = measured >= bar.limit if bar.at_least else measured <= bar.limit
            sign = "≥" if bar.at_least else "≤"
            made.append(
                [
                    bar.text,
                    entry.label,
                    f"{measured:.2f}",
                    f"{sign} {bar.limit}",
                    "met" if met else "**missed**",
                ]
            )
    return made + inner_bar_lines(lines)


def inner_bar_lines(lines: list[Line]) -> list[list[str]]:
    made = []
    for text, section, name, metric, numerator, denominator, limit in INNER_BARS:
        mine = {
            line.entry.label: line
            for line in lines
            if line.entry.section == section and line.name == name and line.row.done
        }
        if numerator not in mine or denominator not in mine:
            continue
        top, bottom = mine[numerator].median(metric), mine[denominator].median(metric)
        if top is None or not bottom:
            continue
        made.append(
            [
                text,
                f"{numerator} ÷ {denominator}",
                f"{top / bottom:.2f}",
                f"≤ {limit}",
                "met" if top / bottom <= limit else "**missed**",
            ]
        )
    return made


def markdown(command: str, machine: dict[str, str], lines: list[Line], absent: list[str]) -> str:
    parts = [
        f"Created by `{command}`.\n",
        "Machine: " + ", ".join(f"{key} {value}" for key, value in machine.items()) + ".\n",
        "Medians over the repeats of interleaved runs. Samples and losses are sums. Latency is "
        "measured from the start of the publish call to the start of the callback. A run is "
        "disturbed if other programs used over 5 % of the machine or the hypervisor over 2 %. The "
        "medians exclude disturbed runs if at least half of the runs were quiet.\n",
    ]
    parts += [f"Not measured: {text}\n" for text in absent]
    for section in SECTIONS:
        mine = [line for line in lines if line.entry.section == section.name]
        if mine:
            parts.append(section_table(section, mine))
    if judged := bar_lines(lines):
        bars = table(["bar", "case", "measured", "limit", ""], judged, 2)
        parts.append(f"### Bars\n\n{bars}\n")
    return "\n".join(parts)
