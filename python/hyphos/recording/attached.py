"""The storage format of messages with attached buffers. See docs/reference/recording.md.

The stored message is the serialized head, followed by one more protobuf field per buffer:
`repeated bytes attached_buffers = 100000`. So it is itself a valid protobuf message, of the head's
type with that field added. The recording contains this type as the schema. Any protobuf tool can
read it. Writing and reading parse and copy nothing beyond the necessary.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError

from hyphos.types import bytes_of

FIELD_NUMBER = 100_000
FIELD_NAME = "attached_buffers"
_WIRE_VARINT, _WIRE_FIXED64, _WIRE_BYTES, _WIRE_FIXED32 = 0, 1, 2, 5


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def join(head: bytes, buffers: Iterable[Any], number: int = FIELD_NUMBER) -> bytes:
    """Joins head and buffers to one stored message, or to another bytes field. Copies once."""
    tag = _varint(number << 3 | _WIRE_BYTES)
    parts: list[Any] = [head]
    for buffer in buffers:
        data = bytes_of(buffer).data
        parts += [tag, _varint(len(data)), data]
    return b"".join(parts)


def split(stored: bytes) -> tuple[memoryview, list[memoryview]]:
    """Splits a stored message into views of head and buffers. ValueError if it is damaged."""
    view = memoryview(stored)
    buffers: list[memoryview] = []
    head_end = at = 0
    while at < len(view):
        tag, at = _read_varint(view, at)
        start, at = _skip(view, at, tag & 7)
        if tag >> 3 == FIELD_NUMBER and tag & 7 == _WIRE_BYTES:
            buffers.append(view[start:at])
        elif buffers:
            raise ValueError("a field of the head follows an attached buffer")
        else:
            head_end = at
    return view[:head_end], buffers


def _skip(view: memoryview, at: int, wire: int) -> tuple[int, int]:
    """(start, end) of the value at `at`."""
    start = at
    if wire == _WIRE_VARINT:
        _, at = _read_varint(view, at)
    elif wire == _WIRE_FIXED64:
        at += 8
    elif wire == _WIRE_FIXED32:
        at += 4
    elif wire == _WIRE_BYTES:
        length, start = _read_varint(view, at)
        at = start + length
    else:
        raise ValueError(f"unknown wire type {wire}")
    if at > len(view):
        raise ValueError("the message is cut off")
    return start, at


def _read_varint(view: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(view) or shift > 63:
            raise ValueError("the message is cut off")
        byte = view[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def restrict_schema(schema: bytes) -> bytes:
    """The descriptors of a schema without the fields for buffers. ValueError if it is damaged."""
    try:
        files = FileDescriptorSet.FromString(schema)
    except DecodeError as error:
        raise ValueError(f"the schema is damaged: {error}") from error
    for file in files.file:
        for message in file.message_type:
            kept = [field for field in message.field if field.number != FIELD_NUMBER]
            if len(kept) < len(message.field):
                del message.field[:]
                message.field.extend(kept)
    return files.SerializeToString()


def extend_schema(files: FileDescriptorSet, type_name: str) -> FileDescriptorSet:
    """Adds the field for the buffers to one top-level message of the descriptors."""
    for file in files.file:
        prefix = f"{file.package}." if file.package else ""
        for message in file.message_type:
            if prefix + message.name == type_name:
                field = message.field.add()
                field.name = FIELD_NAME
                field.number = FIELD_NUMBER
                field.label = FieldDescriptorProto.LABEL_REPEATED
                field.type = FieldDescriptorProto.TYPE_BYTES
    return files
