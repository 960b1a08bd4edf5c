"""A client of rosbridge over TCP with documents of BSON, as ROSIntegration for Unreal sends them.

It uses no part of Hyphos.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from helpers import PATIENCE_S


def encode(document: dict[str, Any]) -> bytes:
    return _framed(b"".join(_element(key, value) for key, value in document.items()))


def decode(data: bytes) -> dict[str, Any]:
    value, size = _document(data, 0, is_list=False)
    assert size == len(data)
    assert isinstance(value, dict)
    return value


def _framed(body: bytes) -> bytes:
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def _element(key: str, value: Any) -> bytes:
    kind, body = _typed(value)
    return bytes([kind]) + key.encode() + b"\0" + body


def _typed(value: Any) -> tuple[int, bytes]:
    """The type of an element, and its bytes."""
    kind, body = 0x04, b""
    if isinstance(value, bool):
        kind, body = 0x08, bytes([value])
    elif isinstance(value, int):
        small = -(2**31) <= value < 2**31
        kind, body = (0x10, struct.pack("<i", value)) if small else (0x12, struct.pack("<q", value))
    elif isinstance(value, float):
        kind, body = 0x01, struct.pack("<d", value)
    elif isinstance(value, str):
        text = value.encode() + b"\0"
        kind, body = 0x02, struct.pack("<i", len(text)) + text
    elif isinstance(value, bytes):
        kind, body = 0x05, struct.pack("<i", len(value)) + b"\0" + value
    elif isinstance(value, dict):
        kind, body = 0x03, encode(value)
    else:
        items = (_element(str(index), item) for index, item in enumerate(value))
        body = _framed(b"".join(items))
    return kind, body


def _document(data: bytes, at: int, *, is_list: bool) -> tuple[Any, int]:
    (size,) = struct.unpack_from("<i", data, at)
    end = at + size
    at += 4
    found: dict[str, Any] = {}
    while data[at]:
        kind = data[at]
        key_end = data.index(0, at + 1)
        key = data[at + 1 : key_end].decode()
        found[key], at = _value(kind, data, key_end + 1)
    assert at == end - 1
    if is_list:
        assert list(found) == [str(index) for index in range(len(found))]
        return list(found.values()), end
    return found, end


def _value(kind: int, data: bytes, at: int) -> tuple[Any, int]:
    numbers = {0x01: "<d", 0x08: "<?", 0x10: "<i", 0x12: "<q"}
    if kind in numbers:
        (number,) = struct.unpack_from(numbers[kind], data, at)
        return number, at + struct.calcsize(numbers[kind])
    if kind in (0x03, 0x04):
        return _document(data, at, is_list=kind == 0x04)
    if kind == 0x0A:
        return None, at
    (size,) = struct.unpack_from("<i", data, at)
    if kind == 0x02:
        return data[at + 4 : at + 3 + size].decode(), at + 4 + size
    assert kind == 0x05
    return data[at + 5 : at + 5 + size], at + 5 + size


class BsonClient:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)

    def say(self, **operation: Any) -> None:
        self.socket.sendall(encode(operation))

    def hear(self) -> dict[str, Any]:
        (size,) = struct.unpack("<i", head := self._exactly(4))
        return decode(head + self._exactly(size - 4))

    def is_closed(self) -> bool:
        return self.socket.recv(1) == b""

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("closed")
            data += more
        return bytes(data)


@contextmanager
def connected_bson(port: int) -> Iterator[BsonClient]:
    client = BsonClient(port)
    try:
        yield client
    finally:
        client.socket.close()
