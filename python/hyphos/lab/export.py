"""Exports results as tables for other programs: CSV, or Parquet if pyarrow is installed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._extras import remedy
from hyphos.lab.folder import reopen
from hyphos.lab.results import HISTOGRAMS, Run, flat, summary

Line = dict[str, Any]


def export(folder: Path, output: Path, *, parquet: bool) -> list[Path]:
    """Writes `runs` and `summary` into `output`. Returns their paths. Raises Error if nothing was
    measured, or if Parquet is requested without pyarrow."""
    if parquet:
        _pyarrow()  # fail before the work
    results = reopen(folder)[1]
    if not results.runs:
        raise Error("not_found", "nothing was measured yet", str(folder), "hyphos lab run")
    tables = {
        "runs": [run_line(run, histograms=parquet) for run in results.runs],
        "summary": [flat(summary(row)) for row in results.rows()],
    }
    kind = "parquet" if parquet else "csv"
    write = _write_parquet if parquet else _write_csv
    paths = []
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name, lines in tables.items():
            paths.append(output / f"{name}.{kind}")
            write(paths[-1], lines)
    except OSError as error:
        raise Error("io", f"cannot write: {error.strerror}", str(output)) from None
    return paths


def run_line(run: Run, *, histograms: bool) -> Line:
    """A run as one line. Each histogram becomes two lists: the values in ns and their counts."""
    told = {name: value for name, value in (run.result or {}).items() if name not in HISTOGRAMS}
    case = asdict(run.case)
    line: Line = {"peer": "", "repeat": run.repeat, "at": run.at, "failure": run.failure}
    line |= {"foreign_load": run.load.foreign, "steal": run.load.steal, "speed": run.load.speed}
    line["handover"] = run.load.handover
    line |= {f"case_{name}": value for name, value in case.items()}
    line |= {name: value for name, value in told.items() if not isinstance(value, list | dict)}
    line["peer"] = run.peer
    if histograms:
        for name in HISTOGRAMS:
            found = run.histogram(name)
            line[f"{name}_values"] = found.values.tolist()
            line[f"{name}_counts"] = found.counts.tolist()
    return line


def _columns(lines: Iterable[Line]) -> list[str]:
    return list(dict.fromkeys(name for line in lines for name in line))


def _write_csv(path: Path, lines: Sequence[Line]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, _columns(lines))
        writer.writeheader()
        writer.writerows(lines)


def _write_parquet(path: Path, lines: Sequence[Line]) -> None:
    arrow, files = _pyarrow()
    columns = {name: [line.get(name) for line in lines] for name in _columns(lines)}
    files.write_table(arrow.table(columns), path, compression="zstd")


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # noqa: PLC0415
        import pyarrow.parquet  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        if problem.name != "pyarrow":
            raise
        raise Error(
            "unsupported",
            "Parquet needs pyarrow",
            advice=f"{remedy('pyarrow')}, or omit --parquet for CSV",
        ) from None
    return pyarrow, pyarrow.parquet
