"""Tables II to IV: delay and loss of ten seconds of an accelerometer, by distance."""

from __future__ import annotations

import itertools
import math
from typing import Any

from hyphos.cosim.cell import Cell, Parameters
from hyphos.cosim.experiment import Experiment, Figure, Table
from hyphos.cosim.experiments import field, paper, world
from hyphos.cosim.experiments.say import estimate, plain, shape
from hyphos.cosim.experiments.why import why
from hyphos.cosim.results import Results
from hyphos.cosim.runs import DELAY_PARTS

RECORD_S = 10
WAIT_S = 2  # messages that arrive later after the recording count as lost
PAIRS = tuple(itertools.product(("ugv-ugv", "ugv-uav"), ("masterless", "master")))


def scenario(parameters: Parameters, network: str) -> dict[str, Any]:
    pair, sight = str(parameters["robots"]), str(parameters["sight"])
    transport = str(parameters["transport"])
    team = field.robots(pair, float(parameters["distance_m"]))
    sender, receiver, third = team
    imu = {
        "kind": "accelerometer",
        "from": sender,
        "to": receiver,
        "rate_hz": 100,
        "seconds": RECORD_S,
        "transport": world.flow_transport(network, transport),
    }
    master = {"via": third} if parameters["architecture"] == "master" else {}
    return {
        "duration_s": RECORD_S + WAIT_S,
        "physics": dict(field.PHYSICS),
        "method": dict(field.METHOD),
        "world": field.world(sight),
        "robots": team,
        "radio": field.radio(network, transport),
        "traffic": {**master, "flows": {"imu": imu}},
    }


def cells(network: str) -> list[Cell]:
    made = []
    for (pair, architecture), sight, transport, distance in itertools.product(
        PAIRS, ("LOS", "NLOS"), ("udp", "tcp"), paper.DISTANCES
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


def _rows(pair: str, architecture: str) -> list[dict[str, str | float]]:
    return [
        {
            "robots": pair,
            "architecture": architecture,
            "sight": sight,
            "transport": transport,
            "distance_m": distance,
        }
        for sight, transport, distance in itertools.product(
            ("LOS", "NLOS"), ("udp", "tcp"), paper.DISTANCES
        )
    ]


def _name(parameters: Parameters) -> str:
    sight, transport = parameters["sight"], str(parameters["transport"]).upper()
    return f"{sight} {transport}, {parameters['distance_m']} m"


def _title(pair: str, architecture: str) -> str:
    number = paper.TABLES.get((pair, architecture), ("", {}))[0]
    about = f"Table {number} of the paper" if number else "not in the paper"
    return f"{pair.upper().replace('-', ' to ')}, {architecture} ({about})"


def _table(results: Results, pair: str, architecture: str) -> Table:
    lines = []
    series: dict[tuple[str, str], tuple[list[float], list[float | None]]] = {}
    for parameters in _rows(pair, architecture):
        row = results.row(**parameters)
        line = [Figure(_name(parameters))]
        for metric in ("delay_sum_s", "loss_percent"):
            beside = paper.table(parameters, metric)
            line += [estimate(row, metric), Figure(plain(beside))]
            name = f"{parameters['sight']} {str(parameters['transport']).upper()}"
            here, there = series.setdefault((name, metric), ([], []))
            here.append(row.estimate(metric).value if row else math.nan)
            there.append(beside)
        line.append(Figure(why(results, parameters)))
        lines.append(line)
    words = {"delay_sum_s": "delay", "loss_percent": "loss"}
    notes = [
        shape(f"{name}, {words[metric]}", here, there)
        for (name, metric), (here, there) in series.items()
        if any(one is not None for one in there)
    ]
    return Table(
        f"{pair}-{architecture}",
        _title(pair, architecture),
        ["", "sum of delays, s", "paper, s", "loss, %", "paper, %", "why"],
        lines,
        notes,
    )


def _parts(results: Results, pair: str, architecture: str) -> Table:
    """The mean delay of a delivered message, split as in equation 2."""
    lines = []
    for parameters in _rows(pair, architecture):
        row = results.row(**parameters)
        lines.append(
            [
                Figure(_name(parameters)),
                *(estimate(row, f"{part}_ms") for part in DELAY_PARTS),
                estimate(row, "delay_ms"),
            ]
        )
    return Table(
        f"{pair}-{architecture}-parts",
        f"Parts of the delay by equation 2: {_title(pair, architecture)}",
        ["", *(f"{part}, ms" for part in DELAY_PARTS), "delay, ms"],
        lines,
        [
            "Means over the delivered messages. Processing: in hosts and in the master, until the "
            "next step of physics. Queueing: transmit queue and access to the channel. "
            "Retransmission: of the medium access, and over TCP also of the transport and its "
            "wait for earlier messages. Transmission: of the frame that arrives. The parts add up "
            "to the delay of a message."
        ],
    )


REASONS = (
    "The paper's delay is a sum over 10 s of accelerometer data, and the paper does not give the "
    "rate. Here it is the sum over 1000 messages of 344 bytes, so 1 s means 1 ms per message.",
    "Physics: MuJoCo. Ground vehicles drive with their wheels over uneven ground, and the drone "
    "flies by its rotors. NLOS is geometry: a ridge of 1.2 m with bushes and trees, 9 m in "
    "front of the sender. The path to a vehicle enters ridge and bushes, the path to the drone "
    "bushes or crowns.",
    "Radio: 802.11g, as in the paper, with the rate control of Linux, at the 16 dBm of a usual "
    "card, with dipoles 0.6 m above the vehicles. Path: two-ray ground reflection, since the "
    "antennas are low. Bushes and crowns: 8 dB each for 3 to 4 m of leaves. Shadowing: 4 dB over "
    "10 m. Fading: Rician with K of 6 dB in sight, Rayleigh behind the trees. Noise: thermal, a "
    "figure of 7 dB, and −84 dBm of other systems, as near a campus. The paper gives none of these "
    "values, so its losses fix none of them.",
    "Loss over UDP is the loss after seven attempts of the medium access. Over TCP it is the "
    f"share of messages that have not arrived {WAIT_S} s after the recording. TCP repeats until "
    "a message arrives, so this share falls with the wait. A TCP with a loss of 10 to 50 %, as "
    "in the paper, was evaluated while it was still repeating.",
    "The master is a third robot, as far from the sender as the receiver is. Every packet is sent "
    "twice. Behind the trees, the first hop must succeed there, and the second is in sight.",
)


def tables(results: Results) -> list[Table]:
    made = [_table(results, pair, architecture) for pair, architecture in PAIRS]
    made[0].notes.extend(REASONS)
    return made + [_parts(results, pair, architecture) for pair, architecture in PAIRS]


TABLES = Experiment(
    name="paper_tables",
    about="Delay and loss of 10 s of an accelerometer by distance: LOS and NLOS, UDP and TCP, UGV "
    "to UGV and UGV to UAV, masterless and through a master (tables II to IV), with MuJoCo.",
    cells=cells,
    tables=tables,
    metrics=("delay_sum_s", "loss_percent"),
    network="analytic",
    seeds=20,
    lines_by="transport",
    paper=paper.table,
)
