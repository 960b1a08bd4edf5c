"""`hyphos view` opens recordings of ROS 1 and ROS 2."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import Cli
from hyphos._errors import Error
from hyphos.recording import viewable as copies
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.viewable import cache_folder, viewable
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

ROOT = Path(__file__).resolve().parents[3]
VIEWER = ROOT / "build/release/view/hyphos-view"
START = 1_700_000_000_000_000_000
STEP = 100_000_000
COUNT = 20
OWN = "float64 level\nstring note\n"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _scan(store: Any, number: int, *, ros1: bool) -> Any:
    t = store.types
    seq = {"seq": number} if ros1 else {}
    stamp = t["builtin_interfaces/msg/Time"](sec=1_700_000_000, nanosec=number)
    head = t["std_msgs/msg/Header"](stamp=stamp, frame_id="laser", **seq)
    return t["sensor_msgs/msg/LaserScan"](
        header=head, angle_min=-2.0, angle_max=2.0, angle_increment=0.01, time_increment=0.0,
        scan_time=0.1, range_min=0.1, range_max=20.0, ranges=np.full(400, 3.0, np.float32),
        intensities=np.zeros(0, np.float32),
    )  # fmt: skip


def _write(writer: Any, store: Any, *, ros1: bool) -> None:
    store.register(get_types_from_msg(OWN, "pkg/msg/Own"))
    serialize = store.serialize_ros1 if ros1 else store.serialize_cdr
    made = {}
    for topic, kind in (("/scan", "sensor_msgs/msg/LaserScan"), ("/own", "pkg/msg/Own")):
        made[topic] = writer.add_connection(topic, kind, typestore=store)
    own = store.types["pkg/msg/Own"]
    for i in range(COUNT):
        for topic, message in (
            ("/scan", _scan(store, i, ros1=ros1)),
            ("/own", own(level=float(i), note="n")),
        ):
            connection = made[topic]
            writer.write(connection, START + i * STEP, serialize(message, connection.msgtype))


def _bag(path: Path) -> Path:
    with Writer1(path) as writer:
        _write(writer, get_typestore(Stores.ROS1_NOETIC), ros1=True)
    return path


def _folder(path: Path, plugin: StoragePlugin) -> Path:
    with Writer2(path, version=9, storage_plugin=plugin) as writer:
        _write(writer, get_typestore(Stores.ROS2_HUMBLE), ros1=False)
    return path


def _sources(tmp_path: Path) -> dict[str, Path]:
    folder = _folder(tmp_path / "db", StoragePlugin.SQLITE3)
    return {"ros1": _bag(tmp_path / "run.bag"), "folder": folder,
            "db3": next(folder.glob("*.db3"))}  # fmt: skip


def test_all_messages_are_copied_with_their_definitions(tmp_path: Path) -> None:
    for name, path in _sources(tmp_path).items():
        made = viewable(path)
        assert made.name == f"{path.name}.mcap"
        assert cache_folder() in made.parents
        scan = Scan(made).read()
        assert not scan.problems
        topics = {channel.topic: number for number, channel in scan.channels.items()}
        assert set(topics) == {"/scan", "/own"}, name
        assert {scan.counts[number] for number in topics.values()} == {COUNT}
        for number in topics.values():
            schema = scan.schemas[scan.channels[number].schema_id]
            assert schema.encoding == ("ros1msg" if name == "ros1" else "ros2msg")
            assert schema.data
        assert scan.start_ns == START


def test_a_copy_is_used_again_until_its_source_changes(tmp_path: Path) -> None:
    path = _bag(tmp_path / "run.bag")
    first = viewable(path)
    before = first.stat().st_mtime_ns
    assert viewable(path) == first
    assert first.stat().st_mtime_ns == before
    os.utime(path, ns=(START, START))
    second = viewable(path)
    assert second != first
    assert second.exists()


def test_the_oldest_copies_leave_when_the_cache_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [_bag(tmp_path / f"run{i}.bag") for i in range(3)]
    made = [viewable(path) for path in paths[:2]]
    os.utime(made[0].parent, (1, 1))
    os.utime(made[1].parent, (2, 2))
    viewable(paths[0])  # it was used last now
    most = paths[2].stat().st_size + made[0].stat().st_size
    monkeypatch.setattr(copies, "MOST_BYTES", most)
    third = viewable(paths[2])
    assert third.exists()
    assert made[0].exists()
    assert not made[1].exists()


def test_a_folder_with_one_mcap_file_is_opened_as_it_is(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "mcap", StoragePlugin.MCAP)
    assert viewable(folder) == next(folder.glob("*.mcap"))
    assert not cache_folder().exists()


def test_another_file_is_left_to_the_viewer(tmp_path: Path) -> None:
    for name in ("run.mcap", "robot.yaml", "missing.bag"):
        assert viewable(tmp_path / name) == tmp_path / name


def test_a_damaged_bag_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bad.bag"
    path.write_bytes(b"garbage" * 100)
    with pytest.raises(Error, match="neither MCAP"):
        viewable(path)
    assert not [*cache_folder().rglob("*.mcap"), *cache_folder().rglob("*.part")]


def test_a_bag_that_was_cut_off_is_copied_as_far_as_it_can_be_read(tmp_path: Path) -> None:
    whole = _bag(tmp_path / "run.bag").read_bytes()
    path = tmp_path / "cut.bag"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    scan = Scan(viewable(path)).read()
    assert 0 < sum(scan.counts.values()) <= 2 * COUNT


@pytest.mark.skipif(not VIEWER.exists(), reason="the viewer is not built")
def test_the_command_shows_recordings_of_ros(hyphos_cli: Cli, tmp_path: Path) -> None:
    layout = tmp_path / "l.yaml"
    layout.write_text(
        "hyphos_view: 1\ndisplays: [{show: laser_scan, channel: /scan, flat_color: '#ff0000', "
        "color: flat, size: 8}]\npanels: {panel: scene}\n"
    )
    pictures = []
    for name, path in _sources(tmp_path).items():
        picture = tmp_path / f"{name}.png"
        code, _, err = hyphos_cli(
            "view", str(path), "--layout", str(layout), "--size", "400x300", "--png", str(picture)
        )
        assert code == 0, err
        pictures.append(picture)
    # Each format gives the same picture, and it has the points of the scan.
    code, _, err = hyphos_cli(
        "view", str(tmp_path / "run.bag"), "--layout", str(layout), "--size", "400x300",
        "--png", str(tmp_path / "again.png"), "--compare", str(pictures[2]), "--tolerance", "2",
    )  # fmt: skip
    assert code == 0, err
    empty = tmp_path / "empty.yaml"
    empty.write_text("hyphos_view: 1\npanels: {panel: scene}\n")
    code, _, err = hyphos_cli(
        "view", str(tmp_path / "run.bag"), "--layout", str(empty), "--size", "400x300",
        "--png", str(tmp_path / "empty.png"), "--compare", str(pictures[0]), "--tolerance", "0.1",
    )  # fmt: skip
    assert code == 1
    assert "% of the pixels differ" in err


def test_the_program_alone_names_the_remedy(tmp_path: Path) -> None:
    if not VIEWER.exists():
        pytest.skip("the viewer is not built")
    path = _bag(tmp_path / "run.bag")
    done = subprocess.run(
        [VIEWER, path, "--png", tmp_path / "x.png"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"hyphos bag convert {path}" in done.stderr
