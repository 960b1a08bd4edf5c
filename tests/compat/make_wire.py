"""Makes wire.json, the golden vectors of docs/reference/wire.md and docs/reference/wire_links.md,
without any Hyphos code.

`scripts/compat update wire` writes the file of the present version. Tests of tests/wire compare
encoder and decoder with the files of all versions, byte for byte. Bytes are hexadecimal text, so
that a program in any language can read the vectors.
"""

import json
import struct
from pathlib import Path
from typing import Any

SEPARATOR = 0x5948
LINK_VERSION = BEACON_VERSION = 1
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
    out += field_varint(23, message.get("latched_depth", 0))
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


def packets_and_types() -> dict[str, Any]:
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
        vector("latched deeply", "bytes", b"map", latch=1, latched_depth=5),
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
    return {"types": types, "packets": packets, "corrupt_packets": spoil(packets[0])}


# --- Links --------------------------------------------------------------------------------------

SESSION, HOST = "00000000000000f0", "feedfacecafebeef"


def type_fields(first: int, name: str, encoding: str) -> bytes:
    """A type in a control message: name, hash and encoding in three fields."""
    out = field_bytes(first, name.encode())
    out += field_fixed64(first + 1, type_hash(name, encoding))
    return out + field_varint(first + 2, ENCODINGS[encoding])


def greeting(message: dict[str, Any]) -> bytes:
    """The common fields of Welcome and Hello."""
    out = field_fixed64(1, int(message["session"], 16))
    out += field_bytes(2, message["process"].encode())
    out += field_fixed64(3, int(message["host"], 16))
    return out + field_varint(4, message["version"])


def subscribe_body(message: dict[str, Any]) -> bytes:
    out = field_varint(1, message["stream"]) + field_bytes(2, message["channel"].encode())
    out += type_fields(3, message["type_name"], message["encoding"])
    out += field_varint(6, message["window_messages"])
    out += field_varint(7, message["window_bytes"])
    return out + field_varint(8, message["reliable"]) + field_varint(9, message["resume_after"])


# The second field of the messages that have a stream and one number.
SECOND = {"unsubscribe": "taken", "accepted": "first", "closed": "sent", "ack": "taken"}


def control_body(message: dict[str, Any]) -> bytes:
    kind = message["kind"]
    if kind in ("welcome", "hello"):
        streams = b"".join(map(varint, message.get("streams", ())))
        via = field_bytes(5, message.get("via", "").encode())
        return greeting(message) + via + field_bytes(6, streams)
    if kind == "subscribe":
        return subscribe_body(message)
    if kind == "refused":
        out = field_varint(1, message["stream"])
        return out + type_fields(2, message["type_name"], message["encoding"])
    if kind in SECOND:
        return field_varint(1, message["stream"]) + field_varint(2, message[SECOND[kind]])
    names = ("asked_ns", "heard_ns", "answered_ns", "clock_offset_ns")
    numbered = enumerate(names, start=1)
    return b"".join(field_fixed64(number, message.get(name, 0)) for number, name in numbered)


KINDS = (
    "welcome", "hello", "subscribe", "unsubscribe", "accepted", "refused", "closed", "ack", "bye",
    "nothing", "ask", "answer",
)  # fmt: skip


def control(**message: Any) -> dict[str, Any]:
    """A control message: a zero byte, then `Control` with one of its kinds. An empty kind is
    written too."""
    body = control_body(message)
    field = varint((KINDS.index(message["kind"]) + 1) << 3 | 2) + varint(len(body)) + body
    return message | {"frame": (b"\0" + field).hex()}


def controls() -> list[dict[str, Any]]:
    greeted = {"session": SESSION, "host": HOST, "version": LINK_VERSION}
    sample = {"type_name": "test.Sample", "encoding": "custom"}
    return [
        control(kind="welcome", process="lidar", **greeted),
        control(
            kind="hello",
            process="mapper",
            via="tcp://10.0.0.2:5553",
            streams=[1, 2, 300],
            **greeted,
        ),
        control(kind="hello", process="mapper", via="", streams=[], **greeted),
        control(
            kind="subscribe",
            stream=3,
            channel="front/scan",
            window_messages=10,
            window_bytes=262_144,
            reliable=True,
            resume_after=99,
            **sample,
        ),
        control(
            kind="subscribe",
            stream=2**32 - 1,
            channel="c" * 255,
            window_messages=1,
            window_bytes=0,
            reliable=False,
            resume_after=0,
            **sample,
        ),
        control(kind="unsubscribe", stream=3, taken=2**40),
        control(kind="accepted", stream=3, first=101),
        control(kind="refused", stream=3, **sample),
        control(kind="closed", stream=3, sent=102),
        control(kind="ack", stream=3, taken=103),
        control(kind="bye"),
        control(kind="nothing"),
        control(kind="ask", asked_ns=-5),
        control(kind="answer", asked_ns=-5, heard_ns=6, answered_ns=7, clock_offset_ns=-(2**63)),
    ]


def first_frame(packet: dict[str, Any], stream: int, sequence: int) -> dict[str, Any]:
    """Frame 0 of a data message: key, zero byte, trailer, and the packet up to its payload."""
    whole = bytes.fromhex(packet["packet"])
    size = 6 + struct.unpack("<I", whole[:4])[0]
    trailer = struct.pack("<IQ", stream, sequence)
    frame = bytes.fromhex(packet["key"]) + b"\0" + trailer + whole[:size]
    return {
        "packet": packet["name"],
        "channel": packet["channel"],
        "type_hash": packet["type_hash"],
        "stream": stream,
        "sequence": sequence,
        "trailer": trailer.hex(),
        "frame": frame.hex(),
    }


def beacon(**message: Any) -> dict[str, Any]:
    out = field_varint(1, BEACON_VERSION) + field_bytes(2, message["domain"].encode())
    out += field_fixed64(3, int(message["session"], 16))
    out += field_bytes(4, message["process"].encode())
    out += field_fixed64(5, int(message["host"], 16))
    out += b"".join(field_bytes(6, one.encode()) for one in message["endpoints"])
    out += field_varint(7, message["period_ms"]) + field_varint(8, message["leaving"])
    out += field_bytes(9, message["curve_key"].encode())
    out += b"".join(field_bytes(10, one.encode()) for one in message["channels"])
    out += field_fixed64(11, int(message["channels_digest"], 16))
    return message | {"datagram": out.hex()}


def beacons() -> list[dict[str, Any]]:
    common = {"domain": "lab", "session": SESSION, "process": "mapper", "host": HOST}
    return [
        beacon(
            endpoints=["tcp://10.0.0.2:5553", "tcp://*:5554"],
            period_ms=1000,
            leaving=False,
            curve_key="k" * 40,
            channels=["scan", "front/map"],
            channels_digest="000000000000004d",
            **common,
        ),
        beacon(
            endpoints=[],
            period_ms=0,
            leaving=True,
            curve_key="",
            channels=[],
            channels_digest="0" * 16,
            **common,
        ),
    ]


# --- Clocks -------------------------------------------------------------------------------------


def clock(**message: Any) -> dict[str, Any]:
    out = field_varint(1, message["now_ns"])
    if message["base_ns"] >= 0:  # 0 is written too, because it differs from an absent base
        out += varint(2 << 3) + varint(message["base_ns"])
    out += field_fixed64(3, struct.unpack("<Q", struct.pack("<d", message["speed"]))[0])
    out += field_varint(4, message["paused"]) + field_fixed64(5, int(message["source"], 16))
    out += field_varint(6, message["jumps"]) + field_varint(7, message["replayed"])
    out += field_fixed64(8, message["last_command"]) + field_bytes(9, message["refusal"].encode())
    return message | {"payload": out.hex()}


def command(**message: Any) -> dict[str, Any]:
    out = field_fixed64(1, message["id"]) + field_varint(2, message["action"])
    out += field_varint(3, message["value_ns"] % 2**64)
    out += field_fixed64(4, struct.unpack("<Q", struct.pack("<d", message["speed"]))[0])
    return message | {"payload": out.hex()}


def clocks() -> list[dict[str, Any]]:
    zero: dict[str, Any] = {
        "now_ns": 0, "base_ns": -1, "speed": 0.0, "paused": False, "source": "0" * 16, "jumps": 0,
        "replayed": False, "last_command": 0, "refusal": "",
    }  # fmt: skip
    full = {
        "now_ns": 1_700_000_000_123_456_789, "base_ns": 1_700_000_000_000_000_000, "speed": 2.5,
        "paused": True, "source": "fedcba9876543210", "jumps": 300, "replayed": True,
        "last_command": 99, "refusal": "no",
    }  # fmt: skip
    return [clock(**zero), clock(**zero | {"base_ns": 0}), clock(**full)]


def commands() -> list[dict[str, Any]]:
    return [
        command(id=77, action=3, value_ns=-5, speed=0.25),
        command(id=2**63, action=5, value_ns=2**62, speed=0.0),
    ]


def vectors() -> dict[str, Any]:
    basic = packets_and_types()
    packets = {packet["name"]: packet for packet in basic["packets"]}
    return {
        "format": "docs/reference/wire.md and wire_links.md, version 1",
        **basic,
        "controls": controls(),
        "first_frames": [
            first_frame(packets["struct"], 0x01020304, 0x1122334455667788),
            first_frame(packets["attached"], 1, 1),
        ],
        "beacons": beacons(),
        "clocks": clocks(),
        "clock_commands": commands(),
    }


def text() -> str:
    return json.dumps(vectors(), indent=1, ensure_ascii=True) + "\n"


def write(path: Path) -> None:
    path.write_text(text(), encoding="utf-8")
