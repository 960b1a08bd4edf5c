"""Pictures of results, by matplotlib: as SVG in reports, or as files."""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from hyphos.lab.case import Case, label, size_label
from hyphos.lab.results import Row
from hyphos.lab.show import TITLES

# Okabe and Ito's colours, which everybody can tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
AXES = {"size": "message size", "rate_hz": "rate (Hz)"}
MAX_FACETS = 12
_LINEAR = ("processes",)
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "hyphos",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Plot:
    """A picture, with what it shows in words."""

    name: str  # of a file, without its ending
    caption: str
    figure: Figure

    def svg(self) -> str:
        """For a page: without a background, and black is the colour of the page's text. Ids are of
        this picture only, since a page has many."""
        out = io.StringIO()
        with mpl.rc_context(STYLE):
            self.figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        text = out.getvalue()
        text = text[text.index("<svg") :].replace("#000000", "currentColor")
        text = re.sub(r'( id="|href="#|\(#)', rf"\g<1>{self.name}-", text)
        return text.replace("<svg", f'<svg role="img" aria-label="{html.escape(self.caption)}"', 1)

    def save(self, folder: Path, kind: str) -> Path:
        path = folder / f"{self.name}.{kind}"
        with mpl.rc_context(STYLE):
            self.figure.savefig(path, dpi=160)
        return path


def styles(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    peers = list(dict.fromkeys(row.peer for row in rows))
    return {
        peer: {"color": COLOURS[i % len(COLOURS)], "marker": MARKS[i % len(MARKS)]}
        for i, peer in enumerate(peers)
    }


@contextmanager
def facets(names: Sequence[str], height: float = 2.6) -> Iterator[tuple[Figure, list[Axes]]]:
    columns = min(3, len(names))
    lines = math.ceil(len(names) / columns)
    with mpl.rc_context(STYLE):
        spaced = ConstrainedLayoutEngine(h_pad=0.12)  # inches: titles clear of the labels above
        figure = Figure(figsize=(max(6, 3.6 * columns), height * lines + 0.5), layout=spaced)
        grid = figure.subplots(lines, columns, squeeze=False, sharey=True)
        axes: list[Axes] = list(grid.flat)
        for spare in axes[len(names) :]:
            spare.set_axis_off()
        for ax, name in zip(axes, names, strict=False):
            ax.set_title(name, fontsize=9)
        yield figure, axes
        handles: dict[str, Any] = {}
        for ax in axes:
            for handle, text in zip(*ax.get_legend_handles_labels(), strict=True):
                handles.setdefault(text, handle)
        if handles:
            ncols = max(3, 2 * columns)
            figure.legend(handles.values(), handles, loc="outside lower center", ncols=ncols)


def plain_log(axis: Axis) -> None:
    """A scale of decades, marked 1, 10, 100 … instead of powers. The finer marks have no text,
    which would overlap; a scale of less than two decades has it at 2 and 5."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
    low, high = sorted(axis.get_view_interval())
    if low > 0 and high / low < 100:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))


def label_rows(axes: Sequence[Axes], text: str) -> None:
    """At the left of each row of fields."""
    for ax in axes:
        if ax.get_subplotspec().is_first_col():  # type: ignore[union-attr]
            ax.set_ylabel(text)


def title(case: Case, names: Sequence[str]) -> str:
    return ", ".join(label(name, getattr(case, name)) for name in names) or case.workload


def against(rows: Sequence[Row], varied: Sequence[str], name: str, metric: str) -> Plot:
    """A metric by one parameter: a line for each peer, a field for each value of the others. The
    line is the median and, dashed, the 95th percentile; bars are the intervals of 95 %."""
    others = [other for other in varied if other != name]
    # The length of a run is no property of what is measured.
    groups: dict[Case, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.case.without(name, "seconds"), []).append(row)
    shown = list(groups.items())[:MAX_FACETS]
    looks = styles(rows)
    metrics = [(metric, "-")]
    if metric == "p50_us":
        metrics.append(("p95_us", "--"))
    with facets([title(case, others) for case, _ in shown]) as (figure, axes):
        for ax, (_case, group) in zip(axes, shown, strict=False):
            for peer, style in looks.items():
                mine = sorted(
                    (row for row in group if row.peer == peer),
                    key=lambda row: float(getattr(row.case, name)),
                )
                for one, dash in metrics:
                    _line(ax, name, mine, one, {**style, "linestyle": dash}, peer)
            ax.set_xlabel(AXES.get(name, name))
            ax.set_xscale("linear" if name in _LINEAR else "log", **_base(name))
            ax.set_yscale("log")
            if name not in (*_LINEAR, "size"):
                plain_log(ax.xaxis)
            if name == "size":
                sizes = sorted({row.case.size for row in group})
                few = sizes[:: math.ceil(len(sizes) / 7)]
                ax.set_xticks(few, [size_label(size) for size in few], minor=False)
                ax.minorticks_off()
        label_rows(axes, "latency µs" if metric == "p50_us" else TITLES.get(metric, metric))
        for ax in axes:
            plain_log(ax.yaxis)
    what = "p50 (solid) and p95 (dashed)" if metric == "p50_us" else TITLES[metric]
    more = f"; the first {MAX_FACETS} of {len(groups)}" if len(groups) > MAX_FACETS else ""
    return Plot(
        f"{metric}_by_{name}",
        f"{what} by {AXES.get(name, name)}, with intervals of 95 %{more}.",
        figure,
    )


def _base(name: str) -> dict[str, Any]:
    return {} if name in _LINEAR else {"base": 2 if name in ("size", "pairs") else 10}


def _line(
    ax: Axes, name: str, rows: Sequence[Row], metric: str, style: dict[str, Any], peer: str
) -> None:
    found = [(float(getattr(row.case, name)), row.estimate(metric)) for row in rows]
    found = [(x, y) for x, y in found if not math.isnan(y.value)]
    if not found:
        return
    xs = [x for x, _ in found]
    ys = [y.value for _, y in found]
    below = [0.0 if math.isnan(y.low) else max(0.0, y.value - y.low) for _, y in found]
    above = [0.0 if math.isnan(y.high) else max(0.0, y.high - y.value) for _, y in found]
    text = peer if style["linestyle"] == "-" else None
    ax.errorbar(xs, ys, [below, above], label=text, markersize=4, linewidth=1.2, **style)
