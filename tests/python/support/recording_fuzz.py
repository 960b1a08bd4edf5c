"""Runs recordings with faults through every command that reads recordings.

For any content of a file, a command does its work or ends with one `hyphos.Error`. Each message
that a recording announces is returned or counted as left out. One number makes one input.
"""

from __future__ import annotations

import contextlib
import io
import random
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import hyphos
from bags_made import BagLayout, Row, Topic, make_bag, make_db3, make_folder, string1, string2
from hyphos.msgs import String
from hyphos.recording.bag import Selection, WriteOptions, check, cut, gather, merge
from hyphos.recording.bag_convert import convert
from hyphos.recording.mcap_file import McapSource
from hyphos.recording.opening import open_source
from hyphos.recording.ros_bag import RosSource
from hyphos.recording.source import LEFT_OUT
from mcap_made import Attachment, Channel, Layout, Message, Metadata, Record, Schema, make

EDGES = [0, 1, 2, 7, 127, 128, 255, 256, 65535, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
EDGES += [1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
DEFINITIONS = [
    ("std_msgs/msg/String", "ros2msg", b"string data\n"),
    ("std_msgs/msg/String", "ros2msg", b"string data\r\n"),
    ("sensor_msgs/msg/Image", "ros2msg", b"uint32 height\nstring encoding\nuint8[] data\n"),
    ("geometry_msgs/msg/Twist", "ros2msg", b"Vector3 linear\nVector3 angular\n"),
    ("std_srvs/srv/SetBool_Event", "ros2msg", b"bool data\n---\nbool success\n"),
    ("x/msg/W", "ros2msg", b"wstring<=5 w\n"),
    ("std_msgs/msg/String", "ros2idl", b"module std_msgs { module msg { struct String {"),
    ("hyphos.msgs.String", "protobuf", b""),
    ("", "", b""),
]
ENCODINGS = ["cdr", "cdr", "cdr", "ros1", "protobuf", "json", ""]
PROFILES = ["ros2", "ros2", "ros1", "hyphos", "", "x"]
TARGETS = ["mcap", "ros1", "ros2", "ros2-db3"]
QOS = ["", "- {durability: 1}", "- {durability: [", "{", "- 7"]


def flipped(rng: random.Random, data: bytes) -> bytes:
    """The data with some bytes changed, removed, doubled or cut off."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        if not out:
            break
        at = rng.randrange(len(out))
        size = rng.choice((1, 2, 4, 8, 16))
        how = rng.randrange(6)
        if how == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            out[at : at + size] = rng.randbytes(size)
        elif how == 2:
            out[at : at + 8] = struct.pack("<Q", rng.choice(EDGES))[:size].ljust(8, b"\0")[:8]
        elif how == 3:
            del out[at : at + size * rng.choice((1, 1, 16))]
        elif how == 4:
            out[at:at] = out[at : at + size * rng.choice((1, 16))]
        else:
            del out[at:]
    return bytes(out)


def odd_text(rng: random.Random, data: bytes) -> bytes:
    return flipped(rng, data) if rng.random() < 0.3 else data


def payload(rng: random.Random, encoding: str) -> bytes:
    text = rng.choice(("", "hi", "grün", "x" * 300))
    made = {
        "ros1": lambda: string1(text),
        "protobuf": lambda: String(data=text).SerializeToString(),
    }.get(encoding, lambda: string2(text))()
    return odd_text(rng, made)


def time(rng: random.Random) -> int:
    usual = 1_700_000_000_000_000_000 + rng.randrange(99)
    return rng.choice(EDGES) if rng.random() < 0.1 else usual


def mcap_records(rng: random.Random) -> Iterator[Record]:
    for number in range(rng.randrange(4)):
        name, encoding, text = rng.choice(DEFINITIONS)
        yield Schema(rng.choice((number, number, number, 9)), name, encoding, odd_text(rng, text))
    encodings = {}
    for number in range(rng.randrange(4)):
        encodings[number] = rng.choice(ENCODINGS)
        metadata: list[tuple[str, str]] = []
        if rng.random() < 0.3:
            metadata.append(("offered_qos_profiles", rng.choice(QOS)))
        if rng.random() < 0.3:
            values = [
                "protobuf",
                "attached",
                "struct",
                "bytes",
                "",
                "zz",
                "{",
                "ff",
                '{"depth": 0}',
            ]
            keys = ("hyphos.encoding", "hyphos.type", "hyphos.type_hash", "hyphos.policy")
            metadata += [(key, rng.choice(values)) for key in keys if rng.random() < 0.8]
        topic = rng.choice(("/a", "/b", "a/b", "", "//", "grün", "/1"))
        schema = number if rng.random() < 0.7 else rng.randrange(4)
        yield Channel(number, schema, topic, encodings[number], tuple(metadata))
    for number in range(rng.randrange(20)):
        channel = rng.choice(list(encodings)) if encodings and rng.random() < 0.97 else 7
        data = payload(rng, encodings.get(channel, ""))
        yield Message(time(rng), number, channel, time(rng), data)
    if rng.random() < 0.2:
        yield Attachment(data=rng.randbytes(5))
    if rng.random() < 0.3:
        name = rng.choice(("hyphos.recording", "x"))
        yield Metadata(name, (("a", rng.choice(('{"written": 1}', "{", "[]", "7"))),))


def mcap_bytes(rng: random.Random) -> bytes:
    names = list(Layout.__annotations__)[:10]
    flags: dict[str, Any] = {name: rng.random() < 0.5 for name in names}
    layout = Layout(
        **flags,
        pad_inside=rng.random() < 0.3,
        compression=rng.choice(("", "zstd", "lz4")),
        checksums=rng.random() < 0.5,
        profile=rng.choice(PROFILES),
        per_chunk=rng.choice((1, 3, 100)),
    )
    records = list(mcap_records(rng))
    if rng.random() < 0.3:
        rng.shuffle(records)
    return make(records, layout)


def mcap_input(rng: random.Random, folder: Path) -> Path:
    path = folder / "in.mcap"
    data = mcap_bytes(rng)
    path.write_bytes(flipped(rng, data) if rng.random() < 0.6 else data)
    return path


def bag_input(rng: random.Random, folder: Path) -> Path:
    definitions = ("string data\n", "string data\r\n", "bool a\n---\n", "X x\n", "((", "")
    types = ("std_msgs/String", "x/Y", "std_srvs/SetBool", "", "a/b/c")
    topics = [
        Topic(number, rng.choice(("/a", "/b", "")), rng.choice(types), rng.choice(definitions))
        for number in range(rng.randrange(4))
    ]
    messages = [
        (rng.randrange(4), time(rng) % (1 << 61), payload(rng, "ros1"))
        for _ in range(rng.randrange(15))
    ]
    layout = BagLayout(
        rng.choice(("none", "bz2", "lz4")),
        rng.choice((1, 3, 50)),
        count_factor=rng.choice((1, 1, 0, 2)),
    )
    for name in ("connections_in_index", "index_records", "chunk_infos", "closed", "extra_ops"):
        setattr(layout, name, rng.random() < 0.7)
    layout.loose = rng.random() < 0.2
    layout.connections_in_chunks = len(topics) == 4
    path = make_bag(folder / "in.bag", topics, messages, layout)
    if rng.random() < 0.6:
        path.write_bytes(flipped(rng, path.read_bytes()))
    return path


def db3_input(rng: random.Random, folder: Path) -> Path:
    rows = []
    for number in range(1, rng.randrange(1, 5)):
        name, encoding, text = rng.choice(DEFINITIONS)
        definition = odd_text(rng, text).decode(errors="replace")
        wire = rng.choice(ENCODINGS)
        rows.append(Row(number, f"/t{number}", name, definition, encoding, wire, rng.choice(QOS)))
    odd = (None, "x", 1.5, -5, -(1 << 63), (1 << 63) - 1)
    messages = [
        (
            rng.randrange(6),
            rng.choice(odd) if rng.random() < 0.1 else time(rng) % (1 << 63),
            rng.choice((None, "text", 7)) if rng.random() < 0.05 else payload(rng, "cdr"),
        )
        for _ in range(rng.randrange(20))
    ]
    path = folder / "in.db3"
    path.unlink(missing_ok=True)
    make_db3(path, rows, messages, rng.randrange(1, 5))
    if rng.random() < 0.4:
        path.write_bytes(flipped(rng, path.read_bytes()))
    return path


def folder_input(rng: random.Random, folder: Path) -> Path:
    inner = folder / "run"
    inner.mkdir(exist_ok=True)
    for old in inner.iterdir():
        old.unlink()
    made = [rng.choice((mcap_input, db3_input))(rng, inner) for _ in range(rng.randrange(3))]
    topics = [("/a", "std_msgs/msg/String", rng.choice(EDGES))]
    names = [path.name for path in made if rng.random() < 0.8] + ["gone"] * (rng.random() < 0.2)
    count, start_ns, duration_ns = (rng.choice(EDGES) for _ in range(3))
    make_folder(
        inner, names, count=count, start_ns=start_ns, duration_ns=duration_ns, topics=topics
    )
    if rng.random() < 0.4:
        where = inner / "metadata.yaml"
        where.write_bytes(flipped(rng, where.read_bytes()))
    return inner


INPUTS: Sequence[Callable[[random.Random, Path], Path]] = (
    mcap_input,
    mcap_input,
    bag_input,
    db3_input,
    folder_input,
)


def make_input(number: int, folder: Path) -> Path:
    rng = random.Random(number)
    return rng.choice(INPUTS)(rng, folder)


def read_all(path: Path) -> None:
    """Every playable message is played or counted, in any order of the passes."""
    source = open_source(path)
    try:
        counts = {id(track): track.count for track in source.tracks}
        playable = sum(track.count for track in source.tracks if not track.problem)
        for _ in range(2):
            items = list(source.items(lambda _track: True, source.start_ns, source.end_ns))
            assert len(items) + source.skipped.total() == playable, (len(items), playable)
            times = [item.time_ns for item in items]
            assert times == sorted(times)
            assert all(source.start_ns <= time < source.end_ns for time in times)
        for track in source.tracks:
            before = source.skipped.total()
            assert isinstance(source, RosSource | McapSource)
            raw = sum(1 for _ in source.raw(track))
            bad = source.skipped.total() - before if isinstance(source, RosSource) else 0
            assert raw + bad == counts[id(track)], track
    finally:
        source.close()


def commands(path: Path, folder: Path, rng: random.Random) -> Iterator[Callable[[], int | None]]:
    def options(name: str) -> WriteOptions:
        return WriteOptions(folder / name, overwrite=True)

    yield lambda: read_all(path)
    yield lambda: LEFT_OUT if gather(path).damaged else 0
    yield lambda: check(path, None)
    yield lambda: check(path, options("r.mcap"))
    yield lambda: cut(path, Selection(), options("c.mcap"))
    yield lambda: cut(path, Selection(0.0, 1e-8, ["a*"], ["b"]), options("c2.mcap"))
    twin = folder / "twin.mcap"
    twin.unlink(missing_ok=True)
    if path.is_file():
        twin.hardlink_to(path)
        yield lambda: merge([path, twin], options("m.mcap"), prefix=rng.random() < 0.5)
    target = rng.choice(TARGETS)
    yield lambda: convert(
        path, target, options({"ros1": "o.bag", "mcap": "o.mcap"}.get(target, "o"))
    )


def exercise(number: int, folder: Path) -> Path:
    """Makes an input, runs all commands on it, and returns the input. AssertionError, or any error
    other than hyphos.Error, is a fault.
    """
    path = make_input(number, folder)
    for command in commands(path, folder, random.Random(number)):
        silent = io.StringIO()
        with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
            try:
                code = command()
            except hyphos.Error as error:
                assert "\n" not in str(error), error
                continue
        assert code in (None, 0, 1, LEFT_OUT), code
    return path
