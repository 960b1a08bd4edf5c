"""Reads MCAP files record by record, without trusting them.

The scan takes nothing from the index. It reads all records, also of a file that was cut off or
damaged. It lists each fault with its offset, and continues after the damage. The file is mapped,
not read into memory, and decompressed chunk by chunk. Format: https://mcap.dev/spec.
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
from typing import Any

from hyphos._errors import Error
from hyphos.recording import mcap_records as mcap
from hyphos.recording.mcap_records import HEAD, MAGIC, Attachment, Channel, Message, Schema
from hyphos.recording.segments import Segment, in_order

# The common part of the heads of all records, to find the next record after damage.
_ANY_HEAD = re.compile(rb"[\x01-\x0f].{5}\x00\x00\x00", re.DOTALL)
_CHAIN = 3  # consecutive records that confirm a start after damage
_LOOSE_BYTES = 4 << 20  # messages outside of chunks in one segment
_DAMAGE = (ValueError, struct.error, UnicodeDecodeError, MemoryError)


@dataclass
class Problem:
    """A fault of a file. `lost`: content cannot be read because of it."""

    offset: int
    text: str
    lost: bool = True

    def __str__(self) -> str:
        return f"byte {self.offset:,}: {self.text}"


@dataclass
class ChunkInfo:
    offset: int
    length: int  # of the record, including its head
    start_ns: int  # from its head
    end_ns: int
    compression: str
    stored: int
    size: int
    messages: int = 0


@dataclass
class Scan:
    """One pass over a file. `messages()` or `read()` fills all other fields."""

    path: Path
    profile: str = ""
    library: str = ""
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    chunks: list[ChunkInfo] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    metadata: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    counts: Counter[int] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    unknown: Counter[int] = field(
        default_factory=Counter
    )  # records of kinds that the format does not define
    statistics: mcap.Statistics | None = None
    chunk_indexes: list[mcap.ChunkIndex] = field(default_factory=list)
    data_end: tuple[int, int] | None = None  # its offset and its checksum
    records: int = 0  # outside of chunks
    complete: bool = False  # has the end of a finished file
    size: int = 0
    start_ns: int | None = None
    end_ns: int = 0
    early: int = 0  # messages before the record of their channel

    @property
    def orphans(self) -> int:
        """The number of messages of channels that the file does not define."""
        return sum(n for number, n in self.counts.items() if number not in self.channels)

    @property
    def damaged(self) -> bool:
        """True if a part of the file cannot be read, or its end is missing."""
        lost = any(problem.lost for problem in self.problems)
        return lost or not self.complete or self.orphans > 0

    def messages(self, progress: Callable[[int], None] | None = None) -> Iterator[list[Message]]:
        """Yields the messages of each chunk in order of time. Without chunks one by one."""
        for found in self._walk(progress, keep=True):
            if found:
                found.sort(key=_log_time)
                yield found

    def read(self, progress: Callable[[int], None] | None = None) -> Scan:
        """Reads the whole file."""
        for _ in self._walk(progress, keep=False):
            pass
        return self

    def ordered(
        self,
        wanted: Callable[[int], bool] = lambda _channel: True,
        start_ns: int = 0,
        end_ns: int = 1 << 64,
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[Message]:
        """Yields the messages of some channels with `start_ns` <= log time < `end_ns`, in order of
        time. Call it after read()."""
        chosen = [
            segment
            for segment in self.segments
            if segment.end_ns >= start_ns
            and segment.start_ns < end_ns
            and any(wanted(channel) for channel in segment.counts)
        ]
        if not chosen:
            return
        with (
            self.path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as d,
        ):
            view = memoryview(d)
            done = 0

            def messages(segment: Segment) -> Iterator[Message]:
                nonlocal done
                for message in _messages_of(view, segment):
                    if start_ns <= message.log_ns < end_ns and wanted(message.channel):
                        yield message
                done += segment.end - segment.offset
                if progress is not None:
                    progress(done)

            try:
                yield from in_order(chosen, messages, _log_time)
            finally:
                view.release()

    # --- walk over the records ------------------------------------------------------------------

    def _walk(
        self, progress: Callable[[int], None] | None, *, keep: bool
    ) -> Iterator[list[Message]]:
        with self.path.open("rb") as file:
            self.size = self.path.stat().st_size
            if self.size == 0:
                raise Error("corrupt", "the file is empty", str(self.path))
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                view = memoryview(data)
                try:
                    if view[: len(MAGIC)] != MAGIC:
                        raise Error("corrupt", "this is not an MCAP file", str(self.path))
                    for offset, op, content in self._records(data, view):
                        with content:
                            yield self._take(offset, op, content, keep=keep)
                        if progress is not None:
                            progress(offset)
                    self._check_end(view)
                finally:
                    view.release()

    def _problem(self, offset: int, text: str, *, lost: bool = True) -> None:
        self.problems.append(Problem(offset, text, lost))

    def _records(self, data: mmap.mmap, view: memoryview) -> Iterator[tuple[int, int, memoryview]]:
        at = len(MAGIC)
        end = len(view)
        while at < end:
            if end - at == len(MAGIC) and view[at:] == MAGIC:
                return
            if end - at < HEAD.size:
                self._problem(at, "the file is cut off within the head of a record")
                return
            op, length = HEAD.unpack_from(view, at)
            start = at + HEAD.size
            if self._believable(view, at, op, length):
                yield at, op, view[start : start + length]
                at = start + length
                continue
            cut = op == mcap.CHUNK and mcap.is_cut_chunk(view[start:], length)
            going_on = None if cut else self._resume(data, view, at + 1)
            if 1 <= op <= mcap.DATA_END and going_on is None:
                left = end - start
                text = (
                    f"the file is cut off: a record needs {length:,} bytes, but {left:,} are left"
                )
            else:
                text = f"no valid record here (kind {op}, {length:,} bytes)"
            if going_on is not None:
                text += f", {going_on - at:,} bytes are skipped"
            self._problem(at, text)
            if going_on is None:
                return
            at = going_on

    def _believable(self, view: memoryview, at: int, op: int, length: int) -> bool:
        if 1 <= op <= mcap.DATA_END:
            return bool(length <= len(view) - at - HEAD.size)
        # Records of unknown kinds are skipped if a valid record follows. A record that contains a
        # chunk is a chunk with a wrong kind.
        after = at + HEAD.size + length
        if op == 0 or not _chained(view, after, 1):
            return False
        try:
            with view[at + HEAD.size : after] as content:
                mcap.open_chunk(content, strict=True)
        except _DAMAGE:
            return True
        return False

    def _resume(self, data: mmap.mmap, view: memoryview, at: int) -> int | None:
        """The start of the next valid record, or None."""
        while (found := _ANY_HEAD.search(data, at)) is not None:
            at = found.start()
            op, length = HEAD.unpack_from(view, at)
            if self._sound(view, at, op, length):
                return at
            at += 1
        return None

    def _sound(self, view: memoryview, at: int, op: int, length: int) -> bool:
        start = at + HEAD.size
        if length > len(view) - start:
            return False
        with view[start : start + length] as content:
            try:
                if op == mcap.CHUNK:
                    mcap.open_chunk(content, strict=True)
                    return True
                if op == mcap.MESSAGE:
                    channel = mcap.MESSAGE_HEAD.unpack_from(content)[0]
                    if self.channels and channel not in self.channels:
                        return False
                elif op in _PARSERS:
                    _PARSERS[op](content)
            except _DAMAGE:
                return False
        return _chained(view, start + length, _CHAIN)

    # --- records --------------------------------------------------------------------------------

    def _take(self, offset: int, op: int, content: memoryview, *, keep: bool) -> list[Message]:
        self.records += 1
        try:
            if op == mcap.MESSAGE:
                return self._take_message(offset, content)
            if op == mcap.CHUNK:
                return self._take_chunk(offset, content, keep=keep)
            self._take_other(offset, op, content)
        except _DAMAGE as error:
            what = "a chunk is damaged" if op == mcap.CHUNK else f"a record of kind {op} is damaged"
            # The index is not needed to read the other records.
            self._problem(offset, f"{what}: {error}", lost=op not in _HINTS)
        return []

    def _take_other(self, offset: int, op: int, content: memoryview) -> None:
        if op == mcap.HEADER:
            cursor = mcap.Cursor(content)
            self.profile, self.library = cursor.text(), cursor.text()
        elif op == mcap.SCHEMA:
            self._take_schema(offset, mcap.parse_schema(content))
        elif op == mcap.CHANNEL:
            channel = mcap.parse_channel(content)
            if self.channels.setdefault(channel.id, channel) != channel:
                self._contradiction(offset, "channel", channel.id)
        elif op == mcap.ATTACHMENT:
            start = offset + HEAD.size
            self.attachments.append(mcap.parse_attachment(self.path, start, content))
        elif op == mcap.METADATA:
            self.metadata.append(mcap.parse_metadata(content))
        elif op == mcap.STATISTICS:
            self.statistics = mcap.parse_statistics(content)
        elif op == mcap.CHUNK_INDEX:
            self.chunk_indexes.append(mcap.parse_chunk_index(content))
        elif op == mcap.MESSAGE_INDEX:
            self._take_index(offset, content)
        elif op == mcap.DATA_END:
            self.data_end = (offset, mcap.Cursor(content).number(mcap.U32))
        elif not 1 <= op <= mcap.DATA_END:
            self.unknown[op] += 1

    def _take_index(self, offset: int, content: memoryview) -> None:
        """Only `hyphos bag check` uses these records: it compares them with the messages."""

    def _take_schema(self, offset: int, schema: Schema) -> None:
        if schema.id == 0:
            self._problem(offset, "a schema has the number 0, which means none", lost=False)
        elif self.schemas.setdefault(schema.id, schema) != schema:
            self._contradiction(offset, "schema", schema.id)

    def _contradiction(self, offset: int, what: str, number: int) -> None:
        text = f"{what} {number} is defined again with other content, the first one is used"
        self._problem(offset, text, lost=False)

    def _take_message(self, offset: int, content: memoryview) -> list[Message]:
        message = mcap.parse_message(content, 0, len(content))
        last = self.segments[-1] if self.segments else None
        if (
            last is None
            or last.in_chunk
            or last.end != offset
            or last.end - last.offset > _LOOSE_BYTES
        ):
            last = Segment(offset, offset, in_chunk=False)
            self.segments.append(last)
        last.end = offset + HEAD.size + len(content)
        last.add(message.channel, message.log_ns)
        self._count(Counter({message.channel: 1}), message.log_ns, message.log_ns)
        if message.channel not in self.channels:
            self.early += 1
        return [message]

    def _take_chunk(self, offset: int, content: memoryview, *, keep: bool) -> list[Message]:
        chunk = mcap.open_chunk(content)
        if len(chunk.records) != chunk.said_size:
            text = (
                f"a chunk declares {chunk.said_size:,} bytes of records, but has "
                f"{len(chunk.records):,}"
            )
            self._problem(
                offset, text, lost=len(chunk.records) < chunk.said_size and not chunk.checked
            )
        start = offset + HEAD.size
        segment = Segment(start, start + len(content), in_chunk=True)
        found: list[Message] = []
        records = chunk.records
        view = memoryview(records)
        unpack, size, channels = (
            mcap.MESSAGE_HEAD.unpack_from,
            mcap.MESSAGE_HEAD.size,
            self.channels,
        )
        for at, op, end in self._records_of_chunk(offset, records):
            if op == mcap.MESSAGE and end - at >= size:  # most records are messages
                number, _, log_ns, _ = unpack(records, at)
                segment.add(number, log_ns)
                if number not in channels:
                    self.early += 1
                if keep:
                    found.append(mcap.parse_message(records, at, end))
                continue
            try:
                if op == mcap.MESSAGE:
                    raise ValueError("it is too short")
                if op == mcap.SCHEMA:
                    self._take_schema(offset, mcap.parse_schema(view[at:end]))
                elif op == mcap.CHANNEL:
                    self._take_other(offset, op, view[at:end])
                else:
                    self.unknown[op] += 1
            except _DAMAGE as error:
                self._problem(offset, f"a record of kind {op} in a chunk is damaged: {error}")
        self._count(segment.counts, segment.start_ns, segment.end_ns)
        if segment.counts:
            self.segments.append(segment)
        self.chunks.append(
            ChunkInfo(
                offset,
                len(content) + HEAD.size,
                chunk.start_ns,
                chunk.end_ns,
                chunk.compression,
                chunk.stored,
                len(chunk.records),
                segment.counts.total(),
            )
        )
        return found

    def _records_of_chunk(self, offset: int, records: bytes) -> Iterator[tuple[int, int, int]]:
        at = 0
        while at < len(records):
            if len(records) - at < HEAD.size:
                self._problem(offset, f"a chunk ends within the head of a record, at {at:,}")
                return
            op, length = HEAD.unpack_from(records, at)
            at += HEAD.size
            if length > len(records) - at:
                self._problem(offset, f"a record extends beyond the end of its chunk, at {at:,}")
                return
            yield at, op, at + length
            at += length

    def _count(self, counts: Counter[int], start_ns: int, end_ns: int) -> None:
        if not counts:
            return
        self.counts.update(counts)
        self.start_ns = start_ns if self.start_ns is None else min(self.start_ns, start_ns)
        self.end_ns = max(self.end_ns, end_ns)

    # --- the end --------------------------------------------------------------------------------

    def _check_end(self, view: memoryview) -> None:
        """Checks the footer, its checksum over the summary, and the statistics."""
        end = len(view) - len(MAGIC)
        footer = end - HEAD.size - mcap.FOOTER_BODY.size
        if (
            footer < len(MAGIC)
            or view[end:] != MAGIC
            or HEAD.unpack_from(view, footer) != (mcap.FOOTER, mcap.FOOTER_BODY.size)
        ):
            if not any(problem.lost for problem in self.problems):
                self._problem(len(view), "the file ends without its index: its writer was killed")
            return
        self.complete = True
        start, _, crc = mcap.FOOTER_BODY.unpack_from(view, footer + HEAD.size)
        if start and crc and zlib.crc32(view[start : end - 4]) != crc:
            self._problem(start, "the checksum of the index is wrong", lost=False)
        self._compare_statistics(footer)

    def _compare_statistics(self, offset: int) -> None:
        if self.statistics is None:
            return
        found = {
            "messages": self.counts.total(),
            "schemas": len(self.schemas),
            "channels": len(self.channels),
            "attachments": len(self.attachments),
            "metadata": len(self.metadata),
            "chunks": len(self.chunks),
        }
        for name, count in found.items():
            self._compare(offset, self.statistics.counts[name], count, name)
        if self.statistics.counts["messages"] == found["messages"] and self.statistics.per_channel:
            for number, channel in self.channels.items():
                said = self.statistics.per_channel.get(number, 0)
                name = f"messages of '{channel.topic}'"
                self._compare(offset, said, self.counts[number], name)
        if self.start_ns is not None:
            said_times = (self.statistics.start_ns, self.statistics.end_ns)
            if said_times != (self.start_ns, self.end_ns):
                self._problem(
                    offset,
                    f"the statistics declare messages from {said_times[0]:,} to "
                    f"{said_times[1]:,} ns, but they are from {self.start_ns:,} to "
                    f"{self.end_ns:,} ns",
                    lost=False,
                )

    def _compare(self, offset: int, said: int, count: int, what: str) -> None:
        if said != count:
            text = f"the statistics declare {said:,} {what}, but {count:,} are readable"
            self._problem(offset, text, lost=said > count)


_HINTS = (mcap.MESSAGE_INDEX, *range(mcap.ATTACHMENT_INDEX, mcap.METADATA), mcap.CHUNK_INDEX)
_HINTS += (mcap.METADATA_INDEX, mcap.SUMMARY_OFFSET, mcap.DATA_END, mcap.FOOTER, mcap.HEADER)
_PARSERS: dict[int, Callable[[memoryview], Any]] = {
    mcap.SCHEMA: mcap.parse_schema,
    mcap.CHANNEL: mcap.parse_channel,
    mcap.METADATA: mcap.parse_metadata,
    mcap.STATISTICS: mcap.parse_statistics,
    mcap.CHUNK_INDEX: mcap.parse_chunk_index,
    mcap.MESSAGE_INDEX: mcap.parse_message_index,
}


def _log_time(message: Message) -> int:
    return message.log_ns


def _chained(view: memoryview, at: int, count: int) -> bool:
    """True if `count` records of known kinds follow, or fewer and then the end of the file."""
    end = len(view)
    for _ in range(count):
        if end - at == len(MAGIC) and view[at:] == MAGIC:
            return True
        if end - at < HEAD.size:
            return False
        op, length = HEAD.unpack_from(view, at)
        if op == 0 or length > end - at - HEAD.size:
            return False
        at += HEAD.size + length
    return True


def _messages_of(view: memoryview, segment: Segment) -> Iterator[Message]:
    """The messages of a segment that the walk could read."""
    if segment.in_chunk:
        with view[segment.offset : segment.end] as content:
            records: bytes | memoryview = mcap.open_chunk(content).records
        at, end = 0, len(records)
    else:
        records, at, end = view, segment.offset, segment.end
    while end - at >= HEAD.size:
        op, length = HEAD.unpack_from(records, at)
        at += HEAD.size
        if length > end - at:
            return
        if op == mcap.MESSAGE and length >= mcap.MESSAGE_HEAD.size:
            yield mcap.parse_message(records, at, at + length)
        at += length
