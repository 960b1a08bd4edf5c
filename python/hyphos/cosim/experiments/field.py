"""The field, the robots and the radio of tables II to IV: physics by MuJoCo, a radio of 802.11."""

from __future__ import annotations

import math
from typing import Any

FLIGHT_M = 10.0  # height of the drone
SPEEDS = (1.0, 1.5, 1.25)  # m/s of sender, receiver and third robot
ANTENNA_M = 0.6  # of a ground vehicle, above its origin
TRACK_M = 60.0  # the robots drive in parallel and do not reach the end
LENGTH_M = 40.0  # of the wood and the ridge, to both sides of the sender's track

# Uneven ground of a meadow, for both sights. A ridge and a wood cross the path without sight.
GROUND: dict[str, Any] = {
    "size_m": [180, 160],
    "centre": [60, 40],
    "cell_m": 1,
    "rough_m": 0.06,
    "rough_scale_m": 4,
    "loss_db": 12,
}
RIDGE_X, RIDGE_RADIUS, RIDGE_M = 9.0, 3.0, 0.7  # crest of the ridge, about 1.2 m high in total
TREE_X, TREE_M, CROWN_M, TREE_DB = 9.0, 9.0, 4.0, 8.0
# Bushes below the crowns.
BUSHES: dict[str, Any] = {"low": [7.5, -25, 0], "high": [10.5, 55, 4.5], "loss_db": 8}

METHOD = {"name": "adaptive", "window_ms": 50, "latency_budget_ms": 0}
PHYSICS = {"simulator": "mujoco", "rate_hz": 1000}


def robots(pair: str, distance_m: float) -> dict[str, Any]:
    """A sender, a receiver at the given distance, and a third robot (the master) at the same
    distance from the sender, behind the wood as well. They move in parallel at different speeds.
    """
    flies = pair == "ugv-uav"
    names = ("husky", "iris") if flies else ("husky1", "husky2")
    third = "husky2" if flies else "iris"
    kinds = ("ugv", "uav" if flies else "ugv", "ugv" if flies else "uav")

    def robot(kind: str, angle: float, speed: float) -> dict[str, Any]:
        high = FLIGHT_M if kind == "uav" else 0.0
        level = math.sqrt(distance_m**2 - max(0.0, high - ANTENNA_M) ** 2)
        x, y = round(level * math.cos(angle), 3), round(level * math.sin(angle), 3)
        antenna = {"height_m": 0.0 if kind == "uav" else ANTENNA_M, "pattern": "dipole"}
        way = [[x, y, high], [x, y + TRACK_M, high]]
        return {"kind": kind, "waypoints": way, "speed": speed, "antenna": antenna}

    sender = robot(kinds[0], 0, SPEEDS[0])
    sender["waypoints"] = [[0, 0, 0], [0, TRACK_M, 0]]
    return {
        names[0]: sender,
        names[1]: robot(kinds[1], 0, SPEEDS[1]),
        third: robot(kinds[2], math.pi / 6, SPEEDS[2]),
    }


def world(sight: str) -> dict[str, Any]:
    """LOS: a meadow. NLOS: a low ridge with bushes and trees, between sender and receiver."""
    ground = dict(GROUND)
    if sight == "LOS":
        return {"terrain": ground}
    steps = int(2 * LENGTH_M / RIDGE_RADIUS) + 1
    along = [round(-LENGTH_M + 15 + i * RIDGE_RADIUS, 3) for i in range(steps)]
    ground["hills"] = [
        {"at": [RIDGE_X, y], "radius_m": RIDGE_RADIUS, "height_m": RIDGE_M} for y in along
    ]
    trees = [
        {"at": [TREE_X, y], "height_m": TREE_M, "crown_m": CROWN_M, "loss_db": TREE_DB}
        for y in range(int(along[0]), int(along[-1]), int(CROWN_M))
    ]
    return {"terrain": ground, "trees": trees, "boxes": [dict(BUSHES)]}


# Why these values: see `REASONS` in tables.py.
RADIO: dict[str, Any] = {
    "kind": "802.11g",
    "rate_control": "minstrel",
    "tx_power_dbm": 16,
    "shadowing_db": 4,
    "channel": {
        "path_loss": "two_ray",
        "diffraction": "knife_edge",
        "shadowing_distance_m": 10,
        "fading": "rician",
        "k_los_db": 6,
        "interference_dbm": -84,
    },
}


def radio(network: str, transport: str) -> dict[str, Any]:
    made = {**RADIO, "simulator": network, "channel": dict(RADIO["channel"])}
    return made | {"transport": transport} if network == "ns3" else made
