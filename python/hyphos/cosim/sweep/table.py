"""The table of a sweep, for a terminal or a page."""

from __future__ import annotations

from collections.abc import Sequence

from hyphos.cosim.experiment import Figure, Table
from hyphos.cosim.experiments.say import estimate
from hyphos.cosim.results import Row
from hyphos.cosim.sweep.axes import Axis, plain
from hyphos.cosim.sweep.metrics import title


def table_of(
    varied: Sequence[Axis], shown: Sequence[str], rows: Sequence[Row], seeds: int
) -> Table:
    keys = [axis.key for axis in varied]
    texts = {axis.key: _texts(axis) for axis in varied}
    lines = []
    for row in rows:
        line = [Figure(texts[key][row.parameters[key]]) for key in keys]
        line += [estimate(row, metric) for metric in shown]
        line.append(Figure(str(len(row.runs))))
        lines.append(line)
    notes = ["Mean of all seeds, with the interval of 95 % by a bootstrap over seeds."]
    if seeds == 1:
        notes = ["One seed has no interval: --seeds 20"]
    why = dict.fromkeys(row.failure for row in rows if row.failure)
    notes += [f"cannot run: {failure}" for failure in why]
    heads = [*keys, *map(title, shown), "runs"]
    return Table("sweep", "", heads, lines, notes, left=len(keys))


def _texts(axis: Axis) -> dict[str | float, str]:
    """The text of each value as the user wrote it."""
    return {plain(value): value for value in axis.values}
