"""The verdict on a run of the demo: losses, the size of the map, and the error of the pose."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from hyphos.demo.drive import Array, Drive, Track
from hyphos.tools.totals import Totals


@dataclass(frozen=True)
class PoseError:
    """The distance between the estimated and the true position, over a whole run."""

    rms_m: float
    most_m: float
    map_in_world: tuple[float, float, float]  # the pose of the frame "map": m, m, rad


@dataclass(frozen=True)
class Losses:
    lost: int
    messages: int


@dataclass(frozen=True)
class Verdict:
    line: str
    good: bool  # a map, a pose error and an undamaged recording exist
    error: PoseError | None


def compose(pose: tuple[float, float, float], more: Array) -> Array:
    """Moves poses (rows of x, y, yaw), which are relative to `pose`, into the frame of `pose`."""
    x, y, yaw = pose
    cos, sin = np.cos(yaw), np.sin(yaw)
    return np.stack(
        [
            x + cos * more[:, 0] - sin * more[:, 1],
            y + sin * more[:, 0] + cos * more[:, 1],
            yaw + more[:, 2],
        ],
        axis=1,
    )


def pose_error(truth: Track | None, pose: Track | None) -> PoseError | None:
    """The absolute trajectory error (Sturm et al., IROS 2012) of the position, without its fit.

    The mapper starts at the origin of its own frame "map", and the truth is in the frame "world".
    The two frames coincide where the estimate begins: at the first estimated pose, the robot is at
    its true pose. A fit over the whole run would hide drift, so there is none. The error at a time
    is the distance between the estimated and the true position of the robot, each as published at
    that time. Later corrections of the map do not improve it. Both channels have stamps of the
    simulation. The truth between two stamps is interpolated, and estimates outside the time of the
    truth do not count. None if no estimate has a truth.
    """
    if truth is None or pose is None:
        return None
    inside = (pose.times_ns >= truth.times_ns[0]) & (pose.times_ns <= truth.times_ns[-1])
    if not inside.any():
        return None
    estimated, true = pose.poses[inside], truth.at(pose.times_ns[inside])
    # map_in_world composed with the first estimate is the first truth.
    yaw = true[0, 2] - estimated[0, 2]
    turned = compose((0.0, 0.0, yaw), estimated[:1])[0]
    frame = (float(true[0, 0] - turned[0]), float(true[0, 1] - turned[1]), float(yaw))
    distances = np.hypot(*(compose(frame, estimated)[:, :2] - true[:, :2]).T)
    rms = float(np.sqrt(np.mean(distances**2)))
    return PoseError(rms, float(distances.max()), frame)


def losses(totals: Totals, drive: Drive) -> Losses:
    """All messages of a run, once for each subscriber, and those of them that were lost.

    The recorder is a subscriber of every channel. A loss is a drop at any publisher or subscriber,
    or a message that the recorder received and did not write. A gap in the recording is usually a
    drop that the publisher has counted, so the larger of both counts.
    """
    received = 0
    by_publishers: Counter[str] = Counter()
    by_subscribers: Counter[str] = Counter()
    for end in totals.ends():
        drops = sum(count for name, count in end.counters if name.startswith("drop."))
        (by_publishers if end.is_publisher else by_subscribers)[end.channel] += drops
        received += 0 if end.is_publisher else end.counter("received")
    for channel, tally in drive.tallies.items():
        by_publishers[channel] = max(by_publishers[channel], tally.missing)
    undelivered = by_publishers.total() + by_subscribers.total()
    not_written = sum(tally.not_written for tally in drive.tallies.values())
    return Losses(undelivered + not_written, received + undelivered)


def length(m: float) -> str:
    """2.8 cm, 37 cm, 1.25 m."""
    if m >= 1:
        return f"{m:.2f} m"
    return f"{m * 100:.1f} cm" if m < 0.1 else f"{m * 100:.0f} cm"


def judge(drive: Drive, totals: Totals) -> Verdict:
    """The verdict as one line, computed from the recording and the counters of the run."""
    counted = losses(totals, drive)
    error = pose_error(drive.truth, drive.pose)
    known = drive.map.known() if drive.map is not None else None
    channels = f"{len(drive.counts)} channels"
    if drive.silent:
        channels += f", none of {', '.join(drive.silent)}"
    words = [channels, f"{counted.lost:,} of {counted.messages:,} messages lost"]
    if known is None:
        words.append("no map")
    else:
        left, low, right, high = known
        words.append(f"map {right - left:.1f} × {high - low:.1f} m")
    if error is None:
        words.append("no pose with a truth")
    else:
        words.append(f"pose error {length(error.rms_m)} RMS against the truth")
    if drive.damaged:
        words.append("the recording is damaged")
    good = known is not None and error is not None and not drive.damaged
    return Verdict(", ".join(words), good, error)
