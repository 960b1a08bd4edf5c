"""Plots of the layers of an experiment's cases, from the format of `--json`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hyphos.lab.plots import SIDE_CHARACTERS, STYLE, Plot, wrap_text
from hyphos.lab.profile.draw_parts import flow, legend
from hyphos.lab.profile.layers import COLOURS, LAYERS, PAPER_NAMES

MAX_CASES = 8  # per picture, more cases go to further pictures
HEIGHT = 0.7  # height of a bar

Bounds = tuple[float, float, float]  # a figure and its interval, NaN if there is none


def case_plots(told: Mapping[str, Any]) -> list[Plot]:
    cases = told["cases"]
    parts = [cases[i : i + MAX_CASES] for i in range(0, len(cases), MAX_CASES)]
    made = [_layers(told, part, number, len(parts)) for number, part in enumerate(parts, 1)]
    slowest = max(cases, key=lambda one: one["end_to_end"]["p50_ns"])
    caption = (
        f"The median and the p95 message of {slowest['case']} along {slowest['path']}. ▾ marks a "
        "publish(). The processes are from top to bottom, the time from left to right. The colours "
        "of a bar are the layers of the message on its path to that process."
    )
    if len(slowest["runs"]) > 1:
        caption += f" Shown is run {slowest['shown_repeat'] + 1}, the median one."
    return [*made, flow(slowest["messages"], "flow", caption)]


def case_summary(told: Mapping[str, Any]) -> str:
    """A summary of the profile in words."""
    runs = sum(len(one["runs"]) for one in told["cases"])
    disturbed = sum(one["disturbed"] for one in told["cases"])
    failed = sum(len(one["failures"]) for one in told["cases"])
    return (
        f"Separate runs of hyphos lab profile: {told['experiment']} with {told['peer']}, "
        f"{', '.join(one['case'] for one in told['cases'])}. {runs} runs, of which "
        f"{disturbed} were disturbed" + (f", besides {failed} that failed" if failed else "") + ". "
        "Layers are the stages of a message from publish() to its callback. encode and hand belong "
        "to the publisher. transport is between the processes. deliver, queue and decode belong to "
        "the subscriber. callback is user code. The layers add up to the latency without a gap."
    )


def _layers(told: Mapping[str, Any], cases: Sequence[Any], number: int, count: int) -> Plot:
    """Fig. 6 of Kronauer et al.: the layers of the median and of the p95 messages of each case."""
    bars = [(one, percentile) for one in cases for percentile in one["layers_ns"]]
    used = [i for i, n in enumerate(LAYERS) if any(one["layers_ns"][p][n] > 0 for one, p in bars)]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 0.42 * len(bars) + 1.5), layout="constrained")
        durations, shares = figure.subplots(1, 2, sharey=True)
        for row, (one, percentile) in enumerate(bars):
            _bar(durations, row, _durations_us(one, percentile, used), used)
            _whisker(durations, row + HEIGHT / 2, _whole_us(one, percentile), 2.0)
            _bar(shares, row, _shares(one, percentile, used), used)
        names = [wrap_text(f"{one['case']}, {p}", SIDE_CHARACTERS) for one, p in bars]
        durations.set_yticks(range(len(bars)), names)
        durations.set_xlabel("µs")
        shares.set_xlabel("%")
        durations.invert_yaxis()
        legend(figure, used)
    page = f" ({number} of {count})" if count > 1 else ""
    name = "layers_by_size" + (f"_{number}" if number > 1 else "")
    return Plot(name, _caption(told, cases, used) + page, figure)


def _caption(told: Mapping[str, Any], cases: Sequence[Any], used: Sequence[int]) -> str:
    hops = len(next(iter(cases[0]["messages"].values()))["steps"])
    return (
        f"{told['experiment']}, {told['peer']}: layers from the first publish() to the last "
        f"callback over {hops} hops. Mean of the messages within 1 % of each percentile, median of "
        "the runs. Thin lines are intervals of 95 % of the layer that ends there. The thick line "
        "is that of the sum. As in Fig. 6 of Kronauer et al., with its names: "
        + ", ".join(f"{LAYERS[i]} = {PAPER_NAMES[LAYERS[i]]}" for i in used)
        + "."
    )


def _bounds(values: Sequence[float | None], scale: float) -> Bounds:
    value, low, high = (math.nan if x is None else x / scale for x in values)
    return value, low, high


def _durations_us(one: Any, percentile: str, used: Sequence[int]) -> list[Bounds]:
    values, ends = one["layers_ns"][percentile], one["layers_interval_ns"][percentile]
    return [_bounds([values[LAYERS[i]], *ends[LAYERS[i]]], 1e3) for i in used]


def _whole_us(one: Any, percentile: str) -> Bounds:
    return _bounds(one["whole_ns"][percentile], 1e3)


def _shares(one: Any, percentile: str, used: Sequence[int]) -> list[Bounds]:
    return [_bounds(one["shares"][percentile][LAYERS[i]], 0.01) for i in used]


def _bar(ax: Axes, row: int, layers: Sequence[Bounds], used: Sequence[int]) -> None:
    """Stacks the layers. Draws the interval of each around its right end, at different heights, so
    that short layers do not hide the intervals of their neighbours."""
    left = 0.0
    for level, (i, (value, low, high)) in enumerate(zip(used, layers, strict=True)):
        if math.isnan(value):
            continue
        ax.barh(row, value, left=left, color=COLOURS[i], height=HEIGHT)
        y = row + HEIGHT * ((level + 0.5) / len(used) - 0.5)
        _whisker(ax, y, (left + value, left + low, left + high), 0.8)
        left += value


def _whisker(ax: Axes, y: float, bounds: Bounds, width: float) -> None:
    _value, low, high = bounds
    if not math.isnan(low):
        ax.plot([low, high], [y, y], color="#000000", linewidth=width, solid_capstyle="butt")
