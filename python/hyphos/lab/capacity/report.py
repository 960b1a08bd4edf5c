"""A page of predictions beside measurements: one HTML file that needs no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from hyphos._errors import Error
from hyphos.lab import page
from hyphos.lab.capacity import profile as profiles
from hyphos.lab.capacity.bench import Knee, Measured
from hyphos.lab.capacity.check import check
from hyphos.lab.capacity.profile import Profile
from hyphos.lab.capacity.verify import LOADS, Comparison, comparison_json, confusion, summary
from hyphos.lab.case import size_label
from hyphos.lab.page import Cell
from hyphos.lab.plots import COLOURS, MARKS, STYLE, Plot, legend_below
from hyphos.lab.show import number

BANDS = (0.15, 0.35)
PREDICTORS: Mapping[str, Callable[[Comparison], float]] = {
    "this model": lambda one: one.predicted,
    "a + b·S": lambda one: one.linear,
    "CSLV, N·f·S": lambda one: one.classic,
}
WORDS = {
    "×": "A factor on all rates of a graph at once. A saturation point of × 3 means that the graph "
    "carries three times its rates, and no more.",
    "measured": "The graph ran with synthetic nodes on this machine at rising rates, until it "
    "failed: until a publisher was a second behind, a flow lost more than 1 %, or queues grew. A "
    "search ends when a carried and a failed rate are 6 % apart. The saturation point is the "
    "mean of two searches, or the median of three if two differ by a sixth. The range is that of "
    "all searches.",
    "predicted": "The prediction of the model from the calibration alone, before this graph ran. "
    "The range beside it should contain nine of ten measured saturation points.",
    "error": "Predicted ÷ measured − 1: + 20 % promises a fifth too much.",
    "a + b·S": "A rival with the same calibration: a message costs a fixed time and a time for "
    "each byte.",
    "CSLV": "Another rival, of Jordan, On the Scalability of ROS: publishers × rate × size, N·f·S, "
    "is a constant of the machine.",
    "fits, marginal, does not fit": "The verdict of `hyphos plan check`: the rates of the graph "
    "are below, within or above the range of the predicted saturation point.",
}
METHOD = (
    "Each transport (by pointer within a process, by shared memory, by TCP, or across a link) was "
    "calibrated with a few simple graphs, and the model's costs were fitted to their saturation "
    "points. The graphs on this page were predicted first and then measured. Marks on the diagonal "
    "are predicted exactly. The inner band is 15 % off, the outer one 35 %."
)


def report_of_file(path: Path, profile: Path, output: Path | None, kind: str = "") -> list[Path]:
    """Writes the report of JSON from `hyphos lab verify --test-set --output`."""
    try:
        raw = json.loads(path.read_text())
        compared = [comparison_from(one) for one in raw]
    except OSError as error:
        raise Error("io", f"cannot read: {error.strerror}", str(path)) from None
    except (ValueError, KeyError, TypeError) as error:
        raise Error(
            "corrupt",
            f"not a verification: {error}",
            str(path),
            "make one with hyphos lab verify --test-set --output FILE",
        ) from None
    if not compared:
        raise Error("not_found", "nothing was compared yet", str(path), "hyphos lab verify")
    known = profiles.load(profile)
    target = output or path.with_suffix(".html")
    written = [write_report(compared, known, target, path.stem, raw)]
    if kind:
        folder = target.with_name(target.stem + "-plots")
        folder.mkdir(exist_ok=True)
        written += [plot.save(folder, kind) for plot in plots(compared, known)]
    return written


def comparison_from(told: Mapping[str, Any]) -> Comparison:
    known = {f.name: told[f.name] for f in fields(Comparison) if f.name != "measured"}
    searches = tuple(Knee(float(low), float(high)) for low, high in told["searches"])
    if not searches:
        raise ValueError("a graph was never measured")
    return Comparison(**known, measured=Measured(searches))


def write_report(
    compared: Sequence[Comparison],
    profile: Profile,
    path: Path,
    title: str,
    raw: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """`raw` is the source of the comparisons, which is attached. It also has the `disturbed`
    flags."""
    data = list(raw) or [comparison_json(one) for one in compared]
    disturbed = sum(bool(one.get("disturbed")) for one in data)
    inside = sum(one.low <= one.measured.scale <= one.high for one in compared)
    parts = [
        page.paragraph(
            f"Predicted and measured saturation points of {len(compared)} graphs, {disturbed} of "
            "them measured while other programs used the machine.",
            dim=True,
        ),
        *map(page.figure, plots(compared, profile)),
        page.section(
            "Accuracy",
            _summary_table(compared),
            page.paragraph(
                f"{inside} of {len(compared)} measured saturation points are within the range that "
                "should contain nine in ten."
            ),
        ),
        page.section(
            "Verdicts",
            page.paragraph(
                "Every graph at "
                + ", ".join(f"{load:g}" for load in LOADS)
                + " times its measured "
                "saturation point. The worst mistake is a graph that fits and is not carried."
            ),
            _confusion_table(compared),
        ),
        page.section("Graphs", _graph_table(compared)),
        page.section("Definitions", page.words(WORDS)),
        page.section("Method", page.paragraph(METHOD)),
        page.section("Calibration", _costs_table(profile)),
        page.section(
            "Machine", page.machine_table({**profile.machine, "calibrated": profile.made})
        ),
        page.section(
            "Data",
            page.attached(
                {
                    "verification.json": json.dumps(data, indent=1).encode(),
                    "capacity.json": json.dumps(profiles.as_json(profile), indent=1).encode(),
                }
            ),
        ),
    ]
    return page.write(path, page.page(title, parts))


# Tables.


def _summary_table(compared: Sequence[Comparison]) -> str:
    lines = []
    for name, predicted in PREDICTORS.items():
        errors = [predicted(one) / one.measured.scale - 1 for one in compared]
        found = summary(errors)
        within = [sum(abs(error) <= band for error in errors) for band in BANDS]
        lines.append(
            (name, f"{found.median:.0%}", f"{found.worst:.0%}", *(str(count) for count in within))
        )
    heads = ["prediction", "median error", "worst", *(f"within {band:.0%}" for band in BANDS)]
    return page.table(heads, lines, name="summary")


def _confusion_table(compared: Sequence[Comparison]) -> str:
    lines = [
        (verdict.value, str(held), Cell(str(broke), bad=verdict.value == "fits" and broke > 0))
        for verdict, (held, broke) in confusion(compared).items()
    ]
    return page.table(["verdict", "carried", "not carried"], lines, name="confusion")


def _graph_table(compared: Sequence[Comparison]) -> str:
    lines = []
    for one in compared:
        knee = one.measured
        low, high = min(k.low for k in knee.searches), max(k.high for k in knee.searches)
        lines.append(
            (
                one.graph,
                one.way,
                Cell(number(one.predicted), f"{number(one.low)}–{number(one.high)}"),
                Cell(number(knee.scale), f"{number(low)}–{number(high)}"),
                Cell(f"{one.error:+.0%}", bad=not one.low <= knee.scale <= one.high),
                f"{one.linear / knee.scale - 1:+.0%}",
                f"{one.classic / knee.scale - 1:+.0%}",
            )
        )
    heads = ["graph", "transport", "predicted ×", "measured ×", "error", "a + b·S", "CSLV"]
    return page.table(heads, lines, left=2, name="graphs")


def _costs_table(profile: Profile) -> str:
    lines = []
    for name, one in [*profile.ways.items(), *profile.links.items()]:
        costs = ", ".join(
            f"{cost} {getattr(one.costs, cost):.3g}" for cost in type(one.costs).names(one.way)
        )
        band = f"× {one.within:.2f}"
        lines.append((name, band, str(len(one.points)), f"{one.seconds:.0f}", Cell(costs, span=2)))
    return page.table(["transport", "nine in ten within", "graphs", "seconds", "costs", ""], lines)


# Plots.


def plots(compared: Sequence[Comparison], profile: Profile) -> list[Plot]:
    made = [_scatter(compared)]
    if len(compared) > 2:
        made.append(_errors(compared))
    return [*made, _residuals(profile)]


def _looks(ways: Sequence[str]) -> dict[str, dict[str, Any]]:
    names = list(dict.fromkeys(ways))
    return {
        name: {"color": COLOURS[i % len(COLOURS)], "marker": MARKS[i % len(MARKS)]}
        for i, name in enumerate(names)
    }


def _scatter(compared: Sequence[Comparison]) -> Plot:
    looks = _looks([one.way for one in compared])
    every = [p(one) for one in compared for p in PREDICTORS.values()]
    every += [one.measured.scale for one in compared]
    every += [one.low for one in compared] + [one.high for one in compared]
    ends = np.array([min(every) / 1.5, max(every) * 1.5])
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.8, 4.6), layout="constrained")
        axes = figure.subplots(1, len(PREDICTORS), sharex=True, sharey=True)
        for ax, (name, predicted) in zip(axes, PREDICTORS.items(), strict=True):
            _bands(ax, ends)
            for way, look in looks.items():
                mine = [one for one in compared if one.way == way]
                xs = [one.measured.scale for one in mine]
                ys = [predicted(one) for one in mine]
                if name == "this model":
                    bars = [
                        [y - one.low for y, one in zip(ys, mine, strict=True)],
                        [one.high - y for y, one in zip(ys, mine, strict=True)],
                    ]
                    ax.errorbar(
                        xs, ys, np.maximum(bars, 0), fmt="none", ecolor=look["color"], alpha=0.4,
                        elinewidth=1,
                    )  # fmt: skip
                ax.scatter(xs, ys, s=22, zorder=3, label=way, **look)
            ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, title=name)
            ax.set_xlabel("measured saturation, × all rates")
            ax.set_aspect("equal")
        axes[0].set_ylabel("predicted saturation, × all rates")
        handles, texts = axes[0].get_legend_handles_labels()
        legend_below(figure, handles, texts, 6)
    caption = (
        "Predicted against measured saturation points, by transport: this model, with the range "
        "that should contain nine in ten, and two rivals with the same calibration. On the line: "
        "exact. Inner band: at most 15 % off. Outer band: at most 35 %."
    )
    return Plot("predicted_measured", caption, figure)


def _bands(ax: Axes, ends: Any) -> None:
    ax.plot(ends, ends, color="#777777", linewidth=0.9, zorder=1)
    for band, alpha in zip(BANDS, (0.22, 0.12), strict=True):
        ax.fill_between(ends, ends * (1 - band), ends * (1 + band), color="#777777", alpha=alpha,
                        linewidth=0, zorder=0)  # fmt: skip


def _errors(compared: Sequence[Comparison]) -> Plot:
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 3.2), layout="constrained")
        ax = figure.subplots()
        for i, (name, predicted) in enumerate(PREDICTORS.items()):
            errors = sorted(abs(predicted(one) / one.measured.scale - 1) * 100 for one in compared)
            shares = np.arange(1, len(errors) + 1) / len(errors)
            ax.step(np.maximum(errors, 0.5), shares, where="post", label=name, color=COLOURS[i])
        for band in BANDS:
            ax.axvline(band * 100, color="#777777", linewidth=0.9, linestyle=(0, (1, 2)))
        ax.set_xscale("log")
        ticks = [1, 5, 15, 35, 100, 1000, 10_000]
        ax.set_xticks(ticks, [f"{tick:g} %" for tick in ticks])
        ax.minorticks_off()
        ax.set_ylim(0, 1.02)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set(xlabel="absolute error up to", ylabel="graphs")
        legend_below(figure, *ax.get_legend_handles_labels(), 3)
    return Plot(
        "errors", "Share of graphs up to each prediction error. Dotted lines: 15 and 35 %.", figure
    )


def residuals(profile: Profile) -> list[tuple[str, str, float]]:
    """Transport, graph and error of each point that the costs were fitted to."""
    found = []
    jobs = [(name, "", one) for name, one in profile.ways.items()]
    jobs += [(name, name, one) for name, one in profile.links.items()]
    for name, link, one in jobs:
        for kind, scale in one.points:
            answer = check(kind.graph(one.way), profile, link, shared=True)
            text = f"{kind.family} {kind.count} × {size_label(kind.size)}"
            found.append((name, text, answer.knee / scale - 1))
    return found


def _residuals(profile: Profile) -> Plot:
    found = residuals(profile)
    looks = _looks([way for way, _, _ in found])
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 0.19 * len(found) + 1.2), layout="constrained")
        ax = figure.subplots()
        for way, look in looks.items():
            mine = [(row, error) for row, (name, _, error) in enumerate(found) if name == way]
            rows, errors = zip(*mine, strict=True)
            ax.scatter(np.array(errors) * 100, rows, s=22, label=way, zorder=3, **look)
            ax.hlines(rows, 0, np.array(errors) * 100, color=look["color"], linewidth=1, alpha=0.5)
        ax.axvline(0, color="#777777", linewidth=0.9)
        ax.set_yticks(range(len(found)), [f"{name}: {text}" for name, text, _ in found], fontsize=7)
        ax.set_ylim(len(found) - 0.3, -0.7)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel("fitted ÷ measured − 1, %")
        legend_below(figure, *ax.get_legend_handles_labels(), 6)
    caption = (
        "The residuals of the fit in its own graphs. A model that explains its calibration fully "
        "has only zeros."
    )
    return Plot("residuals", caption, figure)
