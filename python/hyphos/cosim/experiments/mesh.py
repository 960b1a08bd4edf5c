"""Section VII.C: pings from node 1 to node 10 in a group of ten."""

from __future__ import annotations

import math
from typing import Any

from hyphos.cosim.cell import Cell, Parameters
from hyphos.cosim.experiment import Experiment, Figure, Table
from hyphos.cosim.experiments import paper
from hyphos.cosim.experiments.say import estimate, plain
from hyphos.cosim.experiments.world import METHOD, radio
from hyphos.cosim.results import Results

PINGS = 100
LIGHT_M_PER_MS = 299_792.458


def _node(number: int) -> list[float]:
    """The position of a node: two rows of five, 10 m apart."""
    return [10.0 * (number % 5), 10.0 * (number // 5), 1.0]


def scenario(parameters: Parameters, network: str) -> dict[str, Any]:
    place, transport = str(parameters["node_10"]), str(parameters["transport"])
    team = {f"node{i + 1}": {"at": _node(i)} for i in range(10)}
    if place != "near":
        moved = {"moved 50 m": 50.0, "moved 100 m": 100.0}[place]
        team["node10"] = {"at": [coordinate + moved for coordinate in _node(9)]}
    ping = {
        "kind": "ping",
        "from": "node1",
        "to": "node10",
        "rate_hz": 10,
        "bytes": 64,
        "count": PINGS,
    }
    via = {"via": "node5"} if parameters["way"] == "through node 5" else {}
    return {
        "duration_s": 20,
        "method": dict(METHOD),
        "robots": team,
        "radio": radio("LOS", network, transport),
        "traffic": {**via, "flows": {"ping": ping}},
    }


def cells(network: str) -> list[Cell]:
    made = []
    for place in ("near", "moved 50 m", "moved 100 m"):
        for way in ("straight", "through node 5"):
            parameters: dict[str, str | float] = {
                "node_10": place,
                "way": way,
                "transport": "tcp" if network == "ns3" else "udp",
            }
            made.append(Cell(parameters, scenario(parameters, network), "ping"))
    return made


def _why() -> tuple[str, ...]:
    more_ms = paper.PINGS["moved"] - paper.PINGS["near"]
    far_km = more_ms / 2 * LIGHT_M_PER_MS / 1000
    chord_km = 2 * 6371 * math.sin(math.radians(100) / 2)
    return (
        "A ping of 64 bytes and its reply are two frames of 0.2 ms plus the delay of two hosts. "
        "Here the round trip takes a few steps of 1 ms. The paper's 5.4 ms are the real time of an "
        "emulator on an unspecified computer, not the time of the network.",
        "The paper moves node 10 by 100 in longitude, latitude and altitude, and the ping takes "
        f"{more_ms:.0f} ms more. Longitude and latitude are in degrees. Light takes half of that "
        f"for {far_km:,.0f} km, and 100 degrees of a great circle are {chord_km:,.0f} km in a "
        "straight line through the earth. The increase may therefore be the propagation delay, "
        "over a distance that no radio of a robot covers.",
        "After a move of 100 m along each axis, node 10 is 205 m from node 1 and 179 m from node "
        "5. This radio reaches 158 m, and farther only with favourable shadowing, so most pings "
        "are lost. EMANE without a radio model delivers every packet.",
    )


def tables(results: Results) -> list[Table]:
    lines = []
    for row in results.rows():
        told = row.parameters
        beside = paper.PINGS.get(str(told["node_10"]).partition(" ")[0])
        straight = told["way"] == "straight"
        lines.append(
            [
                Figure(f"{told['node_10']}, {told['way']}"),
                estimate(row, "read_delay_ms"),
                Figure(plain(beside) if straight and told["node_10"] != "moved 50 m" else "–"),
                estimate(row, "loss_percent"),
                Figure("0" if straight and told["node_10"] != "moved 50 m" else "–"),
            ]
        )
    heads = ["node 10", "round trip, ms", "paper", "loss, %", "paper"]
    return [Table("mesh", f"{PINGS} pings of 64 bytes (section VII.C)", heads, lines, list(_why()))]


MESH = Experiment(
    name="paper_mesh",
    about="100 pings of 64 bytes from node 1 to node 10 of ten, near and moved (section VII.C).",
    cells=cells,
    tables=tables,
    metrics=(),
)
