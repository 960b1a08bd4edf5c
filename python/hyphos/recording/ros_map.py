"""Converts ROS messages to hyphos.msgs, field by field, by the rules of proto/README.md.

A converter is compiled once per message type from the ROS field list and the protobuf descriptor.
The work per message is then only the copying.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from hyphos import msgs
from hyphos.recording.ros_stamps import unsigned

# ROS packages whose messages hyphos.msgs follows. Renamed messages are listed below.
_PACKAGES = {
    "std_msgs",
    "geometry_msgs",
    "sensor_msgs",
    "nav_msgs",
    "tf2_msgs",
    "diagnostic_msgs",
    "rcl_interfaces",
    "visualization_msgs",
}
_RENAMED = {
    "sensor_msgs/msg/PointCloud2": "PointCloud",
    "sensor_msgs/msg/PointCloud": "",  # the old message without layout has another meaning
    "tf2_msgs/msg/TFMessage": "TfMessage",
    "tf/msg/tfMessage": "TfMessage",
}
_TIME = "builtin_interfaces/msg/Time"
_TIMES = {_TIME, "builtin_interfaces/msg/Duration"}

Fill = Callable[[Any, Any], None]


@dataclass
class Converter:
    """Converts a deserialized ROS message to (head bytes, buffers)."""

    cls: Any
    fill: Fill
    buffer_field: str  # ROS field that becomes attached buffer 0, or ""
    ignored: list[str]  # ROS fields without a counterpart

    @property
    def type_name(self) -> str:
        return str(self.cls.DESCRIPTOR.full_name)

    @property
    def encoding(self) -> str:
        return "attached" if self.buffer_field else "protobuf"

    def __call__(self, message: Any) -> tuple[bytes, list[object]]:
        head = self.cls()
        self.fill(message, head)
        buffers = [getattr(message, self.buffer_field)] if self.buffer_field else []
        return head.SerializeToString(), buffers


def target_class(ros_type: str) -> Any | None:
    """The class of hyphos.msgs that follows a ROS type "package/msg/Name", or None."""
    package, _, name = ros_type.partition("/msg/")
    if ros_type in _RENAMED:
        name = _RENAMED[ros_type]
    elif package not in _PACKAGES:
        return None
    value = vars(msgs).get(name)
    return value if hasattr(value, "DESCRIPTOR") else None


def make_converter(ros_type: str, typestore: Any, *, ros1: bool = False) -> Converter | None:
    """A converter for a ROS type whose definition is in a rosbags `typestore`."""
    cls = target_class(ros_type)
    if cls is None or ros_type not in typestore.fielddefs:
        return None
    compiler = _Compiler(typestore, ros1)
    fill = compiler.message(ros_type, cls.DESCRIPTOR, top=True)
    return Converter(cls, fill, compiler.buffer_field, compiler.ignored)


class _Compiler:
    def __init__(self, typestore: Any, ros1: bool) -> None:
        from rosbags.interfaces import Nodetype  # noqa: PLC0415

        self._ros1 = ros1

        self._nodetype = Nodetype
        self._fields = typestore.fielddefs
        self.buffer_field = ""
        self.ignored: list[str] = []

    def message(self, ros_type: str, descriptor: Descriptor, *, top: bool = False) -> Fill:
        steps: list[Fill] = []
        for name, node in self._fields[ros_type][1]:
            step = self._field(name, node, descriptor, top)
            if step is not None:
                steps.append(step)

        def fill(source: Any, target: Any) -> None:
            for step in steps:
                step(source, target)

        return fill

    def _field(self, name: str, node: Any, descriptor: Descriptor, top: bool) -> Fill | None:
        kind, detail = node
        by_name = descriptor.fields_by_name
        is_time = kind == self._nodetype.NAME and detail in _TIMES
        key = name.lower() + ("_ns" if is_time else "")
        target = by_name.get(key)
        if target is None:
            is_bytes = kind in (self._nodetype.ARRAY, self._nodetype.SEQUENCE)
            if top and name == "data" and is_bytes and not self.buffer_field:
                self.buffer_field = name
            elif name != "structure_needs_at_least_one_member":
                self.ignored.append(f"{descriptor.name}.{name}")
            return None
        if is_time:
            return _time_step(name, key, is_unsigned=self._ros1 and detail == _TIME)
        if kind == self._nodetype.NAME:
            return self._nested_step(name, key, detail, target)
        if kind == self._nodetype.BASE:
            return _scalar_step(name, key)
        return self._array_step(name, key, detail[0], target)

    def _array_step(self, name: str, key: str, element: Any, target: Any) -> Fill:
        if element[0] == self._nodetype.NAME:
            return self._repeated_step(name, key, element[1], target)
        if target.type == FieldDescriptor.TYPE_BYTES:
            return lambda source, out: setattr(out, key, _as_bytes(getattr(source, name)))
        return lambda source, out: getattr(out, key).extend(_as_list(getattr(source, name)))

    def _nested_step(self, name: str, key: str, ros_type: str, target: Any) -> Fill:
        fill = self.message(ros_type, target.message_type)

        def step(source: Any, out: Any) -> None:
            place = getattr(out, key)
            place.SetInParent()
            fill(getattr(source, name), place)

        return step

    def _repeated_step(self, name: str, key: str, ros_type: str, target: Any) -> Fill:
        fill = self.message(ros_type, target.message_type)

        def step(source: Any, out: Any) -> None:
            place = getattr(out, key)
            for item in getattr(source, name):
                fill(item, place.add())

        return step


def _time_step(name: str, key: str, *, is_unsigned: bool) -> Fill:
    def step(source: Any, out: Any) -> None:
        time = getattr(source, name)
        seconds = unsigned(time.sec) if is_unsigned else time.sec
        setattr(out, key, seconds * 1_000_000_000 + time.nanosec)

    return step


def _scalar_step(name: str, key: str) -> Fill:
    return lambda source, out: setattr(out, key, getattr(source, name))


def _as_bytes(values: Any) -> bytes:
    return values.tobytes() if isinstance(values, np.ndarray) else bytes(values)


def _as_list(values: Any) -> Any:
    return values.tolist() if isinstance(values, np.ndarray) else values
