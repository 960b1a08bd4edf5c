"""A result folder of `hyphos lab run`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hyphos._errors import Error
from hyphos.lab import experiment
from hyphos.lab.experiment import Experiment
from hyphos.lab.results import Results, Row


def reopen(folder: Path) -> tuple[Experiment, Results]:
    """The experiment and the runs in a result folder."""
    source = folder / "experiment.yaml"
    if not source.exists():
        raise Error(
            "not_found", "no results in this folder", str(folder), "hyphos lab run -o FOLDER"
        )
    wanted = experiment.load(str(source), full=True)
    results = Results(folder)
    # Options may have changed the cases. Only the measured ones count.
    cases = list(dict.fromkeys(run.case for run in results.runs))
    return replace(wanted, cases=cases or wanted.cases), results


def in_order(rows: list[Row], wanted: Experiment) -> list[Row]:
    """Sorts rows by the order of the cases in the experiment."""
    order = {case: i for i, case in enumerate(wanted.cases)}
    return sorted(rows, key=lambda row: order.get(row.case, len(order)))
