"""Pictures of a sweep, by matplotlib."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from hyphos.cosim.results import Row
from hyphos.cosim.sweep.axes import Axis, number, plain
from hyphos.cosim.sweep.metrics import title
from hyphos.lab.plots import COLOURS, MARKS, MAX_FACETS, Plot, facets, label_rows

_LEAST_GAP = 0.08  # of the axis, between two labels
_APART = 0.012  # of the axis, between the lines, so that equal lines remain distinguishable


def plots(varied: Sequence[Axis], shown: Sequence[str], rows: Sequence[Row]) -> list[Plot]:
    """A picture for each metric. The first key with several numbers is the horizontal axis, the
    next key with several values has a line for each, and panels show the others.
    """
    across = _across(varied)
    others = [axis for axis in varied if axis is not across]
    by_line = next((axis for axis in others if len(axis.values) > 1), None)
    panels = [axis for axis in others if axis is not by_line]
    made = []
    for metric in shown:
        groups: dict[str, list[Row]] = {}
        for row in rows:
            name = ", ".join(f"{axis.key} {row.parameters[axis.key]}" for axis in panels)
            groups.setdefault(name, []).append(row)
        names = list(groups)
        for page, first in enumerate(range(0, len(names), MAX_FACETS), 1):
            some = {name: groups[name] for name in names[first : first + MAX_FACETS]}
            suffix = f"_{page}" if page > 1 else ""
            made.append(_plot(across, by_line, metric, some, suffix))
    return made


def _across(varied: Sequence[Axis]) -> Axis:
    several = [axis for axis in varied if len(axis.values) > 1]
    return next((axis for axis in several if axis.numeric), (several or list(varied))[0])


def _plot(
    across: Axis, by_line: Axis | None, metric: str, groups: Mapping[str, list[Row]], suffix: str
) -> Plot:
    with facets(list(groups)) as (figure, panels):
        for ax, rows in zip(panels, groups.values(), strict=False):
            lines = _lines(by_line, rows)
            for i, (text, mine) in enumerate(lines.items()):
                _line(ax, across, mine, metric, text, i, len(lines))
            ax.set_xlabel(across.key)
            _ticks(ax, across)
        if metric.endswith("loss_percent"):
            panels[0].set_ylim(-5, 105)
        elif not any(
            value < 0 for rows in groups.values() for row in rows for value in row.values(metric)
        ):
            panels[0].set_ylim(bottom=0)
        label_rows(panels, title(metric))
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", f"{metric}_by_{across.key}") + suffix
    text = f"{title(metric)} by {across.key}: means over seeds, intervals of 95 %."
    return Plot(name, text[0].upper() + text[1:], figure)


def _ticks(ax: Axes, across: Axis) -> None:
    """Ticks at the values, if their labels have room."""
    if not across.numeric:
        ax.set_xticks(range(len(across.values)), list(across.values), rotation=20)
        return
    places = sorted(float(value) for value in across.values)
    gaps = [b - a for a, b in itertools.pairwise(places)]
    if gaps and min(gaps) >= _LEAST_GAP * (places[-1] - places[0]):
        ax.set_xticks(places, sorted(across.values, key=float))


def _lines(by_line: Axis | None, rows: Sequence[Row]) -> dict[str, list[Row]]:
    if by_line is None:
        return {"": list(rows)}
    found: dict[str, list[Row]] = {}
    for value in by_line.values:
        mine = [row for row in rows if row.parameters[by_line.key] == plain(value)]
        if mine:
            found[f"{by_line.key} {value}"] = mine
    return found


def _line(
    ax: Axes, across: Axis, rows: Sequence[Row], metric: str, text: str, i: int, count: int
) -> None:
    found = [(_place(across, row), row.estimate(metric)) for row in rows]
    found = sorted((f for f in found if not math.isnan(f[1].value)), key=lambda f: f[0])
    if not found:
        return
    ends = [number(value) or 0.0 for value in across.values]
    width = max(ends) - min(ends) if across.numeric else len(across.values) - 1
    apart = (i - (count - 1) / 2) * _APART * width
    bars = [
        [0.0 if math.isnan(y.low) else max(0.0, y.value - y.low) for _, y in found],
        [0.0 if math.isnan(y.high) else max(0.0, y.high - y.value) for _, y in found],
    ]
    ax.errorbar(
        [x + apart for x, _ in found],
        [y.value for _, y in found],
        bars,
        label=text or None,
        color=COLOURS[i % len(COLOURS)],
        marker=MARKS[(i + i // len(COLOURS)) % len(MARKS)],
        markersize=4,
        linewidth=1.2,
        capsize=2,
    )


def _place(across: Axis, row: Row) -> float:
    value = row.parameters[across.key]
    if across.numeric:
        return float(value)
    return float([plain(text) for text in across.values].index(value))
