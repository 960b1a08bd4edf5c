"""seeds.py CORPUS: writes well-formed inputs to CORPUS/<fuzzer>/.

The fuzzers start from these inputs, because random bytes would hardly ever be well-formed.
"""

from __future__ import annotations

import base64
import json
import random
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

Seed = tuple[str, bytes]


def text(value: str, end: bytes = b"") -> bytes:
    """A string preceded by its length, as in ROS 1, TCPROS, ROS-TCP and CDR."""
    data = value.encode() + end
    return struct.pack("<I", len(data)) + data


def convert() -> Iterator[Seed]:
    """The first byte: bit 0 for ROS 2, then the encoding. made/All of tests/gateway/convert."""
    everything = {
        "flag": True,
        "small": -3,
        "wide": 1 << 60,
        "real": 1.5,
        "text": "grün",
        "stamp": {"secs": 1, "nsecs": 2},
        "bytes": "AQID",
        "fixed": [1, -2, 3],
        "floats": [0.5, None, "NaN", "-Infinity"],
        "matrix": [1.0, 2.0],
        "numbers": [-1, 1],
        "texts": ["a", ""],
        "inner": {"x": 7},
        "parts": [{"x": 1}, {"x": -1}],
        "nothing": [{}, {}],
    }
    yield "json_ros1", b"\4" + json.dumps(everything).encode()
    long = everything | {"bytes": "AQID/+ab" * 9 + "AQ==", "texts": ["plain", "a" * 40]}
    yield "json_long", b"\4" + json.dumps(long).encode()
    yield "json_image", b"\4" + json.dumps({"bytes": "AQID" * 5000, "text": "a"}).encode()
    everything["stamp"] = {"sec": 1, "nanosec": 2}
    both = everything | {"few": [1, 2], "signs": "ab"}
    yield "json_ros2", b"\5" + json.dumps(both).encode()
    yield "nothing_ros1", b"\0" + bytes(80)
    yield "nothing_ros2", b"\3" + b"\0\1\0\0" + bytes(160)
    first = struct.pack("<?bQd", True, -3, 1 << 60, 1.5) + text("text") + struct.pack("<II", 1, 2)
    rest = struct.pack("<I3s3b", 3, b"\1\2\3", 1, -2, 3) + struct.pack("<I2f2d", 2, 0.5, 1, 1, 2)
    rest += struct.pack("<I2h", 2, -1, 1) + struct.pack("<I", 2) + text("a") + text("")
    rest += struct.pack("<qI2qI", 7, 2, 1, -1, 2)
    yield "all_ros1", b"\0" + first + rest
    # As a channel carries it: fields 1, 5, 7 and 13 of protobuf.
    yield "channel", b"\6" + b"\x08\1\x2a\4text\x3a\3\1\2\3\x6a\2\x08\7"


def view_layouts() -> Iterator[Seed]:
    yield "small", b"hyphos_view: 1\npanels: {panel: scene}\n"
    yield (
        "whole",
        b"hyphos_view: 1\ntheme: light\nbudget_mb: 64\nfixed_frame: map\n"
        b"camera: {kind: top_down, target: [1, -2.5e3, 0], yaw: 1}\nviews:\n  top: {pitch: 1.5}\n"
        b'displays:\n  - {show: points, channel: "a b", visible: false, color: flat}\n'
        b"panels:\n  columns:\n    - {panel: scene, size: 3}\n    - rows:\n"
        b'        - {panel: plot, fields: [odom:x, "scan:ranges[3]"]}\n',
    )


def one_pixel() -> bytes:
    """A PNG file."""
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0\1\2\3")),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )


def view_displays() -> Iterator[Seed]:
    """See the first bytes in fuzz_view_displays.cpp. Heads are protobuf messages."""

    def varint(value: int) -> bytes:
        out = b""
        while value > 0x7F:
            out += bytes([value & 0x7F | 0x80])
            value >>= 7
        return out + bytes([value])

    def part(number: int, value: int | bytes) -> bytes:
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        return varint(number << 3 | 2) + varint(len(value)) + value

    def real(number: int, *values: float) -> bytes:
        return b"".join(varint(number << 3 | 1) + struct.pack("<d", one) for one in values)

    def single(number: int, value: float) -> bytes:
        return varint(number << 3 | 5) + struct.pack("<f", value)

    def seed(kind: int, head: bytes, buffer: bytes = b"") -> bytes:
        return bytes([kind]) + struct.pack("<H", len(head)) + head + buffer

    header = part(1, part(1, 1_000_000_000) + part(2, b"base"))
    fields = b"".join(
        part(4, part(1, name) + part(2, offset) + part(3, 7) + part(4, 1))
        for offset, name in ((0, b"x"), (4, b"y"), (8, b"z"), (12, b"rgb"))
    )
    cloud = part(2, 1) + part(3, 4) + fields + part(6, 16) + part(7, 64)
    yield "cloud", seed(0, header + cloud, struct.pack("<16f", *range(16)))
    big_endian = cloud + part(5, 1)
    yield "cloud_big_endian", seed(0, big_endian, struct.pack(">16f", *range(16)))
    limits = single(2, -1) + single(4, 0.5) + single(7, 0.1) + single(8, 9)
    ranges = part(9, struct.pack("<4f", 1, 2, float("inf"), 4))
    yield "scan", seed(1, header + limits + ranges)
    pose = part(1, real(1, 1) + real(2, 2)) + part(2, real(4, 1))
    info = single(2, 0.5) + part(3, 2) + part(4, 2) + part(5, pose)
    yield "map", seed(2, header + part(2, info) + part(3, b"\0\x64\xff\x32"))
    yield "path", seed(3, header + part(2, part(2, pose)) * 3)
    covariance = part(2, struct.pack("<36d", *([0.5] * 36)))
    yield "odometry", seed(4, header + part(3, part(1, pose) + covariance))
    yield "pose", seed(5, header + part(2, pose))
    yield "pose_array", seed(7, header + part(2, pose) * 2)
    image = part(2, 2) + part(3, 2) + part(4, b"rgb8") + part(6, 6)
    yield "image", seed(9, header + image, bytes(range(12)))
    depth = part(2, 2) + part(3, 2) + part(4, b"16UC1") + part(6, 4)
    yield "depth", seed(9, header + depth, bytes(range(8)))
    scale = part(7, real(1, 1) + real(2, 1) + real(3, 1))
    points = b"".join(part(11, real(1, one)) for one in (1.0, 2.0, 3.0))
    for kind in (0, 1, 4, 6, 8, 9, 11, 12):
        marker = part(2, b"a") + part(3, 1) + part(4, kind) + part(6, pose) + scale + points
        yield f"marker_{kind}", seed(10, header + marker)
        yield f"markers_{kind}", seed(11, part(1, header + marker) * 2)
    places = b"".join(part(15, single(1, one) + single(2, one)) for one in (0.0, 0.5, 1.0))
    texture = part(13, b"embedded://a") + part(14, part(3, one_pixel())) + places
    textured = header + part(4, 11) + part(6, pose) + scale + points + texture
    yield "marker_texture", seed(10, textured)
    shape = '<visual><geometry><capsule radius="1" length="2"/></geometry></visual>'
    robot = f'<robot name="r"><link name="a">{shape}</link></robot>'
    yield "robot", seed(12, part(1, robot.encode()))
    yield "wrench", seed(13, header + part(2, part(1, real(1, 1)) + part(2, real(3, 1))))
    yield "range", seed(14, header + single(3, 0.5) + single(4, 0.1) + single(5, 4) + single(6, 2))
    triangle = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    yield "stl", b"\xff\0\0" + b"\0" * 80 + struct.pack("<I", 1) + triangle
    yield "obj", b"\xff\1\0" + b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    yield (
        "obj_texture",
        b"\xff\1\0mtllib a.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
        b"f 1/1 2/2 3/3\n",
    )


def xml(method: str, *params: str) -> bytes:
    inside = "".join(f"<param><value>{param}</value></param>" for param in params)
    whole = f"<methodName>{method}</methodName><params>{inside}</params>"
    return f"<?xml version='1.0'?><methodCall>{whole}</methodCall>".encode()


def ros1() -> Iterator[Seed]:
    """The first byte selects the parser, see fuzz_ros1.cpp."""
    tree = (
        "<struct><member><name>speed</name><value><double>1.5</double></value></member>"
        "<member><name>list</name><value><array><data><value><int>1</int></value>"
        "<value><boolean>1</boolean></value><value><base64>AQID</base64></value>"
        "<value><dateTime.iso8601>19980717T14:08:55</dateTime.iso8601></value>"
        "</data></array></value></member></struct>"
    )
    calls = {
        "set": xml("setParam", "/node", "/robot", tree),
        "get": xml("getParam", "/node", "/robot/speed"),
        "search": xml("searchParam", "/robot/node", "speed"),
        "names": xml("getParamNames", "/node"),
        "delete": xml("deleteParam", "/node", "/robot"),
        "together": xml(
            "system.multicall",
            "<array><data><value><struct><member><name>methodName</name><value>hasParam</value>"
            "</member><member><name>params</name><value><array><data><value>/n</value>"
            "<value>/robot</value></data></array></value></member></struct></value></data></array>",
        ),
    }
    for name, call in calls.items():
        yield f"call_{name}", b"\0" + call
        yield f"asked_{name}", b"\6" + call
    value = f"<params><param><value>{tree}</value></param></params>"
    yield "reply", b"\1" + f"<methodResponse>{value}</methodResponse>".encode()
    fault = tree.replace("speed", "faultCode").replace("list", "faultString")
    yield (
        "fault",
        b"\1" + f"<methodResponse><fault><value>{fault}</value></fault></methodResponse>".encode(),
    )
    fields = ("callerid=/talker", "topic=/chatter", "md5sum=*", "type=std_msgs/String", "a==b")
    yield "header", b"\2" + b"".join(text(field) for field in fields)
    yield "answer", b"\3\2" + b"\1" + text("yes")
    yield "error", b"\3\4" + b"\0" + text("no")
    yield "names", b"\4" + b"http://127.0.0.1:11311/ *,!/a/*"
    head = struct.pack("<III", 1, 2, 3) + text("frame")
    goal = struct.pack("<II", 4, 5) + text("/node-1-4.5")
    yield "goal", b"\7" + head + goal + struct.pack("<i", 3)
    record = goal + b"\3" + text("done")
    yield "result", b"\7" + head + record + struct.pack("<i", 6)
    yield "states", b"\7" + head + struct.pack("<I", 2) + 2 * record
    yield "params", b"\5" + b"/a/b 1\n/a 2\n/a/c/d\n~e 3\n/a"


def ros2() -> Iterator[Seed]:
    def entities(gid: int) -> bytes:
        message = b"\0\1\0\0" + bytes(range(gid)) + struct.pack("<I", 1)
        message += text("/", b"\0") + b"\0\0" + text("hyphos", b"\0") + b"\0"
        return message + struct.pack("<I", 1) + bytes(gid) + struct.pack("<I", 0)

    yield "entities_iron", b"\0" + entities(16)
    yield "entities_humble", b"\0" + entities(24)
    yield "call", b"\1" + b"\0\1\0\0" + struct.pack("<Qq", 7, 1) + b"\1"
    info = bytes(range(16)) + struct.pack("<iI", 1, 2)
    yield "goal", b"\3" + b"\0\1\0\0" + bytes(range(16)) + struct.pack("<i", 3)
    states = struct.pack("<I", 1) + info + b"\2"
    yield "states", b"\3" + b"\0\1\0\0" + states
    yield "cancel", b"\3" + b"\0\1\0\0" + info
    for name in ("rt/camera/image", "rq/addRequest", "rr/addReply", "/ns/node"):
        yield name.replace("/", "_"), b"\2" + name.encode()
    for name in ("sensor_msgs::msg::dds_::Image_", "std_srvs::srv::dds_::SetBool_Request_"):
        yield name.replace("::", "_"), b"\2" + name.encode()


def frame(name: str, payload: bytes) -> bytes:
    return text(name) + struct.pack("<I", len(payload)) + payload


def ros_tcp() -> Iterator[Seed]:
    def command(name: str, **values: object) -> bytes:
        return frame(name, json.dumps(values).encode())

    chat = {"topic": "/chat", "message_name": "a/B"}
    lamp = {"topic": "/lamp", "message_name": "a/S"}
    yield "handshake", bytes(8) + command("__topic_list") + command("__ping", request_time="1")
    yield (
        "publish",
        command("__publish", **chat, queue_size=10, latch=True) + frame("/chat", text("hi")),
    )
    ended = command("__remove_subscriber", topic="/chat")
    yield "subscribe", command("__subscribe", **chat) + ended
    yield (
        "call",
        command("__ros_service", **lamp) + command("__request", srv_id=1) + frame("/lamp", b"\1"),
    )
    yield (
        "serve",
        command("__unity_service", **lamp)
        + command("__response", srv_id=1)
        + frame("/lamp", b"\1"),
    )


def png(pixels: bytes, width: int, height: int, color: int) -> bytes:
    """`pixels`: rows with their filters."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    packed = chunk(b"IDAT", zlib.compress(pixels))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + packed + chunk(b"IEND", b"")


LEVEL = b'{"op":"set_level","level":"none"}'
LEVEL_PNG = base64.b64encode(png(b"\0" + LEVEL, len(LEVEL), 1, 0)).decode()

OPERATIONS: list[dict[str, object]] = [
    {"op": "advertise", "topic": "/a", "type": "std_msgs/String", "latch": True, "id": "1"},
    {"op": "publish", "topic": "/a", "msg": {"data": "x"}},
    {"op": "subscribe", "topic": "/a", "id": 7, "throttle_rate": 1, "queue_length": 2},
    {"op": "subscribe", "topic": "/a", "compression": "png", "fragment_size": 10},
    {"op": "subscribe", "topic": "/a", "compression": "cbor-raw"},
    {"op": "unsubscribe", "topic": "/a", "id": 7},
    {"op": "unadvertise", "topic": "/a"},
    {"op": "advertise_service", "service": "/s", "type": "std_srvs/SetBool"},
    {"op": "call_service", "service": "/s", "args": [True], "id": "c", "timeout": 0.1},
    {"op": "call_service", "service": "/rosapi/topic_type", "args": {"topic": "/a"}},
    {"op": "service_response", "service": "/s", "id": "service_request:0", "values": {}},
    {"op": "unadvertise_service", "service": "/s"},
    {"op": "fragment", "id": "f", "num": 0, "total": 2, "data": '{"op":"set_level",'},
    {"op": "fragment", "id": "f", "num": 1, "total": 2, "data": '"level":"info"}'},
    {"op": "advertise_action", "action": "/c", "type": "made/Count"},
    {"op": "send_action_goal", "action": "/c", "id": "g", "args": [1], "feedback": True},
    {"op": "send_action_goal", "action": "/c", "action_type": "made/Count", "args": {"to": 1}},
    {"op": "action_feedback", "action": "/c", "id": "action_goal:0", "values": {"at": 1}},
    {"op": "cancel_action_goal", "action": "/c", "id": "g"},
    {"op": "action_result", "action": "/c", "id": "action_goal:0", "values": {}, "status": 4},
    {"op": "unadvertise_action", "action": "/c"},
    {"op": "set_level", "level": "warning"},
    {"op": "auth", "token": "x"},
    {"op": "png", "data": LEVEL_PNG},
    {"op": "png", "id": "p", "num": 0, "total": 2, "data": LEVEL_PNG[:50]},
    {"op": "png", "id": "p", "num": 1, "total": 2, "data": LEVEL_PNG[50:]},
    {
        "op": "fragment",
        "id": "q",
        "num": 0,
        "total": 1,
        "data": f'{{"op":"png","data":"{LEVEL_PNG}"}}',
    },
]


def rosbridge_session() -> Iterator[Seed]:
    lines = [json.dumps(operation).encode() for operation in OPERATIONS]
    for at, line in enumerate(lines):
        yield f"one_{at}", line
    yield "all", b"\0".join(lines)
    yield "special", b'{"op":"publish","topic":"/a","type":"std_msgs/String","msg":{"data":NaN}}'
    yield "binary", b"B\xa2bopdauthetokenax"


def rosbridge_png() -> Iterator[Seed]:
    """See the first byte in fuzz_rosbridge_png.cpp."""
    yield "gray", b"\0" + png(b"\0" + LEVEL, len(LEVEL), 1, 0)
    yield "rgb", b"\0" + png(b"\0abcdef\1ghijkl", 2, 2, 2)
    rows = b"".join(bytes([kind]) + b"abcdefgh" for kind in range(5))
    for color, width in ((0, 8), (2, 2), (6, 2)):
        yield f"rows_{color}", b"\1" + struct.pack(">IIBBBBB", width, 5, 8, color, 0, 0, 0) + rows
    packed = zlib.compress(rows)
    yield "deflated", b"\2" + struct.pack(">IIBBBBB", 2, 5, 8, 6, 0, 0, 0) + packed
    yield "json", b"\3" + LEVEL


def rosbridge_bson() -> Iterator[Seed]:
    """The examples of bsonspec.org, and one value of each kind."""
    yield "hello", b"\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0"
    yield (
        "awesome",
        (
            b"\x31\0\0\0\x04BSON\0\x26\0\0\0\x020\0\x08\0\0\0awesome\0"
            b"\x011\0\x33\x33\x33\x33\x33\x33\x14\x40\x102\0\xc2\x07\0\0\0\0"
        ),
    )
    for value in (b"\x0aa\0", b"\x08a\0\1", b"\x12a\0" + bytes(8), b"\x05a\0\1\0\0\0\0x"):
        document = struct.pack("<I", 5 + len(value)) + value + b"\0"
        yield f"type_{value[0]}", document


def rosbridge_cbor() -> Iterator[Seed]:
    yield "map", b"\xa3bopgpublishetopicb/acmsg\xa1ddataex\xc3\xa9y12"
    yield "typed", b"\xa2ai\xd8U\x48\0\0\x80?\0\0\xc0?ab\xd8@C\1\2\3"
    yield "endless", b"\xbfaa\x9f\1\x20\xf9\x3c\0\xfa?\x80\0\0\xfb?\xf0\0\0\0\0\0\0\xff\xff"


def rosbridge_frames() -> Iterator[Seed]:
    head = b"Host: 127.0.0.1:9090\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    head += b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    head += b"Origin: http://localhost:8080\r\nAuthorization: Bearer x\r\n\r\n"
    yield "handshake", b"GET /?a=b&token=%41%z HTTP/1.1\r\n" + head
    mask = b"m@sk"

    def masked(first: int, payload: bytes) -> bytes:
        body = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack("!H", size)
        return bytes([first]) + length + mask + body

    yield "whole", masked(0x81, b'{"op":"auth"}') + masked(0x89, b"ping") + masked(0x88, b"\3\xe8")
    yield "pieces", masked(0x01, b'{"op":') + masked(0x8A, b"") + masked(0x80, b'"auth"}')
    yield "long", masked(0x82, b"\xa1" + bytes(300))


def builtin() -> Iterator[Seed]:
    """See the first byte in fuzz_builtin.cpp."""
    yield "gray", b"\0" + png(b"\0" + LEVEL, len(LEVEL), 1, 0)
    yield "rgb", b"\0" + png(b"\0abcdef\1ghijkl", 2, 2, 2)
    link = '<link name="a"/><link name="b"/>'
    ends = '<parent link="a"/><child link="b"/><origin xyz="1 2 3" rpy="0 0 1"/>'
    axis = '<axis xyz="0 0 1"/><limit lower="-1" upper="2"/><mimic joint="k"/>'
    joint = f'<joint name="j" type="revolute">{ends}{axis}</joint>'
    yield "urdf", b"\1" + f'<robot name="r">{link}{joint}</robot>'.encode()
    plain = joint.replace('<mimic joint="k"/>', "")
    yield "urdf_plain", b"\1" + f'<robot name="r">{link}{plain}</robot>'.encode()
    samples = b"\x3d\x01\x00\xa0\x0f" + b"\x3e\x81\x16\xa0\x0f" * 8
    yield "laser", b"\2" + b"\xa5\x5a\x05\0\0\x40\x81" + samples
    yield (
        "joystick",
        b"\3" + struct.pack("<IhBB", 1, -20000, 2, 1) + struct.pack("<IhBB", 2, 1, 1, 4),
    )


def recording() -> Iterator[Seed]:
    table = b"time_ms,from,to,delay_ms,"
    yield "loss", table + b"loss\n0,*,*,0.00001,0\n0.0001,a,b,1.5,0.5\n0.0002,a,*,2,1\n"
    yield "outcome", table + b"outcome # of each\n0,a,1,0.1,collision\n0,a,b,1,delivered\n"
    yield (
        "trace",
        b"0 send 1 from 0 to 1 bytes 4 hash 9ae1\n0 send 2 from 1 to everyone bytes 0 hash f\n"
        b"50 send 3 from 0 to 1 bytes 4 hash 9ae1\n90 delivered 1 to 1 read 100\n"
        b"90 dropped 2 to everyone out_of_range copies 1\n95 dropped 2 to 2 collision\n",
    )


def mcap_reader() -> Iterator[Seed]:
    """Small files of MCAP, with and without an index. Chunks are not compressed."""
    magic = b"\x89MCAP0\r\n"

    def record(op: int, content: bytes) -> bytes:
        return struct.pack("<BQ", op, len(content)) + content

    def message(time: int, channel: int = 1) -> bytes:
        return record(5, struct.pack("<HIQQ", channel, 1, time, time) + b"data")

    def chunk(body: bytes, start: int, end: int) -> bytes:
        head = struct.pack("<QQQI", start, end, len(body), zlib.crc32(body)) + text("")
        return record(6, head + struct.pack("<Q", len(body)) + body)

    start = magic + record(1, text("hyphos") + text("seed"))
    define = record(3, struct.pack("<H", 1) + text("pkg.A") + text("protobuf") + text("def"))
    define += record(4, struct.pack("<HH", 1, 1) + text("a") + text("protobuf") + text(""))
    first = chunk(message(5) + message(3) + message(9), 3, 9)
    second = chunk(define + message(6) + message(12), 6, 12)
    values = text("a") + text("b")
    extra = record(12, text("state") + struct.pack("<I", len(values)) + values)
    extra += record(9, struct.pack("<QQ", 1, 2) + text("x") + text("y") + struct.pack("<QI", 0, 0))
    data = start + define + first + second + extra
    yield "plain", start + define + message(4) + message(2) + record(15, bytes(4))
    yield "unfinished", data
    end = record(15, bytes(4))
    at = len(start + define)
    indexes = b"".join(
        record(
            8,
            struct.pack("<QQQQ", low, high, where, len(part))
            + struct.pack("<IHQ", 10, 1, where)
            + struct.pack("<Q", 0)
            + text("")
            + struct.pack("<QQ", len(part), len(part)),
        )
        for low, high, where, part in ((3, 9, at, first), (6, 12, at + len(first), second))
    )
    summary = define + indexes
    where = len(data + end)
    yield (
        "indexed",
        data + end + summary + record(2, struct.pack("<QQI", where, 0, 0)) + magic,
    )


def view_data() -> Iterator[Seed]:
    """The first byte selects the parser, see fuzz_view_data.cpp."""
    part = b"=" * 20 + b"\nMSG: p/Part\nuint16 n\nint64[] many\n"
    yield "definition", b"\0int8 X=3\nfloat64[<=3] a # x\nstring<=5 b\nPart[2] c\n" + part
    yield "standard", b"\0std_msgs/Header h\n" + b"=" * 20 + b"\nMSG: std_msgs/Header\ntime stamp\n"
    ros1 = struct.pack("<b3d", 1, 1, 2, 3) + struct.pack("<I", 1) + text("a")
    ros1 += struct.pack("<IHIq", 1, 2, 1, 3) + struct.pack("<ii", 1, 2)
    yield "ros1", b"\2" + ros1 + struct.pack("<I3s?", 3, b"abc", True)
    cdr = struct.pack("<b7x3d", 1, 1, 2, 3) + struct.pack("<I", 1) + text("a", b"\0")
    cdr += struct.pack("<2xIH2xI", 1, 2, 1) + struct.pack("<4xq", 3) + struct.pack("<ii", 1, 2)
    yield "cdr", b"\1" + b"\0\1\0\0" + cdr + struct.pack("<I3s?", 3, b"abc", True)
    yield "attached", b"\3\x08\1\x82\xea\x30\3abc\x82\xea\x30\0"
    pose = b"\x0a\2\x12\0\x12\4base\x1a\x0d\x0a\0\x12\x09\x21" + struct.pack("<d", 1)
    yield "tf", b"\4\x0a" + bytes([len(pose)]) + pose
    yield "scan", b"\4\x4a\x08" + struct.pack("<2f", 1, 2) + b"\x15" + struct.pack("<f", 3)
    message = b"\x0a\1M\x12\x09\x0a\1x\x18\1\x20\1\x28\1"
    file = b"\x0a\7a.proto\x22" + bytes([len(message)]) + message
    yield "types", b"\5\x0a" + bytes([len(file)]) + file
    yield "path", b"\6pose.covariance[3]"


def patrol() -> Iterator[Seed]:
    """Bytes of 255 choose the usual value of a field, see fuzz_patrol.cpp."""
    odometry, scan, grid, pose = (
        bytes([kind]) + b"\xff" * fields for kind, fields in ((0, 6), (2, 15), (5, 49), (6, 6))
    )
    yield "drive", b"".join(odometry + scan + b"\7\xff\xff" for _ in range(13))
    yield "plan", grid + b"".join(pose for _ in range(30))
    yield "all", b"".join(odometry + scan + grid + pose for _ in range(10))
    chance = random.Random(5)
    for number in range(20):  # one field in twelve is odd
        kinds = chance.choices((odometry, scan, grid, pose, b"\7\xff\xff"), (4, 6, 1, 3, 1), k=40)
        usual = b"".join(kinds)
        yield (
            f"odd_{number}",
            bytes(
                chance.randrange(64) if byte == 255 and chance.random() < 1 / 12 else byte
                for byte in usual
            ),
        )


def cosim_mavlink() -> Iterator[Seed]:
    """Bit 0 of the first byte: ArduPilot. Bit 1: messages instead of frames."""

    def command(number: int, *values: float) -> bytes:
        return b"\4" + struct.pack("<7fHBBB", *(values + (0,) * 7)[:7], number, 1, 1, 0)

    def target(mask: int, frame: int, *values: float) -> bytes:
        return b"\5" + struct.pack("<I11fHBBB", 0, *(values + (0,) * 11)[:11], mask, 1, 1, frame)

    arm, take_off, land = command(400, 1), command(22, 0, 0, 0, 0, 0, 0, 5), command(21)
    places = target(0b110111111000, 1, 1, 2, -3) + target(0b110111111000, 9, 1, 2, -3)
    speeds = target(0b010111000111, 1, 0, 0, 0, 1, 2, -1) + target(0, 8, *range(11))
    intervals = command(511, 32, 20_000) + command(511, 30, -1) + command(511, 33, 0)
    px4 = places + command(176, 1, 6, 0) + speeds + command(176, 1, 4, 3)
    copter = command(176, 1, 4) + take_off + places + speeds + command(176, 1, 9)
    yield "px4", b"\2" + arm + take_off + intervals + px4 + land
    yield "ardupilot", b"\3" + arm + intervals + copter + land
    yield "frame", b"\0\xfe\x02\x00\xff\xbe\x2b\x01\x01\x00\x00"


EXAMPLES = Path(__file__).parents[2] / "examples"


def examples(pattern: str) -> Iterator[Seed]:
    for path in sorted(EXAMPLES.glob(pattern)):
        yield "_".join(path.relative_to(EXAMPLES).parts), path.read_bytes()


SEEDS = {
    "fuzz_convert": convert,
    "fuzz_cosim_mavlink": cosim_mavlink,
    "fuzz_cosim_recording": recording,
    "fuzz_cosim_scenario": lambda: examples("cosim/*.yaml"),
    "fuzz_mcap_reader": mcap_reader,
    "fuzz_patrol": patrol,
    "fuzz_view_data": view_data,
    "fuzz_view_layout": view_layouts,
    "fuzz_view_displays": view_displays,
    "fuzz_plan": lambda: examples("*/*.yaml"),
    "fuzz_ros1": ros1,
    "fuzz_ros2": ros2,
    "fuzz_ros_tcp": ros_tcp,
    "fuzz_ros_tcp_session": ros_tcp,
    "fuzz_rosbridge_session": rosbridge_session,
    "fuzz_rosbridge_bson": rosbridge_bson,
    "fuzz_rosbridge_cbor": rosbridge_cbor,
    "fuzz_builtin": builtin,
    "fuzz_rosbridge_png": rosbridge_png,
    "fuzz_rosbridge_frames": rosbridge_frames,
}


def main() -> None:
    for fuzzer, seeds in SEEDS.items():
        folder = Path(sys.argv[1], fuzzer)
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in seeds():
            (folder / f"seed_{name}").write_bytes(data)


if __name__ == "__main__":
    main()
