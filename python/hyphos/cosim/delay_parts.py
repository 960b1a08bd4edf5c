"""The parts of delays by equation 2 of the paper, as stacked bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hyphos.cosim.experiment import Experiment
from hyphos.cosim.experiments.say import plain
from hyphos.cosim.results import Results, Row
from hyphos.cosim.runs import DELAY_PARTS
from hyphos.lab.plots import COLOURS, STYLE, Plot, facets, label_rows, legend_below

_WORDS = "Processing, queueing, retransmission, transmission and propagation add up to the delay."


def _stack(ax: Axes, bars: Sequence[Mapping[str, float]]) -> None:
    bottom = [0.0] * len(bars)
    for i, part in enumerate(DELAY_PARTS):
        heights = [0.0 if math.isnan(bar[part]) else bar[part] for bar in bars]
        ax.bar(range(len(bars)), heights, bottom=bottom, color=COLOURS[i], label=part, width=0.7)
        bottom = [a + b for a, b in zip(bottom, heights, strict=True)]


def of_run(told: dict[str, Any]) -> Plot | None:
    """One bar for each flow of a run. None if the network reports no parts."""
    flows = [one for one in told["flows"] if one["delay_parts_ms"]["processing"] is not None]
    if not flows:
        return None
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(max(4.0, 1.5 + 0.9 * len(flows)), 3.4), layout="constrained")
        ax = figure.subplots()
    _stack(ax, [one["delay_parts_ms"] for one in flows])
    ax.set_xticks(range(len(flows)), [one["name"] for one in flows])
    ax.set_ylabel("mean delay (ms)")
    legend_below(figure, *ax.get_legend_handles_labels())
    return Plot("delay_parts", f"The parts of the mean delay of each flow. {_WORDS}", figure)


def of_experiment(wanted: Experiment, results: Results) -> Plot | None:
    """One panel for each combination, and one bar for each distance. The mean over seeds."""
    rows = [row for row in results.rows() if "distance_m" in row.parameters]
    rows = [row for row in rows if row.values(f"{DELAY_PARTS[0]}_ms")]
    if not rows:
        return None
    groups: dict[str, list[Row]] = {}
    for row in rows:
        name = ", ".join(str(v) for k, v in row.parameters.items() if k != "distance_m")
        groups.setdefault(name, []).append(row)
    with facets(list(groups)) as (figure, axes):
        for ax, group in zip(axes, groups.values(), strict=False):
            means = [{p: row.estimate(f"{p}_ms").value for p in DELAY_PARTS} for row in group]
            # Delays differ by a factor of ten thousand, so the bars show shares.
            sums = [max(1e-12, math.fsum(bar.values())) for bar in means]
            shares = zip(means, sums, strict=True)
            _stack(ax, [{p: 100 * v / whole for p, v in bar.items()} for bar, whole in shares])
            for x, whole in enumerate(sums):
                ax.text(x, 101, f"{plain(whole)} ms", ha="center", va="bottom", fontsize=6)
            ax.set_xticks(range(len(group)), [f"{row.parameters['distance_m']:g}" for row in group])
            ax.set_xlabel("distance (m)")
        axes[0].set_ylim(0, 112)
        label_rows(axes, "share of the mean delay (%)")
    return Plot("delay_parts", f"The parts of the mean delay ({wanted.name}). {_WORDS}", figure)
