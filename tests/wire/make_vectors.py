"""Writes vectors.json: packets of docs/reference/wire.md, made without any Hyphos code.

Run `python3 tests/wire/make_vectors.py` after a change of the format. Every client library is
tested against the file. The C++ test compares its packets with the file byte for byte.
"""

import json
import struct
from pathlib import Path
from typing import Any

SEPARATOR = 0x5948
ENCODINGS = {"struct": 1, "bytes": 2, "protobuf": 3, "attached": 4, "custom": 5}
STAMPS = ("publish", "encoded", "submitted", "arrived", "scheduled", "decoded", "callback")


def fnv1a(text: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def type_hash(name: str, encoding: str, size: int = 0) -> int:
    return fnv1a(f"{name}|{encoding}|{size}".encode())


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field_varint(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value) if value else b""


def field_fixed64(number: int, value: int) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<Q", value % 2**64) if value else b""


def field_bytes(number: int, value: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(value)) + value if value else b""


def head(message: dict[str, Any], payload: bytes, buffers: list[bytes]) -> bytes:
    out = field_bytes(1, message["channel"].encode())
    out += field_bytes(2, message["type_name"].encode())
    out += field_fixed64(3, int(message["type_hash"], 16))
    out += field_varint(4, ENCODINGS[message["encoding"]])
    out += field_varint(5, message["sequence"])
    out += field_fixed64(6, int(message["sender"], 16))
    out += field_varint(7, int(message["replayed"]))
    out += field_varint(8, len(payload))
    out += field_bytes(9, b"".join(varint(len(buffer)) for buffer in buffers))
    for number, name in enumerate(STAMPS, start=10):
        out += field_fixed64(number, message["stamps_ns"].get(name, 0))
    out += field_fixed64(17, int(message["host"], 16))
    out += field_fixed64(18, message["clock_offset_ns"])
    call = message.get("call", {"client": "0", "id": 0, "kind": 0})
    out += field_fixed64(19, int(call["client"], 16))
    out += field_varint(20, call["id"])
    out += field_varint(21, call["kind"])
    out += field_varint(22, message.get("latch", 0))
    return out


def vector(name: str, encoding: str, payload: bytes, **over: Any) -> dict[str, Any]:
    size = over.pop("struct_size", 0)
    buffers: list[bytes] = over.pop("buffers", [])
    type_name = over.pop("type_name", "test.Sample")
    message: dict[str, Any] = {
        "name": name,
        "channel": "scan",
        "type_name": type_name,
        "encoding": encoding,
        "struct_size": size,
        "type_hash": f"{type_hash(type_name, encoding, size):016x}",
        "sequence": 1,
        "sender": "0123456789abcdef",
        "replayed": False,
        "stamps_ns": {
            "publish": 1_000_000_001,
            "encoded": 1_000_000_500,
            "submitted": 1_000_000_900,
        },
        "host": "feedfacecafebeef",
        "clock_offset_ns": 1_700_000_000_000_000_000,
    }
    message.update(over)
    encoded = head(message, payload, buffers)
    prefix = struct.pack("<IH", len(encoded), SEPARATOR)
    key = message["channel"].encode() + b"\0" + message["type_hash"].encode()
    message["payload"] = payload.hex()
    message["buffers"] = [buffer.hex() for buffer in buffers]
    message["key"] = key.hex()
    message["packet"] = (prefix + encoded + payload + b"".join(buffers)).hex()
    return message


def spoil(good: dict[str, Any]) -> list[dict[str, str]]:
    packet = bytes.fromhex(good["packet"])
    size = struct.unpack("<I", packet[:4])[0]
    body = packet[6 + size :]
    changed_head = packet[6 : 6 + size]

    def with_head(new: bytes) -> bytes:
        return struct.pack("<IH", len(new), SEPARATOR) + new + body

    return [
        {"name": name, "packet": data.hex()}
        for name, data in (
            ("empty", b""),
            ("prefix cut off", packet[:5]),
            ("head cut off", packet[: 6 + size - 1]),
            ("payload cut off", packet[:-1]),
            ("a byte too many", packet + b"\0"),
            ("wrong separator", packet[:4] + b"XY" + packet[6:]),
            ("head length beyond the end", b"\xff\xff\0\0" + packet[4:]),
            ("head longer than allowed", struct.pack("<IH", 5000, SEPARATOR) + bytes(6000)),
            ("no channel", with_head(changed_head[6:])),
            ("control character in the channel", with_head(b"\x0a\x04s\nan" + changed_head[6:])),
            ("unknown encoding", with_head(changed_head + b"\x20\x09")),
            ("impossible payload size", with_head(changed_head + b"\x40" + varint(2**63))),
            ("sizes that overflow", with_head(changed_head + b"\x4a\x0a" + varint(2**64 - 1))),
            ("nine buffers", with_head(changed_head + b"\x4a\x09" + bytes(9))),
            ("wrong wire type", with_head(changed_head + b"\x0d\0\0\0\0")),
            ("group", with_head(changed_head + b"\xfb\x01")),
            ("endless varint", with_head(changed_head + b"\x28" + b"\xff" * 11)),
        )
    ]


def main() -> None:
    packets = [
        vector("bytes", "bytes", b"hello"),
        vector("empty payload", "bytes", b""),
        vector(
            "struct",
            "struct",
            struct.pack("<dif", 1.5, -2, 0.25),
            struct_size=16,
            type_name="test.Pose",
        ),
        vector(
            "protobuf",
            "protobuf",
            field_bytes(1, b"hello"),
            type_name="hyphos.msgs.String",
            channel="greeting",
        ),
        vector(
            "attached",
            "attached",
            field_varint(2, 480) + field_varint(3, 640),
            type_name="hyphos.msgs.Image",
            channel="camera/left",
            buffers=[bytes(range(200)), b"", b"depth"],
        ),
        vector("custom", "custom", bytes([3, 0, 0, 0]) + b"abc", type_name="test.Custom"),
        vector("replayed", "bytes", b"map", replayed=True, sequence=2**40),
        vector("latched", "bytes", b"map", latch=1),
        vector("publisher gone", "bytes", b"", latch=2),
        vector(
            "all stamps",
            "bytes",
            b"x",
            stamps_ns={name: 10**9 + i for i, name in enumerate(STAMPS)},
        ),
        vector(
            "nothing but what must be",
            "bytes",
            b"",
            sequence=0,
            sender="0" * 16,
            host="0" * 16,
            clock_offset_ns=0,
            stamps_ns={},
            type_name="",
        ),
        vector(
            "a request",
            "custom",
            b"x",
            type_name="test.Ask(struct) -> test.Answer(struct)",
            channel="hyphos/service/ask/request",
            call={"client": "fedcba9876543210", "id": 300, "kind": 1},
        ),
        vector("clock behind", "bytes", b"x", clock_offset_ns=-5, channel="ü/€"),
        vector("long names", "bytes", b"x", channel="c" * 255, type_name="t" * 512),
    ]
    types = [
        {
            "name": name,
            "encoding": encoding,
            "size": size,
            "hash": f"{type_hash(name, encoding, size):016x}",
        }
        for name, encoding, size in (
            ("bytes", "bytes", 0),
            ("hyphos.msgs.LaserScan", "protobuf", 0),
            ("hyphos.msgs.Image", "attached", 0),
            ("pkg.Pose", "struct", 56),
            ("pkg.Mine", "custom", 0),
        )
    ]
    vectors = {
        "format": "docs/reference/wire.md, version 1",
        "types": types,
        "packets": packets,
        "corrupt_packets": spoil(packets[0]),
    }
    path = Path(__file__).with_name("vectors.json")
    path.write_text(json.dumps(vectors, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
