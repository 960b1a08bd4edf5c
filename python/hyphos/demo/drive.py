"""The data of a run of the demo, read from its recording alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from hyphos.msgs import OccupancyGrid, PoseStamped
from hyphos.observe import is_hidden
from hyphos.recording.mcap_file import INTERIM, SUMMARY
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.session import PLAN_JSON

Array = npt.NDArray[np.float64]
_GRIDS = ("map", "walls")
_TRACKS = ("truth", "pose")


@dataclass(frozen=True)
class Track:
    """The poses of one channel."""

    times_ns: npt.NDArray[np.int64]  # stamps of the heads. They increase
    poses: Array  # a row for each time: x and y in m, yaw in rad without jumps of a full turn

    def __len__(self) -> int:
        return len(self.times_ns)

    def at(self, times_ns: npt.NDArray[np.int64]) -> Array:
        """The poses at other times within those of the track, interpolated."""
        since_s = (self.times_ns - self.times_ns[0]) / 1e9
        wanted_s = (times_ns - self.times_ns[0]) / 1e9
        columns = [np.interp(wanted_s, since_s, column) for column in self.poses.T]
        return np.stack(columns, axis=1)


@dataclass(frozen=True)
class Grid:
    """An occupancy grid. Row 0 is at the lowest y."""

    cell_m: float
    x_m: float  # the outer corner of the first cell
    y_m: float
    percents: npt.NDArray[np.int8]  # -1 unknown, 0 free to 100 occupied

    def known(self) -> tuple[float, float, float, float] | None:
        """The rectangle around all known cells: left, low, right, high in m. None if there is no
        known cell."""
        rows, columns = np.nonzero(self.percents >= 0)
        if rows.size == 0:
            return None
        return (
            self.x_m + columns.min() * self.cell_m,
            self.y_m + rows.min() * self.cell_m,
            self.x_m + (columns.max() + 1) * self.cell_m,
            self.y_m + (rows.max() + 1) * self.cell_m,
        )

    def at(self, x_m: Array, y_m: Array) -> npt.NDArray[np.int8]:
        """The values at some points, -1 outside the grid."""
        rows = np.floor((y_m - self.y_m) / self.cell_m).astype(np.int64)
        columns = np.floor((x_m - self.x_m) / self.cell_m).astype(np.int64)
        height, width = self.percents.shape
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        found = np.full(x_m.shape, -1, np.int8)
        found[inside] = self.percents[rows[inside], columns[inside]]
        return found


@dataclass(frozen=True)
class Tally:
    """The counters of the recorder for one channel, as in docs/reference/recording.md."""

    missing: int = 0
    not_written: int = 0  # drop_queue and drop_disk


@dataclass
class Drive:
    """A recorded run."""

    seconds: float = 0.0  # from the first recorded message to the last
    counts: dict[str, int] = field(default_factory=dict)  # recorded messages by channel
    planned: tuple[str, ...] = ()  # the channels of the plan
    tallies: dict[str, Tally] = field(default_factory=dict)
    damaged: bool = False
    truth: Track | None = None  # of the robot in the frame "world"
    pose: Track | None = None  # of the robot in the frame "map", as the mapper published it
    map: Grid | None = None  # the last one, in the frame "map"
    walls: Grid | None = None  # in the frame "world"

    @property
    def silent(self) -> list[str]:
        """The channels of the plan without a recorded message."""
        return [name for name in self.planned if not self.counts.get(name)]


def read_drive(path: Path) -> Drive:
    """Reads a recording. A message that cannot be parsed is left out. Cost: one pass over the file,
    about a second for each GB."""
    scan = Scan(path)
    rows: dict[str, list[tuple[int, float, float, float]]] = {name: [] for name in _TRACKS}
    last: dict[str, Grid] = {}
    for name, data in _messages(scan):
        if name in _TRACKS:
            rows[name] += _row(data)
        elif (grid := _grid(data)) is not None:
            last[name] = grid
    counts = {
        channel.topic: scan.counts[number]
        for number, channel in scan.channels.items()
        if scan.counts[number] and not is_hidden(channel.topic)
    }
    return Drive(
        seconds=(scan.end_ns - scan.start_ns) / 1e9 if scan.start_ns is not None else 0.0,
        counts=counts,
        planned=_planned(scan),
        tallies=_tallies(scan),
        damaged=scan.damaged,
        truth=_track(rows["truth"]),
        pose=_track(rows["pose"]),
        map=last.get("map"),
        walls=last.get("walls"),
    )


def _messages(scan: Scan) -> Iterator[tuple[str, bytes]]:
    for found in scan.messages():
        for message in found:
            channel = scan.channels.get(message.channel)
            if channel is not None and channel.topic in (*_TRACKS, *_GRIDS):
                yield channel.topic, message.data


def _row(data: bytes) -> list[tuple[int, float, float, float]]:
    """The stamp, x, y and yaw of a message. Empty if it cannot be parsed or is not finite."""
    try:
        message = PoseStamped.FromString(data)
    except DecodeError:
        return []
    at, turn = message.pose.position, message.pose.orientation
    yaw = np.arctan2(
        2 * (turn.w * turn.z + turn.x * turn.y), 1 - 2 * (turn.y * turn.y + turn.z * turn.z)
    )
    row = (int(message.header.stamp_ns), at.x, at.y, float(yaw))
    return [row] if np.isfinite(row[1:]).all() else []


def _track(rows: list[tuple[int, float, float, float]]) -> Track | None:
    by_time = {row[0]: row[1:] for row in rows}
    if not by_time:
        return None
    times = sorted(by_time)
    poses = np.array([by_time[time] for time in times])
    poses[:, 2] = np.unwrap(poses[:, 2])
    return Track(np.array(times, np.int64), poses)


def _grid(data: bytes) -> Grid | None:
    """The grid of a message. None if it cannot be parsed, or its size does not match its head."""
    try:
        message = OccupancyGrid.FromString(data)
    except DecodeError:
        return None
    info, cells = message.info, np.frombuffer(message.data, np.int8)
    if not info.resolution > 0 or cells.size != info.width * info.height or not cells.size:
        return None
    corner = info.origin.position
    # A float of 32 bits, which is not exact in a double.
    cell_m = round(info.resolution, 6)
    return Grid(cell_m, corner.x, corner.y, cells.reshape(info.height, info.width))


def _planned(scan: Scan) -> tuple[str, ...]:
    for attachment in scan.attachments:
        if attachment.name == PLAN_JSON:
            plan = json.loads(attachment.data)
            return tuple(one["name"] for one in plan["channels"] if not is_hidden(one["name"]))
    return ()


def _tallies(scan: Scan) -> dict[str, Tally]:
    """The counters at the end, or the last ones of a recording that was cut off."""
    found: dict[str, Any] = {}
    for name, values in scan.metadata:
        if name in (SUMMARY, INTERIM):
            found = {channel: json.loads(text) for channel, text in values.items()}
    return {
        channel: Tally(tally.get("missing", 0), tally.get("drop_queue", 0) + tally["drop_disk"])
        for channel, tally in found.items()
    }
