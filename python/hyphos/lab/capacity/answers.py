"""The answer of `hyphos plan check` as JSON, which `hyphos view --check` reads."""

from __future__ import annotations

import math
import re
from typing import Any

from hyphos.lab.capacity.check import Answer, Reach
from hyphos.lab.capacity.graph import Graph

_PARTS = (
    (re.compile(r"process (?P<process>\S+)"), "process"),
    (re.compile(r"callback of (?P<node>\S+) on (?P<channel>\S+)"), "callback"),
    (re.compile(r"queue of (?P<channel>\S+) at (?P<node>\S+)"), "queue"),
)


def answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "verdict": answer.verdict.value,
        "knee": _finite(answer.knee),
        "knee_low": _finite(answer.low),
        "knee_high": _finite(answer.high),
        "first_to_break": answer.demand.first.resource,
        "utilisation": {use.resource: use.share for use in answer.demand.uses},
        "knee_size": _reach_json(answer.size),
        "knee_robots": _reach_json(answer.robots),
        "robots_that_fill_the_air": answer.on_air,
        "classic_cslv_knee": answer.classic,
        "ways": list(answer.ways),
        "parts": parts_json(answer),
        "channels": channels_json(answer.graph),
    }


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None


def parts_json(answer: Answer) -> list[dict[str, Any]]:
    """The share of each process, callback and queue, by the names of the plan."""
    found = []
    for use in answer.each:
        for pattern, kind in _PARTS:
            if match := pattern.fullmatch(use.resource):
                found.append({"kind": kind, **match.groupdict(), "share": use.share})
    return found


def channels_json(graph: Graph) -> dict[str, dict[str, float]]:
    """The messages and bytes a second of each channel, by all its publishers."""
    rates = {
        channel.name: sum(graph.rate_of(channel, one) for one in channel.publishers)
        for channel in graph.channels
    }
    return {
        channel.name: {
            "rate_hz": rates[channel.name],
            "bytes_per_s": rates[channel.name] * channel.size,
        }
        for channel in graph.channels
    }


def _reach_json(reach: Reach) -> dict[str, Any]:
    return {"factor": reach.factor, "open": reach.open, "end": reach.end.value}
