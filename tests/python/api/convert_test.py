"""Images and clouds as NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hyphos import Attached, cloud_to_numpy, image_to_numpy, numpy_to_cloud, numpy_to_image
from hyphos.msgs import Image, PointCloud, PointField


@pytest.mark.parametrize(
    ("shape", "dtype", "encoding"),
    [
        ((4, 6), "u1", "mono8"),
        ((4, 6, 3), "u1", "rgb8"),
        ((4, 6, 4), "u1", "rgba8"),
        ((4, 6), "u2", "16UC1"),
        ((4, 6), "f4", "32FC1"),
        ((4, 6, 2), "f4", "32FC2"),
    ],
)
def test_images_survive_a_round_trip(shape: tuple[int, ...], dtype: str, encoding: str) -> None:
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    image = numpy_to_image(array, stamp_ns=5)
    assert (image.head.encoding, image.head.header.stamp_ns) == (encoding, 5)
    back = image_to_numpy(image)
    assert np.array_equal(back, array)
    assert np.shares_memory(back, array)


def test_rows_may_be_padded_and_big_endian() -> None:
    rows = np.zeros((2, 8), np.uint8)
    rows[:, :6] = np.arange(6, dtype=">u2").astype(">u2").view(np.uint8).reshape(2, 6)
    head = Image(height=2, width=3, encoding="mono16", step=8, is_bigendian=True)
    assert image_to_numpy(Attached(head, [rows])).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("head", "buffers", "text"),
    [
        (Image(height=2, width=2, encoding="mono8", step=2), [b"abc"], "needs 4 bytes"),
        (Image(height=2, width=2, encoding="mono8", step=1), [b"abcd"], "needs 4 bytes"),
        (Image(height=1, width=1, encoding="plaid7"), [b"a"], "plaid7"),
        (Image(height=1, width=1, encoding="mono8"), [], "one attached buffer"),
    ],
)
def test_images_with_wrong_sizes_are_refused(head: Image, buffers: list[bytes], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        image_to_numpy(Attached(head, buffers))


def test_arrays_without_an_image_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="rgb8 needs 3"):
        numpy_to_image(np.zeros((2, 2), np.uint8), "rgb8")
    with pytest.raises(ValueError, match="dimensions"):
        numpy_to_image(np.zeros(4, np.uint8))
    with pytest.raises(ValueError, match="complex"):
        numpy_to_image(np.zeros((2, 2), np.complex64))


def test_plain_points_become_a_cloud() -> None:
    points = np.arange(12, dtype=np.float32).reshape(3, 4)
    cloud = numpy_to_cloud(points, frame_id="laser")
    assert [field.name for field in cloud.head.fields] == ["x", "y", "z", "intensity"]
    assert (cloud.head.width, cloud.head.height, cloud.head.point_step) == (3, 1, 16)
    back = cloud_to_numpy(cloud)
    assert back["z"].tolist() == [2, 6, 10]
    assert np.shares_memory(back, points)


def test_structured_points_keep_their_layout() -> None:
    dtype = np.dtype([("x", "f4"), ("rgb", "u1", 3), ("t", "f8")], align=True)
    points = np.zeros((2, 5), dtype)
    points["rgb"] = np.arange(30).reshape(2, 5, 3)
    points["t"] = 1.5
    cloud = numpy_to_cloud(points)
    assert cloud.head.fields[1].count == 3
    back = cloud_to_numpy(cloud)
    assert back.shape == (2, 5)
    assert np.array_equal(back["rgb"], points["rgb"])
    assert (back["t"] == 1.5).all()


def test_clouds_with_wrong_sizes_are_refused() -> None:
    field = PointField(name="x", datatype=PointField.FLOAT32, count=1)
    head = PointCloud(height=1, width=4, point_step=4, row_step=16, fields=[field])
    with pytest.raises(ValueError, match="does not fit"):
        cloud_to_numpy(Attached(head, [b"x" * 15]))
    head.fields[0].datatype = PointField.UNSET
    with pytest.raises(ValueError, match="unknown datatype"):
        cloud_to_numpy(Attached(head, [b"x" * 16]))
