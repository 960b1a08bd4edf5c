"""The layout of a struct as JSON. Processes announce it, so that tools can show the fields.

Format: docs/reference/type_definitions.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

# The field of a serialized FileDescriptorSet with one layout. Readers of descriptors skip it.
FIELD_NUMBER = 1000
_BYTES = 2  # the wire type of a field with a length
_SKIPPED = {1: 8, 5: 4}  # wire type → size of the value

_TYPE = re.compile(r"[<>|]?([biufc][0-9]{1,2}|[SUV][0-9]{1,9}|[mM]8(\[[0-9a-zA-Z/]{1,16}\])?)")
_MOST_FIELDS, _MOST_DEPTH, _MOST_BYTES = 4096, 16, 1 << 31


def layout(name: str, dtype: np.dtype[Any]) -> str:
    """The layout of a struct with this NumPy type."""
    return json.dumps({"name": name, **_described(dtype)}, separators=(",", ":"))


def _described(dtype: np.dtype[Any]) -> dict[str, Any]:
    base, shape = dtype.subdtype or (dtype, ())
    if base.kind == "S" and base.itemsize == 1 and shape:  # a text, as in C++
        base, shape = np.dtype(f"S{shape[-1]}"), shape[:-1]
    made: dict[str, Any] = {"type": base.str}
    if base.names:
        fields: Mapping[str, Any] = base.fields or {}
        made = {
            "size": base.itemsize,
            "fields": [
                {"name": name, "offset": fields[name][1], **_described(fields[name][0])}
                for name in base.names
            ],
        }
    return made | ({"shape": list(shape)} if shape else {})


def read_layout(text: str) -> tuple[str, np.dtype[Any]]:
    """The name and the NumPy type of a layout. ValueError if the text is not one."""
    try:
        given = json.loads(text)
        left = [_MOST_FIELDS]
        dtype = _dtype(given, left, 0)
        name = given["name"]
        if not isinstance(name, str) or not 0 < dtype.itemsize <= _MOST_BYTES:
            raise ValueError("a name and a size are missing")
        return name, dtype
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not the layout of a struct: {error!r}") from error


def _dtype(given: dict[str, Any], left: list[int], depth: int) -> np.dtype[Any]:
    fields = given.get("fields")
    if fields is None:
        if not _TYPE.fullmatch(given["type"]):
            raise ValueError(f"'{given['type']}' is no type of a field")
        base = np.dtype(given["type"])
    else:
        left[0] -= len(fields)
        if left[0] < 0 or depth == _MOST_DEPTH:
            raise ValueError("too many fields")
        form: Any = {
            "names": [one["name"] for one in fields],
            "formats": [_dtype(one, left, depth + 1) for one in fields],
            "offsets": [one["offset"] for one in fields],
            "itemsize": given["size"],
        }
        base = np.dtype(form)
    shape = tuple(given.get("shape", ()))
    return np.dtype((base, shape)) if shape else base


def definition(name: str, dtype: np.dtype[Any]) -> bytes:
    """A FileDescriptorSet without files that has the layout of one struct."""
    return definition_of(layout(name, dtype).encode())


def definition_of(text: bytes) -> bytes:
    """The same for a layout that exists."""
    return _varint(FIELD_NUMBER << 3 | _BYTES) + _varint(len(text)) + text


def layouts(descriptors: bytes) -> Iterator[str]:
    """The layouts in a serialized FileDescriptorSet. Ends at the first damaged field."""
    at = 0
    while at < len(descriptors):
        tag, at = _read_varint(descriptors, at)
        wire = tag & 7
        size = _SKIPPED.get(wire, 0)
        if wire in (0, _BYTES):
            value, at = _read_varint(descriptors, at)
            size = value if wire == _BYTES else 0
        elif not size:
            return
        field, at = descriptors[at : at + size], at + size
        if at > len(descriptors):
            return
        if tag == FIELD_NUMBER << 3 | _BYTES:
            yield field.decode(errors="replace")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at`, and the place behind it. A damaged number ends behind the data."""
    value = shift = 0
    while at < len(data) and shift < 64:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at
    return 0, len(data) + 1
