"""MCAP files record by record, without trusting them: for `hyphos bag`.

Nothing is taken from the index: a scan sees what is there, also in a file that was cut off or
damaged, says what is wrong with it and where, and goes on behind the damage. The file is mapped,
not read into memory; a chunk at a time is decompressed. Format: https://mcap.dev/spec.
"""

from __future__ import annotations

import mmap
import re
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import lz4.frame  # type: ignore[import-untyped]
import zstandard

from hyphos._errors import Error

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
ATTACHMENT, ATTACHMENT_INDEX, STATISTICS, METADATA = range(9, 13)
METADATA_INDEX, SUMMARY_OFFSET, DATA_END = range(13, 16)

_HEAD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<HIQQ")
_CHUNK = struct.Struct("<QQQI")
_U16, _U32, _U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
# The head of a chunk record, as far as it is the same in all: where to go on behind damage.
_CHUNK_HEAD = re.compile(
    rb"\x06.{6}\x00\x00.{28}(?:\x00\x00\x00\x00|\x04\x00\x00\x00zstd|\x03\x00\x00\x00lz4)",
    re.DOTALL,
)
_MOST_CHUNK = 1 << 32  # bytes after decompression


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
    log_ns: int
    create_ns: int
    name: str
    media_type: str
    data: bytes


@dataclass
class Problem:
    """Something that is wrong, and what is lost by it."""

    offset: int
    text: str

    def __str__(self) -> str:
        return f"byte {self.offset:,}: {self.text}"


class _Cursor:
    """Reads the fields of one record. ValueError at its end."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise ValueError("a field reaches beyond its record")
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def number(self, form: struct.Struct) -> int:
        return int(form.unpack(self.take(form.size))[0])

    def text(self) -> str:
        return self.take(self.number(_U32)).decode()

    def pairs(self) -> tuple[tuple[str, str], ...]:
        inner = _Cursor(self.take(self.number(_U32)))
        found = []
        while inner.at < len(inner.data):
            found.append((inner.text(), inner.text()))
        return tuple(found)


@dataclass
class ChunkInfo:
    offset: int
    length: int  # of the record, with its head
    start_ns: int
    end_ns: int
    compression: str
    stored: int
    size: int
    messages: int = 0


def _parse_schema(data: memoryview) -> Schema:
    cursor = _Cursor(data)
    return Schema(
        cursor.number(_U16), cursor.text(), cursor.text(), cursor.take(cursor.number(_U32))
    )


def _parse_channel(data: memoryview) -> Channel:
    cursor = _Cursor(data)
    return Channel(
        cursor.number(_U16), cursor.number(_U16), cursor.text(), cursor.text(), cursor.pairs()
    )


def _parse_attachment(data: memoryview) -> Attachment:
    cursor = _Cursor(data)
    log_ns, create_ns = cursor.number(_U64), cursor.number(_U64)
    name, media_type = cursor.text(), cursor.text()
    content = cursor.take(cursor.number(_U64))
    checked = zlib.crc32(data[: cursor.at])
    if (stored := cursor.number(_U32)) not in (0, checked):
        raise ValueError(f"attachment '{name}' has checksum {checked:08x}, not {stored:08x}")
    return Attachment(log_ns, create_ns, name, media_type, content)


def _message(data: bytes | memoryview, at: int, end: int) -> Message:
    channel, sequence, log_ns, publish_ns = _MESSAGE.unpack_from(data, at)
    return Message(channel, sequence, log_ns, publish_ns, bytes(data[at + _MESSAGE.size : end]))


def _decompress(compression: str, data: memoryview, size: int) -> bytes:
    if size > _MOST_CHUNK:
        raise ValueError(f"a chunk of {size:,} bytes is larger than any that is written")
    if compression == "":
        return bytes(data)
    try:
        if compression == "zstd":
            return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
        if compression == "lz4":
            return bytes(lz4.frame.decompress(data))
    except (zstandard.ZstdError, RuntimeError) as error:
        raise ValueError(f"{compression}: {error}") from error
    raise ValueError(f"compression '{compression}' is unknown")


@dataclass
class Scan:
    """One pass over a file. After `messages()` has ended, the rest tells what was found."""

    path: Path
    profile: str = ""
    library: str = ""
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    chunks: list[ChunkInfo] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    metadata: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    counts: Counter[int] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    statistics: dict[str, Any] | None = None
    complete: bool = False  # ends as a finished file does
    size: int = 0
    start_ns: int | None = None
    end_ns: int = 0
    orphans: int = 0  # messages whose channel is nowhere in the file

    def messages(self, progress: Callable[[int], None] | None = None) -> Iterator[list[Message]]:
        """The messages of each chunk in order of time, or of a file without chunks one by one."""
        with self.path.open("rb") as file:
            self.size = self.path.stat().st_size
            if self.size == 0:
                raise Error("corrupt", "the file is empty", str(self.path))
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                view = memoryview(data)
                try:
                    if view[: len(MAGIC)] != MAGIC:
                        raise Error("corrupt", "this is no MCAP file", str(self.path))
                    for offset, op, content in self._records(data, view):
                        with content:
                            found = self._take(offset, op, content)
                        if found:
                            yield found
                        if progress is not None:
                            progress(offset)
                    self._check_end(view)
                finally:
                    view.release()

    def _records(self, data: mmap.mmap, view: memoryview) -> Iterator[tuple[int, int, memoryview]]:
        at = len(MAGIC)
        end = len(view)
        while at < end:
            if end - at == len(MAGIC) and view[at:] == MAGIC:
                return
            if end - at < _HEAD.size:
                self.problems.append(Problem(at, "the file is cut off within a record's head"))
                return
            op, length = _HEAD.unpack_from(view, at)
            start = at + _HEAD.size
            if 1 <= op <= DATA_END and length <= end - start:
                yield at, op, view[start : start + length]
                at = start + length
                continue
            going_on = self._resume(data, view, at + 1)
            if 1 <= op <= DATA_END and going_on is None:
                left = end - start
                text = f"the file is cut off: a record needs {length:,} bytes, {left:,} are left"
            else:
                text = f"no record begins here (kind {op}, {length:,} bytes)"
            if going_on is not None:
                text += f"; {going_on - at:,} bytes are skipped"
            self.problems.append(Problem(at, text))
            if going_on is None:
                return
            at = going_on

    def _resume(self, data: mmap.mmap, view: memoryview, at: int) -> int | None:
        """Where the next chunk begins that is what it says."""
        while (found := _CHUNK_HEAD.search(data, at)) is not None:
            at = found.start()
            _, length = _HEAD.unpack_from(view, at)
            start = at + _HEAD.size
            if length <= len(view) - start:
                try:
                    with view[start : start + length] as content:
                        self._open_chunk(content)
                except ValueError:
                    pass
                else:
                    return at
            at += 1
        return None

    def _take(self, offset: int, op: int, content: memoryview) -> list[Message]:
        try:
            return self._take_sound(offset, op, content)
        except (ValueError, struct.error, UnicodeDecodeError) as error:
            what = "a chunk is damaged" if op == CHUNK else f"a record of kind {op} is damaged"
            self.problems.append(Problem(offset, f"{what}: {error}"))
            return []

    def _take_sound(self, offset: int, op: int, content: memoryview) -> list[Message]:
        if op == HEADER:
            cursor = _Cursor(content)
            self.profile, self.library = cursor.text(), cursor.text()
        elif op == SCHEMA:
            schema = _parse_schema(content)
            self.schemas.setdefault(schema.id, schema)
        elif op == CHANNEL:
            channel = _parse_channel(content)
            self.channels.setdefault(channel.id, channel)
        elif op == MESSAGE:
            return self._count([_message(content, 0, len(content))])
        elif op == CHUNK:
            return self._take_chunk(offset, content)
        elif op == ATTACHMENT:
            self.attachments.append(_parse_attachment(content))
        elif op == METADATA:
            cursor = _Cursor(content)
            self.metadata.append((cursor.text(), dict(cursor.pairs())))
        elif op == STATISTICS:
            self._take_statistics(content)
        return []

    def _open_chunk(self, content: memoryview) -> tuple[ChunkInfo, bytes]:
        cursor = _Cursor(content)
        start_ns, end_ns, size, crc = _CHUNK.unpack(cursor.take(_CHUNK.size))
        compression = cursor.text()
        stored = cursor.number(_U64)
        if stored != len(content) - cursor.at:
            raise ValueError("its length disagrees with that of its record")
        with content[cursor.at :] as packed:
            records = _decompress(compression, packed, size)
        if len(records) != size:
            raise ValueError(f"it holds {len(records):,} bytes, not {size:,}")
        if crc not in (0, found := zlib.crc32(records)):
            raise ValueError(f"its checksum is {found:08x}, not {crc:08x}")
        return ChunkInfo(0, 0, start_ns, end_ns, compression, stored, size), records

    def _take_chunk(self, offset: int, content: memoryview) -> list[Message]:
        info, records = self._open_chunk(content)
        info.offset, info.length = offset, len(content) + _HEAD.size
        found = []
        view = memoryview(records)
        at = 0
        while at < len(records):
            op, length = _HEAD.unpack_from(records, at)
            at += _HEAD.size
            if length > len(records) - at:
                raise ValueError(f"a record in it reaches beyond its end, at {at:,}")
            if op == MESSAGE:
                found.append(_message(records, at, at + length))
            elif op in (SCHEMA, CHANNEL):
                self._take_sound(offset, op, view[at : at + length])
            at += length
        info.messages = len(found)
        self.chunks.append(info)
        return self._count(found)

    def _count(self, messages: list[Message]) -> list[Message]:
        messages.sort(key=lambda message: message.log_ns)
        for message in messages:
            self.counts[message.channel] += 1
            if message.channel not in self.channels:
                self.orphans += 1
        if messages:
            first = messages[0].log_ns
            self.start_ns = first if self.start_ns is None else min(self.start_ns, first)
            self.end_ns = max(self.end_ns, messages[-1].log_ns)
        return messages

    def _take_statistics(self, content: memoryview) -> None:
        cursor = _Cursor(content)
        self.statistics = {
            "messages": cursor.number(_U64),
            "schemas": cursor.number(_U16),
            "channels": cursor.number(_U32),
            "attachments": cursor.number(_U32),
            "metadata": cursor.number(_U32),
            "chunks": cursor.number(_U32),
            "start_ns": cursor.number(_U64),
            "end_ns": cursor.number(_U64),
        }

    def _check_end(self, view: memoryview) -> None:
        """The footer, its checksum over the summary, and whether the statistics agree."""
        end = len(view) - len(MAGIC)
        footer = end - _HEAD.size - 20
        if view[end:] != MAGIC or footer < 0 or _HEAD.unpack_from(view, footer) != (FOOTER, 20):
            if not self.problems:
                self.problems.append(
                    Problem(len(view), "the file ends without its index: its writer was killed")
                )
            return
        self.complete = True
        start, _, crc = struct.unpack_from("<QQI", view, footer + _HEAD.size)
        if start and crc and zlib.crc32(view[start : end - 4]) != crc:
            self.problems.append(Problem(start, "the checksum of the index is wrong"))
        found = {
            "messages": sum(self.counts.values()),
            "chunks": len(self.chunks),
            "attachments": len(self.attachments),
            "metadata": len(self.metadata),
        }
        for name, count in found.items():
            if self.statistics is not None and self.statistics[name] != count:
                said = self.statistics[name]
                self.problems.append(
                    Problem(footer, f"the index tells of {said:,} {name}; {count:,} are readable")
                )

    def read(self, progress: Callable[[int], None] | None = None) -> Scan:
        """Goes through the whole file."""
        for _ in self.messages(progress):
            pass
        return self
