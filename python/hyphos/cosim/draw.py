"""Pictures of runs and experiments of the co-simulator, by matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from hyphos.cosim import palette
from hyphos.cosim.experiment import Experiment
from hyphos.cosim.results import Results, Row
from hyphos.lab.plots import (
    COLOURS,
    SIDE_CHARACTERS,
    STYLE,
    Plot,
    facets,
    label_rows,
    legend_below,
    plain_log,
    wrap_text,
)

TITLES = {
    "delay_sum_s": "sum of delays (s)",
    "loss_percent": "loss (%)",
    "took_ms": "file took (ms)",
    "read_delay_ms": "delay until the read (ms)",
    "delay_ms": "delay (ms)",
}
_NAME_LENGTH = 16  # of a robot, on the map
_NAMED = 20  # robots with a name beside them on a map
_SAME_PLACE = 0.04  # distance below which names would overlap, in widths of the map
_LINE_POINTS = 11  # height of a name


def _new(width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(1, columns, squeeze=False)
    return figure, list(axes.flat)


def _legend(figure: Figure, ax: Axes) -> None:
    legend_below(figure, *ax.get_legend_handles_labels())


def field_map(told: dict[str, Any], name: str = "map") -> Plot:
    """A view from above: the paths of the robots, their final positions with name and heading, and
    the obstacles with their loss."""
    figure, (ax,) = _new(7, 5.5)
    ways = told["trajectories"]
    places = [point for way in ways.values() for point in way]
    if places:  # boxes may extend far beyond the paths
        margin = 10.0
        xs, ys = [p[1] for p in places], [p[2] for p in places]
        near = _SAME_PLACE * (max(max(xs) - min(xs), max(ys) - min(ys)) + 2 * margin)
        ax.set_xlim(min(xs) - margin, max(xs) + margin)
        ax.set_ylim(min(ys) - margin, max(ys) + margin)
    for i, box in enumerate(told["boxes"]):
        low, high = box[:2], box[3:5]
        ax.add_patch(
            Rectangle(
                (low[0], low[1]),
                max(high[0] - low[0], 0.2),
                max(high[1] - low[1], 0.2),
                color="#888888",
                alpha=0.4,
                label="obstacle, with the loss of a signal" if i == 0 else None,
            )
        )
        if box[6:] and box[6] > 0:
            middle = ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2)
            ax.annotate(
                f"{box[6]:g} dB", middle, ha="center", va="center", fontsize=7, annotation_clip=True
            )
    colours = palette.robot_colours(list(ways))
    headings = told.get("headings", {})
    named: list[tuple[float, float]] = []
    for i, (robot, way) in enumerate(ways.items()):
        if not way:
            continue
        end, colour = way[-1], colours[robot]
        text = robot if i < _NAMED else None
        ax.plot([p[1] for p in way], [p[2] for p in way], color=colour, linewidth=1.4)
        # A triangle that points ahead. The heading of a robot that is not known is not drawn.
        yaw = headings.get(robot)
        mark: Any = "o" if yaw is None else (3, 0, math.degrees(yaw) - 90)
        ax.plot(end[1], end[2], linestyle="", marker=mark, markersize=9, color=colour, label=text)
        if text:
            short = text if len(text) <= _NAME_LENGTH else text[: _NAME_LENGTH - 1] + "…"
            at = (end[1], end[2])
            line = sum(math.dist(at, other) < near for other in named)
            named.append(at)
            offset = (7, 5 + _LINE_POINTS * line)
            ax.annotate(short, at, xytext=offset, textcoords="offset points")
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlabel("x (m)")
    ax.set_ylabel("y (m)")
    _legend(figure, ax)
    return Plot(
        name,
        "View from above: the paths of the robots. Triangles show the final positions and point "
        "ahead.",
        figure,
    )


def windows(series: dict[str, list[list[int]]], name: str = "windows") -> Plot:
    """Plots the length of windows over simulated time, for one run or more."""
    figure, (ax,) = _new(9, 3)
    taken = palette.places(list(series))
    for text, rows in series.items():
        colour = palette.style(taken[text])["color"]
        times = [row[0] * 1e-9 for row in rows]
        low, high = [row[3] * 1e-6 for row in rows], [row[4] * 1e-6 for row in rows]
        means = [(row[1] - row[0]) / max(row[2], 1) * 1e-6 for row in rows]
        ax.fill_between(times, low, high, step="post", color=colour, alpha=0.2, linewidth=0)
        ax.step(times, means, where="post", color=colour, linewidth=1, label=text)
    ax.set_xlabel("simulated time (s)")
    ax.set_ylabel("window (ms)")
    ax.set_yscale("log")
    plain_log(ax.yaxis)
    if len(series) > 1:
        _legend(figure, ax)
    return Plot(
        name, "Windows over time: the mean, and the range from shortest to longest.", figure
    )


def by_distance(told: dict[str, Any]) -> Plot | None:
    """Plots every copy of every packet of one run, by the distance at the send."""
    bins = told["distances"]
    if not bins:
        return None
    figure, (delay, loss) = _new(9, 3.2, 2)
    for blocked, text in [(False, "line of sight"), (True, "blocked path")]:
        mine = [one for one in bins if one["blocked"] == blocked]
        if not mine:
            continue
        style: dict[str, Any] = {**palette.style(palette.place_of(text)), "markersize": 4}
        here = [one for one in mine if one["delivered"]]
        xs = [(one["from_m"] + one["to_m"]) / 2 for one in here]
        means = [one["delay_mean_ms"] for one in here]
        bars = [
            [m - one["delay_least_ms"] for m, one in zip(means, here, strict=True)],
            [one["delay_most_ms"] - m for m, one in zip(means, here, strict=True)],
        ]
        delay.errorbar(xs, means, [[max(0.0, x) for x in bar] for bar in bars], **style, label=text)
        loss.plot(
            [(one["from_m"] + one["to_m"]) / 2 for one in mine],
            [100 * (1 - one["delivered"] / one["copies"]) for one in mine],
            label=text,
            **style,
        )
    delay.set_ylabel("delay in the network (ms)")
    if any(one["delivered"] for one in bins):
        delay.set_yscale("log")
        plain_log(delay.yaxis)
    loss.set_ylabel("loss (%)")
    loss.set_ylim(-3, 103)
    for ax in (delay, loss):
        ax.set_xlabel("distance (m)")
        # One range in both panels, also where nothing arrived.
        ax.set_xlim(0, max(one["to_m"] for one in bins))
    _legend(figure, loss)
    text = (
        "Delay in the network (mean, minimum and maximum) and loss of each packet, by the "
        "distance between the two robots at the send, in steps of 5 m."
    )
    return Plot("by_distance", text, figure)


def against_distance(wanted: Experiment, results: Results, metric: str) -> Plot | None:
    """Plots an experiment: one panel for each combination, one line for each transport or method,
    intervals of 95 %, and the figures of the paper.
    """
    rows = [row for row in results.rows() if "distance_m" in row.parameters]
    if not rows:
        return None
    others = [name for name in rows[0].parameters if name not in ("distance_m", wanted.lines_by)]
    fields: dict[tuple[str | float, ...], list[Row]] = {}
    for row in rows:
        fields.setdefault(tuple(row.parameters[name] for name in others), []).append(row)
    lines = list(dict.fromkeys(str(row.parameters[wanted.lines_by]) for row in rows))
    taken = palette.places(lines)
    with facets([", ".join(map(str, key)) for key in fields]) as (figure, axes):
        for ax, group in zip(axes, fields.values(), strict=False):
            for i, line in enumerate(lines):
                mine = [row for row in group if str(row.parameters[wanted.lines_by]) == line]
                apart = (i - (len(lines) - 1) / 2) * 0.8  # m, so that equal lines are visible
                _line(ax, mine, metric, line, taken[line], apart)
                _beside(ax, wanted, mine, metric, line, taken[line])
            ax.set_xlabel("distance (m)")
        # One range of distances, so that panels can be compared.
        ends = [float(row.parameters["distance_m"]) for row in rows]
        margin = max(1.0, 0.05 * (max(ends) - min(ends)))
        for ax in axes[: len(fields)]:
            ax.set_xlim(min(ends) - margin, max(ends) + margin)
        # The panels share this axis, and a limit fixes it. Set it after everything is drawn.
        if metric == "loss_percent":
            axes[0].set_ylim(-5, 105)
        elif _wide(rows, metric):
            for ax in axes:
                ax.set_yscale("log")
                plain_log(ax.yaxis)
        else:
            axes[0].set_ylim(bottom=0)
        label_rows(axes, TITLES.get(metric, metric))
    told = "; dashed: the paper" if any(_has_paper(wanted, row, metric) for row in rows) else ""
    text = f"{TITLES.get(metric, metric)} by distance: means over seeds, intervals of 95 %{told}."
    return Plot(f"{metric}_by_distance", text[0].upper() + text[1:], figure)


def _wide(rows: Sequence[Row], metric: str) -> bool:
    """True if the values span more than a factor of 20, too much for a linear axis."""
    values = [value for row in rows for value in row.values(metric)]
    return bool(values) and min(values) > 0 and max(values) > 20 * min(values)


def _line(ax: Axes, rows: Sequence[Row], metric: str, text: str, place: int, apart: float) -> None:
    found = [(float(row.parameters["distance_m"]), row.estimate(metric)) for row in rows]
    found = [(x, y) for x, y in found if not math.isnan(y.value)]
    if not found:
        return
    bars = [
        [0.0 if math.isnan(y.low) else max(0.0, y.value - y.low) for _, y in found],
        [0.0 if math.isnan(y.high) else max(0.0, y.high - y.value) for _, y in found],
    ]
    ax.errorbar(
        [x + apart for x, _ in found],
        [y.value for _, y in found],
        bars,
        label=text,
        markersize=4,
        linewidth=1.2,
        **palette.style(place),
    )


def _has_paper(wanted: Experiment, row: Row, metric: str) -> bool:
    return wanted.paper(row.parameters, metric) is not None


def _beside(
    ax: Axes, wanted: Experiment, rows: Sequence[Row], metric: str, text: str, place: int
) -> None:
    told = [
        (float(row.parameters["distance_m"]), value)
        for row in rows
        if (value := wanted.paper(row.parameters, metric)) is not None
    ]
    if not told:
        return
    style = {**palette.style(place, paper=True), "markersize": 5}
    ax.plot([x for x, _ in told], [y for _, y in told], label=f"{text}, paper", **style)


def profile(told: dict[str, dict[str, float]]) -> Plot:
    """Shows the real time per simulated second: one bar for each run, in milliseconds."""
    figure, (ax,) = _new(9, 0.9 + 0.32 * len(told))
    names = ("physics", "network", "wait", "codec", "programs", "engine")
    left = [0.0] * len(told)
    rows = range(len(told))
    for i, name in enumerate(names):
        values = [one.get(name, 0.0) for one in told.values()]
        ax.barh(rows, values, left=left, color=COLOURS[i], label=name)
        left = [a + b for a, b in zip(left, values, strict=True)]
    ax.set_yticks(rows, [wrap_text(text, SIDE_CHARACTERS) for text in told])
    ax.invert_yaxis()
    ax.set_xlabel("real time per simulated second (ms)")
    _legend(figure, ax)
    return Plot("profile", "The real time of the run by part.", figure)
