"""The ablation missing from the paper: it varies only the window rule, with the same seeds.

The arms are windows of 5 to 50 ms and speed differences of -10 to 10 m/s. The error of a rule is
its distance from an ideal run, in which the network knows everything at every step. The cost is the
number of calls of the network, and the real time.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

from hyphos.cosim.cell import Cell, Parameters
from hyphos.cosim.experiment import Experiment, Figure, Table
from hyphos.cosim.experiments.arms import (
    BASE,
    DIFFERENCES,
    FAR_M,
    IDEAL,
    METRICS,
    NEAR_M,
    RULES,
    SECONDS,
    STEP_MS,
    TAIL_S,
    TITLES,
    WAYS,
    WINDOWS_MS,
    arms_of,
    averaged,
    mean_of,
    paired,
)
from hyphos.cosim.experiments.say import figure, plain
from hyphos.cosim.results import Results
from hyphos.lab.paired import Paired


def _pair(way: str, difference: float) -> Any:
    """A publisher and a subscriber. Their speeds differ by `difference`. Their distance goes
    through the same range for both signs: from far to near or, along one line, from near to far.
    """
    if way == "towards":  # they approach at 10 m/s, whatever the difference
        publisher, subscriber = 5 + difference / 2, 5 - difference / 2
        apart = FAR_M
        return {
            "scout": {"at": [0, 0, 0.5], "velocity": [publisher, 0, 0]},
            "base": {"at": [apart, 0, 0.5], "velocity": [-subscriber, 0, 0]},
        }
    publisher, subscriber = max(difference, 0.0) + 2, max(-difference, 0.0) + 2
    apart = FAR_M if difference > 0 else NEAR_M if difference < 0 else (NEAR_M + FAR_M) / 2
    return {
        "scout": {"at": [0, 0, 0.5], "velocity": [publisher, 0, 0]},
        "base": {"at": [apart, 0, 0.5], "velocity": [subscriber, 0, 0]},
    }


def scenario(parameters: Parameters, network: str) -> dict[str, Any]:
    window, rule = int(parameters["window_ms"]), str(parameters["rule"])
    imu = {"kind": "accelerometer", "from": "scout", "to": "base", "seconds": SECONDS}
    state = {"from": "iris", "to": "everyone", "rate_hz": 50, "bytes": 200, "seconds": SECONDS}
    return {
        "duration_s": SECONDS + TAIL_S,
        "method": {
            "name": "lockstep" if rule == IDEAL else rule,
            "window_ms": window,
            # As much extra delay as a fixed window of this length may cause with exact stamps.
            "latency_budget_ms": window - STEP_MS,
            "loss_threshold_percent": 10,
        },
        "robots": {
            **_pair(str(parameters["way"]), float(parameters["difference"])),
            "iris": {"circle": {"centre": [60, 30, 15], "radius_m": 20, "speed": 5}},
            "husky": {"at": [60, -40, 0.5]},
        },
        "radio": {
            "simulator": network,
            "kind": "802.11g",
            "rate": "12",
            "tx_power_dbm": 13,
            "path_loss_exponent": 3,
            "shadowing_db": 4,
            "retry_limit": 2,
            "channel": {"shadowing_distance_m": 10, "fading": "rician", "k_los_db": 6},
        },
        "traffic": {"flows": {"imu": imu, "state": state}},
    }


def cells(network: str) -> list[Cell]:
    made = []
    for way, difference in itertools.product(WAYS, DIFFERENCES):
        arms = [(IDEAL, STEP_MS), ("adaptive", STEP_MS)]
        arms += list(itertools.product(RULES, WINDOWS_MS))
        for rule, window in arms:
            parameters: dict[str, str | float] = {
                "way": way,
                "difference": difference,
                "window_ms": window,
                "rule": rule,
            }
            method = "lockstep" if rule == IDEAL else rule
            made.append(Cell(parameters, scenario(parameters, network), "imu", method, True))
    return made


# --- tables -------------------------------------------------------------------------------------

WHY = (
    "A seed is one world. Its arms are averaged first, so a seed is one pair. Shift: Hodges and "
    "Lehmann. Effect: rank-biserial correlation, −1 to 1. Intervals: 95 %, by a bootstrap over "
    "seeds. p: Wilcoxon's signed-rank test, two-sided and exact. There is no correction for the "
    "number of comparisons.",
    "The error is the distance from an ideal run with the same seed: lockstep with windows of one "
    "step. Read later: the mean extra delay until a program reads a message. Another fate: the "
    "share of copies that are lost in one of the two runs and delivered in the other.",
    "Two robots drive towards each other at 10 m/s in all arms, or along one line. The distance "
    "goes from 20 to 120 m or back. V_p − V_s is the speed of the publisher minus that of the "
    "subscriber. Shadowing changes along the way, and fading follows the speed of the robots.",
    "velocity_aware_lenient_… and algorithm_1_… are the paper's rule, read such that every "
    "scenario runs: w while nothing is in flight, and windows of at least one step. The literal "
    "readings end with an idle deadlock here, because the traffic has pauses.",
    "adaptive has windows of at most w and a latency budget of w minus one step. With w = 1 ms its "
    "budget is 0.",
)


def tables(results: Results) -> list[Table]:
    return [_trade(results), _by_window(results), _by_difference(results)]


def _trade(results: Results) -> Table:
    """Error against cost, over all speeds and ways."""
    heads = ["rule", "w, ms", *(TITLES[metric] for metric in METRICS), "power bound, dB"]
    lines = []
    for rule, window in _shown_arms():
        line = [Figure(rule), Figure(str(window))]
        arms = arms_of(rule, (window,))
        line += [figure(mean_of(averaged(results, metric, arms))) for metric in METRICS]
        rows = [row for where in arms if (row := results.row(**where)) is not None]
        worst = [value for row in rows for value in row.values("bound_power_db")]
        line.append(Figure(plain(max(worst, default=None))))
        lines.append(line)
    notes = [WHY[1], WHY[2], WHY[4]]
    return Table("trade", "Error against cost", heads, lines, notes, left=2)


def _shown_arms() -> list[tuple[str, int]]:
    return [
        (IDEAL, STEP_MS),
        *itertools.product(RULES[:-1], WINDOWS_MS),
        *(("adaptive", window) for window in (STEP_MS, *WINDOWS_MS)),
    ]


def _comparison(results: Results, rule: str, arms: Any) -> list[Figure]:
    """The comparison of a rule with the fixed window, for each metric that has errors."""
    line: list[Figure] = []
    for metric in METRICS[:4]:
        one = paired(averaged(results, metric, arms(BASE)), averaged(results, metric, arms(rule)))
        if one is None:
            row = results.row(rule=rule)
            line += [Figure(row.failure if row and row.failure else "not run", span=3)]
            continue
        line += [figure(one.shift), figure(one.effect), Figure(f"{one.p:.2g}", _answer(one))]
    return line


def _answer(one: Paired) -> str:
    if one.different == 0:
        return "none"
    if one.too_few:
        return "too few seeds"
    if one.null:
        return "none shown"
    return "more" if one.shift.value > 0 else "less"


def _comparison_heads() -> list[str]:
    names = ("read later, ms", "another fate, points", "loss, points", "calls per s")
    return [head for name in names for head in (name, "effect", "p")]


def _by_window(results: Results) -> Table:
    lines = []
    for rule, window in itertools.product(RULES[1:], WINDOWS_MS):
        arms = partial(arms_of, windows=(window,))
        lines.append([Figure(rule), Figure(str(window)), *_comparison(results, rule, arms)])
    return Table(
        "windows",
        f"Difference from {BASE} with the same w: all speeds together",
        ["rule", "w, ms", *_comparison_heads()],
        lines,
        list(WHY),
        left=2,
    )


def _by_difference(results: Results) -> Table:
    lines = []
    for rule, difference in itertools.product(RULES[1:], DIFFERENCES):
        arms = partial(arms_of, windows=WINDOWS_MS, differences=(difference,))
        head = f"{difference:+d}".replace("-", "−") if difference else "0"
        lines.append([Figure(rule), Figure(head), *_comparison(results, rule, arms)])
    return Table(
        "differences",
        f"Difference from {BASE} by speed difference: all windows together",
        ["rule", "V_p − V_s, m/s", *_comparison_heads()],
        lines,
        [WHY[0]],
        left=2,
    )


def plots(results: Results) -> list[Any]:
    from hyphos.cosim.experiments.trade import trade_off, windows_of_rules  # noqa: PLC0415

    return [*trade_off(results), *windows_of_rules(results)]


ABLATION = Experiment(
    name="ablation",
    about="Only the window rule varies, on the same seeds, with windows of 5 to 50 ms and speed "
    "differences of −10 to 10 m/s: error against calls of the network and run time.",
    cells=cells,
    tables=tables,
    metrics=(),
    seeds=5,
    network="analytic",
    lines_by="rule",
    plots=plots,
)
