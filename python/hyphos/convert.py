"""Images and point clouds as NumPy arrays, without a copy if the layout allows it."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from hyphos.msgs.sensor import Image, PointCloud, PointField
from hyphos.types import Attached, bytes_of, dense, flat

Array = npt.NDArray[Any]

# name → (dtype of one value, values per pixel), with the names of ROS sensor_msgs/image_encodings.
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
    **{
        f"bayer_{order}{8 * size}": (f"u{size}", 1)
        for order in ("rggb", "bggr", "gbrg", "grbg")
        for size in (1, 2)
    },
    # 4:2:2: each pixel has its brightness and one of the two colour values of a pixel pair.
    "yuv422": ("u1", 2),
    "yuv422_yuy2": ("u1", 2),
    "uyvy": ("u1", 2),
    "yuyv": ("u1", 2),
}
# Encodings whose colour values have a separate plane with another shape.
_PLANES = ("nv12", "nv16", "nv21", "nv24", "nv61", "i420", "yv12", "yuv420")
_PAIRS = ("yuv422", "yuv422_yuy2", "uyvy", "yuyv")
_KINDS = {"8U": "u1", "8S": "i1", "16U": "u2", "16S": "i2", "32S": "i4", "32F": "f4", "64F": "f8"}
_GENERIC = re.compile(r"(8U|8S|16U|16S|32S|32F|64F)(?:C([0-9]*))?")
_FIELD_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 8: "f8"}
_MOST_CHANNELS = 1 << 16  # a larger number in an encoding is an error


def pixel_layout(encoding: str) -> tuple[str, int]:
    """The NumPy name of one value, and the values per pixel. ValueError for an unknown encoding."""
    if encoding in _NAMED:
        return _NAMED[encoding]
    if encoding.lower() in _PLANES:
        raise ValueError(
            f"image encoding '{encoding}' has a separate colour plane, so it is not an array of "
            "pixels: read the bytes in buffers[0]"
        )
    found = _GENERIC.fullmatch(encoding)
    channels = int(found[2][:9] or 1) if found and found[2] is not None else 1
    if found is None or not 1 <= channels <= _MOST_CHANNELS:
        raise ValueError(f"unknown image encoding '{encoding}': e.g. rgb8, mono8, 16UC1, 32FC1")
    return _KINDS[found[1]], channels


def _ordered(code: str, bigendian: bool) -> np.dtype[Any]:
    return np.dtype(code).newbyteorder(">" if bigendian else "<")


def _is_big(dtype: np.dtype[Any]) -> bool:
    native = ">" if sys.byteorder == "big" else "<"
    order = native if dtype.byteorder == "=" else dtype.byteorder
    return order == ">"


def plain_array(values: npt.ArrayLike) -> Array:
    """The values as a plain array. TypeError if the conversion would lose a mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise TypeError("cannot publish the mask of an array: give array.filled(value)")
    return np.asarray(values)


def image_to_numpy(image: Attached[Image]) -> Array:
    """The pixels as an array (height, width) or (height, width, channels).

    The array is a read-only view of the received buffer. Images in a YUV 4:2:2 encoding have two
    channels. Raises ValueError if the buffer is shorter than the head declares, or if the encoding
    is not an array of pixels.
    """
    head = image.head
    code, channels = pixel_layout(head.encoding)
    dtype = _ordered(code, head.is_bigendian)
    if len(image.buffers) != 1:
        raise ValueError(f"an image needs one attached buffer, not {len(image.buffers)}")
    row = head.width * channels * dtype.itemsize
    step = head.step or row
    pixels = bytes_of(image.buffers[0])
    if step < row or pixels.size < head.height * step:
        raise ValueError(
            f"an image of {head.width}×{head.height} {head.encoding} with step {step} needs "
            f"{head.height * max(step, row)} bytes, but the buffer has {pixels.size}"
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
        if array.dtype.newbyteorder("=") == np.dtype(code) and channels:
            return f"{kind}C{channels}"
    raise ValueError(f"no image encoding for {channels} values of {array.dtype} per pixel")


def numpy_to_image(
    array: npt.ArrayLike, encoding: str = "", *, stamp_ns: int = 0, frame_id: str = ""
) -> Attached[Image]:
    """An image to publish, from an array (height, width[, channels]) in either byte order.

    An empty `encoding` is chosen from the dtype and the channels: mono8, rgb8, rgba8 or 32FC1 etc.
    A contiguous array is not copied, it becomes the attached buffer. publish() then copies it once
    into shared memory, or not at all if it is a loan. Raises ValueError if no encoding fits.
    """
    array = plain_array(array)
    if array.ndim not in (2, 3):
        raise ValueError(f"an image needs 2 or 3 dimensions, not {array.ndim}")
    encoding = encoding or _guess(array)
    code, channels = pixel_layout(encoding)
    have = array.shape[2] if array.ndim == 3 else 1
    if have != channels or array.dtype.newbyteorder("=") != np.dtype(code):
        raise ValueError(
            f"{encoding} needs {channels} value(s) of {np.dtype(code)} per pixel, "
            f"but this array has {have} of {array.dtype}"
        )
    if encoding in _PAIRS and array.shape[1] % 2:
        raise ValueError(f"{encoding} needs an even width, not {array.shape[1]} pixels per row")
    array = np.ascontiguousarray(array)
    head = Image(
        height=array.shape[0],
        width=array.shape[1],
        encoding=encoding,
        is_bigendian=_is_big(array.dtype),
        step=array.shape[1] * channels * array.dtype.itemsize,
    )
    head.header.stamp_ns = stamp_ns
    head.header.frame_id = frame_id
    return Attached(head, [array])


def cloud_dtype(head: PointCloud) -> np.dtype[Any]:
    """The layout of one point of the cloud, with its padding. ValueError if it is not valid."""
    names, formats, offsets = [], [], []
    for one in head.fields:
        if one.datatype not in _FIELD_TYPES:
            raise ValueError(f"field '{one.name}' has the unknown datatype {one.datatype}")
        base = _ordered(_FIELD_TYPES[one.datatype], head.is_bigendian)
        count = max(1, one.count)  # some drivers leave the count 0
        if one.offset + count * base.itemsize > head.point_step:
            raise ValueError(
                f"field '{one.name}' ends at byte {one.offset + count * base.itemsize}, but a "
                f"point has {head.point_step} bytes"
            )
        if not one.name or one.name in names:
            raise ValueError(f"the field name '{one.name}' is empty or not unique")
        names.append(one.name)
        formats.append(base if count == 1 else np.dtype((base, (count,))))
        offsets.append(one.offset)
    layout = {
        "names": names,
        "formats": formats,
        "offsets": offsets,
        "itemsize": head.point_step,
    }
    try:
        return np.dtype(layout)  # type: ignore[call-overload,no-any-return]
    except (ValueError, OverflowError) as error:
        raise ValueError(f"cannot lay out points of {head.point_step} bytes: {error}") from error


def cloud_to_numpy(cloud: Attached[PointCloud]) -> Array:
    """The points as a structured array (width,), or (height, width) if the cloud is ordered.

    The array is a read-only view of the received buffer, and `points["x"]` is a view of all x.
    Raises ValueError if the head does not match the buffer.
    """
    head = cloud.head
    if len(cloud.buffers) != 1:
        raise ValueError(f"a cloud needs one attached buffer, not {len(cloud.buffers)}")
    data = bytes_of(cloud.buffers[0])
    row = head.row_step or head.width * head.point_step
    if row < head.width * head.point_step or data.size < head.height * row:
        raise ValueError(
            f"a cloud of {head.height}×{head.width} points of {head.point_step} bytes does not fit "
            f"into {data.size} bytes"
        )
    if not head.point_step and head.height * head.width:
        raise ValueError(f"the {head.height * head.width} points of this cloud have no bytes")
    dtype = cloud_dtype(head)
    points = np.ndarray((head.height, head.width), dtype, data, 0, (row, head.point_step))
    return points[0] if head.height == 1 else points


def numpy_to_cloud(
    points: npt.ArrayLike, *, stamp_ns: int = 0, frame_id: str = ""
) -> Attached[PointCloud]:
    """A cloud to publish, from a structured array (n,) or (height, width).

    Also accepts numbers of shape (n, 3) or (n, 4). They become float32 x, y, z (and intensity). A
    contiguous array is not copied. A field of several dimensions becomes a flat field with as many
    values. Raises ValueError or TypeError if a point cannot hold a field, or if the fields have
    different byte orders.
    """
    array = plain_array(points)
    if array.dtype.names is None:
        array = _named_points(array)
    if array.ndim > 2:
        raise ValueError(f"a cloud needs 1 or 2 dimensions, not {array.ndim}")
    array = dense(np.atleast_1d(array))
    fields = _point_fields(array.dtype)
    big = {_is_big(base) for _, base in fields if base.itemsize > 1}
    if len(big) > 1:
        raise ValueError(
            "the fields have different byte orders, but a cloud has one: "
            "give points.astype(points.dtype.newbyteorder('='))"
        )
    shape = array.shape if array.ndim == 2 else (1, array.size)
    head = PointCloud(
        height=shape[0],
        width=shape[1],
        point_step=array.dtype.itemsize,
        row_step=shape[1] * array.dtype.itemsize,
        fields=[field for field, _ in fields],
        is_bigendian=big == {True},
        is_dense=all(
            np.isfinite(array[name]).all()
            for name in "xyz"
            if name in (array.dtype.names or ()) and array[name].dtype.kind == "f"
        ),
    )
    head.header.stamp_ns = stamp_ns
    head.header.frame_id = frame_id
    return Attached(head, [flat(array)])


def _named_points(points: Array) -> Array:
    if points.ndim != 2 or points.shape[1] not in (3, 4):
        raise ValueError("plain points need the shape (n, 3) or (n, 4)")
    if points.dtype.kind not in "biuf":
        raise ValueError(f"a point cannot hold {points.dtype}")
    names = ("x", "y", "z", "intensity")[: points.shape[1]]
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(points, np.float32)
    if values is not points and (np.isinf(values) & np.isfinite(points)).any():
        raise ValueError("a coordinate is outside the range of float32")
    return values.view([(name, "f4") for name in names]).reshape(-1)


def _point_fields(dtype: np.dtype[Any]) -> list[tuple[PointField, np.dtype[Any]]]:
    """The fields for the head, each with the dtype of one value."""
    codes = {np.dtype(code): number for number, code in _FIELD_TYPES.items()}
    found = []
    fields: Any = dtype.fields or {}
    for name in dtype.names or ():
        whole, offset = fields[name][:2]
        base, shape = whole.subdtype or (whole, ())
        number = codes.get(base.newbyteorder("="))
        count = int(np.prod(shape)) if shape else 1
        if number is None or not count:
            raise ValueError(f"field '{name}': a point cannot hold {whole}")
        field = PointField(
            name=name, offset=offset, datatype=PointField.DataType.Name(number), count=count
        )
        found.append((field, base))
    return found
