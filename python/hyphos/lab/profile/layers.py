"""The layers of a message, from its stamps. They have no gaps, so that they add up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

# As in trace/record.cpp. `hold` is the time that a node keeps a received message until one of its
# timers uses it.
LAYERS = ("encode", "submit", "transport", "deliver", "queue", "decode", "callback", "hold")
COLOURS = ("#56b4e9", "#0072b2", "#009e73", "#999999", "#e69f00", "#cc79a7", "#d55e00", "#f0e442")
# The names in T. Kronauer et al. (Latency Analysis of ROS2 Multi-Node Systems, Fig. 6).
PAPER_NAMES = {
    "encode": "publisher rmw",
    "submit": "publisher common",
    "transport": "DDS",
    "deliver": "subscriber common",
    "queue": "notification delay",
    "decode": "subscriber rmw",
    "callback": "callback",
    "hold": "–",
}
# Percentiles around which the messages of an experiment are examined.
PERCENTILES = (0.5, 0.95)
# The layers that the stack adds to the transport. The rest is user code.
STACK = ("encode", "submit", "deliver", "queue", "decode")


def percentile_name(fraction: float) -> str:
    return f"p{fraction * 100:.0f}"


def shares_of(layers: Mapping[str, float]) -> dict[str, float]:
    """The share of each layer in the whole."""
    whole = sum(layers.values())
    return {name: ns / whole if whole > 0 else math.nan for name, ns in layers.items()}


def figures_of(layers: Mapping[str, float]) -> dict[str, float]:
    """The metrics for criteria and findings, from the layers of a message in ns. NaN if the divisor
    of a metric takes no time."""
    transport = layers["transport"]
    stack = sum(layers[name] for name in STACK)
    besides = max(layers[name] for name in STACK if name != "queue")
    shares = shares_of(layers)
    return {
        "layers_us": sum(layers.values()) / 1e3,
        **{f"{name}_us": layers[name] / 1e3 for name in LAYERS},
        **{f"{name}_share": shares[name] for name in LAYERS},
        "stack_us": stack / 1e3,
        "stack_share": sum(shares[name] for name in STACK),
        "transport_queue_share": shares["transport"] + shares["queue"],
        "stack_overhead": stack / transport if transport > 0 else math.nan,
        "queue_lead": layers["queue"] / besides if besides > 0 else math.nan,
    }


METRICS = tuple(
    f"{percentile_name(fraction)}_{name}"
    for fraction in PERCENTILES
    for name in figures_of(dict.fromkeys(LAYERS, 1.0))
)


def layers_of(events: npt.NDArray[np.void]) -> Ints:
    """A row for each reception: encode … decode, and its whole callback. The first six add up to
    `callback − publish`. A skipped layer has the stamp 0 and takes no time."""
    out = np.zeros((len(events), 7), np.int64)
    last = events["publish"].copy()
    for column, stamp in enumerate(("encoded", "submitted", "arrived", "scheduled", "dequeued")):
        now = events[stamp]
        crossed = now != 0
        out[crossed, column] = now[crossed] - last[crossed]
        last[crossed] = now[crossed]
    parsed = events["decoded"] != 0
    out[parsed, 5] = events["callback"][parsed] - last[parsed]
    out[:, 6] = events["end"] - events["callback"]
    return out


@dataclass(frozen=True)
class Spread:
    """Percentiles of durations in ns."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float
    max: float

    @staticmethod
    def of(values: Ints | npt.NDArray[np.float64]) -> Spread:
        if len(values) == 0:
            return Spread(0, 0.0, 0.0, 0.0, 0.0, 0.0)
        p50, p95, p99 = np.percentile(values, (50, 95, 99))
        return Spread(
            len(values), float(values.mean()), float(p50), float(p95), float(p99),
            float(values.max()),
        )  # fmt: skip

    def as_dict(self) -> dict[str, float]:
        return {
            "count": self.count,
            **{f"{n}_ns": round(getattr(self, n), 1) for n in ("mean", "p50", "p95", "p99", "max")},
        }
