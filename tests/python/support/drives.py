"""Recordings of the demo with a known content."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import hyphos
import numpy as np
import numpy.typing as npt
from hyphos.msgs import OccupancyGrid, PoseStamped
from hyphos.recording.mcap_file import McapRecording
from hyphos.recording.session import PLAN_JSON
from hyphos.ros.typebook import TypeBook

Pose = tuple[float, float, float]  # x and y in m, yaw in rad
STEP_NS = 50_000_000
CHANNELS = ("truth", "pose", "map", "walls")


def moved(frame: Pose, pose: Pose) -> Pose:
    """A pose that is relative to `frame`, in the frame of `frame`."""
    cos, sin = math.cos(frame[2]), math.sin(frame[2])
    x, y, yaw = pose
    return (frame[0] + cos * x - sin * y, frame[1] + sin * x + cos * y, frame[2] + yaw)


def circle(count: int, radius_m: float = 2.0) -> list[Pose]:
    """Two rounds that begin at the origin, towards x."""
    turns = (4 * math.pi * i / count for i in range(count))
    return [(radius_m * math.sin(t), radius_m * (1 - math.cos(t)), t) for t in turns]


def grid(width: int, height: int, cell_m: float, origin: tuple[float, float]) -> OccupancyGrid:
    """A free room with walls of one cell."""
    cells = np.zeros((height, width), np.int8)
    cells[[0, -1], :] = 100
    cells[:, [0, -1]] = 100
    return message_of(cells, cell_m, origin)


def message_of(
    cells: npt.NDArray[np.int8], cell_m: float, origin: tuple[float, float]
) -> OccupancyGrid:
    made = OccupancyGrid(data=cells.tobytes())
    made.info.resolution = cell_m
    made.info.height, made.info.width = cells.shape
    made.info.origin.position.x, made.info.origin.position.y = origin
    return made


def pose_message(stamp_ns: int, pose: Pose) -> PoseStamped:
    made = PoseStamped()
    made.header.stamp_ns = stamp_ns
    made.pose.position.x, made.pose.position.y = pose[:2]
    made.pose.orientation.z, made.pose.orientation.w = math.sin(pose[2] / 2), math.cos(pose[2] / 2)
    return made


@dataclass
class Recorded:
    """The content of a recording. `write` makes the file."""

    truth: Sequence[Pose] = ()
    pose: Sequence[Pose] = ()
    map: OccupancyGrid | None = None
    walls: OccupancyGrid | None = None
    pose_delay_ns: int = 0  # of the stamps of `pose`
    tallies: dict[str, dict[str, int]] = field(default_factory=dict)
    planned: Iterable[str] = CHANNELS
    more: dict[str, Sequence[bytes]] = field(default_factory=dict)  # other messages by channel

    def write(self, path: Path) -> Path:
        recording = McapRecording(path, TypeBook())
        self._ids: dict[str, int] = {}
        poses, grids = "hyphos.msgs.PoseStamped", "hyphos.msgs.OccupancyGrid"
        for name, values, delay_ns in (
            ("truth", self.truth, 0),
            ("pose", self.pose, self.pose_delay_ns),
        ):
            for number, pose in enumerate(values, 1):
                stamp_ns = number * STEP_NS + delay_ns
                data = pose_message(stamp_ns, pose).SerializeToString()
                self._put(recording, name, poses, number, data)
        for name, message in (("map", self.map), ("walls", self.walls)):
            if message is not None:
                self._put(recording, name, grids, 1, message.SerializeToString())
        for name, messages in self.more.items():
            for number, data in enumerate(messages, 1):
                self._put(
                    recording, name, poses if name in ("truth", "pose") else grids, number, data
                )
        plan = {"channels": [{"name": name} for name in self.planned]}
        recording.attach(PLAN_JSON, "application/json", json.dumps(plan).encode())
        recording.close({name: json.dumps(tally) for name, tally in self.tallies.items()})
        return path

    def _put(self, to: McapRecording, channel: str, kind: str, number: int, data: bytes) -> None:
        if channel not in self._ids:
            type_id = hyphos.TypeId(kind, "protobuf")
            self._ids[channel] = to.add_channel(channel, kind, "protobuf", type_id.hash, {})
        at_ns = 10**18 + number * STEP_NS
        to.write(self._ids[channel], at_ns, at_ns, number, data)
