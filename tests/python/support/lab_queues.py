"""Synthetic runs: a queue that is served at a fixed rate, in the output format of the laboratory's
programs."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from hyphos.lab.case import Case

PARTS = 8


def never_late(_share: float) -> float:
    return 0.0


def served(
    case: Case,
    capacity_hz: float,
    *,
    transit_s: float = 1e-6,
    hiccup_s: Callable[[float], float] = never_late,
    flows: int = 1,
    lost: int = 0,
) -> dict[str, Any]:
    """The output of a pair's program if `capacity_hz` messages a second of each flow are served.
    `hiccup_s` is the extra delay of a message that is due after that share of the run."""
    count = case.count
    span_s = count / case.rate_hz
    late_us = []
    for i in range(count - lost):
        due = i / case.rate_hz
        behind = max(0.0, i / capacity_hz - due)
        late_us.append((behind + transit_s + hiccup_s(due / span_s)) * 1e6)
    parts: list[list[float]] = [[] for _ in range(PARTS)]
    for i, late in enumerate(late_us):
        parts[i * PARTS // count].append(late)
    medians = [median(part) if part else None for part in parts]
    least = sorted(late_us)[max(0, len(late_us) // 100 - 1)] if late_us else None
    received = count - lost
    return {
        **{"sent": count * flows, "planned": count * flows, "received": received * flows},
        **{"lost": lost * flows, "flows": flows, "sources": flows, "span_s": span_s},
        **{"flow_sent": [count] * flows, "flow_received": [received] * flows},
        **{"late_parts_us": [medians] * flows, "least_late_us": [least] * flows},
        "open_histogram_ns": sorted([round(late * 1000), 1] for late in late_us),
    }


def as_graph(told: dict[str, Any]) -> dict[str, Any]:
    """The same run in the output format of the graph program."""
    flows = len(told["flow_sent"])
    return {
        "sources": [
            {"planned": told["planned"] // flows, "sent": told["sent"] // flows, "refused": 0}
        ]
        * flows,
        "flows": [
            {
                "expected": told["flow_sent"][i],
                "received": told["flow_received"][i],
                "late_parts_us": told["late_parts_us"][i],
                "least_late_us": told["least_late_us"][i],
            }
            for i in range(flows)
        ],
        "seconds": told["span_s"],
        "cores_used": 1.0,
    }
