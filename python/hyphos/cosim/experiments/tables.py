"""Tables II to IV: delay and loss of ten seconds of an accelerometer, by distance."""

from __future__ import annotations

import itertools
import math
from typing import Any

from hyphos.cosim.cell import Cell, Parameters
from hyphos.cosim.experiment import Experiment, Figure, Table
from hyphos.cosim.experiments import paper
from hyphos.cosim.experiments.say import estimate, plain, shape
from hyphos.cosim.experiments.world import METHOD, flow_transport, radio, robots, world
from hyphos.cosim.results import Results

RECORD_S = 10
WAIT_S = 10  # messages that arrive later after the recording count as lost


def scenario(parameters: Parameters, network: str) -> dict[str, Any]:
    pair, sight = str(parameters["robots"]), str(parameters["sight"])
    transport = str(parameters["transport"])
    team = robots(pair, float(parameters["distance_m"]))
    sender, receiver, third = team
    imu = {
        "kind": "accelerometer",
        "from": sender,
        "to": receiver,
        "rate_hz": 100,
        "seconds": RECORD_S,
        "transport": flow_transport(network, transport),
    }
    master = {"via": third} if parameters["architecture"] == "master" else {}
    return {
        "duration_s": RECORD_S + WAIT_S,
        "method": dict(METHOD),
        "world": world(sight),
        "robots": team,
        "radio": radio(sight, network, transport),
        "traffic": {**master, "flows": {"imu": imu}},
    }


def cells(network: str) -> list[Cell]:
    made = []
    for pair, architecture, sight, transport, distance in itertools.product(
        ("ugv-ugv", "ugv-uav"),
        ("masterless", "master"),
        ("LOS", "NLOS"),
        ("udp", "tcp"),
        paper.DISTANCES,
    ):
        parameters: dict[str, str | float] = {
            "robots": pair,
            "architecture": architecture,
            "sight": sight,
            "transport": transport,
            "distance_m": distance,
        }
        made.append(Cell(parameters, scenario(parameters, network), "imu"))
    return made


def _table(results: Results, pair: str, architecture: str) -> Table:
    number, columns = paper.TABLES.get((pair, architecture), ("", {}))
    lines = []
    notes = []
    for sight, transport in itertools.product(("LOS", "NLOS"), ("udp", "tcp")):
        found: dict[str, list[float]] = {"delay_sum_s": [], "loss_percent": []}
        told: dict[str, list[float | None]] = {"delay_sum_s": [], "loss_percent": []}
        for distance in paper.DISTANCES:
            parameters: dict[str, str | float] = {
                "robots": pair,
                "architecture": architecture,
                "sight": sight,
                "transport": transport,
                "distance_m": distance,
            }
            row = results.row(**parameters)
            line = [Figure(f"{sight} {transport.upper()}, {distance} m")]
            for metric, here in found.items():
                beside = paper.table(parameters, metric)
                line += [estimate(row, metric), Figure(plain(beside))]
                told[metric].append(beside)
                here.append(row.estimate(metric).value if row else math.nan)
            lines.append(line)
        if (sight, transport) in columns:
            name = f"{sight} {transport.upper()}"
            notes.append(shape(f"{name}, delay", found["delay_sum_s"], told["delay_sum_s"]))
            notes.append(shape(f"{name}, loss", found["loss_percent"], told["loss_percent"]))
    about = f"Table {number} of the paper" if number else "not in the paper"
    return Table(
        f"{pair}-{architecture}",
        f"{pair.upper().replace('-', ' to ')}, {architecture} ({about})",
        ["", "sum of delays, s", "paper, s", "loss, %", "paper, %"],
        lines,
        notes,
    )


WHY = (
    "The paper's delay is a sum over 10 s of accelerometer data, and the paper does not give the "
    "rate. Here it is the sum over 1000 messages of 344 bytes, so 1 s means 1 ms per message.",
    "With a line of sight, the delay hardly grows here up to 100 m. A frame at 6 Mbit/s takes as "
    "long at 100 m as at 20 m, and is repeated only where the signal is close to the noise. In "
    "the paper it grows 60 times between 20 and 100 m. Rate, power and path loss are not given.",
    "Loss over UDP is the loss after seven attempts of the medium access. Over TCP it is the "
    "share of messages that have not arrived 10 s after the recording. A TCP with a loss of 10 "
    "to 50 %, as in the paper, was evaluated while it was still repeating.",
    "Behind the obstacle, single runs lose nearly all or nearly no messages, depending on the "
    "shadowing of that link. The mean over seeds falls slowly with distance, while hardly any "
    "single run does.",
    "The master is a third robot, as far from the sender as the receiver is. Every packet is sent "
    "twice, so the delay doubles with a line of sight. Behind the obstacle, both hops must "
    "succeed.",
)


def tables(results: Results) -> list[Table]:
    made = [
        _table(results, pair, architecture)
        for pair, architecture in itertools.product(
            ("ugv-ugv", "ugv-uav"), ("masterless", "master")
        )
    ]
    made[0].notes.extend(WHY)
    return made


TABLES = Experiment(
    name="paper_tables",
    about="Delay and loss of 10 s of an accelerometer by distance: LOS and NLOS, UDP and TCP, UGV "
    "to UGV and UGV to UAV, masterless and through a master (tables II to IV).",
    cells=cells,
    tables=tables,
    metrics=("delay_sum_s", "loss_percent"),
    lines_by="transport",
    paper=paper.table,
)
