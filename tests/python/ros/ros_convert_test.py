"""ROS messages converted in both directions, compared with rosbags, which reads and writes them
independently.
"""

import base64
import json
import math
import random
import struct
from collections.abc import Iterator
from typing import Any

import hyphos
import numpy as np
import pytest
from hyphos import msgs
from hyphos.ros.convert import Form, RosTypes
from hyphos.types import Attached
from rosbags.typesys import Stores, get_typestore

ROS1 = get_typestore(Stores.ROS1_NOETIC)
ROS2 = get_typestore(Stores.ROS2_JAZZY)


@pytest.fixture(scope="module")
def types() -> RosTypes:
    return RosTypes()


class Randomly:
    """Makes messages of rosbags' classes with random contents."""

    def __init__(self, store: Any, seed: int) -> None:
        self._store = store
        self._random = random.Random(seed)

    def message(self, name: str) -> Any:
        _, fields = self._store.fielddefs[name]
        values = {key: self._value(kind) for key, kind in fields}
        # IDL has placeholder fields where ROS has none.
        values.update({key: 0 for key in values if key.startswith("structure_needs")})
        return self._store.types[name](**values)

    def _value(self, kind: Any) -> Any:
        node, inside = int(kind[0]), kind[1]
        if node == 1:
            return self._base(inside[0])
        if node == 2:
            return self.message(inside)
        element, size = inside
        count = size if node == 3 else self._random.choice((0, 1, 2, 7))
        if node == 4 and size:
            count = min(count, size)
        values = [self._value(element) for _ in range(count)]
        if int(element[0]) == 1 and element[1][0] != "string":
            return np.array(values, dtype=_dtype(element[1][0]))
        return values

    def _base(self, name: str) -> Any:
        pick = self._random
        if name == "string":
            return "".join(
                pick.choice('aZ0 /_äπ😀\n"\\') for _ in range(pick.choice((0, 1, 5, 40)))
            )
        if name == "bool":
            return pick.random() < 0.5
        if name in ("float32", "float64"):
            value = pick.choice((0.0, -0.0, 1.5, -math.inf, math.nan, pick.uniform(-1e6, 1e6)))
            return float(np.float32(value)) if name == "float32" else value
        if name in ("byte", "octet"):  # int8 in ROS 1, uint8 in ROS 2
            return pick.randrange(128)
        low, high = np.iinfo(_dtype(name)).min, np.iinfo(_dtype(name)).max
        return pick.choice((0, 1, low, high, pick.randint(low, high)))


def _dtype(name: str) -> Any:
    return {"byte": np.uint8, "char": np.uint8, "octet": np.uint8, "bool": np.bool_}.get(
        name
    ) or np.dtype(name)


def _in_order(message: Any) -> Any:
    """Makes times valid: nanoseconds below one second, and seconds that both ROS versions hold."""
    for key, value in vars(message).items():
        if key == "is_bigendian":
            setattr(message, key, type(value)(value % 2))  # a flag, of any type
        elif type(value).__name__.endswith(("builtin_interfaces__msg__Time", "__msg__Duration")):
            value.nanosec = abs(value.nanosec) % 1_000_000_000
            value.sec = abs(value.sec) % (1 << 31)
        elif isinstance(value, list):
            for one in value:
                if hasattr(one, "__dataclass_fields__"):
                    _in_order(one)
        elif hasattr(value, "__dataclass_fields__"):
            _in_order(value)
    return message


def _names(store: Any) -> list[str]:
    return sorted(
        name
        for name in store.fielddefs
        if name not in ("builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration")
    )


def _ros1_name(name: str) -> str:
    return name.replace("/msg/", "/")


@pytest.mark.parametrize("name", _names(ROS1))
def test_ros1_messages_of_rosbags_survive_a_round_trip(name: str, types: RosTypes) -> None:
    for seed in range(5):
        message = _in_order(Randomly(ROS1, seed).message(name))
        wire = bytes(ROS1.serialize_ros1(message, name))
        made = types.read(_ros1_name(name), "ros1", wire)
        assert types.write(_ros1_name(name), "ros1", made) == wire


@pytest.mark.parametrize("name", _names(ROS2))
def test_cdr_messages_of_rosbags_survive_a_round_trip(name: str, types: RosTypes) -> None:
    for seed in range(5):
        message = _in_order(Randomly(ROS2, seed).message(name))
        for little in (True, False):
            wire = bytes(ROS2.serialize_cdr(message, name, little_endian=little))
            made = types.read(name, "cdr", wire)
            assert types.write(name, "cdr", made) == bytes(ROS2.serialize_cdr(message, name))


@pytest.mark.parametrize("name", _names(ROS2))
def test_json_survives_a_round_trip(name: str, types: RosTypes) -> None:
    message = _in_order(Randomly(ROS2, 3).message(name))
    made = types.read(name, "cdr", bytes(ROS2.serialize_cdr(message, name)))
    text = types.write(name, "json", made)
    json.loads(text)
    again = types.read(name, "json", text)
    assert types.write(name, "json", again) == text


def test_messages_of_both_ros_versions_become_equal(types: RosTypes) -> None:
    message = _in_order(Randomly(ROS1, 1).message("sensor_msgs/msg/LaserScan"))
    scan = types.read(
        "sensor_msgs/LaserScan",
        "ros1",
        bytes(ROS1.serialize_ros1(message, "sensor_msgs/msg/LaserScan")),
    )
    assert isinstance(scan, msgs.LaserScan)
    there = types.write("sensor_msgs/msg/LaserScan", "cdr", scan)
    got: Any = ROS2.deserialize_cdr(there, "sensor_msgs/msg/LaserScan")
    assert got.header.frame_id == message.header.frame_id
    assert got.ranges.tobytes() == message.ranges.tobytes()


@pytest.mark.parametrize("name", ["Marker", "MarkerArray"])
def test_markers_of_both_ros_versions_are_standard_messages(name: str, types: RosTypes) -> None:
    full = f"visualization_msgs/msg/{name}"
    for seed in range(5):
        wire = bytes(ROS2.serialize_cdr(_in_order(Randomly(ROS2, seed).message(full)), full))
        made = types.read(full, "cdr", wire)
        assert isinstance(made, getattr(msgs, name))
        assert types.write(full, "cdr", made) == wire
        old = bytes(ROS1.serialize_ros1(_in_order(Randomly(ROS1, seed).message(full)), full))
        made = types.read(_ros1_name(full), "ros1", old)
        assert isinstance(made, getattr(msgs, name))
        assert types.write(_ros1_name(full), "ros1", made) == old


def test_an_image_keeps_its_pixels_in_a_buffer(types: RosTypes) -> None:
    pixels = bytes(range(256)) * 3
    image = Attached(msgs.Image(height=16, width=16, encoding="rgb8", step=48), [pixels])
    for form in ("ros1", "cdr", "json"):
        name = "sensor_msgs/msg/Image" if form == "cdr" else "sensor_msgs/Image"
        back = types.read(name, form, types.write(name, form, image))
        assert back.head == image.head
        assert bytes(back.buffers[0]) == pixels
    told = json.loads(types.write("sensor_msgs/Image", "json", image))
    assert base64.b64decode(told["data"]) == pixels
    assert list(told["header"]["stamp"]) == ["secs", "nsecs"]


def test_cbor_is_read_as_it_was_written(types: RosTypes) -> None:
    scan = msgs.LaserScan(ranges=[1.0, 2.5], angle_min=-1.0)
    scan.header.frame_id = "laser"
    wire = types.write("sensor_msgs/LaserScan", "cbor", scan)
    ranges = wire.index(b"ranges") + len(b"ranges")
    # Tag 85, a byte string of eight: two floats in little endian (RFC 8746).
    assert wire[ranges : ranges + 11] == bytes([0xD8, 85, 0x48]) + struct.pack("<2f", 1.0, 2.5)


def _damaged(wire: bytes) -> Iterator[bytes]:
    pick = random.Random(5)
    for end in range(len(wire)):
        yield wire[:end]
    for _ in range(300):
        spoiled = bytearray(wire)
        for _ in range(pick.randint(1, 4)):
            spoiled[pick.randrange(len(wire))] = pick.randrange(256)
        yield bytes(spoiled)
    yield wire + b"\0\0\0\0"


@pytest.mark.parametrize("form", ["ros1", "cdr", "json"])
def test_damaged_messages_are_refused_or_read_without_overreads(
    form: Form, types: RosTypes
) -> None:
    state = msgs.JointState(name=["a", "bc"], position=[1.0, 2.0], effort=[3.0])
    state.header.frame_id = "base"
    name = "sensor_msgs/msg/JointState" if form == "cdr" else "sensor_msgs/JointState"
    wire = types.write(name, form, state)
    for spoiled in _damaged(wire):
        try:
            types.read(name, form, spoiled)
        except hyphos.Error as error:
            assert error.code == "corrupt"


def test_errors_name_the_field(types: RosTypes) -> None:
    with pytest.raises(hyphos.Error, match=r"'pose\.pose\.position\.x' is a string, not a number"):
        types.read("nav_msgs/Odometry", "json", b'{"pose":{"pose":{"position":{"x":"1"}}}}')
    with pytest.raises(
        hyphos.Error, match="has the field 'rnges', which sensor_msgs/LaserScan does not define"
    ):
        types.read("sensor_msgs/LaserScan", "json", b'{"rnges":[]}')
    with pytest.raises(hyphos.Error, match="claims 4294967295 elements"):
        types.read("std_msgs/Float32MultiArray", "ros1", b"\xff" * 8)
    with pytest.raises(hyphos.Error, match="is 300, which does not fit in 8 bits"):
        types.write(
            "std_msgs/UInt8", "ros1", types.read("std_msgs/UInt32", "json", b'{"data":300}')
        )


def test_a_header_without_a_stamp_is_stamped(types: RosTypes) -> None:
    made = types.read("geometry_msgs/PoseStamped", "json", b'{"header":{}}', now_ns=7_000_000_001)
    assert made.header.stamp_ns == 7_000_000_001
