"""Common parts of the plots of graphs and of experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from hyphos.lab.plots import SIDE_CHARACTERS, STYLE, Plot, legend_below, wrap_text
from hyphos.lab.profile.layers import COLOURS, LAYERS
from hyphos.observe import duration


def legend(figure: Figure, used: Sequence[int]) -> None:
    handles = [Patch(color=COLOURS[i], label=LAYERS[i]) for i in used]
    legend_below(figure, handles, [LAYERS[i] for i in used])


def flow(messages: Mapping[str, Any], name: str, caption: str) -> Plot:
    """Single messages over time, with a lane for each node on the path."""
    lanes = max(len(one["steps"]) for one in messages.values()) + 1
    with mpl.rc_context(STYLE):
        height = (0.45 * lanes + 0.8) * len(messages)
        figure = Figure(figsize=(9, height + 0.4), layout="constrained")
        axes = figure.subplots(len(messages), 1, squeeze=False)
        for ax, (title, one) in zip(axes.flat, messages.items(), strict=True):
            _lanes(ax, one["steps"], [one["source"], *(step["node"] for step in one["steps"])])
            ax.set_title(f"{title}: {duration(one['total_ns'])}", fontsize=9, loc="left")
        axes[-1][0].set_xlabel("µs since the first publish")
        legend(figure, range(len(LAYERS)))
    return Plot(name, caption, figure)


def _lanes(ax: Axes, steps: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    for lane, step in enumerate(steps, 1):
        at = step["publish_ns"] / 1e3
        # From the lane of the publisher to the lane of the receiver.
        ax.plot([at, at], [lane - 1, lane], color="#777777", linewidth=0.8, zorder=1)
        ax.plot(
            [at], [lane - 1], marker="v", color="#000000", markersize=4, zorder=3, clip_on=False
        )
        for i, layer in enumerate(LAYERS):
            ns = step["parts_ns"][layer]
            ax.barh(lane, ns / 1e3, left=at, color=COLOURS[i], height=0.6, zorder=2)
            at += ns / 1e3
    ax.set_yticks(range(len(names)), [wrap_text(name, SIDE_CHARACTERS) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
