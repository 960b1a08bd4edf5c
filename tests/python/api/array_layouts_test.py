"""Arrays of every layout: the output has the values of the input, or the input is refused.

The layouts are generated. Fields have any order of offset, gaps, overlaps, both byte orders and
every kind. Arrays have any strides, shapes and flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import hyphos
import numpy as np
import pytest
from helpers import Inbox
from hyphos import (
    Attached,
    Struct,
    cloud_to_numpy,
    image_to_numpy,
    numpy_to_cloud,
    numpy_to_image,
)
from hyphos.msgs import Image, PointCloud, PointField
from hyphos.recording.attached import join, split
from hyphos.ros.convert import RosTypes
from hyphos.types import codec_for

Array = np.ndarray[Any, Any]
Random = np.random.Generator

NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"]
OTHERS = ["?", "f2", "i8", "u8", "c8", "c16", "S3", "U2", "M8[ns]", "m8[s]", "V4", "g"]
REFUSED = (TypeError, ValueError)
SEEDS = range(120)


def some_format(random: Random, kinds: list[str]) -> np.dtype[Any]:
    base = np.dtype(random.choice(kinds)).newbyteorder(random.choice(["<", ">"]))
    shape = [(), (), (), (1,), (3,), (2, 2)][random.integers(6)]
    return np.dtype((base, shape)) if shape else base


def some_layout(random: Random, kinds: list[str], *, overlap: bool = True) -> np.dtype[Any]:
    """Fields in any order of offset, with gaps and sometimes with overlaps."""
    formats = [some_format(random, kinds) for _ in range(random.integers(1, 6))]
    at, offsets = 0, []
    for one in formats:
        at += int(random.integers(0, 4)) * int(random.integers(0, 2))
        offsets.append(at)
        at += one.itemsize
    if overlap and random.integers(5) == 0:
        offsets[-1] = offsets[0]
    order = random.permutation(len(formats))
    ends = [offset + one.itemsize for offset, one in zip(offsets, formats, strict=True)]
    layout = {
        "names": [f"n{i}" for i in order],
        "formats": [formats[i] for i in order],
        "offsets": [offsets[i] for i in order],
        "itemsize": max(ends) + int(random.integers(0, 4)),
    }
    return np.dtype(layout)  # type: ignore[call-overload,no-any-return]


def filled(random: Random, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """An array of random bytes, so that a wrong layout shows."""
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    data = np.frombuffer(random.bytes(size), np.uint8).copy()
    array: Array = np.ndarray(shape, dtype, data)
    for name in dtype.names or ():
        if array[name].dtype.kind == "U":
            array[name] = "é"
        elif array[name].dtype == np.bool_:
            array[name] = True
    return array


def some_strides(random: Random, array: Array) -> Array:
    """The same kind of values with other strides and flags."""
    ways: list[Callable[[Array], Array]] = [
        lambda a: a,
        lambda a: a[::-1],
        lambda a: a[::2],
        lambda a: a[..., ::-3],
        lambda a: a.T,
        lambda a: a[1:1],
        np.asfortranarray,
        lambda a: np.broadcast_to(a[:1], a.shape),
    ]
    found = ways[random.integers(len(ways))](array) if array.ndim else array
    if random.integers(3) == 0:
        found = found.view()
        found.flags.writeable = False
    return found


def same_bits(a: Array, b: Array) -> bool:
    """True for equal values, including NaN with equal bits."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    one_order = np.ascontiguousarray(b.astype(a.dtype))
    return a.shape == b.shape and a.tobytes() == one_order.tobytes()


def as_buffer(value: Any) -> hyphos._hyphos.Buffer:
    return hyphos._hyphos.Buffer(value)


def received(cloud: Attached[Any]) -> Attached[Any]:
    """The message that a subscriber in another process receives."""
    buffers = [np.frombuffer(memoryview(b), np.uint8) for b in cloud.buffers]
    return Attached(type(cloud.head).FromString(cloud.head.SerializeToString()), buffers)


def one_order(random: Random, dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder(random.choice(["<", ">", "="]))


def orders(dtype: np.dtype[Any]) -> set[str]:
    bases = [d.base for d, *_ in (dtype.fields or {}).values()]
    return {base.str[0] for base in bases if base.itemsize > 1}


@pytest.mark.parametrize("seed", SEEDS)
def test_clouds_keep_their_values_in_every_layout(seed: int) -> None:
    random = np.random.default_rng(seed)
    dtype = some_layout(random, NUMBERS)
    shape = [(), (7,), (4, 5), (1, 6), (3, 1), (0,)][random.integers(6)]
    points = some_strides(random, filled(random, dtype, shape))
    if len(orders(dtype)) > 1:
        with pytest.raises(ValueError, match="different byte orders"):
            numpy_to_cloud(points)
        points = points.astype(one_order(random, dtype))  # the remedy in the error
    back = cloud_to_numpy(received(numpy_to_cloud(points)))
    assert set(back.dtype.names or ()) == set(dtype.names or ())
    for name in dtype.names or ():
        sent = points[name]
        assert same_bits(back[name].reshape(sent.shape), sent), name


@pytest.mark.parametrize("seed", SEEDS)
def test_clouds_of_other_types_are_refused_with_a_reason(seed: int) -> None:
    random = np.random.default_rng(seed)
    dtype = some_layout(random, [*NUMBERS, *OTHERS], overlap=False)
    dtype = one_order(random, dtype)
    points = some_strides(random, filled(random, dtype, (4,)))
    kinds = {np.dtype(kind) for kind in NUMBERS}
    odd = [
        name
        for name, (one, *_) in (dtype.fields or {}).items()
        if one.base.newbyteorder("=") not in kinds
    ]
    if odd:
        with pytest.raises(ValueError, match="a point cannot hold"):
            numpy_to_cloud(points)
    else:
        back = cloud_to_numpy(received(numpy_to_cloud(points)))
        for name in dtype.names or ():
            assert same_bits(back[name].reshape(points[name].shape), points[name])


def test_the_last_field_does_not_decide_the_byte_order() -> None:
    points = np.zeros(2, [("x", ">f4"), ("flag", "u1")])
    points["x"] = [1.5, 2.5]
    cloud = numpy_to_cloud(points)
    assert cloud.head.is_bigendian
    for buffer in (cloud.buffers[0], points.tobytes()):
        assert cloud_to_numpy(Attached(cloud.head, [buffer]))["x"].tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match="different byte orders"):
        numpy_to_cloud(np.zeros(2, [("x", ">f4"), ("y", "<f4")]))


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((2, 2, 2), [("x", "f4")]),
        np.zeros(2, [("x", "O")]),
        np.zeros(2, [("x", "f4", (0,))]),
        np.zeros(2, [("x", [("y", "f4")])]),
        np.zeros((2, 3), "c8"),
        np.zeros((2, 3), "M8[s]"),
        np.zeros((2, 3), "O"),
        np.full((2, 3), 1e300),
        np.zeros((2, 5)),
        np.zeros(3),
        np.ma.masked_equal([[0.0, 1, 2]], 1),
        [["a", "b", "c"]],
    ],
    ids=str,
)
def test_points_that_form_no_cloud_are_refused(points: Any) -> None:
    with pytest.raises(REFUSED, match=r"\w+ \w+ \w+"):
        numpy_to_cloud(points)


@pytest.mark.parametrize("kind", ["f2", "f4", ">f4", "f8", ">f8", "i2", "u8", "?"])
@pytest.mark.parametrize("columns", [3, 4])
def test_plain_points_of_every_type_keep_their_values(kind: str, columns: int) -> None:
    points = np.arange(6 * columns).reshape(6, columns).astype(kind)
    for given in (points, points[::-2], np.asfortranarray(points), points[:0]):
        back = cloud_to_numpy(received(numpy_to_cloud(given)))
        for i, name in enumerate(("x", "y", "z", "intensity")[:columns]):
            assert back[name].tolist() == given[:, i].astype("f8").tolist()


def test_a_cloud_with_invalid_points_is_not_dense() -> None:
    points = np.zeros(3, [("x", "f4"), ("y", "f4"), ("z", "f4"), ("t", "f8")])
    points["t"] = np.nan
    assert numpy_to_cloud(points).head.is_dense
    points["z"][1] = np.nan
    assert not numpy_to_cloud(points).head.is_dense


def test_cloud_heads_without_valid_points_are_refused() -> None:
    def head(**other: Any) -> PointCloud:
        field = PointField(name="x", datatype=PointField.FLOAT32, count=1)
        return PointCloud(**{"height": 1, "width": 2, "point_step": 4, "fields": [field], **other})

    far = PointField(name="x", offset=2, datatype=PointField.FLOAT32, count=1)
    many = PointField(name="x", datatype=PointField.UINT8, count=2**32 - 1)
    twice = [PointField(name="x", datatype=PointField.UINT8, count=1)] * 2
    unnamed = [PointField(datatype=PointField.UINT8, count=1)]
    assert cloud_to_numpy(Attached(head(), [bytes(8)]))["x"].tolist() == [0, 0]
    assert cloud_to_numpy(Attached(head(width=0), [b""])).shape == (0,)
    for bad in (
        head(fields=[far]),
        head(fields=[many]),
        head(fields=twice),
        head(fields=unnamed),
        head(point_step=0, fields=[]),
        head(point_step=2**32 - 1, width=0),
        head(row_step=7),
    ):
        with pytest.raises(ValueError, match=r"\w+ \w+ \w+"):
            cloud_to_numpy(Attached(bad, [bytes(8)]))


NAMED = {
    **dict.fromkeys(("mono8", "8UC", "8UC1"), ("u1", 1)),
    **dict.fromkeys(("mono16", "16UC1"), ("u2", 1)),
    **dict.fromkeys(("rgb8", "bgr8", "8UC3"), ("u1", 3)),
    **dict.fromkeys(("rgba8", "bgra8", "8UC4"), ("u1", 4)),
    **dict.fromkeys(("rgb16", "bgr16", "16UC3"), ("u2", 3)),
    **dict.fromkeys(("rgba16", "bgra16", "16UC4"), ("u2", 4)),
    **dict.fromkeys(("yuv422", "yuv422_yuy2", "uyvy", "yuyv", "8UC2"), ("u1", 2)),
    **{f"bayer_{order}8": ("u1", 1) for order in ("rggb", "bggr", "gbrg", "grbg")},
    **{f"bayer_{order}16": ("u2", 1) for order in ("rggb", "bggr", "gbrg", "grbg")},
}
KINDS = {"8U": "u1", "8S": "i1", "16U": "u2", "16S": "i2", "32S": "i4", "32F": "f4", "64F": "f8"}


def encodings() -> Iterator[tuple[str, str, int]]:
    for name, (code, channels) in NAMED.items():
        yield name, code, channels
    for kind, code in KINDS.items():
        for channels in (1, 2, 3, 4, 5, 17, 64):
            yield f"{kind}C{channels}", code, channels


@pytest.mark.parametrize(("name", "code", "channels"), list(encodings()))
def test_images_of_every_encoding_survive_a_round_trip(name: str, code: str, channels: int) -> None:
    random = np.random.default_rng(len(name) + channels)
    for order in "<>":
        dtype = np.dtype(code).newbyteorder(order)  # type: ignore[arg-type]
        whole = filled(random, dtype, (6, 8, channels))
        views = [whole, whole[::-1], whole[:, ::-1], whole[1:4, 2:6], whole[:0], whole[:, :0]]
        views.append(np.asfortranarray(whole))
        for view in views:
            array = view[:, :, 0] if channels == 1 and random.integers(2) else view
            image = received(numpy_to_image(array, name))
            assert image.head.is_bigendian == (order == ">" and dtype.itemsize > 1)
            assert same_bits(image_to_numpy(image).reshape(view.shape), view)


@pytest.mark.parametrize(("name", "code", "channels"), list(encodings()))
def test_rows_of_every_encoding_may_be_padded(name: str, code: str, channels: int) -> None:
    random = np.random.default_rng(channels)
    for big in (False, True):
        dtype = np.dtype(code).newbyteorder(">" if big else "<")
        pixels = filled(random, dtype, (3, 4, channels))
        row = pixels[0].nbytes
        step = row + int(random.integers(1, 6))
        rows = np.full((3, step), 0xEE, np.uint8)
        rows[:, :row] = np.frombuffer(pixels.tobytes(), np.uint8).reshape(3, row)
        head = Image(height=3, width=4, encoding=name, is_bigendian=big, step=step)
        assert same_bits(image_to_numpy(Attached(head, [rows])).reshape(pixels.shape), pixels)


def test_a_guessed_encoding_keeps_the_values_of_the_array() -> None:
    for code in ("u1", "i1", "u2", ">u2", "i2", ">i2", "i4", "f4", ">f4", "f8"):
        for channels in (1, 2, 3, 4, 9):
            array = np.arange(4 * channels).reshape(2, 2, channels).astype(code)
            assert same_bits(image_to_numpy(numpy_to_image(array)).reshape(array.shape), array)


@pytest.mark.parametrize(
    "code", ["?", "f2", "u4", "i8", "u8", "c8", "S1", "U1", "M8[s]", "O", "V3"]
)
def test_values_without_an_encoding_are_refused(code: str) -> None:
    for shape in ((2, 2), (2, 2, 3)):
        with pytest.raises(ValueError, match="no image encoding"):
            numpy_to_image(np.zeros(shape, code))
        with pytest.raises(ValueError, match="needs 1 value"):
            numpy_to_image(np.zeros(shape, code), "mono8")


@pytest.mark.parametrize(
    "name",
    ["nv12", "nv21", "nv24", "NV21", "i420", "8UC0", "8UC²", "8UC-1", "7UC1", "rgb", "", "jpeg"],
)
def test_encodings_without_pixels_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="image encoding"):
        image_to_numpy(Attached(Image(height=2, width=2, encoding=name), [bytes(64)]))


def test_images_that_would_lose_data_are_refused() -> None:
    for bad in (np.zeros((2, 2, 0), "u1"), np.zeros((2, 3, 2, 1), "u1"), np.zeros(4, "u1")):
        with pytest.raises(ValueError, match=r"image|dimensions"):
            numpy_to_image(bad)
    with pytest.raises(ValueError, match="even width"):
        numpy_to_image(np.zeros((2, 3, 2), "u1"), "yuv422")
    with pytest.raises(TypeError, match="mask"):
        numpy_to_image(np.ma.masked_equal(np.zeros((2, 2), "u1"), 0))


@pytest.mark.parametrize("seed", SEEDS)
def test_published_arrays_arrive_in_c_order(seed: int) -> None:
    random = np.random.default_rng(seed)
    dtype = some_format(random, [*NUMBERS, *OTHERS]).base
    if random.integers(2):
        dtype = some_layout(random, [*NUMBERS, *OTHERS])
    shape = [(), (7,), (4, 5), (2, 3, 4), (0,), (3, 0)][random.integers(6)]
    array = some_strides(random, filled(random, dtype, shape))
    expected = array.view(f"V{dtype.itemsize}").tobytes()  # including the gaps between fields
    payload, _ = codec_for(bytes).encode(array)
    assert bytes(as_buffer(payload)) == expected
    _, [buffer] = codec_for(Attached[Image]).encode(Attached(Image(), [array]))
    assert bytes(as_buffer(buffer)) == expected
    _, [stored] = split(join(b"", [array])) if expected else (b"", [b""])
    assert bytes(stored) == expected


@pytest.mark.parametrize(
    "value",
    [
        np.array([1, "a"], "O"),
        np.zeros(2, [("a", "i4"), ("b", "O")]),
        np.array(["long text"], np.dtypes.StringDType()),
        np.ma.masked_equal([0, 1], 0),
    ],
    ids=["objects", "object field", "texts", "masked"],
)
def test_arrays_of_references_are_not_published(value: Array) -> None:
    for encode in (
        lambda: codec_for(bytes).encode(value),
        lambda: codec_for(Attached[Image]).encode(Attached(Image(), [value])),
        lambda: join(b"", [value]),
        lambda: numpy_to_image(value),
        lambda: codec_for(Struct("test.S", [("a", "i4")])).encode(value),
    ):
        with pytest.raises(REFUSED, match=r"\w+ \w+ \w+"):
            encode()


def test_memory_with_pointers_is_refused_by_the_binding() -> None:
    import ctypes  # noqa: PLC0415

    class Named(ctypes.Structure):
        hyphos_type = "test.Named"
        _fields_ = (("name", ctypes.c_char_p), ("n", ctypes.c_int))

    for value in (
        np.array([1], "O"),
        np.zeros(1, [("a:b".replace(":", "_"), "O")]),
        Named(b"x", 1),
    ):
        with pytest.raises(TypeError, match="references or pointers"):
            as_buffer(value)
    assert len(as_buffer(np.zeros(2, [("O", "c16"), ("P", "f4")]))) == 40


def test_an_array_in_place_of_the_list_of_buffers_is_refused() -> None:
    for bad in (np.zeros((2, 3), np.uint8), b"ab", bytearray(2), memoryview(b"ab")):
        with pytest.raises(TypeError, match="must be a list"):
            codec_for(Attached[Image]).encode(Attached(Image(), bad))  # type: ignore[arg-type]


def test_images_of_every_layout_become_ros_images() -> None:
    types = RosTypes()
    pixels = filled(np.random.default_rng(2), np.dtype(">u2"), (4, 6))
    for array in (pixels, pixels[::-1], pixels[:, ::2], pixels.T):
        image = numpy_to_image(array, "mono16")
        for data in (array, array.astype(">u2").tobytes()):
            made = types.write("sensor_msgs/Image", "ros1", Attached(image.head, [data]))
            back = types.read("sensor_msgs/Image", "ros1", made)
            assert same_bits(image_to_numpy(back), array)
    with pytest.raises(ValueError, match="has 2"):
        types.write("sensor_msgs/Image", "ros1", Attached(image.head, [b"a", b"b"]))


def test_arrays_reach_other_processes_unchanged(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("cloud", Attached[PointCloud], inbox)
    publisher = node.publisher("cloud", Attached[PointCloud])
    random = np.random.default_rng(5)
    layout = {"names": ["y", "x"], "formats": [">f8", "u1"], "offsets": [3, 0], "itemsize": 13}
    points = filled(random, np.dtype(layout), (9,))[::-2]  # type: ignore[call-overload]
    publisher.publish(numpy_to_cloud(points))
    back = cloud_to_numpy(inbox.wait(1)[0])
    assert same_bits(back["y"], points["y"])
    assert same_bits(back["x"], points["x"])


def turned_round(random: Random, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same fields in another order, with other byte orders and wider numbers."""
    wider = {"i1": "i4", "u1": "i2", "u2": "u4", "i2": "i8", "f4": "f8", "u4": "u8"}
    fields = []
    for name in random.permutation(list(dtype.names or ())):
        one = (dtype.fields or {})[name][0]
        base, shape = one.subdtype or (one, ())
        code = wider.get(base.str[1:], base.str[1:])
        fields.append((str(name), random.choice(["<", ">"]) + code, shape))
    return np.dtype(fields)


@pytest.mark.parametrize("seed", SEEDS)
def test_structs_match_their_fields_by_name(seed: int) -> None:
    random = np.random.default_rng(seed)
    dtype = some_layout(random, ["i1", "u1", "i2", "u2", "u4", "f4", "f8"], overlap=False)
    struct = Struct("test.S", dtype)
    codec = codec_for(struct)
    given = np.zeros(1, turned_round(random, dtype))
    for name in dtype.names or ():
        given[name] = random.integers(0, 100, given[name].shape)
    values = {name: given[0][name] for name in dtype.names or ()}
    in_order = tuple(values[name] for name in dtype.names or ())
    for value in (given, given[0], given.reshape(()), values, in_order, struct(**values)):
        payload, _ = codec.encode(value)
        found = codec.decode(as_buffer(payload), [])
        for name in dtype.names or ():
            assert np.array_equal(found[name], given[0][name]), name


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("u1", 300),
        ("u1", -1),
        ("u1", np.int64(256)),
        ("i4", 2**31),
        ("i4", 1.5),
        ("i4", float("nan")),
        ("i4", "7"),
        ("f4", 1e300),
        ("f4", 1j),
        ("f8", None),
        ("f8", [1.0, 2.0]),
        ("S3", b"abcd"),
        ("S3", "é"),
        ("U2", "abc"),
        ("?", 2),
        ("M8[s]", np.datetime64("2020-01-01T00:00:00.5")),
        ("M8[s]", 5),
        ("i8", np.datetime64(5, "ns")),
        (("f4", (3,)), [1, 2]),
        ([("a", "f4"), ("b", "f4")], 1.0),
    ],
)
def test_fields_that_cannot_hold_a_value_refuse_it(field: Any, value: Any) -> None:
    struct = Struct("test.S", [("before", "u1"), ("it", field)])
    with pytest.raises(REFUSED, match="it"):
        struct(it=value)
    with pytest.raises(REFUSED, match="it"):
        codec_for(struct).encode((1, value))


def test_structs_of_another_shape_are_refused() -> None:
    codec = codec_for(Struct("test.S", [("a", "f4"), ("b", "f4")]))
    for bad in (
        np.zeros(2, "i4"),
        np.zeros(1, "f8"),
        np.zeros(2, [("a", "f4"), ("b", "f4")]),
        np.zeros(1, [("a", "f4"), ("c", "f4")]),
        np.zeros(1, [("a", "f4")]),
        7,
        [7],
        (1,),
        {"c": 1},
        b"short",
    ):
        with pytest.raises(REFUSED, match=r"test\.S"):
            codec.encode(bad)
    assert bytes(codec.encode(b"12345678")[0]) == b"12345678"  # type: ignore[call-overload]
    for nothing in (np.dtype([]), np.dtype([("a", "S0")]), np.dtype(("f4", (0,)))):
        with pytest.raises(TypeError, match="no bytes"):
            Struct("test.E", nothing)


@pytest.mark.parametrize("seed", range(60))
def test_points_of_every_layout_are_moved(seed: int) -> None:
    random = np.random.default_rng(seed)
    move = hyphos.Transform("map", "laser", (1, 2, 3), roll_pitch_yaw=(0.1, 0.2, 0.3))
    kind = random.choice(["f4", "f8"])
    before, after = random.integers(0, 12, 2)
    pad = [
        ("before", "u1", (int(before),)),
        *((n, kind) for n in "xyz"),
        ("after", "u1", (int(after),)),
    ]
    dtype = np.dtype([one for one in pad if len(one) == 2 or one[2][0]])
    points = some_strides(random, filled(random, dtype, (5, 6)))
    xyz = random.uniform(-5, 5, (5, 6, 3))
    points = np.array(points)
    for i, name in enumerate("xyz"):
        points[name] = (
            xyz[: points.shape[0], : points.shape[1], i].reshape(points.shape)
            if points.shape == (5, 6)
            else 1.5
        )
    found = move.apply(points)
    plain = np.stack([points[name] for name in "xyz"], -1).astype("f8")
    expected = plain @ move.matrix[:3, :3].T + move.translation
    for i, name in enumerate("xyz"):
        assert np.allclose(found[name], expected[..., i], rtol=1e-5, atol=1e-5)
    for name in set(dtype.names or ()) - set("xyz"):
        assert same_bits(found[name], points[name])


def test_coordinates_must_be_real_numbers() -> None:
    move = hyphos.Transform("map", "laser", (1, 2, 3))
    for code in ("c8", "M8[s]", "U3", "O"):
        with pytest.raises(TypeError, match="real numbers"):
            move.apply(np.zeros((2, 3), code))
        with pytest.raises(TypeError, match="real numbers"):
            hyphos.Transform.from_matrix("a", "b", np.eye(4).astype("i4").astype(code))


def test_dates_are_no_parameters(node: hyphos.Node) -> None:
    params = node.params()
    for value in (np.datetime64(5, "ns"), np.array([5], "m8[ns]")):
        with pytest.raises(TypeError, match="a parameter must be"):
            params.declare("when", value)
