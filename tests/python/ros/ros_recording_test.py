"""Reads and replays ROS recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hyphos
import pytest
from helpers import Cli, Inbox
from hyphos import Attached
from hyphos.msgs import Image, LaserScan, Odometry, PointCloud, TfMessage
from hyphos.recording.mcap_file import SUMMARY
from hyphos.recording.opening import open_source
from hyphos.recording.ros_bag import channel_of
from recordings import SECOND, everything
from ros_recordings import write_ros1, write_ros2
from rosbags.rosbag2 import StoragePlugin


@pytest.fixture(params=["bag", "db3", "mcap", "folder"])
def ros_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "bag":
        return write_ros1(tmp_path / "run.bag")
    plugin = StoragePlugin.MCAP if request.param == "mcap" else StoragePlugin.SQLITE3
    folder = write_ros2(tmp_path / "run", plugin)
    if request.param == "folder":
        return folder
    [file] = folder.glob(f"*.{request.param}")
    return file


def test_ros_messages_are_converted_field_by_field(ros_file: Path) -> None:
    source = open_source(ros_file)
    problems = {track.channel: track.problem for track in source.tracks}
    assert problems.pop("strange") == "hyphos.msgs has no shape_msgs/msg/Plane"
    assert set(problems.values()) == {""}
    source.close()

    found = {name: items[0] for name, items in everything(ros_file).items() if items}
    assert set(found) == {"front/scan", "camera", "cloud", "tf", "odom"}
    assert found["front/scan"].time_ns == SECOND

    def head(name: str, cls: Any) -> Any:
        return cls.FromString(bytes(found[name].payload))  # type: ignore[call-overload]

    scan = head("front/scan", LaserScan)
    assert scan.header.stamp_ns == 3 * SECOND + 7
    assert scan.header.frame_id == "laser"
    assert scan.header.seq == (4 if ros_file.suffix == ".bag" else 0)
    assert list(scan.ranges) == [1, 2, 3]
    image = Attached(head("camera", Image), found["camera"].buffers)
    assert hyphos.image_to_numpy(image).tolist() == [[9, 8]]
    cloud = Attached(head("cloud", PointCloud), found["cloud"].buffers)
    assert hyphos.cloud_to_numpy(cloud)["x"].tolist() == [1.5, 2.5]
    tf = head("tf", TfMessage)
    assert [t.child_frame_id for t in tf.transforms] == ["tip", "tip"]
    assert tf.transforms[1].transform.translation.z == 3
    odometry = head("odom", Odometry)
    assert list(odometry.pose.covariance) == list(range(36))
    assert odometry.twist.twist.angular.z == pytest.approx(0.1)


def test_ros_recordings_are_replayed(
    hyphos_cli: Cli, domain: str, ros_file: Path, inbox: Inbox
) -> None:
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("scan", LaserScan, inbox)
        words = ("-c", "front/*", "--remap", "front/scan:=scan", "--wait", "30", "-d", domain)
        code, _, err = hyphos_cli("replay", str(ros_file), *words)
        assert code == 0, err
        assert list(inbox.wait(1)[0].ranges) == [1, 2, 3]


def test_topics_become_channels() -> None:
    assert channel_of("/front/scan") == "front/scan"
    assert channel_of("/a-b//2d") == "a_b/_2d"
    assert channel_of("/") == "_"


def test_the_summary_has_a_known_name() -> None:
    assert SUMMARY == "hyphos.recording"  # documented, because other tools search for it
