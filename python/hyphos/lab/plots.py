"""Plots of results, by matplotlib: as SVG in reports, or as files."""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeVar
from zlib import crc32

import matplotlib as mpl
import yaml
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from hyphos.lab.case import Case, label, size_label
from hyphos.lab.experiment import BUILT_IN
from hyphos.lab.results import Row
from hyphos.lab.show import TITLES
from hyphos.lab.stats import Estimate

FigureOf = Callable[[Row], Estimate]
T = TypeVar("T")

# Okabe and Ito's colours, which are safe for colour-blind readers.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
AXES = {
    "size": "message size",
    "rate_hz": "rate (Hz)",
    "speed": "speed of the recording",
    "scale": "times the rates of the plan",
    "hosts": "far hosts",
}
MAX_FACETS = 12  # per picture, more facets go to further pictures
_LINEAR = ("processes", "hosts")
SIDE_CHARACTERS = 44  # per line of a label beside a bar
_LEGEND_SHARE = 0.9  # of the figure's width, as viewers of SVG may have wider letters
_LEGEND_CHARACTERS = 60  # per line
_TITLE_CHARACTERS = 52  # per line above a facet
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
    """A picture with a caption."""

    name: str  # file name without extension
    caption: str
    figure: Figure

    def svg(self) -> str:
        """The picture for a page: without a background, and with black replaced by the text colour
        of the page. The ids are unique to this picture, since a page has many."""
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
    """The style of each peer, the same in every picture of every experiment. If two peers of one
    picture have the same colour, the later one takes a free colour."""
    taken: list[int] = []
    for peer in dict.fromkeys(row.peer for row in rows):
        wanted = _colour_of(peer)
        free = [i for i in range(len(COLOURS)) if i not in taken]
        taken.append(wanted if wanted in free or not free else free[0])
    return {
        peer: {
            "color": COLOURS[colour],
            "marker": MARKS[(colour + taken[:i].count(colour)) % len(MARKS)],
        }
        for i, (peer, colour) in enumerate(
            zip(dict.fromkeys(row.peer for row in rows), taken, strict=True)
        )
    }


def _colour_of(peer: str) -> int:
    known = _colours()
    if peer in known:
        return known[peer]
    middleware = peer.split("/", maxsplit=1)[0]
    alike = [name for name in known if name.split("/")[0] == middleware]
    return known[alike[0]] if alike else crc32(peer.encode()) % len(COLOURS)


@cache
def _colours() -> dict[str, int]:
    """A colour for each peer of the built-in experiments. Peers of one experiment have different
    colours, unless there are more peers than colours."""
    together: dict[str, set[str]] = {}
    for file in sorted(BUILT_IN.glob("*.yaml")):
        peers = set(_peers_in(yaml.safe_load(file.read_text())))
        enough = len(peers) <= len(COLOURS)
        for peer in sorted(peers):
            together.setdefault(peer, set()).update(peers - {peer} if enough else ())
    found: dict[str, int] = {}

    def used(peer: str) -> list[int]:
        return [found[other] for other in together[peer] if other in found]

    # Brélaz' DSATUR: the next peer is the one whose neighbours have the most colours.
    while rest := sorted(set(together) - set(found)):
        peer = max(rest, key=lambda one: (len(set(used(one))), len(together[one])))
        taken = used(peer)
        found[peer] = min(range(len(COLOURS)), key=lambda i: (taken.count(i), i))
    return found


def _peers_in(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "peers" and isinstance(value, list):
                yield from (one for one in value if isinstance(one, str))
            else:
                yield from _peers_in(value)
    elif isinstance(part, list):
        for one in part:
            yield from _peers_in(one)


def legend_below(
    figure: Figure, handles: Sequence[Any], texts: Sequence[str], most: int = 8
) -> None:
    """A legend below the facets and inside the figure, for texts of any length. It takes as many
    columns as fit. The figure grows by its height, so that the facets keep theirs."""
    if not handles:
        return
    wrapped = [wrap_text(text, _LEGEND_CHARACTERS) for text in texts]
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    for ncols in range(min(most, len(wrapped)), 0, -1):
        legend = figure.legend(handles, wrapped, loc="outside lower center", ncols=ncols)
        box = legend.get_window_extent(renderer)
        if box.width <= _LEGEND_SHARE * figure.bbox.width or ncols == 1:
            break
        legend.remove()
    if box.width > _LEGEND_SHARE * figure.bbox.width:
        figure.set_figwidth(box.width / figure.dpi / _LEGEND_SHARE)
    figure.set_figheight(figure.get_figheight() + box.height / figure.dpi)


def wrap_text(text: str, width: int) -> str:
    """Wraps text to lines of at most `width` characters. Breaks longer words."""
    return "\n".join(wrap(text, width)) or text


@contextmanager
def facets(names: Sequence[str], height: float = 2.6) -> Iterator[tuple[Figure, list[Axes]]]:
    columns = min(3, len(names))
    lines = math.ceil(len(names) / columns)
    with mpl.rc_context(STYLE):
        spaced = ConstrainedLayoutEngine(
            h_pad=0.12
        )  # inches, keeps titles clear of the labels above
        figure = Figure(figsize=(max(6, 3.6 * columns), height * lines + 0.2), layout=spaced)
        grid = figure.subplots(lines, columns, squeeze=False, sharey=True)
        axes: list[Axes] = list(grid.flat)
        for spare in axes[len(names) :]:
            spare.set_axis_off()
        for ax, name in zip(axes, names, strict=False):
            ax.set_title(wrap_text(name, _TITLE_CHARACTERS), fontsize=9)
        yield figure, axes
        handles: dict[str, Any] = {}
        for ax in axes:
            for handle, text in zip(*ax.get_legend_handles_labels(), strict=True):
                handles.setdefault(text, handle)
        legend_below(figure, list(handles.values()), list(handles), max(3, 2 * columns))


def plain_log(axis: Axis) -> None:
    """A logarithmic axis with labels 1, 10, 100 … instead of powers. Minor ticks have no label, as
    labels would overlap. An axis of less than two decades has labels at 2 and 5 too."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
    low, high = sorted(axis.get_view_interval())
    if low > 0 and high / low < 100:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))


def label_rows(axes: Sequence[Axes], text: str) -> None:
    """Labels the left side of each row of facets."""
    for ax in axes:
        if ax.get_subplotspec().is_first_col():  # type: ignore[union-attr]
            ax.set_ylabel(text)


def paged(whole: Sequence[T], draw: Callable[[Sequence[T], str, str], Plot]) -> list[Plot]:
    """As many pictures as all facets need. `draw` gets the facets of one picture, the suffix of its
    name, and the suffix of its caption."""
    parts = [whole[i : i + MAX_FACETS] for i in range(0, len(whole), MAX_FACETS)]
    return [
        draw(
            part,
            f"_{number}" if number > 1 else "",
            f" ({number} of {len(parts)})" if len(parts) > 1 else "",
        )
        for number, part in enumerate(parts, 1)
    ]


def title(case: Case, names: Sequence[str]) -> str:
    return ", ".join(label(name, getattr(case, name)) for name in names) or case.workload


def against(rows: Sequence[Row], varied: Sequence[str], name: str, metric: str) -> list[Plot]:
    """A metric by one parameter: a line for each peer, a facet for each value of the other
    parameters. The line is the median. The dashed line is the 95th percentile. Bars are intervals
    of 95 %."""
    others = [other for other in varied if other != name]
    # Ignore the length of a run, which is not a property of the system under test.
    groups: dict[Case, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.case.without(name, "seconds"), []).append(row)
    metrics = [(metric, "-"), ("p95_us", "--")] if metric == "p50_us" else [(metric, "-")]
    figures: list[tuple[FigureOf, str]] = [
        (partial(Row.estimate, metric=one), dash) for one, dash in metrics
    ]
    what = "p50 (solid) and p95 (dashed)" if metric == "p50_us" else TITLES[metric]
    label = "latency µs" if metric == "p50_us" else TITLES.get(metric, metric)

    def draw(shown: Sequence[tuple[Case, list[Row]]], page: str, told: str) -> Plot:
        named = [(title(case, others), group) for case, group in shown]
        figure = _lines(named, styles(rows), name, figures, label)
        caption = f"{what} by {AXES.get(name, name)}, with intervals of 95 %{told}."
        return Plot(f"{metric}_by_{name}{page}", caption, figure)

    return paged(list(groups.items()), draw)


def deviation(rows: Sequence[Row], varied: Sequence[str], name: str) -> list[Plot]:
    """The cost of reliable: the 95th percentile divided by that of the same case with best effort,
    by one parameter. Empty if no case was measured with both."""
    others = [other for other in varied if other not in (name, "reliability", "seconds")]
    loose = {
        (row.peer, row.case.without("reliability")): row
        for row in rows
        if row.case.reliability == "best_effort"
    }
    groups: dict[Case, list[Row]] = {}
    for row in rows:
        alike = row.case.without("reliability")
        if row.case.reliability == "reliable" and (row.peer, alike) in loose:
            groups.setdefault(alike.without(name, "seconds"), []).append(row)

    def ratio(row: Row) -> Estimate:
        return row.ratio(loose[row.peer, row.case.without("reliability")], "p95_us")

    def draw(shown: Sequence[tuple[Case, list[Row]]], page: str, told: str) -> Plot:
        named = [(title(case, others), group) for case, group in shown]
        figure = _lines(named, styles(rows), name, [(ratio, "-")], "reliable ÷ best effort")
        caption = (
            f"p95 with reliable, divided by that with best effort, by {AXES.get(name, name)}, with "
            f"intervals of 95 %{told}."
        )
        return Plot(f"reliable_by_{name}{page}", caption, figure)

    return paged(list(groups.items()), draw)


def _lines(
    shown: Sequence[tuple[str, list[Row]]],
    looks: Mapping[str, dict[str, Any]],
    name: str,
    figures: Sequence[tuple[FigureOf, str]],
    label: str,
) -> Figure:
    """A facet for each group of rows, with a line for each peer and metric by a parameter."""
    with facets([text for text, _ in shown]) as (figure, axes):
        for ax, (_text, group) in zip(axes, shown, strict=False):
            for peer, style in looks.items():
                mine = sorted(
                    (row for row in group if row.peer == peer),
                    key=lambda row: float(getattr(row.case, name)),
                )
                for figure_of, dash in figures:
                    _line(ax, name, mine, figure_of, {**style, "linestyle": dash}, peer)
            _number_line(ax, name, group)
        label_rows(axes, label)
        for ax in axes:
            plain_log(ax.yaxis)
    return figure


def _number_line(ax: Axes, name: str, rows: Sequence[Row]) -> None:
    ax.set_xlabel(AXES.get(name, name))
    ax.set_xscale("linear" if name in _LINEAR else "log", **_base(name))
    ax.set_yscale("log")
    if name not in (*_LINEAR, "size"):
        plain_log(ax.xaxis)
    if name == "size":
        sizes = sorted({row.case.size for row in rows})
        few = sizes[:: math.ceil(len(sizes) / 7)]
        ax.set_xticks(few, [size_label(size) for size in few], minor=False)
        ax.minorticks_off()


def _base(name: str) -> dict[str, Any]:
    return {} if name in _LINEAR else {"base": 2 if name in ("size", "pairs") else 10}


def _line(
    ax: Axes,
    name: str,
    rows: Sequence[Row],
    figure_of: FigureOf,
    style: dict[str, Any],
    peer: str,
) -> None:
    found = [(float(getattr(row.case, name)), figure_of(row)) for row in rows]
    found = [(x, y) for x, y in found if not math.isnan(y.value)]
    if not found:
        return
    xs = [x for x, _ in found]
    ys = [y.value for _, y in found]
    below = [0.0 if math.isnan(y.low) else max(0.0, y.value - y.low) for _, y in found]
    above = [0.0 if math.isnan(y.high) else max(0.0, y.high - y.value) for _, y in found]
    text = peer if style["linestyle"] == "-" else None
    ax.errorbar(xs, ys, [below, above], label=text, markersize=4, linewidth=1.2, **style)
