"""Plots of distributions, and of the behaviour at rising rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from hyphos.lab.case import NUMBERS, Case
from hyphos.lab.plots import (
    Plot,
    against,
    deviation,
    facets,
    label_rows,
    paged,
    plain_log,
    styles,
    title,
)
from hyphos.lab.results import Row, Run
from hyphos.lab.saturation import Saturation, plain
from hyphos.lab.show import metrics_of
from hyphos.lab.stats import Histogram, pooled

Draw = Callable[[Axes, Histogram, dict[str, Any]], None]
Knees = Mapping[tuple[Case, str], Saturation]


def plots(
    rows: Sequence[Row], varied: Sequence[str], knees: Iterable[Saturation] = ()
) -> list[Plot]:
    """Each figure against each numeric parameter, delivery at rising rates, and the latency
    distribution of each case."""
    done = [row for row in rows if row.done]
    if not done:
        return []
    found = {(knee.case, knee.peer): knee for knee in knees}
    others = [name for name in varied if name not in ("rate_hz", "seconds")]
    floods = any(row.case.floods for row in done)
    made = []
    if found:
        made.append(constancy(list(found.values()), others))
        # Of the trials of a search, only those at the saturation point represent their case.
        at_knee = [one.at_knee for one in found.values()]
        shown = [Row(plain(run.case), run.peer, [run]) for run in at_knee if run]
    else:
        shown = done
        for name in varied:
            if name in NUMBERS:
                made += against(done, varied, name, metrics_of(done)[0])
                made += deviation(done, varied, name)
    if not floods and ("rate_hz" in varied or found):
        made += knee_curves(done, others, found)
    if not floods and shown:
        made += percentiles(shown, others if found else varied)
        made += cumulative(shown, others if found else varied)
    return made


def percentiles(rows: Sequence[Row], varied: Sequence[str]) -> list[Plot]:
    """Latency by percentile. The axis spreads the nines evenly."""

    def draw(ax: Axes, whole: Histogram, look: dict[str, Any]) -> None:
        rest = 1 - (whole.counts.cumsum() - whole.counts) / whole.count  # at or above a value
        ax.plot(1 / rest, whole.values / 1e3, **look)

    def axis(ax: Axes) -> None:
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xticks([1, 2, 10, 100, 1000], ["0", "50", "90", "99", "99.9"])
        ax.minorticks_off()
        ax.set_xlabel("percentile")

    what = "Latency by percentile, over all runs. The slowest messages are on the right"
    return _distribution(rows, varied, "percentiles", what, "latency µs", draw, axis)


def cumulative(rows: Sequence[Row], varied: Sequence[str]) -> list[Plot]:
    """The cumulative distribution (CDF) of the latency."""

    def draw(ax: Axes, whole: Histogram, look: dict[str, Any]) -> None:
        ax.step(whole.values / 1e3, whole.counts.cumsum() / whole.count, where="post", **look)

    def axis(ax: Axes) -> None:
        ax.set_xscale("log")
        ax.set_ylim(0, 1.02)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set_xlabel("latency µs")

    what = "Share of messages up to each latency (CDF), over all runs"
    return _distribution(rows, varied, "cdf", what, "messages", draw, axis)


def _distribution(
    rows: Sequence[Row],
    varied: Sequence[str],
    name: str,
    what: str,
    label: str,
    draw: Draw,
    axis: Callable[[Axes], None],
) -> list[Plot]:
    looks = styles(rows)
    groups: dict[Case, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.case, []).append(row)

    def page(shown: Sequence[tuple[Case, list[Row]]], number: str, told: str) -> Plot:
        with facets([title(case, varied) for case, _ in shown]) as (figure, axes):
            for ax, (_case, group) in zip(axes, shown, strict=False):
                for row in group:
                    whole = pooled([run.histogram("histogram_ns") for run in row.used])
                    if whole.count:
                        colour = looks[row.peer]["color"]
                        draw(ax, whole, {"label": row.peer, "color": colour, "linewidth": 1.2})
                axis(ax)
            latencies = [ax.xaxis if name == "cdf" else ax.yaxis for ax in axes]
            if name == "cdf":  # one scale makes the facets comparable
                ends = np.array([ax.get_xlim() for ax in axes[: len(shown)]])
                for ax in axes:
                    ax.set_xlim(ends[:, 0].min(), ends[:, 1].max())
            for one in latencies:
                plain_log(one)
            label_rows(axes, label)
        return Plot(f"{name}{number}", f"{what}{told}.", figure)

    return paged(list(groups.items()), page)


# Figures at rising rates.


def delivered(run: Run) -> float:
    """The rate at which messages arrived, as a share of the rate at which they were due."""
    told = run.result
    if told is None or not told.get("seconds"):
        return math.nan
    planned_s = told["planned"] / told["sources"] / run.case.rate_hz
    due = told["planned"] * told["flows"] / told["sources"]
    # The transit time of one message does not mean that the flow is behind.
    transit_s = run.histogram("histogram_ns").percentile(1) / 1e9
    return float(told["received"] / due * planned_s / max(planned_s, told["seconds"] - transit_s))


def knee_curves(rows: Sequence[Row], others: Sequence[str], knees: Knees) -> list[Plot]:
    """Delivery and latency by the offered rate. Dotted lines mark saturation points."""
    groups: dict[Case, list[Row]] = {}
    for row in rows:
        groups.setdefault(plain(row.case), []).append(row)
    marked = " Dotted lines: saturation points." if knees else ""

    def arrived(row: Row) -> float:
        shares = sorted(delivered(run) for run in row.used)
        return shares[len(shares) // 2] if shares else math.nan

    def lost(row: Row) -> float:
        return row.estimate("lost_share").value

    goodput = _by_rate(
        groups, others, knees, "goodput_by_rate", "of the offered rate",
        ((arrived, "-"), (lost, ":")),
        "Delivery by the offered rate of each publisher. Solid: messages that arrived per second, "
        "as a share of the due messages. Below 100 % a case falls behind or loses messages. Small "
        "marks: the lost share." + marked,
        share=True,
    )  # fmt: skip
    late = _by_rate(
        groups, others, knees, "latency_by_rate", "latency from due, µs",
        ((lambda row: row.estimate("open_p50_us").value, "-"),
         (lambda row: row.estimate("open_p99_us").value, "--")),
        "Latency from the due time of a message to its callback, p50 (solid) and p99 (dashed), by "
        "the offered rate of each publisher." + marked,
        share=False,
    )  # fmt: skip
    return goodput + late


def _by_rate(
    groups: Mapping[Case, Sequence[Row]],
    others: Sequence[str],
    knees: Knees,
    name: str,
    label: str,
    figures: Sequence[tuple[Callable[[Row], float], str]],
    caption: str,
    *,
    share: bool,
) -> list[Plot]:
    looks = styles([row for group in groups.values() for row in group])

    def page(shown: Sequence[tuple[Case, Sequence[Row]]], number: str, told: str) -> Plot:
        with facets([title(case, others) for case, _ in shown]) as (figure, axes):
            for ax, (case, group) in zip(axes, shown, strict=False):
                for peer, look in looks.items():
                    mine = sorted(
                        (row for row in group if row.peer == peer), key=lambda row: row.case.rate_hz
                    )
                    for figure_of, dash in figures:
                        _curve(
                            ax,
                            [(row.case.rate_hz, figure_of(row)) for row in mine],
                            look,
                            dash,
                            peer,
                        )
                    knee = knees.get((case, peer))
                    if knee is not None and knee.low_hz and not knee.open:
                        ax.axvline(
                            knee.rate_hz, color=look["color"], linestyle=(0, (1, 2)), linewidth=1.4
                        )
                ax.set_xscale("log")
                ax.set_xlabel("rate of each publisher, Hz")
                if share:
                    ax.set_ylim(-0.03, 1.08)
                    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
                else:
                    ax.set_yscale("log")
            for ax in axes[: len(shown)]:
                plain_log(ax.xaxis)
                if not share:
                    plain_log(ax.yaxis)
            label_rows(axes, label)
        return Plot(f"{name}{number}", f"{caption}{told}", figure)

    return paged(list(groups.items()), page)


def _curve(
    ax: Axes, points: Sequence[tuple[float, float]], look: dict[str, Any], dash: str, peer: str
) -> None:
    points = [(x, y) for x, y in points if not math.isnan(y)]
    if points:
        xs, ys = zip(*points, strict=True)
        text = peer if dash == "-" else None
        size = 3.5 if dash == "-" else 2
        ax.plot(xs, ys, label=text, linestyle=dash, linewidth=1.2, markersize=size, **look)


def constancy(knees: Sequence[Saturation], others: Sequence[str]) -> Plot:
    """N·f·S at the saturation points. A constant of the machine would give a level line."""
    cases = list(dict.fromkeys(knee.case for knee in knees))
    looks = styles([Row(knee.case, knee.peer) for knee in knees])
    with facets([""]) as (figure, [ax]):
        for peer, look in looks.items():
            mine = [knee for knee in knees if knee.peer == peer and knee.low_hz]
            if not mine:
                continue
            xs = [cases.index(knee.case) for knee in mine]
            ys = [knee.volume / 1e6 for knee in mine]
            ax.plot(xs, ys, label=peer, linewidth=1.2, markersize=5, **look)
        ax.set_yscale("log")
        plain_log(ax.yaxis)
        ax.set_xticks(range(len(cases)), [title(case, others) for case in cases], rotation=25)
        for text in ax.get_xticklabels():
            text.set_horizontalalignment("right")
        ax.set_ylabel("N·f·S at saturation, MB/s")
    spans = []
    for peer in looks:
        volumes = [knee.volume for knee in knees if knee.peer == peer and knee.volume > 0]
        if len(volumes) > 1:
            spans.append(f"{peer} × {max(volumes) / min(volumes):,.1f}")
    spread = f" Largest ÷ smallest: {', '.join(spans)}." if spans else ""
    return Plot(
        "nfs_at_knees",
        "Publishers × rate × size at the saturation point (N·f·S). Jordan's On the Scalability of "
        f"ROS assumes a constant of the machine, which would give level lines.{spread}",
        figure,
    )
