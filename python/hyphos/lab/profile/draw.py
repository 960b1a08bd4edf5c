"""Plots of a profile, by matplotlib: stacked layers, and the flow of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from hyphos._errors import Error
from hyphos.lab import page as pages
from hyphos.lab.plots import STYLE, Plot, wrap_text
from hyphos.lab.profile.draw_cases import case_plots, case_summary
from hyphos.lab.profile.draw_parts import flow, legend
from hyphos.lab.profile.layers import COLOURS, LAYERS
from hyphos.lab.profile.show import cost_line

MAX_BARS = 16
_NAME_CHARACTERS = 130  # per line above a bar


def stacked_bars(
    names: Sequence[str], rows: npt.NDArray[np.float64], name: str, caption: str
) -> Plot:
    """A bar of layers for each name. `rows` is names × layers, in ns."""
    used = [i for i in range(rows.shape[1]) if rows[:, i].max(initial=0.0) > 0]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 0.55 * len(names) + 1.5), layout="constrained")
        ax = figure.subplots()
        left = np.zeros(len(names))
        for i in used:
            ax.barh(range(len(names)), rows[:, i] / 1e3, left=left, color=COLOURS[i], height=0.4)
            left += rows[:, i] / 1e3
        # Names of paths are long, so write each above its bar.
        for row, text in enumerate(names):
            shown = wrap_text(text, _NAME_CHARACTERS)
            ax.text(0, row - 0.27, shown, fontsize=8, va="bottom", clip_on=False, in_layout=False)
        ax.set_yticks([])
        ax.set_ylim(len(names) - 0.5, -0.8)
        ax.set_xlabel("µs")
        legend(figure, used)
    return Plot(name, caption, figure)


def plots(told: Mapping[str, Any]) -> list[Plot]:
    """The plots of a profile in the format of `--json`."""
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
        caption = f"The median and the p95 message along {path['path']}. ▾ marks a publish()."
        made.append(flow(told["messages"], "flow", caption))
    return made


def stored_plots(told: Mapping[str, Any]) -> list[Plot]:
    """The plots of the output of `hyphos lab profile --json`, of a graph or of an experiment."""
    return case_plots(told) if "cases" in told else plots(told)


def stored_summary(told: Mapping[str, Any]) -> str:
    """A summary of the profile in words."""
    if "cases" in told:
        return case_summary(told)
    cost = cost_line(told["cost"]) if "cost" in told else ""
    return (
        f"{told['receptions']:,} callbacks in {told['seconds']:.1f} s. {cost[:1].upper()}{cost[1:]}"
    )


def write_pictures(path: Path, told: Mapping[str, Any]) -> list[Path]:
    """Writes the first plot as `path`, and each further one as `path` with its name added. SVG, or
    PNG if `path` ends in .png."""
    made = stored_plots(told)
    if not made:
        raise Error("not_found", "no message came, so there is nothing to draw", str(path))
    written = []
    for i, plot in enumerate(made):
        target = path if i == 0 else path.with_stem(f"{path.stem}-{plot.name}")
        try:
            if path.suffix == ".png":
                plot.figure.savefig(target, dpi=160)
            else:
                pages.write(target, plot.svg())
        except OSError as error:
            raise Error("io", f"cannot write: {error.strerror}", str(target)) from None
        written.append(target)
    return written
