"""A machine, a robot and a profile for the tests of the capacity model."""

from __future__ import annotations

import json
import math
from pathlib import Path

from hyphos import _hyphos
from hyphos.lab.capacity.calibrate import cores, points_for
from hyphos.lab.capacity.fit import Fitted
from hyphos.lab.capacity.graph import LINK, POINTER, SHM, TCP, Graph, graph_of
from hyphos.lab.capacity.model import Costs, Host, knee
from hyphos.lab.capacity.profile import Calibrated, Profile
from hyphos.lab.knee import MAX_GROWTH, RESOLUTION
from hyphos.lab.machine import describe_machine
from hyphos.lab.media import Veth, Wifi

HOST = Host(2.0)
TRUTH = Costs(2.0, 4.0, 0.3, wake_us=8.0, batch_us=250.0, serial=0.9, send_us=8, room_kb=30)
ROBOT = """hyphos: 1
robot: small
processes: {eyes: {}, brain: {}}
nodes:
  camera: {process: eyes}
  mapper: {process: brain, load: {work_us: 2000}}
  planner: {process: brain}
channels:
  image: {publishers: [camera], subscribers: [mapper], load: {rate_hz: 30, size: 200 KB}}
  map:
    publishers: [mapper]
    subscribers: [planner]
    load: {after: image, every: 3, size: 10 KB}
  debug: {publishers: [mapper]}
"""


def most_found(scale: float) -> float:
    """The highest result of a search for a load that is carried up to this scale: it accepts a
    little more, and then takes the middle between this and a load that failed."""
    return scale * (1 + MAX_GROWTH) * math.sqrt(RESOLUTION)


def robot_in(folder: Path) -> Path:
    path = folder / "robot.yaml"
    path.write_text(ROBOT)
    return path


def graph_at(path: Path) -> Graph:
    return graph_of(json.loads(_hyphos.Plan.load(str(path), [], False).json()))


def fitted(way: str, costs: Costs, error: float = 0.1) -> Fitted:
    count = len(Costs.names(way))
    alone = tuple(tuple(error**2 * (i == j) for j in range(count)) for i in range(count))
    return Fitted(costs, error, error, alone)


def calibrated(way: str, medium: Veth | Wifi | None = None, error: float = 0.1) -> Calibrated:
    points = tuple(
        (kind, knee(kind.graph(way), {way: TRUTH}, HOST)) for kind in points_for(way, None, medium)
    )
    return Calibrated(way, fitted(way, TRUTH, error), points, 60.0, medium)


def profile_of_all(*, link: Veth | Wifi | None = None) -> Profile:
    ways = {way: calibrated(way) for way in (POINTER, SHM, TCP)}
    links = {"cable": calibrated(LINK, link)} if link else {}
    return Profile(describe_machine(), cores(), "2026-11-22T00:00:00+00:00", ways, links)
