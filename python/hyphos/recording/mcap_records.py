"""The records of an MCAP file: their kinds, and the parsing of their fields.

Format: https://mcap.dev/spec. Readers ignore bytes after the fields that they know, so no function
here checks the end of a record. ValueError or struct.error: a field extends beyond the record.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import lz4.frame  # type: ignore[import-untyped]
import zstandard

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
ATTACHMENT, ATTACHMENT_INDEX, STATISTICS, METADATA = range(9, 13)
METADATA_INDEX, SUMMARY_OFFSET, DATA_END = range(13, 16)

HEAD = struct.Struct("<BQ")  # precedes each record: its kind, and the length of its content
MESSAGE_HEAD = struct.Struct("<HIQQ")
CHUNK_HEAD = struct.Struct("<QQQI")
FOOTER_BODY = struct.Struct("<QQI")
U16, U32, U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
MOST_CHUNK = 1 << 32  # bytes after decompression
USUAL_CHUNK = 1 << 26  # limit even for a chunk that declares fewer


class Message(NamedTuple):
    """A message record."""

    channel: int
    sequence: int
    log_ns: int
    publish_ns: int
    data: bytes


@dataclass(frozen=True)
class Schema:
    id: int
    name: str
    encoding: str
    data: bytes


@dataclass(frozen=True)
class Channel:
    id: int
    schema_id: int
    topic: str
    message_encoding: str
    metadata: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Attachment:
    """An attachment. Its data stay in the file until they are used."""

    log_ns: int
    create_ns: int
    name: str
    media_type: str
    path: Path
    offset: int
    size: int

    @property
    def data(self) -> bytes:
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.size)


@dataclass(frozen=True)
class Statistics:
    counts: dict[str, int]  # messages, schemas, channels, attachments, metadata, chunks
    start_ns: int
    end_ns: int
    per_channel: dict[int, int]


@dataclass(frozen=True)
class ChunkIndex:
    start_ns: int
    end_ns: int
    offset: int
    length: int
    message_indexes: dict[int, int]  # channel to offset in the file
    compression: str
    stored: int
    size: int


class Cursor:
    """Reads the fields of one record. ValueError at its end."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise ValueError("a field extends beyond its record")
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def number(self, form: struct.Struct) -> int:
        return int(form.unpack(self.take(form.size))[0])

    def text(self) -> str:
        """A text. A wrong byte costs one character, not the record."""
        return self.take(self.number(U32)).decode(errors="replace")

    def pairs(self) -> tuple[tuple[str, str], ...]:
        inner = Cursor(self.take(self.number(U32)))
        found = []
        while inner.at < len(inner.data):
            found.append((inner.text(), inner.text()))
        return tuple(found)

    def numbers(self, key: struct.Struct, value: struct.Struct) -> list[tuple[int, int]]:
        data = self.take(self.number(U32))
        pair = struct.Struct("<" + key.format[1:] + value.format[1:])
        if len(data) % pair.size:
            raise ValueError("a list of pairs ends within a pair")
        return [(int(one), int(other)) for one, other in pair.iter_unpack(data)]


def parse_schema(data: memoryview) -> Schema:
    cursor = Cursor(data)
    return Schema(cursor.number(U16), cursor.text(), cursor.text(), cursor.take(cursor.number(U32)))


def parse_channel(data: memoryview) -> Channel:
    cursor = Cursor(data)
    return Channel(
        cursor.number(U16), cursor.number(U16), cursor.text(), cursor.text(), cursor.pairs()
    )


def parse_attachment(path: Path, offset: int, data: memoryview) -> Attachment:
    """Parses an attachment. `offset` is the position of its content in the file."""
    cursor = Cursor(data)
    log_ns, create_ns = cursor.number(U64), cursor.number(U64)
    name, media_type = cursor.text(), cursor.text()
    size = cursor.number(U64)
    start = cursor.at
    if size > len(data) - start:
        raise ValueError("a field extends beyond its record")
    cursor.at += size
    stored = cursor.number(U32)
    if stored:
        checked = zlib.crc32(data[: start + size])
        if stored != checked:
            raise ValueError(f"attachment '{name}' has checksum {checked:08x}, not {stored:08x}")
    return Attachment(log_ns, create_ns, name, media_type, path, offset + start, size)


def parse_metadata(data: memoryview) -> tuple[str, dict[str, str]]:
    cursor = Cursor(data)
    return cursor.text(), dict(cursor.pairs())


def parse_statistics(data: memoryview) -> Statistics:
    cursor = Cursor(data)
    counts = {
        "messages": cursor.number(U64),
        "schemas": cursor.number(U16),
        "channels": cursor.number(U32),
        "attachments": cursor.number(U32),
        "metadata": cursor.number(U32),
        "chunks": cursor.number(U32),
    }
    return Statistics(
        counts, cursor.number(U64), cursor.number(U64), dict(cursor.numbers(U16, U64))
    )


def parse_chunk_index(data: memoryview) -> ChunkIndex:
    cursor = Cursor(data)
    start_ns, end_ns = cursor.number(U64), cursor.number(U64)
    offset, length = cursor.number(U64), cursor.number(U64)
    indexes = dict(cursor.numbers(U16, U64))
    cursor.number(U64)  # the length of the message indexes
    return ChunkIndex(
        start_ns,
        end_ns,
        offset,
        length,
        indexes,
        cursor.text(),
        cursor.number(U64),
        cursor.number(U64),
    )


def parse_message_index(data: memoryview) -> tuple[int, list[tuple[int, int]]]:
    """The channel, and (time, offset in the chunk) of its messages."""
    cursor = Cursor(data)
    return cursor.number(U16), cursor.numbers(U64, U64)


def parse_message(data: bytes | memoryview, at: int, end: int) -> Message:
    channel, sequence, log_ns, publish_ns = MESSAGE_HEAD.unpack_from(data, at)
    return Message(channel, sequence, log_ns, publish_ns, bytes(data[at + MESSAGE_HEAD.size : end]))


@dataclass
class OpenChunk:
    """The head of a chunk and its records, decompressed."""

    start_ns: int
    end_ns: int
    compression: str
    stored: int
    said_size: int  # declared size of the records
    checked: bool  # the checksum was present and correct
    records: bytes


def open_chunk(content: memoryview, *, strict: bool = False) -> OpenChunk:
    """Opens a chunk. ValueError if it cannot be read. With `strict` also if a length is wrong."""
    cursor = Cursor(content)
    start_ns, end_ns, size, crc = CHUNK_HEAD.unpack(cursor.take(CHUNK_HEAD.size))
    compression = cursor.text()
    stored = cursor.number(U64)
    left = len(content) - cursor.at
    if stored > left and strict:
        raise ValueError("its length does not match its record")
    problem = ValueError()
    for length in dict.fromkeys((min(stored, left), left)):
        try:
            with content[cursor.at : cursor.at + length] as packed:
                records = _decompress(compression, packed, size)
            if crc not in (0, found := zlib.crc32(records)):
                raise ValueError(f"its checksum is {found:08x}, not {crc:08x}")
            if len(records) != size and (strict or not records):
                raise ValueError(f"it has {len(records):,} bytes, not {size:,}")
        except ValueError as error:
            problem = error
            continue
        return OpenChunk(start_ns, end_ns, compression, stored, size, crc != 0, records)
    raise problem


def is_cut_chunk(content: memoryview, length: int) -> bool:
    """True if this is the beginning of a chunk record of `length` bytes.

    A chunk contains its length twice. That distinguishes a damaged chunk from one that was cut off.
    """
    cursor = Cursor(content)
    try:
        cursor.take(CHUNK_HEAD.size)
        compression, stored = cursor.text(), cursor.number(U64)
    except (ValueError, struct.error):
        return True
    return compression in ("", "zstd", "lz4") and cursor.at + stored == length


def _decompress(compression: str, data: memoryview, size: int) -> bytes:
    if size > MOST_CHUNK:
        raise ValueError(f"a chunk of {size:,} bytes is implausibly large")
    if compression == "":
        return bytes(data)
    if size == 0 and len(data) == 0:
        return b""
    try:
        if compression == "zstd":
            return _zstd(data, size)
        if compression == "lz4":
            return _lz4(data, size)
    except (zstandard.ZstdError, RuntimeError, EOFError) as error:
        raise ValueError(f"{compression}: {error}") from error
    raise ValueError(f"unknown compression '{compression}'")


def _zstd(data: memoryview, size: int) -> bytes:
    """Decompresses frames in sequence as one stream."""
    reader = zstandard.ZstdDecompressor().stream_reader(bytes(data), read_across_frames=True)
    parts, left = [], max(size, USUAL_CHUNK) + 1
    while left > 0 and (part := reader.read(min(left, 1 << 24))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _lz4(data: memoryview, size: int) -> bytes:
    parts, left = [], max(size, USUAL_CHUNK) + 1
    rest = bytes(data)
    while rest and left > 0:
        decompressor = lz4.frame.LZ4FrameDecompressor()
        while left > 0 and not decompressor.eof:
            part = decompressor.decompress(rest, max_length=left)
            rest = b""
            if not part and decompressor.needs_input:
                raise ValueError("lz4: the frame is cut off")
            parts.append(part)
            left -= len(part)
        rest = decompressor.unused_data or b"" if decompressor.eof else b""
    return b"".join(parts)
