"""The parts of `hyphos foxglove`: converters, frames, and the queue of a slow client."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from foxglove import messages as fox
from hyphos import msgs
from hyphos.convert import pixel_layout
from hyphos.foxglove.convert import CLASSES, WELL_KNOWN
from hyphos.foxglove.frames import Frame, FrameSplitter
from hyphos.foxglove.waiting import Waiting
from well_known import converted, stamped


@pytest.mark.parametrize("key", WELL_KNOWN, ids=lambda key: key[0])
def test_empty_messages_of_each_type_convert_or_are_refused(key: tuple[str, str]) -> None:
    message = CLASSES[key[0]]()
    try:
        converted(message, b"")
    except ValueError as problem:
        assert "buffer" in str(problem)  # there is nothing to show


def test_stamps_and_frames_are_converted() -> None:
    pose = converted(stamped(msgs.PoseStamped(), "base"))
    assert (pose.timestamp.seconds, pose.timestamp.nanos, pose.frame_id) == (1, 500_000_000, "base")
    unset = converted(msgs.PoseStamped())
    assert (unset.timestamp.seconds, unset.timestamp.nanos) == (7, 9)
    early = msgs.PoseStamped()
    early.header.stamp_ns = -1
    with pytest.raises(ValueError, match="before 1970"):
        converted(early)


def test_an_unset_rotation_becomes_the_identity() -> None:
    assert converted(msgs.PoseStamped()).pose.orientation.w == 1
    turned = msgs.PoseStamped()
    turned.pose.orientation.z = 1
    orientation = converted(turned).pose.orientation
    assert (orientation.z, orientation.w) == (1, 0)


def test_scans_are_converted() -> None:
    scan = stamped(msgs.LaserScan(angle_min=-1, angle_max=2, ranges=[1, float("inf")]), "laser")
    scan.intensities.extend([5, 6])
    made = converted(scan)
    assert (made.start_angle, made.end_angle) == (-1, 2)
    assert (list(made.ranges), list(made.intensities)) == ([1, float("inf")], [5, 6])
    bare = msgs.LaserScan(angle_min=0.5, angle_max=0.5, angle_increment=0.25, ranges=[1, 1, 1])
    assert converted(bare).end_angle == 1.0


POINT = np.dtype({"names": ["x", "rgb", "n"], "formats": ["<f4", "<u4", ("<u2", 2)],
                  "offsets": [0, 4, 8], "itemsize": 16})  # fmt: skip


def cloud(rows: int, columns: int, padding: int = 0) -> msgs.PointCloud:
    head: msgs.PointCloud = stamped(msgs.PointCloud(height=rows, width=columns, point_step=16))
    head.row_step = columns * 16 + padding
    for name, offset, kind, count in (("x", 0, 7, 1), ("rgb", 4, 7, 1), ("n", 8, 4, 2)):
        head.fields.add(name=name, offset=offset, datatype=kind, count=count)
    return head


@pytest.mark.parametrize("big", [False, True])
def test_clouds_lose_their_padding_and_keep_their_colours(big: bool) -> None:
    dtype = POINT.newbyteorder(">") if big else POINT
    rows = np.zeros((2, 3), dtype)
    rows["x"] = [[0, 1, 2], [3, 4, 5]]
    rows["rgb"] = 0x00112233
    rows["n"] = [7, 8]
    padded = np.zeros((2, 3 * 16 + 5), np.uint8)
    padded[:, : 3 * 16] = rows.view(np.uint8).reshape(2, -1)
    head = cloud(2, 3, 5)
    head.is_bigendian = big
    made = converted(head, padded)
    assert made.point_stride == 16
    names = {field.name: (field.offset, field.type) for field in made.fields}
    numeric = fox.PackedElementFieldNumericType
    assert names == {
        "x": (0, numeric.Float32.value),
        "blue": (4, numeric.Uint8.value),
        "green": (5, numeric.Uint8.value),
        "red": (6, numeric.Uint8.value),
        "alpha": (7, numeric.Uint8.value),
        "n_0": (8, numeric.Uint16.value),
        "n_1": (10, numeric.Uint16.value),
    }
    points = np.frombuffer(made.data, POINT)
    assert points["x"].tolist() == [0, 1, 2, 3, 4, 5]
    assert points["n"].tolist() == [[7, 8]] * 6
    assert set(points["rgb"].tolist()) == {0xFF112233}  # opaque, although the sender set no alpha


def test_invalid_clouds_are_refused() -> None:
    with pytest.raises(ValueError, match="has 95 bytes, but the head declares 96"):
        converted(cloud(2, 3), bytes(95))
    with pytest.raises(ValueError, match="no attached buffer"):
        converted(cloud(1, 1))
    short = cloud(2, 3)
    short.row_step = 5
    with pytest.raises(ValueError, match="row_step 5"):
        converted(short, bytes(96))
    beyond = cloud(1, 1)
    beyond.fields.add(name="y", offset=14, datatype=7, count=1)
    with pytest.raises(ValueError, match="'y' extends beyond the point"):
        converted(beyond, bytes(16))
    odd = cloud(1, 1)
    odd.fields.add(name="y", offset=12, datatype=99, count=1)
    with pytest.raises(ValueError, match="'y' has an unknown type, 99"):
        converted(odd, bytes(16))
    assert converted(cloud(0, 0), b"").data == b""


def test_images_are_converted() -> None:
    head = stamped(msgs.Image(height=2, width=2, encoding="16UC1", step=4))
    pixels = np.array([[1, 2], [3, 0x1234]], "<u2")
    made = converted(head, pixels)
    assert (made.encoding, made.step, made.data) == ("16UC1", 4, pixels.tobytes())
    head.is_bigendian = True
    assert converted(head, pixels.astype(">u2")).data == pixels.tobytes()
    with_more = converted(head, np.append(pixels.reshape(-1), 9).astype(">u2"))
    assert with_more.data == pixels.tobytes()
    jpeg = converted(msgs.CompressedImage(format="bgr8; jpeg compressed bgr8"), b"file")
    assert (jpeg.format, jpeg.data) == ("jpeg", b"file")
    assert converted(msgs.CompressedImage(format="png"), b"file").format == "png"


@pytest.mark.parametrize("encoding", ["mono16", "rgb16", "16UC3", "32FC2", "64FC1", "bayer_rggb16"])
def test_big_endian_images_of_every_encoding_are_swapped(encoding: str) -> None:
    code, channels = pixel_layout(encoding)
    random = np.random.default_rng(len(encoding))
    for padding in (0, 1, 5):
        pixels = random.integers(0, 250, (3, 4, channels)).astype(code)
        row = pixels[0].nbytes
        rows = np.full((3, row + padding), 0xEE, np.uint8)
        rows[:, :row] = pixels.astype(np.dtype(code).newbyteorder(">")).view("u1").reshape(3, row)
        head = stamped(msgs.Image(height=3, width=4, encoding=encoding, step=row + padding))
        head.is_bigendian = True
        made = np.frombuffer(converted(head, rows).data, np.uint8).reshape(rows.shape)
        assert made[:, :row].tobytes() == pixels.astype(np.dtype(code).newbyteorder("<")).tobytes()
    head.step = row - 1
    with pytest.raises(ValueError, match="less than a row"):
        converted(head, rows)


def test_big_endian_fields_that_share_bytes_swap_once() -> None:
    head = stamped(msgs.PointCloud(height=1, width=2, point_step=5, is_bigendian=True))
    for name, kind in (("a", 7), ("b", 6), ("c", 2)):
        head.fields.add(name=name, offset=1, datatype=kind, count=1)
    points = np.frombuffer(bytes([9, 1, 2, 3, 4, 8, 5, 6, 7, 8]), np.uint8)
    assert converted(head, points).data == bytes([9, 4, 3, 2, 1, 8, 8, 7, 6, 5])
    head.fields.add(name="part", offset=2, datatype=4, count=1)
    with pytest.raises(ValueError, match="overlap in part"):
        converted(head, points)


def test_calibrations_are_converted() -> None:
    camera = stamped(msgs.CameraInfo(width=640, height=480, distortion_model="plumb_bob"))
    camera.d.extend([0.1, 0.2])
    camera.k.extend(range(9))
    camera.r.extend(range(9, 18))
    camera.p.extend(range(12))
    made = converted(camera)
    assert (made.width, made.height, made.distortion_model) == (640, 480, "plumb_bob")
    assert (list(made.D), list(made.K)) == ([0.1, 0.2], list(range(9)))
    assert (list(made.R), list(made.P)) == (list(range(9, 18)), list(range(12)))


def test_maps_have_colours_and_values() -> None:
    grid = stamped(msgs.OccupancyGrid(data=bytes([0, 100, 255])))
    grid.info.width, grid.info.height, grid.info.resolution = 3, 1, 0.1
    grid.info.origin.position.x = -4
    made = converted(grid)
    assert (made.pose.position.x, made.pose.orientation.w) == (-4, 1)
    assert (made.cell_size.x, made.column_count) == (pytest.approx(0.1), 3)
    fields = [field.name for field in made.fields]
    assert fields == ["red", "green", "blue", "alpha", "occupancy"]
    free, full, unknown = np.frombuffer(made.data, np.int8).reshape(3, 5).tolist()
    assert [c & 255 for c in free] == [255, 255, 255, 255, 0]
    assert [c & 255 for c in full] == [0, 0, 0, 255, 100]
    assert unknown[4] == -1
    grid.info.height = 2
    with pytest.raises(ValueError, match="3 cells received for 3 × 2"):
        converted(grid)


def test_frames_poses_and_paths_are_converted() -> None:
    one = stamped(msgs.TransformStamped(child_frame_id="laser"), "base")
    one.transform.translation.z = 2
    one.transform.rotation.w = 1
    made = converted(one)
    assert (made.parent_frame_id, made.child_frame_id, made.translation.z) == ("base", "laser", 2)
    both = converted(msgs.TfMessage(transforms=[one, one]))
    assert [t.child_frame_id for t in both.transforms] == ["laser", "laser"]
    path = stamped(msgs.Path())
    for x in (1, 2):
        path.poses.add().pose.position.x = x
    made = converted(path)
    assert [pose.position.x for pose in made.poses] == [1, 2]
    assert made.frame_id == "map"
    array = stamped(msgs.PoseArray())
    array.poses.add().position.y = 3
    assert converted(array).poses[0].position.y == 3
    certain = stamped(msgs.PoseWithCovarianceStamped())
    certain.pose.pose.position.z = 4
    assert converted(certain).pose.position.z == 4
    point = stamped(msgs.PointStamped())
    point.point.x = 5
    assert converted(point).point.x == 5


def test_motion_positions_and_joints_are_converted() -> None:
    odometry = stamped(msgs.Odometry(child_frame_id="base"), "odom")
    odometry.pose.pose.position.x = 1
    odometry.twist.twist.linear.x, odometry.twist.twist.angular.z = 2, 3
    odometry.pose.covariance.extend([0.5] * 36)
    made = converted(odometry)
    assert (made.frame_id, made.body_frame_id, made.pose.position.x) == ("odom", "base", 1)
    assert (made.linear_velocity.x, made.angular_velocity.z) == (2, 3)
    assert list(made.pose_covariance) == [0.5] * 36
    fix = stamped(msgs.NavSatFix(latitude=47, longitude=8, altitude=400))
    fix.position_covariance_type = 2
    fix.position_covariance.extend(range(9))
    made = converted(fix)
    assert (made.latitude, made.longitude, made.position_covariance_type) == (47, 8, 2)
    assert list(made.position_covariance) == list(range(9))
    joints = stamped(msgs.JointState(name=["a", "b"], position=[1, 2], velocity=[3]))
    made = converted(joints).joints
    assert [(j.name, j.position, j.velocity) for j in made] == [("a", 1, 3), ("b", 2, 0)]
    assert [j.HasField("velocity") for j in made] == [True, False]


def test_log_lines_are_converted() -> None:
    line = msgs.Log(
        stamp_ns=10**9, level=msgs.Log.WARN, name="mapper", msg="low", file="a.py", line=7
    )
    made = converted(line)
    assert (made.level, made.name, made.message) == (fox.LogLevel.Warning.value, "mapper", "low")
    assert (made.file, made.line, made.timestamp.seconds) == ("a.py", 7, 1)


# --- frames -------------------------------------------------------------------------------------

HEAD = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"


def frame(payload: bytes, opcode: int = 2, final: bool = True) -> bytes:
    length = len(payload)
    first = bytes([opcode | (0x80 if final else 0)])
    if length < 126:
        return first + bytes([length]) + payload
    if length < 65536:
        return first + b"\x7e" + struct.pack(">H", length) + payload
    return first + b"\x7f" + struct.pack(">Q", length) + payload


def data(subscription: int, payload: bytes) -> bytes:
    return frame(struct.pack("<BIQ", 1, subscription, 99) + payload)


STREAM = [
    frame(b'{"op":"serverInfo"}', 1),
    data(1, b"small"),
    data(1, bytes(300)),
    data(2, bytes(70_000)),
    frame(b"\x02" + bytes(8)),
    frame(b"\x01\x00"),  # too short for a message
    frame(b"", 2),
    frame(b"\x01\x00\x00\x00\x00more", 2, final=False),
    frame(b"rest", 0),
    frame(b"", 9),
]


@pytest.mark.parametrize("size", [1, 2, 7, 4096, 10**6])
def test_frames_are_split_at_any_network_boundary(size: int) -> None:
    splitter = FrameSplitter()
    stream = HEAD + b"".join(STREAM)
    found: list[Frame] = []
    for at in range(0, len(stream), size):
        found += splitter.feed(stream[at : at + size])
    assert splitter.is_open
    assert [one.data for one in found] == [HEAD, *STREAM]
    assert [one.is_message for one in found[1:]] == [False, True, True, True, *[False] * 6]
    assert len({one.flow for one in found[2:4]}) == 1
    flows = [one.flow is not None for one in found[1:]]
    assert flows == [False, True, True, True, True, *[False] * 5]


def test_a_refused_handshake_passes_through() -> None:
    splitter = FrameSplitter()
    answer = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    [one] = splitter.feed(answer)
    assert (one.data, one.flow, splitter.is_open) == (answer, None, False)
    assert [f.data for f in splitter.feed(b"\x82\x05hello")] == [b"\x82\x05hello"]
    with pytest.raises(ValueError, match="no end"):
        FrameSplitter().feed(b"x" * 20_000)


# --- the send queue -----------------------------------------------------------------------------


def message(flow: bytes, payload: bytes) -> Frame:
    return Frame(payload, flow, is_message=True)


def test_the_queue_keeps_order_and_each_newest_message() -> None:
    waiting = Waiting(flow_bytes=10)
    assert not waiting
    waiting.add(message(b"a", b"a1aa"))
    waiting.add(Frame(b"control 1"))
    waiting.add(message(b"b", b"b1" * 50))  # larger than the queue limit, but the newest
    waiting.add(message(b"a", b"a2aa"))
    waiting.add(message(b"a", b"a3aa"))  # no room beside a1
    waiting.add(message(b"b", b"b2" * 50))
    waiting.add(Frame(b"control 2"))
    waiting.add(Frame(b"time 1", b"time"))
    waiting.add(Frame(b"time 2", b"time"))
    assert waiting.dropped == 2  # a1 and b1, because a time is no message
    assert waiting.control_bytes == 18
    out = []
    while waiting:
        out.append(waiting.pop()[:9])
    assert out == [b"control 1", b"a2aa", b"a3aa", b"b2b2b2b2b", b"control 2", b"time 2"]
    assert waiting.control_bytes == 0
