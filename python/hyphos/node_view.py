"""Drawing from code: arrays as messages that `hyphos view`, a recording and Foxglove show."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hyphos._hyphos import Policy, Published
from hyphos.clock import Clock
from hyphos.convert import Array, numpy_to_cloud, numpy_to_image
from hyphos.msgs import (
    Float64,
    Header,
    Image,
    Marker,
    MarkerArray,
    Path,
    PointCloud,
    PoseStamped,
    Vector3,
)
from hyphos.publisher import Publisher
from hyphos.types import Attached
from hyphos.view_arrays import (
    Color,
    color_message,
    color_messages,
    numbers,
    one_per,
    places,
    point_messages,
    poses,
    rotations,
)
from hyphos.view_arrays import (
    colors as color_rows,
)

_LINE = "orange"
_SHAPE = "cyan"


class _Opens(Protocol):
    """A node, which the module `node` defines below this one."""

    @property
    def clock(self) -> Clock: ...
    def publisher(self, channel: str, type: Any, *, policy: Policy | None) -> Publisher[Any]: ...


class ViewPublishers:
    """The publishers of all views of a node, by channel. Thread-safe. Does not refer to the node,
    which owns it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._publishers: dict[str, tuple[Any, Publisher[Any]]] = {}

    def find(self, channel: str) -> tuple[Any, Publisher[Any]] | None:
        return self._publishers.get(channel)

    def get(self, node: _Opens, channel: str, kind: Any) -> Publisher[Any]:
        known = self._publishers.get(channel)
        if known is None or known[0] is not kind:
            with self._lock:
                known = self._publishers.get(channel)
                if known is None:
                    # Latched, so that a viewer that starts later shows the last message.
                    policy = Policy(latched=True)
                    known = (kind, node.publisher(channel, kind, policy=policy))
                    self._publishers[channel] = known
        if known[0] is not kind:
            raise ValueError(
                f"'{channel}' already shows {_title(known[0])}, so it cannot show {_title(kind)}. "
                "Choose another name"
            )
        return known[1]


_CLOUD: Any = Attached[PointCloud]
_IMAGE: Any = Attached[Image]
_TITLES: dict[Any, str] = {
    _CLOUD: "points",
    _IMAGE: "an image",
    PoseStamped: "a pose",
    Path: "a path",
    MarkerArray: "shapes",
    Float64: "a number",
}


def _title(kind: Any) -> str:
    return _TITLES[kind]


class View:
    """Shows arrays in `hyphos view`: `node.view().points("cloud", xyz)`.

    Each function publishes one message on the channel of its name, so that recordings and other
    nodes receive it, too. The channel is made by the first call. It is latched unless the plan
    names it: a viewer that starts later shows the last message. A further call replaces the earlier
    one of its name. Lines, arrows, boxes, spheres and texts have one type, so that a name may
    change between them.

    Lengths are in m, angles in rad. `frame` is the coordinate frame of the positions. `stamp_ns` is
    their time, now if absent, by the node's clock. A position has 3 numbers, or 2 with a z of 0.
    Positions that are NaN or infinite are left out by the viewer.

    A colour is a name ("red"), "#rrggbb", "#rrggbbaa", or 3 or 4 numbers: integers up to 255 or
    floats up to 1.

    Raises ValueError or TypeError with the name, the shape and the dtype of an array that does not
    fit, and `hyphos.Error` if the channel has another type or the node is closed. Thread-safe.
    Cost: an array of points or pixels is copied once, into shared memory. A point of a
    shape costs about 1 µs, a pose of a path about 4 µs.
    """

    def __init__(self, node: _Opens, publishers: ViewPublishers, prefix: str, frame: str) -> None:
        self._node = node
        self._clock = node.clock
        self._publishers = publishers
        self._prefix = prefix.rstrip("/") + "/" if prefix else ""
        self._frame = frame

    def points(
        self,
        name: str,
        xyz: npt.ArrayLike,
        *,
        colors: Color | None = None,
        intensity: npt.ArrayLike | None = None,
        frame: str | None = None,
        stamp_ns: int | None = None,
    ) -> Published:
        """Shows points of the shape (n, 3), (n, 2) or (height, width, 3) as a PointCloud.

        They become float32. `colors` is one colour, or (n, 3) or (n, 4). `intensity` is (n,).
        A structured array with fields x, y and z keeps its fields. Cost: one pass. float32 of the
        shape (n, 3) without colours and intensity is not rearranged, and an array of loan_points()
        is not copied at all.
        """
        call = f"points({name!r})"
        if isinstance(xyz, np.ndarray) and xyz.dtype.names is not None:
            if colors is not None or intensity is not None:
                raise ValueError(f"{call}: a structured array has its colours in its fields")
            if not {"x", "y"} <= set(xyz.dtype.names):
                raise ValueError(f"{call}: found no fields x and y in {xyz.dtype.names}")
            array: Array = xyz
        else:
            array = places(call, "xyz", xyz, grid=True)
        publisher = self._publisher(name, _CLOUD)
        header = self._header(frame, stamp_ns)
        if colors is None and intensity is None:
            try:
                cloud = numpy_to_cloud(array, stamp_ns=header.stamp_ns, frame_id=header.frame_id)
            except (ValueError, TypeError) as error:
                raise type(error)(f"{call}: {error}") from None
            return publisher.publish(cloud)
        count = len(array)
        names, formats, columns = ["x", "y", "z"], ["f4"] * 3, list(array.T)
        if colors is not None:
            rows = color_rows(call, colors, count).astype(np.uint32)
            names, formats = [*names, "rgb"], [*formats, "u4"]
            columns.append(rows[:, 3] << 24 | rows[:, 0] << 16 | rows[:, 1] << 8 | rows[:, 2])
        if intensity is not None:
            names, formats = [*names, "intensity"], [*formats, "f4"]
            columns.append(one_per(call, "intensity", intensity, count))
        layout = np.dtype(list(zip(names, formats, strict=True)))
        memory = publisher.loan(count * layout.itemsize).view(layout)
        for field, column in zip(names, columns, strict=True):
            memory[field] = column
        return publisher.publish(
            numpy_to_cloud(memory, stamp_ns=header.stamp_ns, frame_id=header.frame_id)
        )

    def loan_points(self, name: str, count: int) -> npt.NDArray[np.float32]:
        """Loans memory for `count` points, float32 (count, 3), not initialised.

        Fill it and give it to points(), which then copies nothing. Do not write to it afterwards.
        """
        memory = self._publisher(name, _CLOUD).loan(count * 12)
        return memory.view(np.float32).reshape(count, 3)

    def pose(
        self,
        name: str,
        position: npt.ArrayLike,
        orientation: npt.ArrayLike | None = None,
        *,
        yaw: float | None = None,
        frame: str | None = None,
        stamp_ns: int | None = None,
    ) -> Published:
        """Shows one pose as a PoseStamped: a position (3,) or (2,), or a homogeneous matrix (4, 4).

        `orientation` is a quaternion x, y, z, w, or give `yaw`.
        """
        call = f"pose({name!r})"
        made = poses(call, "position", position, orientation, yaw)
        if len(made) != 1:
            raise ValueError(f"{call}: found {len(made)} positions. For several, use path()")
        message = PoseStamped(header=self._header(frame, stamp_ns), pose=made[0])
        return self._publisher(name, PoseStamped).publish(message)

    def path(
        self,
        name: str,
        positions: npt.ArrayLike,
        orientation: npt.ArrayLike | None = None,
        *,
        yaw: npt.ArrayLike | None = None,
        frame: str | None = None,
        stamp_ns: int | None = None,
    ) -> Published:
        """Shows poses in order as a Path: positions (n, 3) or (n, 2), or matrices (n, 4, 4).

        `orientation` has quaternions x, y, z, w, (n, 4), or give `yaw`, (n,).
        """
        made = poses(f"path({name!r})", "positions", positions, orientation, yaw)
        header = self._header(frame, stamp_ns)
        stamped = [PoseStamped(header=header, pose=pose) for pose in made]
        return self._publisher(name, Path).publish(Path(header=header, poses=stamped))

    def line(
        self,
        name: str,
        points: npt.ArrayLike,
        *,
        color: Color = _LINE,
        width: float = 0.03,
        closed: bool = False,
        frame: str | None = None,
        stamp_ns: int | None = None,
    ) -> Published:
        """Shows a line through points (n, 3) or (n, 2), or n separate segments (n, 2, 3).

        `color` is one colour, or one for each point. `closed` joins the last point to the first.
        """
        call = f"line({name!r})"
        array = numbers(call, "points", points)
        segments = array.ndim == 3
        if segments:
            if array.shape[1] != 2 or closed:
                raise ValueError(
                    f"{call}: segments need the shape (n, 2, 3) and cannot be closed, found the "
                    f"shape {array.shape}"
                )
            array = array.reshape(-1, array.shape[2])
        at = places(call, "points", array)
        rows = color_rows(call, color, len(at))
        if closed and len(at) > 2:
            at, rows = np.concatenate([at, at[:1]]), np.concatenate([rows, rows[:1]])
        kind = Marker.LINE_LIST if segments else Marker.LINE_STRIP
        marker = self._list(kind, at, rows, Vector3(x=float(width)))
        return self._show(name, [marker], frame, stamp_ns)

    def arrow(
        self,
        name: str,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        *,
        color: Color = _LINE,
        width: float = 0.05,
        frame: str | None = None,
        stamp_ns: int | None = None,
    ) -> Published:
        """Shows arrows from `start` to `end`, (3,) or (n, 3) each. One start is for all ends."""
        call = f"arrow({name!r})"
        to = places(call, "end", end)
        begin = places(call, "start", start)
        if len(begin) == 1:
            begin = np.repeat(begin, len(to), axis=0)
        if len(begin) != len(to):
            raise ValueError(f"{call}: found {len(begin)} starts for {len(to)} ends")
        rows = color_rows(call, color, len(to))
        scale = Vector3(x=float(width), y=2 * float(width), z=3 * float(width))
        markers = [
            Marker(
                type=Marker.ARROW,
                points=point_messages(np.stack([a, b])),
                color=color_message(row),
                scale=scale,
            )
            for a, b, row in zip(begin, to, rows, strict=True)
        ]
        return self._show(name, markers, frame, stamp_ns)

    def box(
        self,
        name: str,
        center: npt.ArrayLike,
        size: npt.ArrayLike = 1.0,
        orientation: npt.ArrayLike | None = None,
        *,
        yaw: npt.ArrayLike | None = None,
        color: Color = _SHAPE,
        frame: str | None = None,
        stamp_ns: int | None = None,
    ) -> Published:
        """Shows boxes at `center`, (3,) or (n, 3). `size` is the edge, or (3,), or (n, 3)."""
        call = f"box({name!r})"
        at = places(call, "center", center)
        sizes = numbers(call, "size", size)
        if sizes.shape not in ((), (3,), (len(at), 3)):
            raise ValueError(
                f"{call}: size needs one number, 3 numbers, or 3 for each of the {len(at)} boxes, "
                f"found the shape {sizes.shape}"
            )
        rows = color_rows(call, color, len(at))
        if sizes.ndim < 2 and orientation is None and yaw is None:
            scale = Vector3(**dict(zip("xyz", np.broadcast_to(sizes, 3).tolist(), strict=True)))
            return self._show(
                name, [self._list(Marker.CUBE_LIST, at, rows, scale)], frame, stamp_ns
            )
        turns = rotations(call, orientation, yaw, len(at))
        markers = [self._list(Marker.CUBE, at[i : i + 1], rows[i : i + 1]) for i in range(len(at))]
        for marker, turn, edge in zip(
            markers, turns, np.broadcast_to(sizes, (len(at), 3)).tolist(), strict=True
        ):
            marker.pose.orientation.CopyFrom(turn)
            marker.scale.x, marker.scale.y, marker.scale.z = edge
        return self._show(name, markers, frame, stamp_ns)

    def sphere(
        self,
        name: str,
        center: npt.ArrayLike,
        radius: npt.ArrayLike = 0.1,
        *,
        color: Color = _SHAPE,
        frame: str | None = None,
        stamp_ns: int | None = None,
    ) -> Published:
        """Shows spheres at `center`, (3,) or (n, 3). `radius` is one number, or (n,)."""
        call = f"sphere({name!r})"
        at = places(call, "center", center)
        radii = numbers(call, "radius", radius)
        rows = color_rows(call, color, len(at))
        if radii.ndim == 0:
            edge = 2 * float(radii)
            markers = [self._list(Marker.SPHERE_LIST, at, rows, Vector3(x=edge, y=edge, z=edge))]
            return self._show(name, markers, frame, stamp_ns)
        one_per(call, "radius", radii, len(at))
        markers = [
            self._list(Marker.SPHERE, at[i : i + 1], rows[i : i + 1]) for i in range(len(at))
        ]
        for marker, edge in zip(markers, (2 * radii).tolist(), strict=True):
            marker.scale.x = marker.scale.y = marker.scale.z = edge
        return self._show(name, markers, frame, stamp_ns)

    def text(
        self,
        name: str,
        text: str | Sequence[str],
        position: npt.ArrayLike = (0.0, 0.0, 0.0),
        *,
        size: float = 0.3,
        color: Color = "white",
        frame: str | None = None,
        stamp_ns: int | None = None,
    ) -> Published:
        """Shows texts that face the viewer, one for each position. `size`: height of a capital."""
        call = f"text({name!r})"
        texts = [text] if isinstance(text, str) else list(text)
        at = places(call, "position", position)
        if len(texts) != len(at):
            raise ValueError(f"{call}: found {len(texts)} texts for {len(at)} positions")
        rows = color_rows(call, color, len(at))
        markers = [
            self._list(
                Marker.TEXT_VIEW_FACING, at[i : i + 1], rows[i : i + 1], Vector3(z=float(size))
            )
            for i in range(len(at))
        ]
        for marker, one in zip(markers, texts, strict=True):
            marker.text = one
        return self._show(name, markers, frame, stamp_ns)

    def image(
        self,
        name: str,
        pixels: npt.ArrayLike,
        encoding: str = "",
        *,
        frame: str | None = None,
        stamp_ns: int | None = None,
    ) -> Published:
        """Shows pixels (height, width) or (height, width, channels) as an Image.

        `encoding` is chosen from dtype and channels, as numpy_to_image() does: mono8, rgb8, rgba8,
        16UC1, 32FC1. Give "bgr8" for an array of OpenCV.
        """
        header = self._header(frame, stamp_ns)
        try:
            image = numpy_to_image(
                pixels, encoding, stamp_ns=header.stamp_ns, frame_id=header.frame_id
            )
        except (ValueError, TypeError) as error:
            raise type(error)(f"image({name!r}): {error}") from None
        return self._publisher(name, _IMAGE).publish(image)

    def scalar(self, name: str, value: float | np.number[Any]) -> Published:
        """Plots a number over time, as a Float64. It has no stamp: its time is that of the call."""
        number = numbers(f"scalar({name!r})", "value", value)
        if number.size != 1:
            raise ValueError(f"scalar({name!r}): needs one number, found the shape {number.shape}")
        return self._publisher(name, Float64).publish(Float64(data=number.item()))

    def clear(self, name: str) -> None:
        """Removes the points, the path or the shapes of this name. No effect before they exist."""
        channel = self._prefix + name
        known = self._publishers.find(channel)
        if known is None:
            return
        kind, publisher = known
        header = self._header(None, None)
        if kind is MarkerArray:
            self._show(name, [], None, None)
        elif kind is Path:
            publisher.publish(Path(header=header))
        elif kind is _CLOUD:
            publisher.publish(numpy_to_cloud(np.zeros((0, 3), np.float32)))
        else:
            raise ValueError(f"clear({name!r}): {_title(kind)} cannot be removed")

    def _publisher(self, name: str, kind: Any) -> Publisher[Any]:
        return self._publishers.get(self._node, self._prefix + name, kind)

    def _header(self, frame: str | None, stamp_ns: int | None) -> Header:
        stamp = self._clock.now_ns() if stamp_ns is None else stamp_ns
        return Header(stamp_ns=stamp, frame_id=self._frame if frame is None else frame)

    def _list(self, kind: Any, at: Array, rows: Array, scale: Vector3 | None = None) -> Marker:
        """A marker at one position, or with a list of points if its type has one."""
        marker = Marker(type=kind, scale=scale)
        marker.pose.orientation.w = 1
        if kind in (Marker.CUBE, Marker.SPHERE, Marker.TEXT_VIEW_FACING):
            marker.pose.position.CopyFrom(point_messages(at)[0])
            marker.color.CopyFrom(color_message(rows[0]))
            return marker
        marker.points.extend(point_messages(at))
        same = len(rows) > 0 and bool((rows == rows[0]).all())
        if len(rows) > 0:
            marker.color.CopyFrom(color_message(rows[0]))
        if not same:
            marker.colors.extend(color_messages(rows))
        return marker

    def _show(
        self, name: str, markers: list[Marker], frame: str | None, stamp_ns: int | None
    ) -> Published:
        """Publishes markers that replace all earlier ones of the name."""
        header = self._header(frame, stamp_ns)
        array = MarkerArray(markers=[Marker(header=header, action=Marker.DELETEALL)])
        for number, marker in enumerate(markers):
            marker.header.CopyFrom(header)
            marker.ns, marker.id = name, number
            array.markers.append(marker)
        return self._publisher(name, MarkerArray).publish(array)
