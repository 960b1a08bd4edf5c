"""Markers in recordings: from ROS to Hyphos and back, without a loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import Cli
from hyphos.msgs import Marker, MarkerArray
from recordings import SECOND, everything
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

ARRAY = "visualization_msgs/msg/MarkerArray"


def markers(store: Any, *, ros1: bool) -> Any:
    """One marker with a value in every field, and one that deletes."""
    t = store.types
    time = t["builtin_interfaces/msg/Time"](sec=3, nanosec=7)
    head = t["std_msgs/msg/Header"](stamp=time, frame_id="map", **({"seq": 4} if ros1 else {}))
    point, colour = t["geometry_msgs/msg/Point"], t["std_msgs/msg/ColorRGBA"]
    vector, turn = t["geometry_msgs/msg/Vector3"], t["geometry_msgs/msg/Quaternion"]
    newer: dict[str, Any] = {}
    if not ros1:
        image = t["sensor_msgs/msg/CompressedImage"](
            header=head, format="png", data=np.frombuffer(b"pixels", np.uint8)
        )
        mesh = t["visualization_msgs/msg/MeshFile"](
            filename="a.stl", data=np.frombuffer(b"solid", np.uint8)
        )
        corner = t["visualization_msgs/msg/UVCoordinate"](u=0.25, v=0.5)
        newer = {
            "texture_resource": "embedded://a",
            "texture": image,
            "uv_coordinates": [corner],
            "mesh_file": mesh,
        }
    full = t["visualization_msgs/msg/Marker"](
        header=head,
        ns="goals",
        id=-5,
        type=11,
        action=0,
        pose=t["geometry_msgs/msg/Pose"](
            position=point(x=1.0, y=2.0, z=3.0), orientation=turn(x=0.0, y=0.0, z=0.0, w=1.0)
        ),
        scale=vector(x=1.0, y=1.0, z=1.0),
        color=colour(r=0.5, g=0.25, b=1.0, a=1.0),
        lifetime=t["builtin_interfaces/msg/Duration"](sec=2, nanosec=5),
        frame_locked=True,
        points=[point(x=float(n), y=0.0, z=0.0) for n in range(3)],
        colors=[colour(r=1.0, g=0.0, b=0.0, a=1.0)] * 3,
        text="text",
        mesh_resource="package://a",
        mesh_use_embedded_materials=True,
        **newer,
    )
    return t[ARRAY](markers=[full, type(full)(**(vars(full) | {"action": 3, "ns": ""}))])


def written(path: Path, *, ros1: bool) -> bytes:
    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_JAZZY)
    message = markers(store, ros1=ros1)
    data: bytes
    if ros1:
        data = bytes(store.serialize_ros1(message, ARRAY))
        with Writer1(path) as bag:
            bag.write(bag.add_connection("/goals", ARRAY, typestore=store), SECOND, data)
        return data
    data = bytes(store.serialize_cdr(message, ARRAY))
    with Writer2(path, version=9, storage_plugin=StoragePlugin.SQLITE3) as folder:
        folder.write(folder.add_connection("/goals", ARRAY, typestore=store), SECOND, data)
    return data


@pytest.mark.parametrize("ros1", [True, False], ids=["ros1", "ros2"])
def test_markers_survive_the_way_to_hyphos_and_back(
    ros1: bool, hyphos_cli: Cli, tmp_path: Path
) -> None:
    bag = tmp_path / ("run.bag" if ros1 else "run")
    middle, back = tmp_path / "run.mcap", tmp_path / ("back.bag" if ros1 else "back")
    data = written(bag, ros1=ros1)
    code, out, err = hyphos_cli("bag", "convert", str(bag), "-o", str(middle))
    assert code == 0, out + err
    [item] = everything(middle)["goals"]
    payload: Any = item.payload
    full, gone = MarkerArray.FromString(bytes(payload)).markers
    assert (full.ns, full.id, full.type) == ("goals", -5, Marker.TRIANGLE_LIST)
    assert (full.lifetime_ns, full.header.stamp_ns) == (2 * SECOND + 5, 3 * SECOND + 7)
    assert (gone.ns, gone.action) == ("", Marker.DELETEALL)
    if not ros1:
        assert (full.texture.data, full.mesh_file.data) == (b"pixels", b"solid")
    to = ("--to", "ros1" if ros1 else "ros2")
    code, out, err = hyphos_cli("bag", "convert", str(middle), "-o", str(back), *to)
    assert code == 0, out + err
    with AnyReader([back]) as reader:
        [(connection, time_ns, again)] = list(reader.messages())
        assert (connection.msgtype, time_ns) == (ARRAY, SECOND)
        if ros1:
            assert bytes(again) == data
        else:  # the definition may be that of another distribution
            got: Any = reader.deserialize(again, connection.msgtype)
            assert got.markers[0].mesh_file.filename == "a.stl"
            assert bytes(got.markers[0].texture.data) == b"pixels"
            assert got.markers[1].action == 3
