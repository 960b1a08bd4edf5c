"""report.html of a sweep."""

from __future__ import annotations

import html
from pathlib import Path

from hyphos._errors import Error
from hyphos.cosim.experiment import Table
from hyphos.cosim.results import RUNS, Results
from hyphos.cosim.sweep.axes import Axis
from hyphos.cosim.sweep.command import rows_of
from hyphos.cosim.sweep.plot import plots
from hyphos.cosim.sweep.table import table_of
from hyphos.lab import page
from hyphos.lab.page import Cell


def is_sweep(folder: Path) -> bool:
    return bool(Results(folder).about.get("name") == "sweep")


def sweep_page(folder: Path) -> str:
    results = Results(folder)
    about = results.about
    rows = rows_of(results)
    if not rows:
        raise Error("not_found", "no run is complete yet", str(folder), about["command"])
    results.write_summary(rows)
    varied = [Axis(key, tuple(values)) for key, values in about["axes"].items()]
    done = sum(min(len(row.runs), about["seeds"]) for row in rows)
    head = f"{about['about']} {about['seeds']} seeds; start {about['begun']}"
    head += "" if done >= about["runs"] else f"; {done} of {about['runs']} runs so far"
    files = ["summary.csv", "summary.json", "runs.csv", RUNS]
    parts = [
        page.paragraph(head, dim=True),
        *(page.figure(plot) for plot in plots(varied, about["metrics"], rows)),
        page.section("Results", _table(table_of(varied, about["metrics"], rows, about["seeds"]))),
        page.section("Machine", page.machine_table(about["machine"])),
        page.section("Command", _code(about["command"])),
        page.section("Scenario", _code(about["scenario_text"])),
        page.section("Data", page.attached({name: (folder / name).read_bytes() for name in files})),
    ]
    return page.page(f"sweep of {Path(about['scenario']).name}", parts)


def _table(one: Table) -> str:
    lines = [[Cell(cell.text, cell.small, span=cell.span) for cell in line] for line in one.lines]
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in one.notes)
    return page.table(one.heads, lines, left=one.left, name=one.name) + f"<ul>{notes}</ul>"


def _code(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"
