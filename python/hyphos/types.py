"""The types that a channel can carry, and their encoding as bytes.

| in Python | in C++ | received as |
|---|---|---|
| a protobuf class | the protobuf class | the message |
| `Attached[Head]` | `hyphos::Attached<Head>` | `Attached`: head + read-only NumPy views |
| `Struct(name, dtype)` | a trivially copyable struct | a read-only NumPy record, in place |
| a ctypes.Structure with `hyphos_type` | the same | a copy (ctypes needs writable memory) |
| `bytes` | `hyphos::Buffer` | a read-only NumPy view of uint8 |
| a class with `serialize`/`parse` and `hyphos_type` | a type with its own pair | the value |
| `Raw` of a type id | a type known by name only | `(payload, buffers)` |
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, get_args, get_origin

import numpy as np
import numpy.typing as npt

from hyphos import struct_layout
from hyphos._hyphos import Buffer, TypeId
from hyphos.struct_values import put, struct_bytes

Bytes = npt.NDArray[np.uint8]
Head = TypeVar("Head")


@dataclass
class Attached(Generic[Head]):
    """A protobuf head with up to 8 attached buffers. Hyphos neither copies nor parses the buffers.

    Received buffers are read-only NumPy views, and each view keeps its memory alive. To publish,
    give any object with the buffer protocol. Arrays from `Publisher.loan()` and received arrays are
    sent without a copy. Other arrays are copied once into shared memory.
    """

    head: Head
    buffers: Sequence[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Raw:
    """A type known only by its id. Values are `(payload, buffers)`, as encoded."""

    id: TypeId


class Struct:
    """A trivially copyable C++ struct by name and NumPy layout.

    Pose = Struct("demo.Pose", [("x", "f8"), ("y", "f8"), ("id", "u4")])

    `name` is the struct's `hyphos_type` (or the name that the C++ compiler prints, "demo::Pose").
    Fields have the C++ layout (`align=True`). The name and the size form the type id. Read a scalar
    field as `pose.x` or `pose["x"]`.
    """

    def __init__(self, name: str, dtype: npt.DTypeLike, *, align: bool = True) -> None:
        layout = np.dtype(dtype, align=align) if isinstance(dtype, list | dict) else np.dtype(dtype)
        if layout.hasobject:
            raise TypeError(f"struct '{name}': a field holds Python objects: give fixed sizes")
        if not layout.itemsize:
            raise TypeError(f"struct '{name}' has no bytes: give it a field with a size")
        self.name = name
        self.dtype: np.dtype[Any] = (
            np.dtype((np.record, layout)) if layout.names is not None else layout
        )
        self.id = TypeId(name, "struct", self.dtype.itemsize)

    def __call__(self, **fields: object) -> Any:
        """Returns a new value. Fields that are not given are zero. Raises TypeError or ValueError
        if a field cannot hold its value."""
        value = np.zeros(1, self.dtype)
        put(value.reshape(()), fields, self.name)
        return value[0]

    def __repr__(self) -> str:
        return f"Struct({self.name!r}, {self.dtype.itemsize} bytes)"


class Codec(Protocol):
    """Encodes values of one type as bytes and decodes them."""

    id: TypeId

    def encode(self, value: Any, /) -> tuple[object, Sequence[object]]:
        """Returns the payload and the attached buffers. TypeError for a value of another type."""

    def decode(self, payload: Buffer, buffers: list[Buffer], /) -> Any:
        """Returns the value. ValueError if the bytes are corrupt."""


def flat(value: Any) -> Any:
    """Converts `value` for the binding: an array becomes its bytes in C order.

    A contiguous array is not copied. NumPy exports no buffer of dates or of fields out of order, so
    those become a view of bytes. TypeError for memory that holds references.
    """
    if not isinstance(value, np.ndarray | np.generic):
        return value
    array = np.asarray(value)
    if array.dtype.hasobject:
        raise TypeError(
            f"an array of {array.dtype} holds references to Python objects, not values: "
            "convert it to a dtype of fixed size"
        )
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError("cannot publish the mask of an array: give array.filled(value)")
    if not array.dtype.itemsize or not array.size:
        return b""
    if not array.flags.c_contiguous and array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
        return array  # the binding copies it once, without the GIL
    return dense(array).reshape(-1).view(np.uint8)


def dense(array: npt.NDArray[Any], *, copy: bool = False) -> npt.NDArray[Any]:
    """The array in C order: without `copy` the array itself if it is contiguous.

    The copy includes the padding bytes between the fields. A copy by NumPy would leave them
    uninitialised, and memory of this process would be published.
    """
    if array.flags.c_contiguous and not copy:
        return array
    if not array.dtype.itemsize:
        return array.copy()
    raw = np.dtype((np.void, array.dtype.itemsize))
    return np.array(array.view(raw), order="C").view(array.dtype)


def bytes_of(buffer: Any) -> Bytes:
    """The bytes of any buffer in C order: a view if it is contiguous, else a copy."""
    value = flat(np.asarray(buffer) if isinstance(buffer, memoryview) else buffer)
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(value).reshape(-1).view(np.uint8)
    return np.frombuffer(value, np.uint8)


def flat_list(buffers: Any) -> list[Any]:
    """Applies flat() to a list of buffers. A single array is refused: it would become its rows."""
    if isinstance(buffers, np.ndarray | bytes | bytearray | memoryview | str | Buffer):
        raise TypeError(f"attached buffers must be a list: give [{type(buffers).__name__}]")
    return [flat(buffer) for buffer in buffers]


def view(buffer: Buffer) -> Bytes:
    """The bytes as a read-only array that keeps the buffer's memory alive."""
    return np.frombuffer(memoryview(buffer), np.uint8) if len(buffer) else np.zeros(0, np.uint8)


# Every program with Hyphos has these files.
_STANDARD_FILES = (
    "google/protobuf/",
    "hyphos/msgs/",
    "hyphos/params/",
    "hyphos/control/",
    "hyphos/ros/",
    "hyphos/wire/",
)


def definition(cls: Any) -> bytes:
    """The .proto file of a protobuf class and its imports, imports first, as a serialized
    FileDescriptorSet. The files of Hyphos and of protobuf itself are left out."""
    made = bytearray()
    seen: set[str] = set()

    def add(file: Any) -> None:
        if file.name in seen or file.name.startswith(_STANDARD_FILES):
            return
        seen.add(file.name)
        for needed in file.dependencies:
            add(needed)
        content = file.serialized_pb
        made.append(0x0A)  # field 1, with a length
        rest = len(content)
        while rest > 0x7F:
            made.append(rest & 0x7F | 0x80)
            rest >>= 7
        made.append(rest)
        made.extend(content)

    add(cls.DESCRIPTOR.file)
    return bytes(made)


class _BytesCodec:
    def __init__(self) -> None:
        self.id = TypeId("bytes", "bytes")

    def encode(self, value: Any) -> tuple[object, Sequence[object]]:
        return flat(value), ()

    def decode(self, payload: Buffer, _buffers: list[Buffer]) -> Any:
        return view(payload)


class _ProtobufCodec:
    def __init__(self, cls: Any, encoding: str = "protobuf") -> None:
        self.cls = cls
        self.id = TypeId(cls.DESCRIPTOR.full_name, encoding)

    def _serialize(self, message: Any) -> bytes:
        if not isinstance(message, self.cls):
            raise TypeError(f"the channel carries {self.id.name}, not {type(message).__name__}")
        return bytes(message.SerializeToString())

    def _parse(self, payload: Buffer) -> Any:
        try:
            return self.cls.FromString(bytes(payload))
        except Exception as error:
            raise ValueError(f"invalid {self.id.name}: {error}") from error

    def encode(self, value: Any) -> tuple[object, Sequence[object]]:
        return self._serialize(value), ()

    def decode(self, payload: Buffer, _buffers: list[Buffer]) -> Any:
        return self._parse(payload)


class AttachedCodec(_ProtobufCodec):
    def __init__(self, cls: Any) -> None:
        super().__init__(cls, "attached")

    def encode(self, value: Any) -> tuple[object, Sequence[object]]:
        if not isinstance(value, Attached):
            raise TypeError(
                f"the channel carries Attached[{self.cls.__name__}]: "
                f"publish Attached({self.cls.__name__}(...), [array])"
            )
        return self._serialize(value.head), flat_list(value.buffers)

    def decode(self, payload: Buffer, buffers: list[Buffer]) -> Any:
        return Attached(self._parse(payload), [view(buffer) for buffer in buffers])


class _StructCodec:
    def __init__(self, struct: Struct) -> None:
        self.struct = struct
        self.id = struct.id

    def encode(self, value: Any) -> tuple[object, Sequence[object]]:
        return struct_bytes(value, self.struct.dtype, repr(self.struct)), ()

    def decode(self, payload: Buffer, _buffers: list[Buffer]) -> Any:
        if len(payload) != self.struct.dtype.itemsize:
            raise ValueError(f"{self.struct!r}: received {len(payload)} bytes")
        return np.frombuffer(memoryview(payload), self.struct.dtype)[0]


class _CtypesCodec:
    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.id = TypeId(_type_name(cls), "struct", ctypes.sizeof(cls))

    def encode(self, value: Any) -> tuple[object, Sequence[object]]:
        if not isinstance(value, self.cls):
            raise TypeError(f"the channel carries {self.id.name}, not {type(value).__name__}")
        return value, ()

    def decode(self, payload: Buffer, _buffers: list[Buffer]) -> Any:
        if len(payload) != ctypes.sizeof(self.cls):
            raise ValueError(f"{self.id.name}: received {len(payload)} bytes")
        return self.cls.from_buffer_copy(payload)


class _OwnCodec:
    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.id = TypeId(_type_name(cls), "custom")

    def encode(self, value: Any) -> tuple[object, Sequence[object]]:
        return flat(value.serialize()), ()

    def decode(self, payload: Buffer, _buffers: list[Buffer]) -> Any:
        return self.cls.parse(memoryview(payload))


class _RawCodec:
    def __init__(self, raw: Raw) -> None:
        self.id = raw.id

    def encode(self, value: Any) -> tuple[object, Sequence[object]]:
        payload, buffers = value
        return flat(payload), flat_list(buffers)

    def decode(self, payload: Buffer, buffers: list[Buffer]) -> Any:
        return payload, buffers


def _type_name(cls: Any) -> str:
    name = getattr(cls, "hyphos_type", None)
    if not isinstance(name, str):
        raise TypeError(f'{cls.__name__} needs `hyphos_type = "package.Name"`, as in C++')
    return name


def _is_protobuf(kind: object) -> bool:
    return isinstance(kind, type) and hasattr(kind, "DESCRIPTOR") and hasattr(kind, "FromString")


def definitions(*codecs: Codec) -> bytes:
    """The definitions of the protobuf types and the layouts of the structs among the types of the
    codecs. See definition()."""
    return b"".join(map(_definition, codecs))


def _definition(codec: Codec) -> bytes:
    if isinstance(codec, _ProtobufCodec):
        return definition(codec.cls)
    if isinstance(codec, _StructCodec):
        return struct_layout.definition(codec.id.name, codec.struct.dtype)
    if isinstance(codec, _CtypesCodec):
        with suppress(TypeError, ValueError, NotImplementedError):  # such as bit fields
            dtype = np.dtype(codec.cls)
            if not dtype.hasobject and dtype.itemsize == ctypes.sizeof(codec.cls):
                return struct_layout.definition(codec.id.name, dtype)
    return b""


def codec_for(kind: Any) -> Codec:
    """Returns the codec of a type that was given to publisher() or subscribe().

    Raises TypeError that lists the supported types.
    """
    rules: list[tuple[Callable[[Any], bool], Callable[[Any], Codec]]] = [
        (lambda k: k in (bytes, bytearray, memoryview, Buffer), lambda _: _BytesCodec()),
        (_is_protobuf, _ProtobufCodec),
        (lambda k: get_origin(k) is Attached, lambda k: AttachedCodec(get_args(k)[0])),
        (lambda k: isinstance(k, Struct), _StructCodec),
        (lambda k: isinstance(k, Raw), _RawCodec),
        (lambda k: isinstance(k, type) and issubclass(k, ctypes.Structure), _CtypesCodec),
        (lambda k: hasattr(k, "serialize") and hasattr(k, "parse"), _OwnCodec),
    ]
    for applies, make in rules:
        if applies(kind):
            return make(kind)
    raise TypeError(
        f"{kind!r} cannot be published: give a protobuf class, Attached[Head], a Struct, "
        "a ctypes.Structure, bytes, or a class with serialize() and parse()"
    )
