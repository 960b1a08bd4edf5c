"""Pictures of a profile, by matplotlib: stacked layers, and how messages flowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from hyphos._errors import Error
from hyphos.lab import page as pages
from hyphos.lab.case import size_label
from hyphos.lab.plots import STYLE, Plot
from hyphos.profile.layers import COLOURS, LAYERS, PAPER_NAMES
from hyphos.tools.observe import duration

MAX_BARS = 16


def stacked_bars(
    names: Sequence[str], rows: npt.NDArray[np.float64], name: str, caption: str
) -> Plot:
    """A bar of layers for each name; `rows`: names × layers, in ns."""
    used = [i for i in range(rows.shape[1]) if rows[:, i].max(initial=0.0) > 0]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 0.55 * len(names) + 1.5), layout="constrained")
        ax = figure.subplots()
        left = np.zeros(len(names))
        for i in used:
            ax.barh(range(len(names)), rows[:, i] / 1e3, left=left, color=COLOURS[i], height=0.4)
            left += rows[:, i] / 1e3
        # Names of paths are long: each stands above its bar.
        for row, text in enumerate(names):
            ax.text(0, row - 0.27, text, fontsize=8, va="bottom", clip_on=False, in_layout=False)
        ax.set_yticks([])
        ax.set_ylim(len(names) - 0.5, -0.8)
        ax.set_xlabel("µs")
        _legend(figure, used)
    return Plot(name, caption, figure)


def _legend(figure: Figure, used: Sequence[int]) -> None:
    handles = [Patch(color=COLOURS[i], label=LAYERS[i]) for i in used]
    figure.legend(handles=handles, loc="outside lower center", ncols=8)


def plots(told: Mapping[str, Any]) -> list[Plot]:
    """Of a profile as `--json` has it."""
    made = []
    channels = told["channels"][:MAX_BARS]
    if channels:
        made.append(
            stacked_bars(
                [
                    f"{', '.join(c['publishers'])} ─{c['channel']}→ {c['subscriber']}"
                    for c in channels
                ],
                np.array([[c["layers"][n]["mean_ns"] for n in LAYERS[:7]] for c in channels]),
                "channels",
                "Mean time of the layers of each channel, publish() to the end of the callback.",
            )
        )
    for name, inferred in (("paths", False), ("inferred", True)):
        paths = [path for path in told["paths"] if path["inferred"] == inferred][:MAX_BARS]
        if not paths:
            continue
        words = "inferred path, through nodes with timers" if inferred else "path"
        made.append(
            stacked_bars(
                [p["path"] for p in paths],
                np.array(
                    [[sum(h["mean_ns"][n] for h in p["hops"]) for n in LAYERS] for p in paths]
                ),
                name,
                f"Mean time of the layers of each {words}, over all its hops.",
            )
        )
    if told["paths"]:
        path = told["paths"][0]
        caption = f"How the median and the p95 message went along {path['path']}; ▾ publishes."
        made.append(flow(told["messages"], "flow", caption))
    return made


def flow(messages: Mapping[str, Any], name: str, caption: str) -> Plot:
    """Single messages over time: a lane for each node that they came to."""
    lanes = max(len(one["steps"]) for one in messages.values()) + 1
    with mpl.rc_context(STYLE):
        height = (0.45 * lanes + 0.8) * len(messages)
        figure = Figure(figsize=(9, height + 0.4), layout="constrained")
        axes = figure.subplots(len(messages), 1, squeeze=False)
        for ax, (title, one) in zip(axes.flat, messages.items(), strict=True):
            _lanes(ax, one["steps"], [one["source"], *(step["node"] for step in one["steps"])])
            ax.set_title(f"{title}: {duration(one['total_ns'])}", fontsize=9, loc="left")
        axes[-1][0].set_xlabel("µs since the first publish")
        _legend(figure, range(len(LAYERS)))
    return Plot(name, caption, figure)


def _lanes(ax: Axes, steps: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    for lane, step in enumerate(steps, 1):
        at = step["publish_ns"] / 1e3
        # From the lane of the publisher to that of the receiver.
        ax.plot([at, at], [lane - 1, lane], color="#777777", linewidth=0.8, zorder=1)
        ax.plot(
            [at], [lane - 1], marker="v", color="#000000", markersize=4, zorder=3, clip_on=False
        )
        for i, layer in enumerate(LAYERS):
            ns = step["parts_ns"][layer]
            ax.barh(lane, ns / 1e3, left=at, color=COLOURS[i], height=0.6, zorder=2)
            at += ns / 1e3
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)


def stored_plots(told: Mapping[str, Any]) -> list[Plot]:
    """Of what `hyphos lab profile --json` has printed: of a graph, or of an experiment."""
    if "cases" not in told:
        return plots(told)
    made = [experiment_plot(told["cases"], told["experiment"], told["peer"])]
    slowest = max(told["cases"], key=lambda one: one["end_to_end"]["p50_ns"])
    caption = (
        f"How the median and the p95 message of {size_label(slowest['size'])} went along "
        f"{slowest['path']}; ▾ publishes. From top to bottom the processes, from left to right the "
        "time; a bar's colours are the layers that the message passed on its way to that process."
    )
    return [*made, flow(slowest["messages"], "flow", caption)]


def stored_summary(told: Mapping[str, Any]) -> str:
    """What was profiled, in words."""
    if "cases" in told:
        sizes = ", ".join(size_label(one["size"]) for one in told["cases"])
        return (
            f"Runs of their own, made by hyphos lab profile: {told['experiment']} with "
            f"{told['peer']}, {sizes}. Layers are the stages of a message from publish() to "
            "its callback; encode and hand are the publisher's, transport lies between "
            "the processes, deliver, queue and decode are the subscriber's, callback "
            "is user code. They add up to its latency without a gap."
        )
    return (
        f"{told['receptions']:,} callbacks in {told['seconds']:.1f} s; the layers of each message "
        f"add up to its time within {told['worst_sum_error']:.2%}."
    )


def write_pictures(path: Path, told: Mapping[str, Any]) -> list[Path]:
    """The first as `path`, each further one as `path` with its name added: SVG, or PNG if `path`
    ends so."""
    made = stored_plots(told)
    if not made:
        raise Error("not_found", "no message came: there is nothing to draw", str(path))
    written = []
    for i, plot in enumerate(made):
        target = path if i == 0 else path.with_stem(f"{path.stem}-{plot.name}")
        try:
            if path.suffix == ".png":
                plot.figure.savefig(target, dpi=160)
            else:
                pages.write(target, plot.svg())
        except OSError as error:
            raise Error("io", f"cannot be written: {error.strerror}", str(target)) from None
        written.append(target)
    return written


def experiment_plot(done: Sequence[Mapping[str, Any]], name: str, peer: str) -> Plot:
    """Fig. 6 of Kronauer et al.: of each size the layers of the median and of the p95 messages."""
    bars = [(one, layers) for one in done for layers in one["layers_ns"].items()]
    names = [f"{size_label(one['size'])}, {percentile}" for one, (percentile, _) in bars]
    rows = np.array([[layers[layer] for layer in LAYERS] for _, (_, layers) in bars])
    used = [i for i in range(rows.shape[1]) if rows[:, i].max() > 0]
    whole = rows.sum(axis=1)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 0.42 * len(bars) + 1.5), layout="constrained")
        for ax, scale, unit in zip(
            figure.subplots(1, 2, sharey=True), (1e3, whole / 100), ("µs", "%"), strict=True
        ):
            left = np.zeros(len(bars))
            for i in used:
                width = rows[:, i] / scale
                ax.barh(range(len(bars)), width, left=left, color=COLOURS[i], height=0.7)
                left += width
            ax.set_yticks(range(len(bars)), names)
            ax.set_xlabel(unit)
        ax.invert_yaxis()
        _legend(figure, used)
    rates = ", ".join(dict.fromkeys(f"{one['rate_hz']:g} Hz" for one in done))
    caption = (
        f"{name}, {peer}: layers from the first publish() to the last callback over "
        f"{len(next(iter(done[0]['messages'].values()))['steps'])} hops at {rates}; mean of the "
        "messages within 1 % of each percentile. As Fig. 6 of Kronauer et al., whose names are: "
        + ", ".join(f"{LAYERS[i]} = {PAPER_NAMES[LAYERS[i]]}" for i in used)
        + "."
    )
    return Plot("layers_by_size", caption, figure)
