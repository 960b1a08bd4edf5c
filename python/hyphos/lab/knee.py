"""The saturation point ("knee" in metric keys) of a case or a graph: the highest load that it
carries. `hyphos lab saturate`, `verify`, `calibrate` and `plan check` share this definition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any

from hyphos._errors import Error

# A load is carried if at most this share of each flow is lost …
MAX_LOST = 0.01
# … and no flow falls behind by more than this: the growth of its lateness, in seconds a second.
# Traffic offered at r and carried at c grows by r/c − 1, so an accepted rate is at most 4 % above
# the carried rate.
MAX_GROWTH = 0.04
# … and half of the messages of each flow wait for at most this share of the run: a starved flow
# is late all the time, and does not fall further behind.
MAX_WAITING = 0.25
# A search ends when the highest carried and the lowest failed load are this close.
RESOLUTION = 1.06
# Runs of a search must be long and have enough messages to reveal a growth of 4 %.
SECONDS = 1.0
MIN_MESSAGES = 40

DEFINITION = (
    "A load is carried if every publisher sends all its messages, at most 1 % of each flow is "
    "lost, the lateness of no flow grows by more than 4 % of the time (regression over eight parts "
    "of the run), and half of the messages of each flow wait for at most a quarter of the run."
)


@dataclass(frozen=True)
class Flow:
    """The messages to one subscriber. `late_us` is the median lateness in each part of the run,
    None for a part without messages. `least_us` is the lateness of the quickest messages."""

    expected: int
    received: int
    late_us: tuple[float | None, ...]
    least_us: float | None

    def growth(self, span_s: float) -> float:
        """The share of the time by which the flow falls further behind: the slope of its lateness.
        It is the median of the slopes between all parts (Theil and Sen), robust against a
        hiccup."""
        step_s = span_s / len(self.late_us)
        points = [
            (place * step_s, late / 1e6)
            for place, late in enumerate(self.late_us)
            if late is not None
        ]
        slopes = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2)]
        return median(slopes) if slopes else 0.0

    def waiting_s(self) -> float:
        """The median wait in the worse half of the run, minus that of the quickest messages."""
        half = len(self.late_us) // 2
        halves = (self.late_us[:half], self.late_us[half:])
        known = [[late for late in some if late is not None] for some in halves]
        worst = max((median(some) for some in known if some), default=0.0)
        return max(0.0, worst - (self.least_us or 0.0)) / 1e6

    @property
    def arrived(self) -> float:
        """The share of messages that arrived."""
        return self.received / self.expected if self.expected else 1.0


@dataclass(frozen=True)
class Offered:
    """A run on a schedule: planned messages, sent messages, and their fate."""

    span_s: float
    planned: int
    sent: int
    flows: tuple[Flow, ...]

    @property
    def growth(self) -> float:
        """The growth of the flow that falls behind most."""
        return max((flow.growth(self.span_s) for flow in self.flows), default=0.0)

    @property
    def waiting(self) -> float:
        """The share of the run for which half of the messages of the slowest flow wait."""
        return max((flow.waiting_s() for flow in self.flows), default=0.0) / self.span_s

    @property
    def delivered(self) -> float:
        """The carried share of the offered rate: the sent share, of that the share that arrived,
        and of that the share that arrived in time."""
        arrived = min((flow.arrived for flow in self.flows), default=0.0)
        sent = self.sent / self.planned if self.planned else 1.0
        return sent * arrived / (1.0 + max(0.0, self.growth))

    @property
    def too_much(self) -> str:
        """The reason why the load is not carried. Empty if it is carried."""
        if self.sent < self.planned:
            return f"publishers sent {self.sent} of {self.planned}"
        worst = min(self.flows, key=lambda flow: flow.arrived, default=None)
        if worst is None or worst.received == 0 < worst.expected:
            return "a subscriber received nothing"
        if worst.expected - worst.received > MAX_LOST * worst.expected:
            return f"{1.0 - worst.arrived:.1%} of a flow is lost"
        if self.growth > MAX_GROWTH:
            return f"lateness grows by {self.growth:.1%} of the time"
        if self.waiting > MAX_WAITING:
            return f"half of a flow waits for {self.waiting:.0%} of the run"
        return ""

    @property
    def carried(self) -> bool:
        return not self.too_much


def of_result(told: dict[str, Any]) -> Offered:
    """From a run of a peer's program. Raises Error if the result is of an earlier version, which
    lacks the data."""
    if "late_parts_us" not in told:
        raise Error(
            "corrupt",
            "a run has no lateness over time",
            advice="an earlier version wrote it. Measure again with --overwrite",
        )
    columns = (told["flow_sent"], told["flow_received"], told["late_parts_us"])
    flows = tuple(
        Flow(int(sent), int(received), tuple(parts), least)
        for sent, received, parts, least in zip(*columns, told["least_late_us"], strict=True)
    )
    return Offered(float(told["span_s"]), int(told["planned"]), int(told["sent"]), flows)


def of_graph(told: dict[str, Any], seconds: float) -> Offered:
    """From a run of a graph of that length. Refused messages count as not sent."""
    sources: Sequence[dict[str, Any]] = told["sources"]
    planned = sum(max(one["planned"], one["sent"]) for one in sources)
    sent = sum(one["sent"] for one in sources)
    refused = sum(one["refused"] for one in sources)
    flows = tuple(
        Flow(
            int(flow["expected"]),
            int(flow["received"]),
            tuple(flow["late_parts_us"]),
            flow["least_late_us"],
        )
        for flow in told["flows"]
    )
    return Offered(seconds, int(planned + refused), int(sent), flows)


def between(low: float, high: float) -> float:
    """The saturation point between the bounds of a search."""
    return math.sqrt(low * high)
