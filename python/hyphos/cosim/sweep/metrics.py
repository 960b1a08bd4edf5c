"""The numbers of a run that a sweep compares."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from typing import Any

from hyphos._errors import Error

# Texts for axes of plots and heads of tables. A flow has the second group as FLOW.NAME.
RUN_METRICS = {
    "loss_percent": "loss (%)",
    "delay_ms": "delay (ms)",
    "sent": "copies sent",
    "delivered": "copies delivered",
    "dropped": "copies dropped",
    "in_flight": "copies in flight",
    "dropped_queue_full": "dropped: queue full",
    "dropped_out_of_range": "dropped: out of range",
    "dropped_channel_error": "dropped: channel error",
    "dropped_collision": "dropped: collision",
    "dropped_retry_limit": "dropped: retry limit",
    "dropped_other": "dropped: other",
    "bound_latency_ms": "latency bound (ms)",
    "bound_position_m": "position bound (m)",
    "bound_power_db": "power bound (dB)",
    "windows": "windows",
    "network_syncs": "calls of the network",
    "real_ms": "real time (ms)",
    "times_real": "speed (× real time)",
}
FLOW_METRICS = {
    "loss_percent": "loss (%)",
    "delay_ms": "delay (ms)",
    "delay_p95_ms": "delay, p95 (ms)",
    "read_delay_ms": "delay until the read (ms)",
    "took_ms": "duration (ms)",
    "messages": "messages",
    "delivered": "messages delivered",
    "repeats": "repeats",
    "distance_m": "distance (m)",
}
_MOST_FLOWS = 3  # shown without --metric


def choose(wanted: Sequence[str], flows: Sequence[str]) -> list[str]:
    """The metrics to show. Raises Error for an unknown one."""
    if not wanted:
        heads = [f"{flow}." for flow in flows] if 0 < len(flows) <= _MOST_FLOWS else [""]
        return [f"{head}{name}" for head in heads for name in ("loss_percent", "delay_ms")]
    known = [*RUN_METRICS, *(f"{flow}.{name}" for flow in flows for name in FLOW_METRICS)]
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            said = f"; did you mean '{near[0]}'?" if near else ""
            advice = f"one of {', '.join(RUN_METRICS)}"
            if flows:
                advice += f", or FLOW.NAME with a flow of {', '.join(flows)} and a name of "
                advice += ", ".join(FLOW_METRICS)
            raise Error("not_found", f"unknown metric '{name}'{said}", "--metric", advice)
    return list(dict.fromkeys(wanted))


def title(metric: str) -> str:
    flow, dot, name = metric.rpartition(".")
    return f"{flow}: {FLOW_METRICS[name]}" if dot else RUN_METRICS[metric]


def of(told: dict[str, Any]) -> dict[str, float]:
    """All metrics of one run."""
    found = _of_run(told)
    for flow in told["flows"]:
        found |= {f"{flow['name']}.{name}": value for name, value in _of_flow(flow).items()}
    return {name: math.nan if value is None else float(value) for name, value in found.items()}


def _of_run(told: dict[str, Any]) -> dict[str, float | None]:
    packets, windows, bounds = told["packets"], told["windows"], told["bounds"]
    total_ns = max(told["profile"]["total_ns"], 1)
    dropped = sum(packets["dropped"].values())
    known = packets["delivered"] + dropped
    bins = [one for one in told["distances"] if one["delivered"]]
    delays = math.fsum(one["delay_mean_ms"] * one["delivered"] for one in bins)
    delivered = sum(one["delivered"] for one in bins)
    found: dict[str, float | None] = {
        "loss_percent": 100 * dropped / known if known else None,
        "delay_ms": delays / delivered if delivered else None,
        "sent": packets["sent"],
        "delivered": packets["delivered"],
        "dropped": dropped,
        "in_flight": packets["in_flight"],
    }
    for name in RUN_METRICS:
        if name.startswith("dropped_"):
            found[name] = packets["dropped"].get(name.removeprefix("dropped_"), 0)
    return found | {
        "bound_latency_ms": bounds["latency_ns"] * 1e-6,
        "bound_position_m": bounds["position_m"],
        "bound_power_db": bounds["power_db"],
        "windows": windows["count"],
        "network_syncs": windows["network_syncs"],
        "real_ms": total_ns * 1e-6,
        "times_real": told["end_ns"] / total_ns,
    }


def _of_flow(flow: dict[str, Any]) -> dict[str, float | None]:
    return {
        "loss_percent": None if flow["loss"] is None else 100 * flow["loss"],
        "delay_ms": flow["delay_ms"]["mean"],
        "delay_p95_ms": flow["delay_ms"]["p95"],
        "read_delay_ms": flow["read_delay_ms"]["mean"],
        "took_ms": flow["took_ms"],
        "messages": flow["messages"],
        "delivered": flow["delivered"],
        "repeats": flow["repeats"],
        "distance_m": flow["distance_m"],
    }
