"""A small CARMEN log of a room, made here, goes through the mapper and becomes a picture."""

import math
import os
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

HERE = Path(__file__).parent
SCANS = 40


def room_log(path: Path) -> None:
    """A log of a robot that drives 2 m along the middle of a room of 8 x 6 m, 180 beams a scan."""
    lines = []
    for i in range(SCANS):
        x = -1.0 + 2.0 * i / SCANS
        ranges = []
        for beam in range(180):
            angle = math.radians(beam - 90)
            c, s = math.cos(angle), math.sin(angle)
            to_x = (4.0 - x) / c if c > 1e-9 else math.inf
            to_y = 3.0 / abs(s) if abs(s) > 1e-9 else math.inf
            ranges.append(f"{min(to_x, to_y):.2f}")
        pose = f"{x:.4f} 0.0 0.0"
        stamp = f"{1000 + i * 0.2:.2f}"
        lines.append(f"FLASER 180 {' '.join(ranges)} {pose} {pose} {stamp} test {stamp}")
    path.write_text("\n".join(lines) + "\n")


STORE = get_typestore(Stores.ROS2_HUMBLE)


def made(name: str, **fields: Any) -> Any:
    return STORE.types[name](**fields)


def stamped(stamp_ns: int, frame_id: str) -> Any:
    time = made("builtin_interfaces/msg/Time", sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9)
    return made("std_msgs/msg/Header", stamp=time, frame_id=frame_id)


def moved(stamp_ns: int, x: float) -> Any:
    """The odometry transform of a robot."""
    place = made("geometry_msgs/msg/Vector3", x=x, y=0.0, z=0.0)
    turn = made("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=0.0, w=1.0)
    transform = made("geometry_msgs/msg/Transform", translation=place, rotation=turn)
    one = made(
        "geometry_msgs/msg/TransformStamped",
        header=stamped(stamp_ns, "odom"),
        child_frame_id="base",
        transform=transform,
    )
    return made("tf2_msgs/msg/TFMessage", transforms=[one])


def scanned(stamp_ns: int, x: float, head: dict[str, float]) -> Any:
    """The scan of a robot at x in a room of 12 x 10 m. `head`: the faults of its driver."""
    step = math.pi / 90
    angles = -math.pi + step * np.arange(180)
    c, s = np.cos(angles), np.sin(angles)
    with np.errstate(divide="ignore"):
        to_x = np.where(c > 0, (6 - x) / c, (-6 - x) / c)
        ranges = np.minimum(to_x, np.where(s > 0, 5 / s, -5 / s))
    fields: dict[str, Any] = {
        "angle_min": -math.pi,
        "angle_max": math.pi,
        "angle_increment": step,
        "time_increment": 0.0,
        "scan_time": 0.0,
        "range_min": 0.02,
        "range_max": 30.0,
        "ranges": ranges.astype(np.float32),
        "intensities": np.array([], np.float32),
    }
    scan = fields | {"header": stamped(stamp_ns, "laser")} | head
    return made("sensor_msgs/msg/LaserScan", **scan)


def room_bag(folder: Path, every: int, head: dict[str, float]) -> Path:
    """A recording of SCANS scans of a moving robot. Every `every`-th scan has the faulty head."""
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        kinds = {"/scan": "sensor_msgs/msg/LaserScan", "/tf": "tf2_msgs/msg/TFMessage"}
        to = {
            topic: writer.add_connection(topic, kind, typestore=STORE)
            for topic, kind in kinds.items()
        }
        for i in range(SCANS):
            stamp_ns = 1_700_000_000 * 10**9 + i * 60_000_000
            x = -3 + 0.1 * i
            scan = scanned(stamp_ns, x, head if i % every == every - 1 else {})
            for topic, message in (("/tf", moved(stamp_ns, x)), ("/scan", scan)):
                writer.write(to[topic], stamp_ns, STORE.serialize_cdr(message, kinds[topic]))
    return folder / f"{folder.name}.mcap"


def size_of(picture: Path) -> tuple[int, int]:
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width, height


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(HERE / "map_recording.sh"), *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_carmen_log_becomes_a_map(tmp_path: Path) -> None:
    log = tmp_path / "room.log"
    room_log(log)
    picture = tmp_path / "map.png"
    done = run(str(log), str(picture), f"domain=rb{os.getpid()}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"map of {SCANS} scans" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_broken_log_is_reported_with_its_line(tmp_path: Path) -> None:
    log = tmp_path / "bad.log"
    log.write_text("FLASER 3 1.0 2.0\n")
    done = run(str(log), str(tmp_path / "map.png"), f"domain=rbx{os.getpid()}")
    assert done.returncode != 0
    assert "bad.log:1" in done.stdout + done.stderr


def test_other_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    done = run(str(other))
    assert done.returncode == 2
    assert "neither" in done.stderr


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ({"angle_increment": math.nan}, "an angle is not finite"),
        ({"angle_min": math.inf}, "an angle is not finite"),
        ({"angle_increment": 0.0}, "angle_increment is 0"),
        ({"range_min": math.nan}, "a limit is invalid"),
        ({"ranges": np.array([], np.float32)}, "it has no ranges"),
        ({"ranges": np.full(90, 2, np.float32)}, "does not fit the angles"),
    ],
    ids=["nan", "inf", "zero", "limit", "empty", "half"],
)
def test_scans_with_a_bad_head_are_skipped_and_counted(
    tmp_path: Path, head: dict[str, float], why: str
) -> None:
    bag = room_bag(tmp_path / "room", 5, head)
    picture = tmp_path / "map.png"
    done = run(str(bag), str(picture), f"domain=rbn{os.getpid()}-{why.replace(' ', '')}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"map of {SCANS * 4 // 5} scans" in done.stdout, done.stdout + done.stderr
    assert why in done.stdout + done.stderr
    assert min(size_of(picture)) > 100


def test_range_max_0_means_no_limit(tmp_path: Path) -> None:
    bag = room_bag(tmp_path / "room", 1, {"range_max": 0.0})
    picture = tmp_path / "map.png"
    done = run(str(bag), str(picture), f"domain=rbu{os.getpid()}")
    assert f"map of {SCANS} scans: " in done.stdout, done.stdout + done.stderr
    assert min(size_of(picture)) > 100


def test_an_empty_map_reports_the_reason(tmp_path: Path) -> None:
    bag = room_bag(tmp_path / "room", 1, {"range_min": 20.0})
    done = run(str(bag), str(tmp_path / "map.png"), f"domain=rbw{os.getpid()}")
    assert f"map of {SCANS} scans, none with a range in its limits" in done.stdout
