"""Converts hyphos.msgs to ROS messages, field by field: the inverse of ros_map, by its rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from hyphos import msgs
from hyphos.recording.ros_map import _TIME, _TIMES, target_class
from hyphos.recording.ros_stamps import UnholdableError, as_read

Make = Callable[[Any, Sequence[Any]], Any]
Get = Callable[[Any, Sequence[Any]], Any]

_PREFERRED = ("std_msgs", "geometry_msgs", "sensor_msgs", "nav_msgs", "tf2_msgs")


@dataclass
class Backward:
    """Converts the serialized head and the buffers of a Hyphos message to a ROS message."""

    cls: Any
    ros_type: str
    make: Make
    attached: bool
    ignored: list[str]  # Hyphos fields without a counterpart
    defaulted: list[str]  # ROS fields without a source

    def __call__(self, payload: bytes, buffers: Sequence[Any]) -> Any:
        return self.make(self.cls.FromString(payload), buffers)


def ros_type_of(type_name: str, typestore: Any) -> str | None:
    """The ROS type that hyphos.msgs.Name follows, if the typestore has one."""
    package, _, name = type_name.rpartition(".")
    cls = vars(msgs).get(name)
    if package != "hyphos.msgs" or cls is None:
        return None
    found = [known for known in typestore.fielddefs if target_class(known) is cls]
    found.sort(key=lambda known: not known.startswith(_PREFERRED))
    return found[0] if found else None


def make_backward(type_name: str, typestore: Any, *, ros1: bool = False) -> Backward | None:
    """The converter of a type, or None if ROS has no such type."""
    ros_type = ros_type_of(type_name, typestore)
    if ros_type is None:
        return None
    cls = vars(msgs)[type_name.rpartition(".")[2]]
    compiler = _Compiler(typestore, ros1)
    make = compiler.message(ros_type, cls.DESCRIPTOR, top=True)
    return Backward(cls, ros_type, make, compiler.attached, compiler.ignored, compiler.defaulted)


class _Compiler:
    def __init__(self, typestore: Any, ros1: bool) -> None:
        from rosbags.convert.converter import default_message  # noqa: PLC0415
        from rosbags.interfaces import Nodetype  # noqa: PLC0415
        from rosbags.typesys.base import normalize_fieldname  # noqa: PLC0415

        self._nodetype = Nodetype
        self._store = typestore
        self._ros1 = ros1
        self._default = default_message
        self._normal = normalize_fieldname
        self.attached = False
        self.ignored: list[str] = []
        self.defaulted: list[str] = []

    def message(self, ros_type: str, descriptor: Descriptor, *, top: bool = False) -> Make:
        cls = self._store.types[ros_type]
        used: set[str] = set()
        fields: list[tuple[str, Get]] = []
        for name, node in self._store.fielddefs[ros_type][1]:
            get = self._field(ros_type, name, node, descriptor, top, used)
            fields.append((self._normal(name), get))
        self.ignored += [
            f"{descriptor.name}.{field.name}"
            for field in descriptor.fields
            if field.name not in used
        ]
        return lambda source, buffers: cls(**{name: get(source, buffers) for name, get in fields})

    def _field(
        self,
        ros_type: str,
        name: str,
        node: Any,
        descriptor: Descriptor,
        top: bool,
        used: set[str],
    ) -> Get:
        kind, detail = node
        is_time = kind == self._nodetype.NAME and detail in _TIMES
        key = name.lower() + ("_ns" if is_time else "")
        target = descriptor.fields_by_name.get(key)
        if target is None:
            is_array = kind in (self._nodetype.ARRAY, self._nodetype.SEQUENCE)
            if top and name == "data" and is_array and not self.attached:
                self.attached = True
                return _buffer(_dtype(detail[0][1][0]))
            if name != "structure_needs_at_least_one_member":
                self.defaulted.append(f"{ros_type}.{name}")
            filler = getattr(self._default(self._store, ros_type), self._normal(name))
            return lambda _source, _buffers: filler
        used.add(key)
        if is_time:
            return self._time(key, detail)
        if kind == self._nodetype.NAME:
            inner = self.message(detail, _message_of(target))
            return lambda source, buffers: inner(getattr(source, key), buffers)
        if kind == self._nodetype.BASE:
            return lambda source, _buffers: getattr(source, key)
        size = detail[1] if kind == self._nodetype.ARRAY else 0
        return self._array(key, detail[0], target, size)

    def _time(self, key: str, ros_type: str) -> Get:
        cls = self._store.types[ros_type]
        ros1 = self._ros1 and ros_type == _TIME

        def get(source: Any, _buffers: Sequence[Any]) -> Any:
            seconds, rest = divmod(getattr(source, key), 1_000_000_000)
            return cls(sec=as_read(seconds, ros1=ros1), nanosec=rest)

        return get

    def _array(self, key: str, element: Any, target: Any, size: int) -> Get:
        if element[0] == self._nodetype.NAME:
            inner = self.message(element[1], _message_of(target))
            return lambda source, buffers: [inner(item, buffers) for item in getattr(source, key)]
        if element[1][0] == "string":
            return lambda source, _buffers: list(getattr(source, key))
        dtype = _dtype(element[1][0])

        def get(source: Any, _buffers: Sequence[Any]) -> Any:
            value = getattr(source, key)
            try:
                if target.type == FieldDescriptor.TYPE_BYTES:
                    array = np.frombuffer(value, dtype)
                else:
                    array = np.array(value, dtype)
            except (OverflowError, ValueError) as error:
                raise UnholdableError(
                    f"a value of {key} does not fit into {dtype} in ROS"
                ) from error
            if size and len(array) not in (0, size):
                raise UnholdableError(f"{key} does not have {size} values as in ROS")
            # An empty array stands for zeros.
            return np.zeros(size, dtype) if size and not len(array) else array

        return get


def _message_of(field: FieldDescriptor) -> Descriptor:
    assert field.message_type is not None
    return field.message_type


def _dtype(name: str) -> np.dtype[Any]:
    return np.dtype({"char": "uint8", "byte": "uint8", "octet": "uint8"}.get(name, name))


def _buffer(dtype: np.dtype[Any]) -> Get:
    def get(_source: Any, buffers: Sequence[Any]) -> Any:
        if len(buffers) > 1:
            raise UnholdableError("it has several attached buffers, but ROS has one field for them")
        return np.frombuffer(buffers[0], dtype) if buffers else np.zeros(0, dtype)

    return get
