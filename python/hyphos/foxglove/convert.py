"""Converts the standard messages to those of Foxglove's panels: one function for each, and a table.

A converter takes the parsed message, its attached buffers and the publish time. It returns the
bytes of the well-known message. ValueError has the reason why a message cannot be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from foxglove import Schema
from foxglove import messages as fox
from foxglove.messages import PackedElementFieldNumericType as Numeric
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from hyphos import msgs
from hyphos.convert import pixel_layout
from hyphos.foxglove import parts
from hyphos.foxglove.scene import Scene
from hyphos.recording.attached import join
from hyphos.types import bytes_of

Buffers = Sequence[Any]
Convert = Callable[[Any, Buffers, int], bytes]

_DATATYPES = {  # of msgs.PointField: Foxglove's number, NumPy's name
    1: (Numeric.Int8, "i1"),
    2: (Numeric.Uint8, "u1"),
    3: (Numeric.Int16, "i2"),
    4: (Numeric.Uint16, "u2"),
    5: (Numeric.Int32, "i4"),
    6: (Numeric.Uint32, "u4"),
    7: (Numeric.Float32, "f4"),
    8: (Numeric.Float64, "f8"),
}
_LEVELS = {
    10: fox.LogLevel.Debug,
    20: fox.LogLevel.Info,
    30: fox.LogLevel.Warning,
    40: fox.LogLevel.Error,
    50: fox.LogLevel.Fatal,
}


@dataclass(frozen=True)
class WellKnown:
    """The target of a conversion."""

    target: Any  # class of foxglove.messages
    convert: Convert
    remembering: Callable[[], Convert] | None = None  # makes a converter that uses earlier messages

    @property
    def schema(self) -> Schema:
        made: Schema = self.target.get_schema()
        return made


@cache
def _data_number(name: str) -> int:
    """The number of the field `data` in a well-known message."""
    files = FileDescriptorSet.FromString(getattr(fox, name).get_schema().data)
    fields = next(m.field for f in files.file for m in f.message_type if m.name == name)
    return int(next(field.number for field in fields if field.name == "data"))


def _with_data(message: Any, data: Any) -> bytes:
    """The message with its field `data`. Copies the data once instead of three times."""
    parts = [data] if len(data) else []
    return join(message.encode(), parts, _data_number(type(message).__name__))


def _buffer(buffers: Buffers, least: int) -> memoryview:
    if not buffers:
        raise ValueError("the message has no attached buffer")
    view = bytes_of(buffers[0]).data
    if len(view) < least:
        raise ValueError(f"the buffer has {len(view):,} bytes, but the head declares {least:,}")
    return view


def _laser_scan(head: Any, _: Buffers, published_ns: int) -> bytes:
    end = head.angle_max
    if head.angle_increment and end == head.angle_min:  # some drivers do not set it
        end = head.angle_min + head.angle_increment * max(0, len(head.ranges) - 1)
    return fox.LaserScan(
        **parts.stamp(head, published_ns),
        pose=parts.origin(),
        start_angle=head.angle_min,
        end_angle=end,
        ranges=list(head.ranges),
        intensities=list(head.intensities),
    ).encode()


def _element(name: str, offset: int, kind: Any) -> fox.PackedElementField:
    return fox.PackedElementField(name=name, offset=offset, type=kind)


def _elements(head: Any) -> list[fox.PackedElementField]:
    """Fields of several elements become several fields. Packed colours become four bytes."""
    found = []
    for field in head.fields:
        if field.datatype not in _DATATYPES:
            raise ValueError(f"field '{field.name}' has an unknown type, {field.datatype}")
        kind, name = _DATATYPES[field.datatype]
        size = np.dtype(name).itemsize
        if field.offset + size * max(1, field.count) > head.point_step:
            raise ValueError(f"field '{field.name}' extends beyond the point")
        if field.name in ("rgb", "rgba") and size == 4:
            for i, colour in enumerate(("blue", "green", "red", "alpha")):
                found.append(_element(colour, field.offset + i, Numeric.Uint8))
            continue
        for i in range(max(1, field.count)):
            part = field.name if field.count <= 1 else f"{field.name}_{i}"
            found.append(_element(part, field.offset + i * size, kind))
    return found


def _points(head: Any, data: memoryview, row: int) -> Any:
    """Contiguous points, in the byte order that Foxglove expects, with opaque colours."""
    rows = np.frombuffer(data[: head.height * row], np.uint8)
    step = head.width * head.point_step
    opaque = [f.offset + 3 for f in head.fields if f.name == "rgb" and f.datatype in (5, 6, 7)]
    if row == step and not opaque and not head.is_bigendian:
        return rows
    points = rows.reshape(head.height, row)[:, :step].reshape(-1, head.point_step).copy()
    if head.is_bigendian:
        for start, end, size in _wide_places(head):
            part = points[:, start:end].reshape(len(points), -1, size)
            points[:, start:end] = part[:, :, ::-1].reshape(len(points), -1)
    points[:, opaque] = 255
    return points.reshape(-1)


def _wide_places(head: Any) -> list[tuple[int, int, int]]:
    """(start, end, bytes of a number) of multi-byte fields, each place once."""
    places = set()
    for field in head.fields:
        size = np.dtype(_DATATYPES[field.datatype][1]).itemsize
        if size > 1:
            places.add((field.offset, field.offset + size * max(1, field.count), size))
    found = sorted(places)
    if any(one[1] > after[0] for one, after in pairwise(found)):
        raise ValueError("big-endian fields overlap in part")
    return found


def _point_cloud(head: Any, buffers: Buffers, published_ns: int) -> bytes:
    row = head.row_step or head.width * head.point_step
    if row < head.width * head.point_step:
        raise ValueError(f"row_step {head.row_step} is less than width × point_step")
    if not head.point_step and head.height * head.width:
        raise ValueError("point_step is 0")
    cloud = fox.PointCloud(
        **parts.stamp(head, published_ns),
        pose=parts.origin(),
        point_stride=head.point_step,
        fields=_elements(head),
    )
    size = head.height * row if head.width else 0
    data = _buffer(buffers, size) if size else b""
    return _with_data(cloud, _points(head, memoryview(data), row) if size else b"")


def _image(head: Any, buffers: Buffers, published_ns: int) -> bytes:
    step = head.step or _row_bytes(head)
    size = head.height * step
    data: Any = _buffer(buffers, size)[:size]
    if head.is_bigendian and size and head.width:
        data = _little_endian(head, np.frombuffer(data, np.uint8).reshape(head.height, step))
    image = fox.RawImage(
        **parts.stamp(head, published_ns),
        width=head.width,
        height=head.height,
        encoding=head.encoding,
        step=step,
    )
    return _with_data(image, data)


def _row_bytes(head: Any) -> int:
    """Bytes of a row of pixels. ValueError if the encoding is unknown, or the step is smaller."""
    if not head.width or not head.height:
        return 0
    code, channels = pixel_layout(head.encoding)
    row: int = head.width * channels * np.dtype(code).itemsize
    if head.step and head.step < row:
        raise ValueError(f"step {head.step} is less than a row of {row} bytes")
    return row


def _little_endian(head: Any, rows: Any) -> Any:
    code, _ = pixel_layout(head.encoding)
    row = _row_bytes(head)
    rows = rows.copy()
    rows[:, :row] = np.ascontiguousarray(rows[:, :row]).view(code).byteswap().view("u1")
    return rows.reshape(-1)


def _compressed_image(head: Any, buffers: Buffers, published_ns: int) -> bytes:
    data = _buffer(buffers, 1)
    # ROS has "bgr8; jpeg compressed bgr8", Foxglove expects one word.
    words = head.format.lower().replace(";", " ").split()
    known = [word for word in words if word in ("jpeg", "jpg", "png", "webp", "avif")]
    kind = known[0].replace("jpg", "jpeg") if known else head.format
    image = fox.CompressedImage(**parts.stamp(head, published_ns), format=kind)
    return _with_data(image, data)


def _camera(head: Any, _: Buffers, published_ns: int) -> bytes:
    return fox.CameraCalibration(
        **parts.stamp(head, published_ns),
        width=head.width,
        height=head.height,
        distortion_model=head.distortion_model,
        D=list(head.d),
        K=list(head.k),
        R=list(head.r),
        P=list(head.p),
    ).encode()


@cache
def _map_colours() -> Any:
    """Red, green, blue, alpha and the value itself for each byte of a map. Free is white, occupied
    black, unknown transparent."""
    table = np.zeros((256, 5), np.uint8)
    percent = np.arange(101)
    table[:101, :3] = (255 - percent * 255 // 100)[:, None]
    table[:101, 3] = 255
    table[101:, :4] = (112, 137, 134, 96)
    table[:, 4] = np.arange(256)
    return table


def _grid(head: Any, _: Buffers, published_ns: int) -> bytes:
    info = head.info
    if len(head.data) != info.width * info.height:
        raise ValueError(f"{len(head.data):,} cells received for {info.width} × {info.height}")
    colours = ("red", "green", "blue", "alpha")
    grid = fox.Grid(
        **parts.stamp(head, published_ns),
        pose=parts.pose(info.origin),
        column_count=info.width,
        cell_size=fox.Vector2(x=info.resolution, y=info.resolution),
        row_stride=info.width * 5,
        cell_stride=5,
        fields=[
            *(_element(name, i, Numeric.Uint8) for i, name in enumerate(colours)),
            _element("occupancy", 4, Numeric.Int8),
        ],
    )
    return _with_data(grid, _map_colours()[np.frombuffer(head.data, np.uint8)])


def _transform(one: Any, published_ns: int) -> fox.FrameTransform:
    return fox.FrameTransform(
        timestamp=parts.time(one.header.stamp_ns, published_ns),
        parent_frame_id=one.header.frame_id,
        child_frame_id=one.child_frame_id,
        translation=parts.vector(one.transform.translation),
        rotation=parts.quaternion(one.transform.rotation),
    )


def _tf(head: Any, _: Buffers, published_ns: int) -> bytes:
    made = [_transform(one, published_ns) for one in head.transforms]
    return fox.FrameTransforms(transforms=made).encode()


def _transform_stamped(head: Any, _: Buffers, published_ns: int) -> bytes:
    return _transform(head, published_ns).encode()


def _pose_stamped(head: Any, _: Buffers, published_ns: int) -> bytes:
    return fox.PoseInFrame(**parts.stamp(head, published_ns), pose=parts.pose(head.pose)).encode()


def _pose_with_covariance(head: Any, _: Buffers, published_ns: int) -> bytes:
    return fox.PoseInFrame(
        **parts.stamp(head, published_ns), pose=parts.pose(head.pose.pose)
    ).encode()


def _pose_array(head: Any, _: Buffers, published_ns: int) -> bytes:
    poses = [parts.pose(pose) for pose in head.poses]
    return fox.PosesInFrame(**parts.stamp(head, published_ns), poses=poses).encode()


def _path(head: Any, _: Buffers, published_ns: int) -> bytes:
    poses = [parts.pose(one.pose) for one in head.poses]
    return fox.PosesInFrame(**parts.stamp(head, published_ns), poses=poses).encode()


def _point_stamped(head: Any, _: Buffers, published_ns: int) -> bytes:
    point = fox.Point3(x=head.point.x, y=head.point.y, z=head.point.z)
    return fox.Point3InFrame(**parts.stamp(head, published_ns), point=point).encode()


def _odometry(head: Any, _: Buffers, published_ns: int) -> bytes:
    return fox.Odometry(
        **parts.stamp(head, published_ns),
        body_frame_id=head.child_frame_id,
        pose=parts.pose(head.pose.pose),
        linear_velocity=parts.vector(head.twist.twist.linear),
        angular_velocity=parts.vector(head.twist.twist.angular),
        pose_covariance=list(head.pose.covariance),
        velocity_covariance=list(head.twist.covariance),
    ).encode()


def _nav_sat(head: Any, _: Buffers, published_ns: int) -> bytes:
    kinds = fox.LocationFixPositionCovarianceType
    order = (kinds.Unknown, kinds.Approximated, kinds.DiagonalKnown, kinds.Known)
    kind = head.position_covariance_type
    return fox.LocationFix(
        **parts.stamp(head, published_ns),
        latitude=head.latitude,
        longitude=head.longitude,
        altitude=head.altitude,
        position_covariance=list(head.position_covariance) or [0.0] * 9,
        position_covariance_type=order[kind] if 0 <= kind < len(order) else kinds.Unknown,
    ).encode()


def _joints(head: Any, _: Buffers, published_ns: int) -> bytes:
    def at(values: Sequence[float], i: int) -> float | None:
        return values[i] if i < len(values) else None

    joints = [
        fox.JointState(
            name=name,
            position=at(head.position, i),
            velocity=at(head.velocity, i),
            effort=at(head.effort, i),
        )
        for i, name in enumerate(head.name)
    ]
    stamp = parts.time(head.header.stamp_ns, published_ns)
    return fox.JointStates(timestamp=stamp, joints=joints).encode()


def _log(head: Any, _: Buffers, published_ns: int) -> bytes:
    return fox.Log(
        timestamp=parts.time(head.stamp_ns, published_ns),
        level=_LEVELS.get(head.level, fox.LogLevel.Unknown),
        message=head.msg,
        name=head.name,
        file=head.file,
        line=head.line,
    ).encode()


def _marker(head: Any, buffers: Buffers, published_ns: int) -> bytes:
    return Scene().marker(head, buffers, published_ns)


def _markers(head: Any, buffers: Buffers, published_ns: int) -> bytes:
    return Scene().markers(head, buffers, published_ns)


# (type, True with attached buffers) → message that Foxglove draws.
_TABLE: dict[tuple[Any, bool], WellKnown] = {
    (msgs.LaserScan, False): WellKnown(fox.LaserScan, _laser_scan),
    (msgs.PointCloud, True): WellKnown(fox.PointCloud, _point_cloud),
    (msgs.Image, True): WellKnown(fox.RawImage, _image),
    (msgs.CompressedImage, True): WellKnown(fox.CompressedImage, _compressed_image),
    (msgs.CameraInfo, False): WellKnown(fox.CameraCalibration, _camera),
    (msgs.OccupancyGrid, False): WellKnown(fox.Grid, _grid),
    (msgs.TfMessage, False): WellKnown(fox.FrameTransforms, _tf),
    (msgs.TransformStamped, False): WellKnown(fox.FrameTransform, _transform_stamped),
    (msgs.PoseStamped, False): WellKnown(fox.PoseInFrame, _pose_stamped),
    (msgs.PoseWithCovarianceStamped, False): WellKnown(fox.PoseInFrame, _pose_with_covariance),
    (msgs.PoseArray, False): WellKnown(fox.PosesInFrame, _pose_array),
    (msgs.Path, False): WellKnown(fox.PosesInFrame, _path),
    (msgs.PointStamped, False): WellKnown(fox.Point3InFrame, _point_stamped),
    (msgs.Odometry, False): WellKnown(fox.Odometry, _odometry),
    (msgs.NavSatFix, False): WellKnown(fox.LocationFix, _nav_sat),
    (msgs.JointState, False): WellKnown(fox.JointStates, _joints),
    (msgs.Log, False): WellKnown(fox.Log, _log),
    (msgs.Marker, False): WellKnown(fox.SceneUpdate, _marker, lambda: Scene().marker),
    (msgs.MarkerArray, False): WellKnown(fox.SceneUpdate, _markers, lambda: Scene().markers),
}
WELL_KNOWN: dict[tuple[str, str], WellKnown] = {
    (cls.DESCRIPTOR.full_name, "attached" if attached else "protobuf"): known
    for (cls, attached), known in _TABLE.items()
}
CLASSES: dict[str, Any] = {cls.DESCRIPTOR.full_name: cls for cls, _ in _TABLE}


def encoder(type_name: str, known: WellKnown) -> Callable[[Any, Buffers, int], bytes]:
    """A function from an encoded message of a type in CLASSES to its well-known form."""
    parse: Any = CLASSES[type_name].FromString
    function = known.remembering() if known.remembering else known.convert
    return lambda payload, buffers, time_ns: function(parse(bytes(payload)), buffers, time_ns)
