"""A folder of an experiment: every run as recorded, the scenarios, and the summary of the runs."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hyphos._errors import Error
from hyphos.cosim.cell import Cell, Parameters, key_of
from hyphos.lab.stats import Estimate, bootstrap_mean

RUNS = "runs.jsonl"


class Keyed(Protocol):
    """One combination of parameters."""

    @property
    def key(self) -> str: ...

    def digest(self) -> str: ...


C = TypeVar("C", bound=Keyed)


@dataclass(frozen=True)
class Run:
    """One cell with one seed."""

    parameters: dict[str, str | float]
    seed: int
    digest: str  # of the scenario that was run
    figures: dict[str, float] | None  # None: the run was impossible
    failure: str = ""
    trace: str = ""  # hash of the trace
    at: str = ""
    seconds: float = 0.0  # real time of the run
    fates: str = ""  # of every copy of every packet, see runs.fates_of

    @property
    def key(self) -> tuple[str, int]:
        return key_of(self.parameters), self.seed


def _line(run: Run) -> str:
    told = asdict(run)
    if run.figures is not None:  # JSON has no NaN
        told["figures"] = {k: None if math.isnan(v) else v for k, v in run.figures.items()}
    return json.dumps(told)


def _run(line: str) -> Run:
    told = json.loads(line)
    if told["figures"] is not None:
        told["figures"] = {k: math.nan if v is None else v for k, v in told["figures"].items()}
    return Run(**told)


@dataclass
class Row:
    """All runs of one cell."""

    parameters: dict[str, str | float]
    runs: list[Run] = field(default_factory=list)
    _known: dict[str, Estimate] = field(default_factory=dict, repr=False)  # a bootstrap takes long

    @property
    def failure(self) -> str:
        return next((run.failure for run in self.runs if run.failure), "")

    def values(self, metric: str) -> list[float]:
        """The values of the runs that have this metric, by seed."""
        found = [run.figures.get(metric, math.nan) for run in self.runs if run.figures is not None]
        return [value for value in found if not math.isnan(value)]

    def by_seed(self, metric: str) -> dict[int, float]:
        return {
            run.seed: run.figures.get(metric, math.nan)
            for run in self.runs
            if run.figures is not None
        }

    def estimate(self, metric: str) -> Estimate:
        """The mean, with an interval by a bootstrap over seeds."""
        if metric not in self._known:
            self._known[metric] = bootstrap_mean(self.values(metric))
        return self._known[metric]


class Results:
    """Appends each run at once, so that a stopped experiment can continue."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: list[Run] = []
        self._rows: tuple[int, list[Row]] = (0, [])  # with the number of runs
        path = folder / RUNS
        if not path.exists():
            return
        text = path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):  # killed while writing
            os.truncate(path, len(whole))
        for number, line in enumerate(whole.decode(errors="replace").splitlines(), 1):
            try:
                self.runs.append(_run(line))
            except (ValueError, TypeError, KeyError):
                raise Error(
                    "corrupt",
                    "the line is not a run of an experiment",
                    f"{path}:{number}",
                    "--overwrite",
                ) from None

    @property
    def about(self) -> dict[str, Any]:
        try:
            told: dict[str, Any] = json.loads((self.folder / "experiment.json").read_text())
        except FileNotFoundError:
            raise Error(
                "not_found",
                "the folder has no results of an experiment",
                str(self.folder),
                "hyphos cosim experiment NAME -o FOLDER",
            ) from None
        except ValueError:
            raise Error(
                "corrupt", "the file is not an experiment", str(self.folder / "experiment.json")
            ) from None
        return told

    @property
    def whole(self) -> bool:
        """True if all requested runs are in the folder."""
        return bool(len(self.runs) == self.about["runs"])

    def add(self, run: Run) -> None:
        """Appends a run. A kill at any instant leaves whole lines and at most a part of one."""
        self.runs.append(run)
        with (self.folder / RUNS).open("a") as file:
            file.write(_line(run) + "\n")

    def missing(self, cells: Sequence[C], seeds: int) -> list[tuple[C, int]]:
        """The runs that are not in the folder yet, seed by seed, so that a stopped experiment has
        runs of every cell. Raises Error if the folder has another version of a cell.
        """
        known = {run.key: run.digest for run in self.runs}
        found = []
        for cell in cells:
            key, digest = cell.key, cell.digest()
            for seed in range(1, seeds + 1):
                if (told := known.get((key, seed))) is None:
                    found.append((cell, seed))
                elif told != digest:
                    raise Error(
                        "already_exists",
                        "the folder has results of another version of this experiment",
                        str(self.folder),
                        "--overwrite starts over",
                    )
        return sorted(found, key=lambda one: one[1])

    def keep(self, cell: Cell, told: dict[str, Any]) -> None:
        """Keeps the complete data of one run of each cell, for the pictures."""
        path = self._shown(cell.parameters)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps(told).encode(), mtime=0))

    def shown(self, parameters: Parameters) -> dict[str, Any] | None:
        path = self._shown(parameters)
        if not path.exists():
            return None
        told: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
        return told

    def _shown(self, parameters: Parameters) -> Path:
        return self.folder / "shown" / f"{Cell(parameters, {}, '').name}.json.gz"

    def rows(self) -> list[Row]:
        """The rows in the order of the experiment's cells."""
        if self._rows[0] != len(self.runs):
            self._rows = len(self.runs), self._in_order()
        return self._rows[1]

    def _in_order(self) -> list[Row]:
        rows: dict[str, Row] = {}
        for run in sorted(self.runs, key=lambda run: run.seed):
            rows.setdefault(key_of(run.parameters), Row(run.parameters)).runs.append(run)
        order: dict[str, int] = {key: i for i, key in enumerate(self.about["cells"])}
        return sorted(rows.values(), key=lambda row: order.get(key_of(row.parameters), len(order)))

    def row(self, **parameters: str | float) -> Row | None:
        """The first row with these parameters, for any value of the other parameters."""
        return next(
            (
                row
                for row in self.rows()
                if all(row.parameters.get(k) == v for k, v in parameters.items())
            ),
            None,
        )

    def write_summary(self, rows: Sequence[Row] | None = None) -> None:
        """Writes summary.json, summary.csv and runs.csv. Default: the rows of all runs."""
        rows = self.rows() if rows is None else rows
        told = [
            {
                "parameters": row.parameters,
                "runs": len(row.runs),
                "failure": row.failure,
                "metrics": {name: row.estimate(name).to_json() for name in metrics_of(rows)},
            }
            for row in rows
        ]
        write_whole(self.folder / "summary.json", json.dumps(told, indent=1) + "\n")
        lines = []
        for one, row in zip(told, rows, strict=True):
            line = {**row.parameters, "runs": one["runs"], "failure": one["failure"]}
            for name in metrics_of(rows):
                value, low, high = row.estimate(name).to_json()
                line |= {name: value, f"{name}_low": low, f"{name}_high": high}
            lines.append(line)
        _write_csv(self.folder / "summary.csv", lines)
        _write_csv(
            self.folder / "runs.csv",
            [
                {**run.parameters, "seed": run.seed, "failure": run.failure, "trace": run.trace}
                | (run.figures or {})
                for row in rows
                for run in row.runs
            ],
        )


def metrics_of(rows: Sequence[Row]) -> list[str]:
    """The metrics of all runs, in the order of their first use."""
    runs = (run.figures for row in rows for run in row.runs if run.figures)
    return list(dict.fromkeys(name for figures in runs for name in figures))


def write_whole(path: Path, text: str) -> None:
    """Replaces a file in one step, so that a kill leaves the old or the new file."""
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)


def _write_csv(path: Path, lines: list[dict[str, Any]]) -> None:
    heads = list(dict.fromkeys(name for line in lines for name in line))
    file = io.StringIO()
    writer = csv.DictWriter(file, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    write_whole(path, file.getvalue())
