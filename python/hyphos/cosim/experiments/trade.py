"""Pictures of the ablation, by matplotlib."""

from __future__ import annotations

import math
from typing import Any

from hyphos.cosim.experiments import arms
from hyphos.cosim.results import Results
from hyphos.lab.plots import COLOURS, MARKS, Plot, facets, plain_log
from hyphos.lab.stats import Estimate

_ERRORS = ("late_ms", "other_fate_percent")
_COSTS = ("calls", "real_ms")


def trade_off(results: Results) -> list[Plot]:
    """Error against cost: a line for each rule, a mark for each window."""
    found = {}
    for metric in (*_ERRORS, *_COSTS):
        for rule in arms.RULES:
            for window in _windows(rule):
                chosen = arms.arms_of(rule, (window,))
                values = arms.averaged(results, metric, chosen)
                found[metric, rule, window] = arms.mean_of(values)
    panels = [(error, cost) for cost in _COSTS for error in _ERRORS]
    # Panels of one picture share their vertical axis, so each error has its own.
    return [_picture(error, [p for p in panels if p[0] == error], found) for error in _ERRORS]


def _windows(rule: str) -> tuple[int, ...]:
    return (arms.STEP_MS, *arms.WINDOWS_MS) if rule == "adaptive" else arms.WINDOWS_MS


def _picture(
    error: str,
    panels: list[tuple[str, str]],
    found: dict[tuple[str, str, int], Estimate],
) -> Plot:
    with facets(["" for _ in panels], height=3.4) as (figure, axes):
        for ax, (metric, cost) in zip(axes, panels, strict=False):
            for i, rule in enumerate(arms.RULES):
                points = [
                    (found[cost, rule, window], found[metric, rule, window])
                    for window in _windows(rule)
                ]
                points = [
                    (x, y) for x, y in points if not (math.isnan(x.value) or math.isnan(y.value))
                ]
                if points:
                    _line(ax, points, rule, i)
            ax.set_xlabel(arms.TITLES[cost])
            ax.set_xscale("log")
            plain_log(ax.xaxis)
        axes[0].set_ylabel(arms.TITLES[error])
        axes[0].set_ylim(bottom=min(0.0, axes[0].get_ylim()[0]))
    text = (
        f"{arms.TITLES[error]} against calls of the network and real time: one mark for each "
        "window (50, 20, 10 and 5 ms from left to right, adaptive also 1 ms), means over seeds and "
        "arms, intervals of 95 %."
    )
    return Plot(f"trade_{error}", text[0].upper() + text[1:], figure)


def _line(ax: Any, points: list[tuple[Estimate, Estimate]], rule: str, i: int) -> None:
    ax.errorbar(
        [x.value for x, _ in points],
        [y.value for _, y in points],
        yerr=_bars([y for _, y in points]),
        xerr=_bars([x for x, _ in points]),
        label=rule,
        color=COLOURS[i % len(COLOURS)],
        marker=MARKS[i % len(MARKS)],
        markersize=4,
        linewidth=1.2,
    )


def _bars(estimates: list[Estimate]) -> list[list[float]]:
    return [
        [0.0 if math.isnan(e.low) else max(0.0, e.value - e.low) for e in estimates],
        [0.0 if math.isnan(e.high) else max(0.0, e.high - e.value) for e in estimates],
    ]


def windows_of_rules(results: Results) -> list[Plot]:
    """The extra delay by speed difference: a panel for each window, a line for each rule."""
    with facets([f"w {window} ms" for window in arms.WINDOWS_MS]) as (figure, axes):
        for ax, window in zip(axes, arms.WINDOWS_MS, strict=False):
            for i, rule in enumerate(arms.RULES):
                points = []
                for difference in arms.DIFFERENCES:
                    chosen = arms.arms_of(rule, (window,), (difference,))
                    values = arms.averaged(results, "late_ms", chosen)
                    points.append((difference, arms.mean_of(values)))
                points = [(x, y) for x, y in points if not math.isnan(y.value)]
                if not points:
                    continue
                ax.errorbar(
                    [x + (i - 3) * 0.15 for x, _ in points],
                    [y.value for _, y in points],
                    yerr=_bars([y for _, y in points]),
                    label=rule,
                    color=COLOURS[i % len(COLOURS)],
                    marker=MARKS[i % len(MARKS)],
                    markersize=4,
                    linewidth=1.2,
                )
            ax.set_xlabel("V_p − V_s (m/s)")
        axes[0].set_ylabel("read later (ms)")
        axes[-1].set_ylabel("read later (ms)")
        axes[0].set_ylim(bottom=min(0.0, axes[0].get_ylim()[0]))
    text = (
        "Extra delay until a message is read, by the difference of the speeds of publisher and "
        "subscriber: means over seeds, intervals of 95 %."
    )
    return [Plot("late_by_difference", text, figure)]
