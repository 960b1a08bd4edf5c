"""The synchronizer forms the same sets of a bag as ROS's own message_filters.

A bag has the messages of a realistic set of sensors: clocks that drift, jitter, transport delays,
stalls of the network, losses and a camera that repeats a stamp. Both sides read the bag: Hyphos
plays it in lock-step to a node, and ROS gets the messages that rosbags reads.
"""

from __future__ import annotations

import itertools
import random
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from hyphos import Attached
from hyphos.msgs import Image, LaserScan, Odometry
from hyphos.testing import Robot
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

ROS = Path(__file__).parents[3] / "build/release/tests/node/ros_sync_vectors"
pytestmark = pytest.mark.skipif(
    not ROS.exists(), reason="no message_filters of ROS (apt: libmessage-filters-dev)"
)

STORES = {"ros1": get_typestore(Stores.ROS1_NOETIC), "ros2": get_typestore(Stores.LATEST)}
MS = 1_000_000
START = 1_700_000_000 * 1000 * MS
KINDS = {"camera": "Image", "depth": "Image", "scan": "LaserScan", "odom": "Odometry"}
TYPES = {"Image": Attached[Image], "LaserScan": LaserScan, "Odometry": Odometry}


@dataclass(frozen=True)
class Sensor:
    """Times in ms. A sensor with `trigger` has the stamps of that sensor."""

    channel: str
    period: float
    delay: float
    jitter: float = 0.5
    drift_ppm: float = 0.0
    loss: float = 0.02
    repeats: float = 0.0  # share of stamps that are those of the message before
    trigger: str = ""


SENSORS = (
    Sensor("camera", 33.3, 18, jitter=1.5, drift_ppm=80, repeats=0.02),
    Sensor("depth", 33.3, 42, loss=0.08, trigger="camera"),
    Sensor("scan", 100, 55, jitter=3, drift_ppm=-120, loss=0.03),
    Sensor("odom", 20, 2, jitter=0.3),
)


@dataclass
class Sample:
    channel: str
    stamp_ns: int
    arrival_ns: int = 0


def measured(sensor: Sensor, rng: random.Random, seconds: float) -> list[int]:
    """The stamps of a sensor of its own clock."""
    period = sensor.period * (1 + sensor.drift_ppm / 1e6)
    first = rng.uniform(0, period)
    stamps: list[int] = []
    for number in range(int(seconds * 1000 / period)):
        at_ms = first + number * period + rng.gauss(0, sensor.jitter)
        stamp = START + round(max(0.0, at_ms) * MS)
        stamps.append(stamps[-1] if stamps and rng.random() < sensor.repeats else stamp)
    return stamps


def simulated(seed: int, channels: tuple[str, ...], seconds: float = 6) -> list[Sample]:
    """The messages of the sensors in the order of their arrival."""
    rng = random.Random(seed)
    stalls = [(at, at + rng.uniform(80, 400)) for at in (rng.uniform(0, 6000) for _ in range(4))]
    stamps: dict[str, list[int]] = {}
    samples: list[Sample] = []
    for sensor in SENSORS:
        own = stamps.get(sensor.trigger) or measured(sensor, rng, seconds)
        stamps[sensor.channel] = own
        last = 0
        for stamp in own:
            delay_ms = sensor.delay + rng.expovariate(1 / 6)
            at_ms = (stamp - START) / MS + delay_ms
            for begin, end in stalls:  # of the network: everything then arrives at once
                if begin < at_ms < end and sensor.channel != "odom":
                    at_ms = end
            last = max(last + 1000, START + round(at_ms * MS))  # a channel keeps its order
            if rng.random() >= sensor.loss and sensor.channel in channels:
                samples.append(Sample(sensor.channel, stamp, last))
    samples.sort(key=lambda one: one.arrival_ns)
    for before, one in itertools.pairwise(samples):
        one.arrival_ns = max(one.arrival_ns, before.arrival_ns + 1000)  # no two at once
    return samples


def message_of(kind: str, sample: Sample, number: int, form: str) -> tuple[str, Any]:
    t = STORES[form].types
    seconds, rest = divmod(sample.stamp_ns, 1000 * MS)
    stamp = t["builtin_interfaces/msg/Time"](sec=seconds, nanosec=rest)
    more = {"seq": number} if form == "ros1" else {}
    # The frame has the number of the message, which both sides read.
    head = t["std_msgs/msg/Header"](stamp=stamp, frame_id=str(number), **more)
    if kind == "Image":
        name = "sensor_msgs/msg/Image"
        return name, t[name](header=head, height=1, width=4, encoding="mono8", is_bigendian=0,
                             step=4, data=np.arange(4, dtype=np.uint8))  # fmt: skip
    if kind == "LaserScan":
        name = "sensor_msgs/msg/LaserScan"
        numbers = dict.fromkeys(("angle_min", "angle_max", "angle_increment", "time_increment",
                                 "scan_time", "range_min", "range_max"), 0.5)  # fmt: skip
        empty = np.zeros(0, np.float32)
        return name, t[name](header=head, ranges=empty, intensities=empty, **numbers)
    g = "geometry_msgs/msg/"
    zero = t[g + "Vector3"](x=0.0, y=0.0, z=0.0)
    pose = t[g + "Pose"](
        position=t[g + "Point"](x=0.0, y=0.0, z=0.0),
        orientation=t[g + "Quaternion"](x=0.0, y=0.0, z=0.0, w=1.0),
    )
    name = "nav_msgs/msg/Odometry"
    still = np.zeros(36)
    return name, t[name](
        header=head,
        child_frame_id="base",
        pose=t[g + "PoseWithCovariance"](pose=pose, covariance=still),
        twist=t[g + "TwistWithCovariance"](
            twist=t[g + "Twist"](linear=zero, angular=zero), covariance=still
        ),
    )


def write_bag(folder: Path, form: str, samples: list[Sample]) -> Path:
    store = STORES[form]
    path = folder / ("run.bag" if form == "ros1" else "run")
    ros1 = form == "ros1"
    writer = Writer1(path) if ros1 else Writer2(path, version=9, storage_plugin=StoragePlugin.MCAP)
    with writer as to:
        ends: dict[str, Any] = {}
        for number, sample in enumerate(samples):
            name, message = message_of(KINDS[sample.channel], sample, number, form)
            if sample.channel not in ends:
                topic = f"/{sample.channel}"
                ends[sample.channel] = to.add_connection(topic, name, typestore=store)
            encode = store.serialize_ros1 if ros1 else store.serialize_cdr
            to.write(ends[sample.channel], sample.arrival_ns, bytes(encode(message, name)))
    return path


@dataclass(frozen=True)
class Rules:
    channels: tuple[str, ...]
    rule: str = "approximate"
    queue: int = 10
    max_interval_ms: float | None = None
    age_penalty: float = 0.1
    min_spacing_ms: tuple[float, ...] = field(default=())

    @property
    def case(self) -> str:
        limit = -1 if self.max_interval_ms is None else round(self.max_interval_ms * MS)
        words = (
            f"case {self.rule} channels={len(self.channels)} queue={self.queue} "
            f"max_interval={limit} age_penalty={self.age_penalty}"
        )
        spacing = ",".join(str(round(one * MS)) for one in self.min_spacing_ms)
        return words + (f" spacing={spacing}" if spacing else "")


RULES = {
    "camera and scan": Rules(("camera", "scan")),
    "all": Rules(("camera", "depth", "scan", "odom"), queue=30),
    "close": Rules(("scan", "odom"), max_interval_ms=8, queue=20),
    "early": Rules(("camera", "odom"), age_penalty=0.0, min_spacing_ms=(25, 15)),
    "short queue": Rules(("camera", "scan", "odom"), queue=4),
    "exact": Rules(("camera", "depth"), rule="exact", queue=5),
}

Sets = list[tuple[str, ...]]


def sets_of_ros(bag: Path, rules: Rules) -> Sets:
    """The sets of ROS's message_filters, by the frames of their messages."""
    lines, frames = [rules.case], []
    with AnyReader([bag], default_typestore=STORES["ros2"]) as reader:
        for connection, _, data in reader.messages():
            message: Any = reader.deserialize(data, connection.msgtype)
            head = message.header
            channel = rules.channels.index(connection.topic.strip("/"))
            lines.append(f"+ {channel} {head.stamp.sec * 1000 * MS + head.stamp.nanosec}")
            frames.append(head.frame_id)
    done = subprocess.run(
        [ROS, "-"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    sets = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("=")]
    return [tuple(frames[int(number)] for number in one) for one in sets]


def sets_of_hyphos(bag: Path, rules: Rules) -> tuple[Sets, list[Any]]:
    """The sets of a node to which the bag is played, and the counts of its synchronizer."""
    sets: Sets = []
    made: list[Any] = []

    def fusion(node: hyphos.Node) -> None:
        def take(*messages: Any) -> None:
            sets.append(tuple(getattr(one, "head", one).header.frame_id for one in messages))

        made.append(
            node.synchronize(
                {name: TYPES[KINDS[name]] for name in rules.channels},
                take,
                rule=rules.rule,
                queue=rules.queue,
                max_interval_ms=rules.max_interval_ms,
                age_penalty=rules.age_penalty,
                min_spacing_ms=rules.min_spacing_ms,
            )
        )

    with Robot(nodes={"fusion": fusion}, lockstep=True, begin_at=bag, tick_ms=1000) as robot:
        robot.play(bag)
        counts = made[0].counts()
        made.clear()
    return sets, counts


@cache
def samples_of(seed: int, channels: tuple[str, ...]) -> list[Sample]:
    return simulated(seed, channels)


@pytest.mark.parametrize("form", ["ros1", "ros2"])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_bag_gives_the_sets_of_ros(seed: int, name: str, form: str, tmp_path: Path) -> None:
    rules = RULES[name]
    samples = samples_of(seed, rules.channels)
    bag = write_bag(tmp_path, form, samples)
    expected = sets_of_ros(bag, rules)
    sets, counts = sets_of_hyphos(bag, rules)
    assert expected, "the bag is no test without sets"
    assert sets == expected
    for count in counts:
        sent = sum(one.channel == count.channel for one in samples)
        assert (count.received, count.matched) == (sent, len(sets))
        assert count.received == count.matched + count.waiting + count.unmatched
