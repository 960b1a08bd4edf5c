"""Images and point clouds as NumPy arrays, without copies in either direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hyphos.msgs.sensor import Image, PointCloud, PointField
from hyphos.types import Attached

Array = npt.NDArray[Any]

# name → (dtype of one value, values per pixel), as ROS sensor_msgs/image_encodings names them.
_NAMED = {
    "mono8": ("u1", 1),
    "mono16": ("u2", 1),
    "rgb8": ("u1", 3),
    "bgr8": ("u1", 3),
    "rgba8": ("u1", 4),
    "bgra8": ("u1", 4),
    "rgb16": ("u2", 3),
    "bgr16": ("u2", 3),
    "rgba16": ("u2", 4),
    "bgra16": ("u2", 4),
    "bayer_rggb8": ("u1", 1),
    "bayer_bggr8": ("u1", 1),
    "bayer_gbrg8": ("u1", 1),
    "bayer_grbg8": ("u1", 1),
}
_KINDS = {"8U": "u1", "8S": "i1", "16U": "u2", "16S": "i2", "32S": "i4", "32F": "f4", "64F": "f8"}
_FIELD_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 8: "f8"}


def _layout(encoding: str) -> tuple[str, int]:
    if encoding in _NAMED:
        return _NAMED[encoding]
    kind, _, channels = encoding.partition("C")
    if kind in _KINDS and (channels.isdigit() or not channels):
        return _KINDS[kind], int(channels or 1)
    raise ValueError(f"image encoding '{encoding}' is unknown; e.g. rgb8, mono8, 16UC1, 32FC1")


def _ordered(code: str, bigendian: bool) -> np.dtype[Any]:
    return np.dtype(code).newbyteorder(">" if bigendian else "<")


def image_to_numpy(image: Attached[Image]) -> Array:
    """The pixels as (height, width) or (height, width, channels): a view of the received buffer.

    ValueError if the buffer is shorter than the head says.
    """
    head = image.head
    code, channels = _layout(head.encoding)
    dtype = _ordered(code, head.is_bigendian)
    if len(image.buffers) != 1:
        raise ValueError(f"an image has one attached buffer, this one {len(image.buffers)}")
    row = head.width * channels * dtype.itemsize
    step = head.step or row
    pixels = np.frombuffer(image.buffers[0], np.uint8)
    if step < row or pixels.size < head.height * step:
        raise ValueError(
            f"an image of {head.width}×{head.height} {head.encoding} with step {step} needs "
            f"{head.height * max(step, row)} bytes, the buffer has {pixels.size}"
        )
    shape: tuple[int, ...] = (head.height, head.width, channels)
    strides: tuple[int, ...] = (step, channels * dtype.itemsize, dtype.itemsize)
    if channels == 1:
        shape, strides = shape[:2], strides[:2]
    return np.ndarray(shape, dtype, pixels, 0, strides)


def _guess(array: Array) -> str:
    channels = array.shape[2] if array.ndim == 3 else 1
    if array.dtype == np.uint8 and channels in (1, 3, 4):
        return {1: "mono8", 3: "rgb8", 4: "rgba8"}[channels]
    for kind, code in _KINDS.items():
        if array.dtype == np.dtype(code):
            return f"{kind}C{channels}"
    raise ValueError(f"no image encoding has values of {array.dtype}")


def numpy_to_image(
    array: Array, encoding: str = "", *, stamp_ns: int = 0, frame_id: str = ""
) -> Attached[Image]:
    """An image to publish from (height, width[, channels]). Does not copy: the array itself is the
    attached buffer (publish() copies it once into shared memory, or not at all if it was lent)."""
    if array.ndim not in (2, 3):
        raise ValueError(f"an image has 2 or 3 dimensions, this array {array.ndim}")
    encoding = encoding or _guess(array)
    code, channels = _layout(encoding)
    have = array.shape[2] if array.ndim == 3 else 1
    if have != channels or array.dtype.newbyteorder("=") != np.dtype(code):
        raise ValueError(
            f"{encoding} needs {channels} value(s) of {np.dtype(code)} per pixel, "
            f"this array has {have} of {array.dtype}"
        )
    array = np.ascontiguousarray(array)
    head = Image(
        height=array.shape[0],
        width=array.shape[1],
        encoding=encoding,
        is_bigendian=array.dtype.byteorder == ">",
        step=array.shape[1] * channels * array.dtype.itemsize,
    )
    head.header.stamp_ns = stamp_ns
    head.header.frame_id = frame_id
    return Attached(head, [array])


def cloud_dtype(head: PointCloud) -> np.dtype[Any]:
    """The layout of one point of the cloud, with its padding."""
    names, formats, offsets = [], [], []
    for one in head.fields:
        if one.datatype not in _FIELD_TYPES:
            raise ValueError(f"field '{one.name}' has the unknown datatype {one.datatype}")
        base = _ordered(_FIELD_TYPES[one.datatype], head.is_bigendian)
        names.append(one.name)
        formats.append(base if one.count <= 1 else np.dtype((base, (one.count,))))
        offsets.append(one.offset)
    layout = {
        "names": names,
        "formats": formats,
        "offsets": offsets,
        "itemsize": head.point_step,
    }
    return np.dtype(layout)  # type: ignore[call-overload,no-any-return]


def cloud_to_numpy(cloud: Attached[PointCloud]) -> Array:
    """The points as a structured array (width,), or (height, width) if ordered: a view.

    `points["x"]` is a view of all x. ValueError if head and buffer do not fit together.
    """
    head = cloud.head
    if len(cloud.buffers) != 1:
        raise ValueError(f"a cloud has one attached buffer, this one {len(cloud.buffers)}")
    dtype = cloud_dtype(head)
    data = np.frombuffer(cloud.buffers[0], np.uint8)
    row = head.row_step or head.width * head.point_step
    if row < head.width * head.point_step or data.size < head.height * row:
        raise ValueError(
            f"a cloud of {head.height}×{head.width} points of {head.point_step} bytes does not fit "
            f"into {data.size} bytes"
        )
    points = np.ndarray((head.height, head.width), dtype, data, 0, (row, head.point_step))
    return points[0] if head.height == 1 else points


def numpy_to_cloud(points: Array, *, stamp_ns: int = 0, frame_id: str = "") -> Attached[PointCloud]:
    """A cloud to publish: from a structured array, or from (n, 3) / (n, 4) float32 values, which
    are then x, y, z (and intensity). Does not copy a contiguous array."""
    if points.dtype.names is None:
        if points.ndim != 2 or points.shape[1] not in (3, 4):
            raise ValueError("plain points have the shape (n, 3) or (n, 4)")
        names = ("x", "y", "z", "intensity")[: points.shape[1]]
        flat = np.ascontiguousarray(points, np.float32)
        points = flat.view([(name, "f4") for name in names]).reshape(-1)
    array = np.ascontiguousarray(points)
    shape = array.shape if array.ndim == 2 else (1, array.size)
    head = PointCloud(
        height=shape[0],
        width=shape[1],
        point_step=array.dtype.itemsize,
        row_step=shape[1] * array.dtype.itemsize,
        is_dense=True,
    )
    codes = {np.dtype(code): number for number, code in _FIELD_TYPES.items()}
    for name, (dtype, offset, *_) in (array.dtype.fields or {}).items():
        base, shape_of = dtype.subdtype or (dtype, ())
        number = codes.get(base.newbyteorder("="))
        if number is None:
            raise ValueError(f"field '{name}': a point cannot hold {base}")
        head.fields.append(
            PointField(
                name=name,
                offset=offset,
                datatype=PointField.DataType.Name(number),
                count=int(np.prod(shape_of)) if shape_of else 1,
            )
        )
        head.is_bigendian = base.byteorder == ">"
    head.header.stamp_ns = stamp_ns
    head.header.frame_id = frame_id
    return Attached(head, [array])
