"""A struct as a protobuf class, so that commands read and print it like every other type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from hyphos._errors import Error
from hyphos.ros.protos import message_class
from hyphos.ros.typebook import TypeBook
from hyphos.struct_values import put
from hyphos.types import Struct

Array = npt.NDArray[Any]

PROTOBUF = ("protobuf", "attached")

_F = FieldDescriptorProto
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_VALUE = "value"  # the field of a struct without fields of its own
_WIDE = 8  # bytes of the integers that need 64 bits


def _kind(dtype: np.dtype[Any]) -> Any:
    """The protobuf type that holds each value of a plain field."""
    wide = dtype.itemsize >= _WIDE
    kinds = {
        "b": _F.TYPE_BOOL,
        "i": _F.TYPE_INT64 if wide else _F.TYPE_INT32,
        "u": _F.TYPE_UINT64 if wide else _F.TYPE_UINT32,
        "f": _F.TYPE_DOUBLE if wide else _F.TYPE_FLOAT,
        "S": _F.TYPE_STRING,
        "U": _F.TYPE_STRING,
        "m": _F.TYPE_INT64,
        "M": _F.TYPE_INT64,
    }
    return kinds.get(dtype.kind, _F.TYPE_BYTES)


class StructMessage:
    """The messages of one struct. An array of several dimensions is one list, in C order."""

    def __init__(self, struct: Struct) -> None:
        self.struct = struct
        name = struct.name.replace("::", ".")
        package, _, bare = (name if _NAME.fullmatch(name) else "Struct").rpartition(".")
        file = FileDescriptorProto(name="struct.proto", package=package, syntax="proto2")
        self._describe(file.message_type.add(name=bare), self._base, name)
        pool = descriptor_pool.DescriptorPool()
        try:
            pool.AddSerializedFile(file.SerializeToString())
            found = pool.FindMessageTypeByName(f"{package}.{bare}" if package else bare)
        except (TypeError, KeyError) as error:
            raise ValueError(f"{struct!r} cannot be shown: {error}") from error
        self._cls = message_class(found)
        self.DESCRIPTOR: Any = self._cls.DESCRIPTOR

    @property
    def _base(self) -> np.dtype[Any]:
        dtype = self.struct.dtype
        return dtype if dtype.names else np.dtype([(_VALUE, dtype)])

    def _describe(self, message: DescriptorProto, dtype: np.dtype[Any], path: str) -> None:
        for number, (name, field) in enumerate(_fields(dtype), 1):
            base, shape = field.subdtype or (field, ())
            label = _F.LABEL_REPEATED if shape else _F.LABEL_OPTIONAL
            made = message.field.add(name=name, number=number, label=label)
            if not base.names:
                made.type = _kind(base)
                continue
            inner = f"{name.title().replace('_', '')}{number}"
            self._describe(message.nested_type.add(name=inner), base, f"{path}.{inner}")
            made.type, made.type_name = _F.TYPE_MESSAGE, inner

    def __call__(self) -> Any:
        return self._cls()

    def FromString(self, payload: bytes) -> Any:  # noqa: N802 - as in protobuf
        """The message of encoded bytes. ValueError if their number is wrong."""
        if len(payload) != self.struct.dtype.itemsize:
            raise ValueError(f"{self.struct!r}: received {len(payload)} bytes")
        message = self._cls()
        _read(np.frombuffer(payload, self._base).reshape(()), message)
        return message

    def payload(self, message: Any) -> bytes:
        """The bytes of a message. Fields that are not set are zero. Raises an error for a value
        that its field cannot hold."""
        place = np.zeros((), self._base)
        try:
            _write(message, place, self.struct.name)
        except (ValueError, TypeError) as error:
            raise Error("invalid_config", str(error)) from error
        return place.tobytes()


def _fields(dtype: np.dtype[Any]) -> list[tuple[str, np.dtype[Any]]]:
    """The fields, by names that protobuf accepts."""
    known: Mapping[str, Any] = dtype.fields or {}
    return [(re.sub(r"\W", "_", one, flags=re.ASCII), known[one][0]) for one in dtype.names or ()]


def _places(place: Array) -> list[tuple[str, Array]]:
    """The fields of one struct as views of its memory."""
    names = place.dtype.names or ()
    fields = _fields(place.dtype)
    return [(name, place[own]) for (name, _), own in zip(fields, names, strict=True)]


def _read(record: Array, message: Any) -> None:
    for name, value in _places(record):
        if value.dtype.names:
            for one in value.reshape(-1):
                target = getattr(message, name)
                _read(np.asarray(one), target.add() if value.ndim else target)
            if not value.ndim:
                getattr(message, name).SetInParent()
        elif value.ndim:
            getattr(message, name).extend(_plain(value))
        else:
            setattr(message, name, _plain(value)[0])


def _plain(values: Array) -> list[Any]:
    """The values of a field in C order, as protobuf takes them."""
    flat = values.reshape(-1)
    kind = flat.dtype.kind
    if kind in "mM":
        return flat.view(np.int64).tolist()
    if kind == "S":
        # As in C, a text ends at its first zero.
        texts = [one.partition(b"\0")[0] for one in flat.tolist()]
        return [one.decode("utf-8", "backslashreplace") for one in texts]
    if kind == "f":
        return [float(one) for one in flat.tolist()]
    if kind in "biuU":
        return flat.tolist()
    return [one.tobytes() for one in flat]


def _write(message: Any, place: Array, where: str) -> None:
    for name, target in _places(place):
        value = getattr(message, name)
        at = f"{where}: field '{name}'"
        if not target.ndim:
            if message.HasField(name):
                _write_one(value, target, at)
            continue
        if not len(value):
            continue
        if len(value) != target.size:
            raise ValueError(f"{at} needs {target.size} values, not {len(value)}")
        flat = target.reshape(-1)
        for i, one in enumerate(value):
            _write_one(one, flat[i : i + 1].reshape(()), f"{at}[{i}]")


def _write_one(value: Any, place: Array, at: str) -> None:
    kind = place.dtype.kind
    if place.dtype.names:
        _write(value, place, at)
    elif kind in "mM":
        place.view(np.int64)[...] = value
    elif kind in "biufSU":
        put(place, value.encode() if kind == "S" else value, at)
    elif len(value) == place.dtype.itemsize:
        place[...] = np.frombuffer(value, place.dtype)[0]
    else:
        raise ValueError(f"{at} needs {place.dtype.itemsize} bytes, not {len(value)}")


def class_of(book: TypeBook, type_name: str, encoding: str, type_hash: int | None = None) -> Any:
    """The class of a type that messages of a channel have, or None if it is not known here."""
    if encoding in PROTOBUF:
        return book.find(type_name)
    struct = book.struct(type_name, type_hash) if encoding == "struct" else None
    try:
        return StructMessage(struct) if struct is not None else None
    except ValueError:  # names that protobuf does not accept
        return None


def payload_of(cls: Any, message: Any) -> bytes:
    """The encoded form of a message of class_of()."""
    if isinstance(cls, StructMessage):
        return cls.payload(message)
    return bytes(message.SerializeToString())
