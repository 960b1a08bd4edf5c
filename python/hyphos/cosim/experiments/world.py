"""The field, the robots and the radio that the paper's experiments share."""

from __future__ import annotations

import math
from typing import Any

ANTENNA_M = 0.5  # height on a ground vehicle
FLIGHT_M = 10.0  # height of the drone
# A row of trees and a house right behind the sender, higher than the straight path to the drone. In
# section VI the sender is behind a wall.
OBSTACLE: dict[str, Any] = {"low": [3, -20, 0], "high": [7, 120, 9], "loss_db": 12}
RADIO: dict[str, Any] = {"rate_mbit": 6, "tx_power_dbm": 16, "path_loss_exponent": 3}
# The difference between links of the same length, caused by obstacles that are not modelled as
# boxes. It is larger where such obstacles exist.
SHADOWING_DB = {"LOS": 3, "NLOS": 6}
METHOD = {"name": "adaptive", "window_ms": 50, "latency_budget_ms": 0}


def robots(pair: str, distance_m: float, speeds: tuple[float, float] = (1.0, 1.5)) -> Any:
    """A sender, a receiver at the given distance, and a third robot at the same distance from the
    sender. They drive in parallel at different speeds, so that distances change little.
    """
    high = FLIGHT_M if pair == "ugv-uav" else ANTENNA_M
    other = ANTENNA_M if pair == "ugv-uav" else FLIGHT_M

    def ahead(height: float) -> float:
        return math.sqrt(distance_m**2 - (height - ANTENNA_M) ** 2)

    third = ahead(other)
    first, second = speeds
    names = ("husky", "iris") if pair == "ugv-uav" else ("husky1", "husky2")
    spare = "husky2" if pair == "ugv-uav" else "iris"
    return {
        names[0]: {"at": [0, 0, ANTENNA_M], "velocity": [0, first, 0]},
        names[1]: {
            "kind": "uav" if pair == "ugv-uav" else "ugv",
            "at": [round(ahead(high), 3), 0, high],
            "velocity": [0, second, 0],
        },
        spare: {
            "kind": "ugv" if pair == "ugv-uav" else "uav",
            "at": [round(third / 2, 3), round(third * math.sqrt(3) / 2, 3), other],
            "velocity": [0, (first + second) / 2, 0],
        },
    }


def world(sight: str) -> dict[str, Any]:
    return {"boxes": [dict(OBSTACLE)]} if sight == "NLOS" else {}


def radio(sight: str, network: str, transport: str, **more: float) -> dict[str, Any]:
    told: dict[str, Any] = {"simulator": network}
    if network == "ns3":
        told["transport"] = transport
    return told | RADIO | {"shadowing_db": SHADOWING_DB[sight]} | more


def flow_transport(network: str, transport: str) -> str:
    """ns-3 has its own TCP. Without ns-3, the programs acknowledge and repeat."""
    return "acknowledged" if transport == "tcp" and network == "analytic" else "plain"
