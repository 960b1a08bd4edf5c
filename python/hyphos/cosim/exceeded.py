"""The requested bounds that a run exceeded, and the decisions of its method, for the report."""

from __future__ import annotations

from typing import Any

_UNITS = {"latency_ns": ("latency", 1e-6, "ms"), "power_db": ("received power", 1.0, "dB")}


def rows(told: dict[str, Any]) -> dict[str, str]:
    """Rows of the table of bounds. Files of older versions have none."""
    found = {}
    for one in told.get("exceeded", []):
        name, factor, unit = _UNITS[one["bound"]]
        worst = one["worst"]["value"]
        value = "unlimited" if worst is None else f"{worst * factor:.4g} {unit}"
        text = (
            f"{value} instead of {one['requested'] * factor:g} {unit}: first by "
            f"{_packet(one['first'])}, most by {_packet(one['worst'])}"
        )
        if sight := one["worst"]["sight_db"]:
            text += f"; {sight:.4g} dB from an edge of an obstacle inside a step"
        found[f"requested {name} exceeded"] = text
    remarks = told.get("remarks", [])
    return found | ({"decisions of the method": "; ".join(remarks)} if remarks else {})


def _packet(case: dict[str, Any]) -> str:
    at = case["at_ns"] * 1e-9
    return f"packet {case['packet']} from {case['from']} to {case['to']} at {at:.3f} s"
