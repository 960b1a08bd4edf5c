"""hyphos cosim sweep"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hyphos._errors import Error
from hyphos.cosim.cell import Parameters, key_of
from hyphos.cosim.measure import Task, TimeLeft, measure, owned
from hyphos.cosim.results import RUNS, Results, Row, Run, write_whole
from hyphos.cosim.runs import Native, Ran
from hyphos.cosim.sweep import axes, metrics
from hyphos.cosim.sweep.axes import Axis
from hyphos.cosim.sweep.table import table_of
from hyphos.lab.machine import describe_machine
from hyphos.tools.console import console, say, table

STOPPED = 130
_ABOUT = "experiment.json"
_FILES = (RUNS, _ABOUT, "summary.json", "summary.csv", "runs.csv", "report.html")
_MOST_LINES = 200  # of the table on a terminal
_MOST_ERRORS = 5  # shown
_ALL_FAIL = 3  # failed runs after which a sweep without any other run ends


@dataclass(frozen=True)
class Options:
    vary: tuple[str, ...]
    settings: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    seeds: int = 5
    jobs: int = 1
    output: Path | None = None
    overwrite: bool = False
    quiet: bool = False


@dataclass(frozen=True)
class Varied:
    """One combination of values."""

    values: dict[str, str]
    scenario: str  # text
    settings: tuple[str, ...]  # of every run

    @property
    def parameters(self) -> Parameters:
        return {key: axes.plain(value) for key, value in self.values.items()}

    @property
    def key(self) -> str:
        return key_of(self.parameters)

    @property
    def text(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.values.items())

    def words(self) -> list[str]:
        return [*self.settings, *(f"{key}={value}" for key, value in self.values.items())]

    def digest(self) -> str:
        text = "\n".join((self.scenario, *self.settings))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Ended:
    """A run that ended by itself."""

    ran: Ran | None  # None: it failed
    failure: str = ""


def sweep(scenario: Path, options: Options) -> int:
    """Runs the combinations that are not in the folder yet, and shows the results. Returns 0, 1 if
    runs failed, or 130 if it was stopped before its end.
    """
    varied = axes.read(options.vary)
    text = _text(scenario)
    cells = [Varied(values, text, options.settings) for values in axes.combinations(varied)]
    # Every mistake in a key or a value shows here, before the first run.
    lines = "".join("\t".join(f"{k}={v}" for k, v in cell.values.items()) + "\n" for cell in cells)
    names = Native().check(scenario, options.settings, lines)
    shown = metrics.choose(options.metrics, names["flows"])
    folder = options.output or Path("out/cosim") / f"sweep-{scenario.stem}"
    failures: list[str] = []
    with owned(folder) as scratch:
        if options.overwrite:
            _clear(folder)
        results = _open(folder, scenario, varied, shown, cells, options)
        whole = _run_all(results, scenario, cells, options, Native(scratch), failures)
        rows = rows_of(results)
        results.write_summary(rows)
    pictures = _draw(folder, varied, shown, rows)
    _show(results, shown, varied, rows)
    console().print(
        f"results: {folder} (summary.csv, summary.json, runs.csv{pictures}); for a page run: "
        f"hyphos cosim report {folder}",
        markup=False,
        soft_wrap=True,
    )
    return _end(whole, failures)


def rows_of(results: Results) -> list[Row]:
    """The rows of the combinations of the latest command. A folder may have more."""
    wanted = set(results.about["cells"])
    return [row for row in results.rows() if key_of(row.parameters) in wanted]


def _text(scenario: Path) -> str:
    try:
        return scenario.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Error("io", f"the scenario cannot be read: {error}", str(scenario)) from None


def _clear(folder: Path) -> None:
    """Removes the files of an earlier sweep, and no other file."""
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)
    for picture in folder.glob("*_by_*.svg"):
        picture.unlink()
    shutil.rmtree(folder / "shown", ignore_errors=True)


def _open(
    folder: Path,
    scenario: Path,
    varied: Sequence[Axis],
    shown: Sequence[str],
    cells: Sequence[Varied],
    options: Options,
) -> Results:
    about = {
        "name": "sweep",
        "about": f"{scenario.name}: {', '.join(axis.key for axis in varied)} varied.",
        "scenario": str(scenario.resolve()),
        "scenario_text": cells[0].scenario,
        "settings": list(options.settings),
        "axes": {axis.key: list(axis.values) for axis in varied},
        "metrics": list(shown),
        "seeds": options.seeds,
        "runs": len(cells) * options.seeds,
        "cells": [cell.key for cell in cells],
        "command": "hyphos " + " ".join(sys.argv[1:]),
        "machine": describe_machine(),
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if (folder / RUNS).exists():
        before = Results(folder).about
        if before["name"] != "sweep" or before["scenario"] != about["scenario"]:
            raise Error(
                "already_exists",
                f"the folder has results of {before.get('scenario', before['name'])}",
                str(folder),
                "choose another folder with -o, or start over with --overwrite",
            )
        about["begun"] = before["begun"]
    write_whole(folder / _ABOUT, json.dumps(about, indent=1) + "\n")
    return Results(folder)


def _run_all(
    results: Results,
    scenario: Path,
    cells: Sequence[Varied],
    options: Options,
    native: Native,
    failures: list[str],
) -> bool:
    def work(item: tuple[Varied, int]) -> Ended | None:
        cell, seed = item
        try:
            ran = native.run(scenario, seed, settings=cell.words())
        except Error as error:
            return Ended(None, error.message)
        return None if ran is None else Ended(ran)

    def done(item: tuple[Varied, int], ended: Ended) -> float:
        cell, seed = item
        ran = ended.ran
        if ran is None:  # not recorded, so the next command repeats it
            failures.append(f"{cell.text}, seed {seed}: {ended.failure}")
            if not results.runs and len(failures) >= _ALL_FAIL:
                native.stop()
            return 0.0
        results.add(_run_of(cell, seed, ran))
        return ran.seconds

    left = TimeLeft(options.jobs)
    for run in results.runs:
        left.add(key_of(run.parameters), run.seconds)
    tasks = [
        Task((cell, seed), cell.key, f"{cell.text}, seed {seed}")
        for cell, seed in results.missing(cells, options.seeds)
    ]
    return measure(tasks, native, work, done, left, options.quiet)


def _run_of(cell: Varied, seed: int, ran: Ran) -> Run:
    return Run(
        dict(cell.parameters),
        seed,
        cell.digest(),
        metrics.of(ran.told) if ran.told else None,
        ran.failure,
        ran.told["trace"]["hash"] if ran.told else "",
        datetime.now(UTC).isoformat(timespec="seconds"),
        ran.seconds,
    )


def _draw(folder: Path, varied: Sequence[Axis], shown: Sequence[str], rows: Sequence[Row]) -> str:
    """Writes the pictures. Returns their names for the last line."""
    try:
        from hyphos.cosim.sweep.plot import plots  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        if not (problem.name or "").startswith("matplotlib"):
            raise
        console(stderr=True).print("no pictures: pip install 'hyphos[lab]' adds matplotlib")
        return ""
    made = [plot.save(folder, "svg").name for plot in plots(varied, shown, rows)]
    return "".join(f", {name}" for name in made)


def _show(
    results: Results, shown: Sequence[str], varied: Sequence[Axis], rows: Sequence[Row]
) -> None:
    one = table_of(varied, shown, rows[:_MOST_LINES], results.about["seeds"])
    made = table(one.title, one.heads, one.heads[one.left :])
    for line in one.lines:
        made.add_row(
            *(f"{cell.text} [dim]{cell.small}[/dim]" if cell.small else cell.text for cell in line)
        )
    console().print(made)
    for note in one.notes:
        say(console(), f"  {note}")
    if len(rows) > _MOST_LINES:
        say(console(), f"  {len(rows) - _MOST_LINES} more rows are in summary.csv")


def _end(whole: bool, failures: Sequence[str]) -> int:
    out = console(stderr=True)
    for failure in failures[:_MOST_ERRORS]:
        say(out, f"failed: {failure}")
    if len(failures) > _MOST_ERRORS:
        say(out, f"failed: {len(failures) - _MOST_ERRORS} more runs")
    if failures:
        say(out, "repeat the command to repeat the failed runs")
        return 1
    if not whole:
        say(out, "stopped before the end: repeat the command to continue")
        return STOPPED
    return 0
