"""Builds MCAP files record by record from the specification (https://mcap.dev/spec), including
files that no writer makes. Also builds the conformance vectors: some messages with every
combination of the optional parts.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import lz4.frame  # type: ignore[import-untyped]
import zstandard

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
ATTACHMENT, ATTACHMENT_INDEX, STATISTICS, METADATA = range(9, 13)
METADATA_INDEX, SUMMARY_OFFSET, DATA_END = range(13, 16)
PADDING = b"\x01\xff\xff"
# Records that cannot be extended: their last field reaches their end, or their length is fixed.
_RIGID = (FOOTER, MESSAGE, CHUNK, DATA_END)

Pairs = Sequence[tuple[str, str]]


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<I", len(data)) + data


def pairs(values: Pairs) -> bytes:
    return text(b"".join(text(key) + text(value) for key, value in values))


def record(op: int, content: bytes, *, pad: bool = False) -> bytes:
    if pad and op not in _RIGID:
        content += PADDING
    return struct.pack("<BQ", op, len(content)) + content


@dataclass(frozen=True)
class Schema:
    id: int = 1
    name: str = "Example"
    encoding: str = "c"
    data: bytes = b"\4\5\6"

    def content(self) -> tuple[int, bytes]:
        body = struct.pack("<H", self.id) + text(self.name) + text(self.encoding) + text(self.data)
        return SCHEMA, body


@dataclass(frozen=True)
class Channel:
    id: int = 1
    schema_id: int = 1
    topic: str = "example"
    encoding: str = "a"
    metadata: Pairs = (("foo", "bar"),)

    def content(self) -> tuple[int, bytes]:
        body = struct.pack("<HH", self.id, self.schema_id) + text(self.topic)
        return CHANNEL, body + text(self.encoding) + pairs(self.metadata)


@dataclass(frozen=True)
class Message:
    log_ns: int = 2
    sequence: int = 10
    channel: int = 1
    publish_ns: int = 1
    data: bytes = b"\1\2\3"

    def content(self) -> tuple[int, bytes]:
        head = struct.pack("<HIQQ", self.channel, self.sequence, self.log_ns, self.publish_ns)
        return MESSAGE, head + self.data


@dataclass(frozen=True)
class Attachment:
    name: str = "myFile"
    media_type: str = "application/octet-stream"
    log_ns: int = 2
    create_ns: int = 1
    data: bytes = b"\1\2\3"

    def content(self) -> tuple[int, bytes]:
        body = struct.pack("<QQ", self.log_ns, self.create_ns) + text(self.name)
        body += text(self.media_type) + struct.pack("<Q", len(self.data)) + self.data
        return ATTACHMENT, body + struct.pack("<I", zlib.crc32(body))


@dataclass(frozen=True)
class Metadata:
    name: str = "myMetadata"
    values: Pairs = (("foo", "bar"),)

    def content(self) -> tuple[int, bytes]:
        return METADATA, text(self.name) + pairs(self.values)


Record = Schema | Channel | Message | Attachment | Metadata


@dataclass(frozen=True)
class Layout:
    """The choices of a writer, apart from the records."""

    chunks: bool = False
    message_index: bool = False
    statistics: bool = False
    repeated_schemas: bool = False
    repeated_channels: bool = False
    attachment_index: bool = False
    metadata_index: bool = False
    chunk_index: bool = False
    summary_offset: bool = False
    pad: bool = False
    # also in chunks: the format allows it, but the `mcap` library fails on it
    pad_inside: bool = False
    compression: str = ""
    checksums: bool = False
    profile: str = ""
    per_chunk: int = 1 << 30  # messages
    said_messages: int | None = None  # the count in the statistics, true or not


@dataclass
class _File:
    layout: Layout
    data: bytearray = field(default_factory=lambda: bytearray(MAGIC))
    chunk_indexes: list[bytes] = field(default_factory=list)
    attachment_indexes: list[bytes] = field(default_factory=list)
    metadata_indexes: list[bytes] = field(default_factory=list)

    def put(self, op: int, content: bytes) -> tuple[int, int]:
        at = len(self.data)
        self.data += record(op, content, pad=self.layout.pad)
        return at, len(self.data) - at

    def chunk(self, records: Iterable[Schema | Channel | Message]) -> None:
        inside = bytearray()
        index: dict[int, list[tuple[int, int]]] = {}
        for one in records:
            if isinstance(one, Message):
                index.setdefault(one.channel, []).append((one.log_ns, len(inside)))
            op, content = one.content()
            inside += record(op, content, pad=self.layout.pad_inside)
        times = [time for entries in index.values() for time, _ in entries]
        first, last = min(times, default=0), max(times, default=0)
        packed = compress(self.layout.compression, bytes(inside))
        crc = zlib.crc32(inside) if self.layout.checksums else 0
        head = struct.pack("<QQQI", first, last, len(inside), crc)
        body = head + text(self.layout.compression) + struct.pack("<Q", len(packed)) + packed
        at, length = self.put(CHUNK, body)
        offsets = b""
        before = len(self.data)
        if self.layout.message_index:
            for channel, entries in index.items():
                where = struct.pack("<HQ", channel, len(self.data))
                offsets += where
                rows = b"".join(struct.pack("<QQ", *entry) for entry in entries)
                self.put(MESSAGE_INDEX, struct.pack("<H", channel) + text(rows))
        entry = struct.pack("<QQQQ", first, last, at, length) + text(offsets)
        entry += struct.pack("<Q", len(self.data) - before) + text(self.layout.compression)
        self.chunk_indexes.append(entry + struct.pack("<QQ", len(packed), len(inside)))

    def attachment(self, one: Attachment) -> None:
        at, length = self.put(*one.content())
        entry = struct.pack("<QQQQQ", at, length, one.log_ns, one.create_ns, len(one.data))
        self.attachment_indexes.append(entry + text(one.name) + text(one.media_type))

    def metadata(self, one: Metadata) -> None:
        at, length = self.put(*one.content())
        self.metadata_indexes.append(struct.pack("<QQ", at, length) + text(one.name))

    def end(self, records: Sequence[Record]) -> bytes:
        layout = self.layout
        crc = zlib.crc32(self.data) if layout.checksums else 0
        self.put(DATA_END, struct.pack("<I", crc))
        start = len(self.data)
        groups: list[tuple[int, list[bytes]]] = [
            (SCHEMA, _bodies(records, Schema) if layout.repeated_schemas else []),
            (CHANNEL, _bodies(records, Channel) if layout.repeated_channels else []),
            (STATISTICS, [self._statistics(records)] if layout.statistics else []),
            (METADATA_INDEX, self.metadata_indexes if layout.metadata_index else []),
            (ATTACHMENT_INDEX, self.attachment_indexes if layout.attachment_index else []),
            (CHUNK_INDEX, self.chunk_indexes if layout.chunk_index else []),
        ]
        offsets = []
        for op, bodies in groups:
            at = len(self.data)
            for body in bodies:
                self.put(op, body)
            if bodies:
                offsets.append(struct.pack("<BQQ", op, at, len(self.data) - at))
        has_summary = len(self.data) != start
        offset_start = len(self.data) if layout.summary_offset else 0
        for body in offsets if layout.summary_offset else []:
            self.put(SUMMARY_OFFSET, body)
        footer = struct.pack("<QQ", start if has_summary else 0, offset_start)
        crc = 0
        if layout.checksums and has_summary:
            crc = zlib.crc32(bytes(self.data[start:]) + struct.pack("<BQ", FOOTER, 20) + footer)
        self.put(FOOTER, footer + struct.pack("<I", crc))
        return bytes(self.data) + MAGIC

    def _statistics(self, records: Sequence[Record]) -> bytes:
        messages = [one for one in records if isinstance(one, Message)]
        counts: dict[int, int] = {}
        for one in messages:
            counts[one.channel] = counts.get(one.channel, 0) + 1
        times = [one.log_ns for one in messages]
        said = len(messages) if self.layout.said_messages is None else self.layout.said_messages
        body = struct.pack(
            "<QHIIIIQQ",
            said,
            len({one.id for one in records if isinstance(one, Schema)}),
            len({one.id for one in records if isinstance(one, Channel)}),
            len(self.attachment_indexes),
            len(self.metadata_indexes),
            len(self.chunk_indexes),
            min(times, default=0),
            max(times, default=0),
        )
        return body + text(b"".join(struct.pack("<HQ", *one) for one in counts.items()))


def _bodies(records: Sequence[Record], kind: type[Record]) -> list[bytes]:
    return [one.content()[1] for one in records if isinstance(one, kind)]


def compress(how: str, data: bytes) -> bytes:
    if how == "zstd":
        return zstandard.ZstdCompressor().compress(data)
    return bytes(lz4.frame.compress(data)) if how == "lz4" else data


def make(records: Sequence[Record], layout: Layout) -> bytes:
    """The bytes of a file."""
    file = _File(layout)
    file.put(HEADER, text(layout.profile) + text(""))
    waiting: list[Schema | Channel | Message] = []
    for one in records:
        if isinstance(one, Attachment):
            file.attachment(one)
        elif isinstance(one, Metadata):
            file.metadata(one)
        elif layout.chunks:
            waiting.append(one)
            if sum(isinstance(each, Message) for each in waiting) >= layout.per_chunk:
                file.chunk(waiting)
                waiting = []
        else:
            file.put(*one.content())
    if waiting:
        file.chunk(waiting)
    return file.end(records)


# --- the vectors ----------------------------------------------------------------------------------

INPUTS: dict[str, tuple[Record, ...]] = {
    "NoData": (),
    "OneSchemalessMessage": (Channel(schema_id=0, encoding="text", metadata=()), Message()),
    "OneMessage": (Schema(), Channel(), Message()),
    "OneAttachment": (Attachment(),),
    "OneMetadata": (Metadata(),),
    "TenMessages": (
        Schema(),
        Channel(),
        *(
            Message(time, number, publish_ns=time)
            for number, time in enumerate((0, 2, 1, 3, 3, 5, 4, 7, 8, 9))
        ),
    ),
}
FEATURES = {
    "ch": "chunks",
    "mx": "message_index",
    "st": "statistics",
    "rsh": "repeated_schemas",
    "rch": "repeated_channels",
    "ax": "attachment_index",
    "mdx": "metadata_index",
    "chx": "chunk_index",
    "sum": "summary_offset",
    "pad": "pad",
}


def _sensible(records: Sequence[Record], chosen: set[str]) -> bool:
    """True if each feature has something to act on."""
    has = {
        kind: any(isinstance(one, kind) for one in records)
        for kind in (Schema, Channel, Message, Attachment, Metadata)
    }
    wanted = {
        "ax": has[Attachment],
        "mdx": has[Metadata],
        "rsh": has[Schema],
        "rch": has[Channel],
        "ch": has[Message],
        "mx": "ch" in chosen,
        "chx": "ch" in chosen,
        "sum": bool(chosen & {"chx", "rsh", "rch", "mdx", "ax", "st"}),
    }
    return all(wanted.get(one, True) for one in chosen)


def vectors() -> Iterator[tuple[str, bytes]]:
    """The name and the bytes of each of the 416 vectors."""
    for base, records in INPUTS.items():
        for size in range(len(FEATURES) + 1):
            for chosen in combinations(FEATURES, size):
                if _sensible(records, set(chosen)):
                    names = dict.fromkeys((FEATURES[one] for one in chosen), True)
                    layout = Layout(checksums=True, **names)  # type: ignore[arg-type]
                    yield "-".join((base, *sorted(chosen))), make(records, layout)
