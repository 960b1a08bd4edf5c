"""Builds ROS 1 bags and ROS 2 databases row by row, including files that no writer makes."""

from __future__ import annotations

import bz2
import sqlite3
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lz4.frame  # type: ignore[import-untyped]

MESSAGE, BAG_HEADER, INDEX, CHUNK, CHUNK_INFO, CONNECTION = range(2, 8)
STRING_MD5 = "992ce8a1687cec8c8bd883ec73ca41d1"


def fields(**values: bytes) -> bytes:
    parts = (name.encode() + b"=" + value for name, value in values.items())
    return b"".join(struct.pack("<I", len(part)) + part for part in parts)


def bag_record(op: int, data: bytes, **values: bytes) -> bytes:
    head = fields(op=bytes([op]), **values)
    return struct.pack("<I", len(head)) + head + struct.pack("<I", len(data)) + data


def u32(value: int) -> bytes:
    return struct.pack("<I", value)


def stamp(time_ns: int) -> bytes:
    return struct.pack("<II", *divmod(time_ns, 1_000_000_000))


def string1(text: str | bytes) -> bytes:
    """A std_msgs/String of ROS 1."""
    data = text.encode() if isinstance(text, str) else text
    return u32(len(data)) + data


def string2(text: str | bytes) -> bytes:
    """A std_msgs/String of ROS 2."""
    data = text.encode() if isinstance(text, str) else text
    return b"\0\1\0\0" + u32(len(data) + 1) + data + b"\0"


@dataclass(frozen=True)
class Topic:
    number: int = 0
    topic: str = "/chatter"
    type_name: str = "std_msgs/String"
    definition: str = "string data\n"
    md5: str = STRING_MD5
    latching: str = ""

    def record(self) -> bytes:
        more = {"latching": self.latching.encode()} if self.latching else {}
        data = fields(
            topic=self.topic.encode(),
            type=self.type_name.encode(),
            md5sum=self.md5.encode(),
            message_definition=self.definition.encode(),
            **more,
        )
        return bag_record(CONNECTION, data, conn=u32(self.number), topic=self.topic.encode())


@dataclass
class BagLayout:
    compression: str = "none"
    per_chunk: int = 4
    connections_in_chunks: bool = True
    connections_in_index: bool = True
    index_records: bool = True
    chunk_infos: bool = True
    closed: bool = True
    loose: bool = False  # messages outside of chunks
    extra_ops: bool = False  # records of kinds that the format does not have
    count_factor: int = 1  # of the counts in the chunk infos
    index_shift: int = 0  # of the offsets in the index


@dataclass
class _Bag:
    layout: BagLayout
    data: bytearray = field(default_factory=lambda: bytearray(b"#ROSBAG V2.0\n"))
    infos: list[bytes] = field(default_factory=list)
    known: set[int] = field(default_factory=set)

    def header(self, index_pos: int, connections: int, chunks: int) -> bytes:
        if not self.layout.closed:
            index_pos = connections = chunks = 0
        head = fields(
            op=bytes([BAG_HEADER]),
            index_pos=struct.pack("<Q", index_pos),
            conn_count=u32(connections),
            chunk_count=u32(chunks),
        )
        pad = b" " * (4096 - len(head))
        return u32(len(head)) + head + u32(len(pad)) + pad

    def chunk(self, topics: dict[int, Topic], messages: Sequence[tuple[int, int, bytes]]) -> None:
        inside = bytearray()
        index: dict[int, list[bytes]] = {}
        for number, time_ns, data in messages:
            if self.layout.connections_in_chunks and number not in self.known:
                self.known.add(number)
                inside += topics[number].record()
            at = u32(len(inside) + self.layout.index_shift)
            index.setdefault(number, []).append(stamp(time_ns) + at)
            inside += bag_record(MESSAGE, data, conn=u32(number), time=stamp(time_ns))
        if self.layout.extra_ops:
            inside += bag_record(99, b"xyz", what=b"new")
        packed = {"none": bytes, "bz2": bz2.compress, "lz4": lz4.frame.compress}
        data = packed[self.layout.compression](bytes(inside))
        position = len(self.data)
        name = self.layout.compression.encode()
        self.data += bag_record(CHUNK, data, compression=name, size=u32(len(inside)))
        for number, entries in index.items() if self.layout.index_records else ():
            body = b"".join(entries)
            self.data += bag_record(
                INDEX, body, ver=u32(1), conn=u32(number), count=u32(len(entries))
            )
        times = [time_ns for _, time_ns, _ in messages]
        counts = b"".join(
            u32(number) + u32(len(entries) * self.layout.count_factor)
            for number, entries in index.items()
        )
        self.infos.append(
            bag_record(
                CHUNK_INFO,
                counts,
                ver=u32(1),
                chunk_pos=struct.pack("<Q", position),
                start_time=stamp(min(times)),
                end_time=stamp(max(times)),
                count=u32(len(index)),
            )
        )


def make_bag(
    path: Path,
    topics: Sequence[Topic],
    messages: Sequence[tuple[int, int, bytes]],
    layout: BagLayout | None = None,
) -> Path:
    """Writes a bag. `messages`: (number of the topic, time, data)."""
    layout = layout or BagLayout()
    bag = _Bag(layout)
    start = len(bag.data)
    bag.data += bag.header(0, 0, 0)
    by_number = {topic.number: topic for topic in topics}
    if layout.extra_ops:
        bag.data += bag_record(200, b"abc", what=b"new")
    for at in range(0, len(messages), layout.per_chunk):
        part = messages[at : at + layout.per_chunk]
        if layout.loose:
            for number, time_ns, data in part:
                bag.data += bag_record(MESSAGE, data, conn=u32(number), time=stamp(time_ns))
        else:
            bag.chunk(by_number, part)
    index = len(bag.data)
    if layout.closed:
        for topic in topics if layout.connections_in_index else ():
            bag.data += topic.record()
        for info in bag.infos if layout.chunk_infos else ():
            bag.data += info
    head = bag.header(index, len(topics), len(bag.infos))
    bag.data[start : start + len(head)] = head
    path.write_bytes(bag.data)
    return path


@dataclass(frozen=True)
class Row:
    """One topic of a database."""

    id: int = 1
    topic: str = "/chatter"
    type_name: str = "std_msgs/msg/String"
    definition: str | None = "string data\n"
    encoding: str = "ros2msg"
    wire: str = "cdr"
    qos: str = ""
    digest: str = ""


def make_db3(
    path: Path, topics: Sequence[Row], messages: Sequence[tuple[int, Any, Any]], schema: int = 4
) -> Path:
    """Writes a database. `messages`: (topic, time, data). `schema`: 1 to 4, the versions of
    rosbag2.
    """
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous=OFF")
    more = ",offered_qos_profiles TEXT" if schema >= 2 else ""
    more += ",type_description_hash TEXT" if schema >= 4 else ""
    database.executescript(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT,type TEXT,"
        f"serialization_format TEXT{more});"
        "CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER,timestamp INTEGER,"
        "data BLOB);"
        "CREATE INDEX timestamp_idx ON messages (timestamp ASC);"
    )
    if schema >= 3:
        database.executescript(
            "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY,ros_distro TEXT);"
            f"INSERT INTO schema VALUES({schema}, 'made');"
        )
    if schema >= 4:
        database.execute(
            "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY,topic_type TEXT,encoding TEXT,"
            "encoded_message_definition TEXT,type_description_hash TEXT)"
        )
    for row in topics:
        values = [row.id, row.topic, row.type_name, row.wire, row.qos, row.digest]
        values = values[: {1: 4, 2: 5, 3: 5, 4: 6}[schema]]
        database.execute(f"INSERT INTO topics VALUES({','.join('?' * len(values))})", values)
        if schema >= 4 and row.definition is not None:
            database.execute(
                "INSERT INTO message_definitions(topic_type,encoding,encoded_message_definition,"
                "type_description_hash) VALUES(?,?,?,'')",
                (row.type_name, row.encoding, row.definition),
            )
    database.executemany("INSERT INTO messages(topic_id,timestamp,data) VALUES(?,?,?)", messages)
    database.commit()
    database.close()
    return path


def make_folder(
    path: Path,
    files: Sequence[str],
    *,
    count: int,
    start_ns: int,
    duration_ns: int,
    topics: Sequence[tuple[str, str, int]] = (),
    storage: str = "sqlite3",
) -> Path:
    """Writes metadata.yaml. `topics`: (name, type, count)."""
    path.mkdir(exist_ok=True)
    lines = [
        "rosbag2_bagfile_information:",
        "  version: 5",
        f"  storage_identifier: {storage}",
        f"  relative_file_paths: [{', '.join(files)}]",
        f"  duration: {{nanoseconds: {duration_ns}}}",
        f"  starting_time: {{nanoseconds_since_epoch: {start_ns}}}",
        f"  message_count: {count}",
        "  topics_with_message_count:" + ("" if topics else " []"),
    ]
    for name, kind, number in topics:
        lines.append(
            f"    - {{topic_metadata: {{name: {name}, type: {kind}, serialization_format: cdr, "
            f"offered_qos_profiles: ''}}, message_count: {number}}}"
        )
    lines += ["  compression_format: ''", "  compression_mode: ''", ""]
    (path / "metadata.yaml").write_text("\n".join(lines))
    return path
