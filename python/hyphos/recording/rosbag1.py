"""Reads ROS 1 bags record by record (wiki.ros.org/Bags/Format/2.0), without trusting the index.

Messages are counted where they are stored, also in a bag that was not closed, cut off, or damaged.
"""

from __future__ import annotations

import bz2
import mmap
import re
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import lz4.frame  # type: ignore[import-untyped]
from rosbags.rosbag1.reader import normalize
from rosbags.typesys.msg import normalize_msgtype

from hyphos._errors import Error
from hyphos.recording.ros_storage import Connection, OnBad, RawMessage, Wanted
from hyphos.recording.segments import Segment, in_order

MESSAGE, BAG_HEADER, INDEX, CHUNK, CHUNK_INFO, CONNECTION = range(2, 8)
_VERSION = re.compile(rb"#ROSBAG V(\d+)\.(\d+)[^\n]*\n")
_U32, _U64, _TIME = struct.Struct("<I"), struct.Struct("<Q"), struct.Struct("<II")
_MOST_HEADER = 1 << 20
_MOST_CHUNK = 1 << 32
_USUAL_CHUNK = 1 << 26  # limit of decompressed bytes even for a chunk that declares fewer
_CHUNK_OP = b"\x04\x00\x00\x00op=\x05"
_LOOSE_BYTES = 4 << 20
_DAMAGE = (ValueError, KeyError, struct.error, OSError, EOFError, RuntimeError, MemoryError)


@dataclass
class _Record:
    op: int
    fields: dict[bytes, bytes]
    start: int  # of its data
    end: int
    whole: bool = True

    def number(self, name: bytes) -> int:
        return int(_U32.unpack(self.fields[name])[0])

    def time_ns(self) -> int:
        seconds, rest = _TIME.unpack(self.fields[b"time"])
        return int(seconds) * 1_000_000_000 + int(rest)


def _fields(data: bytes | memoryview) -> dict[bytes, bytes]:
    found = {}
    at = 0
    while at < len(data):
        (size,) = _U32.unpack_from(data, at)
        at += _U32.size
        if size > len(data) - at:
            raise ValueError("a field extends beyond its record")
        name, equals, value = bytes(data[at : at + size]).partition(b"=")
        if not equals:
            raise ValueError("a field has no '='")
        found[name] = value
        at += size
    return found


def _record(data: bytes | memoryview, at: int, *, cut: bool = False) -> _Record:
    """The record that begins here. With `cut`, its data may extend beyond the end."""
    left = len(data) - at
    if left < _U32.size:
        raise ValueError("the data end within the head of a record")
    (size,) = _U32.unpack_from(data, at)
    if size > min(left - _U32.size, _MOST_HEADER):
        raise ValueError("its header extends beyond the end")
    fields = _fields(data[at + _U32.size : at + _U32.size + size])
    at += _U32.size + size
    (length,) = _U32.unpack_from(data, at)
    start = at + _U32.size
    op = fields[b"op"][0] if fields.get(b"op") else 0
    whole = length <= len(data) - start
    if not whole and not cut:
        raise ValueError("its data extend beyond the end")
    return _Record(op, fields, start, min(start + length, len(data)), whole)


class Bag1:
    """One ROS 1 bag."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connections: list[Connection] = []
        self.warnings: list[str] = []
        self.damaged = False
        self.start_ns: int | None = None
        self.end_ns = 0
        self._by_id: dict[int, Connection] = {}
        self._segments: list[Segment] = []
        self._counts: Counter[int] = Counter()
        self._announced: Counter[int] = Counter()
        self._infos = 0
        self._chunk_count: int | None = None
        self._found_chunks = 0
        self._closed = True  # the writer closed the bag
        self._file = path.open("rb")
        try:
            self._data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
            self._view = memoryview(self._data)
            self._walk()
        except BaseException:
            self.close()
            raise
        self._finish()

    def close(self) -> None:
        view = getattr(self, "_view", None)
        if view is not None:
            view.release()
            with suppress(BufferError):  # an iteration over the messages may still run
                self._data.close()
        self._file.close()

    # --- walk over the records ------------------------------------------------------------------

    def _walk(self) -> None:
        found = _VERSION.match(bytes(self._view[:64]))
        if found is None or (int(found[1]), int(found[2])) != (2, 0):
            version = bytes(self._view[:16]).partition(b"\n")[0].decode(errors="replace")
            raise Error(
                "unsupported",
                f"'{version}': only bags of version 2.0 are supported",
                str(self.path),
                "rosbag fix OLD.bag NEW.bag writes version 2.0",
            )
        at = found.end()
        end = len(self._view)
        while at < end:
            try:
                record = _record(self._view, at, cut=True)
                if record.op == 0 or (not record.whole and record.op != CHUNK):
                    raise ValueError("it is cut off" if record.op else "its kind is invalid")
            except _DAMAGE as error:
                going_on = self._resume(at + 1)
                more = f", {going_on - at:,} bytes are skipped" if going_on is not None else ""
                self._problem(at, f"no valid record here: {_said(error)}{more}")
                if going_on is None:
                    self._closed = False
                    return
                at = going_on
                continue
            self._take_guarded(at, record)
            if not record.whole:
                self._closed = False
                return
            at = record.end

    def _resume(self, at: int) -> int | None:
        """The start of the next chunk, or None."""
        while (place := self._data.find(_CHUNK_OP, at)) >= 0:
            for start in range(max(at, place - 64), place - 3):
                try:
                    record = _record(self._view, start)
                    if record.op == CHUNK and b"compression" in record.fields:
                        self._records_of(record)
                        return start
                except _DAMAGE:
                    continue
            at = place + 1
        return None

    def _problem(self, offset: int, text: str) -> None:
        self.damaged = True
        if len(self.warnings) < 20:
            self.warnings.append(f"byte {offset:,}: {text}")

    def _take_guarded(self, offset: int, record: _Record) -> None:
        try:
            self._take(offset, record)
        except _DAMAGE as error:
            what = "a chunk" if record.op == CHUNK else f"a record of kind {record.op}"
            if record.op in (INDEX, CHUNK_INFO):  # not needed to read the messages
                self.warnings.append(f"byte {offset:,}: {what} is damaged: {_said(error)}")
            else:
                self._problem(offset, f"{what} is damaged: {_said(error)}")

    def _take(self, offset: int, record: _Record) -> None:
        if record.op == BAG_HEADER:
            self._take_header(record)
        elif record.op == CONNECTION:
            self._take_connection(self._view, record)
        elif record.op == MESSAGE:
            self._take_loose(offset, record)
        elif record.op == CHUNK:
            self._take_chunk(offset, record)
        elif record.op == CHUNK_INFO:
            self._infos += 1
            for at in range(record.start, record.end - 7, 8):
                number, count = _TIME.unpack_from(self._view, at)
                self._announced[number] += count

    def _take_header(self, record: _Record) -> None:
        if record.fields.get(b"encryptor", b"").strip(b"\0 "):
            raise Error(
                "unsupported",
                "the bag is encrypted",
                str(self.path),
                "decrypt it with rosbag decrypt",
            )
        if not 0 < _U64.unpack(record.fields[b"index_pos"])[0] <= len(self._view):
            self._closed = False
        self._chunk_count = record.number(b"chunk_count")

    def _take_connection(self, data: bytes | memoryview, record: _Record) -> None:
        number = record.number(b"conn")
        if number in self._by_id:
            return
        more = _fields(data[record.start : record.end])

        def text(name: bytes) -> str:
            return more.get(name, b"").decode(errors="replace")

        topic = record.fields.get(b"topic", more.get(b"topic", b"")).decode(errors="replace")
        self._by_id[number] = Connection(
            number,
            normalize(topic) if topic else "/",
            normalize_msgtype(text(b"type")) if text(b"type") else "",
            "ros1",
            "ros1msg",
            text(b"message_definition"),
            text(b"md5sum"),
            latched=text(b"latching").strip().lower() in ("1", "true"),
            caller=text(b"callerid"),
        )

    def _take_loose(self, offset: int, record: _Record) -> None:
        last = self._segments[-1] if self._segments else None
        if (
            last is None
            or last.in_chunk
            or last.end != offset
            or offset - last.offset > _LOOSE_BYTES
        ):
            last = Segment(offset, offset, in_chunk=False)
            self._segments.append(last)
        last.end = record.end
        last.add(record.number(b"conn"), record.time_ns())

    def _take_chunk(self, offset: int, record: _Record) -> None:
        self._found_chunks += 1
        segment = Segment(offset, record.end, in_chunk=True)
        records, problem = self._records_of(record)
        for inner in _inner(records):
            if isinstance(inner, str):
                problem = problem or inner
            elif inner.op == MESSAGE:
                segment.add(inner.number(b"conn"), inner.time_ns())
            elif inner.op == CONNECTION:
                self._take_connection(records, inner)
        if segment.counts:
            self._segments.append(segment)
        if problem:
            self._problem(offset, f"a chunk is damaged: {problem}")

    def _records_of(self, record: _Record) -> tuple[bytes, str]:
        """The readable content of a chunk, and its problem or ""."""
        kind = record.fields[b"compression"].decode(errors="replace")
        size = record.number(b"size")
        with self._view[record.start : record.end] as packed:
            records, problem = _decompress(kind, packed, size)
        if not problem and not record.whole:
            problem = "it is cut off"
        if not problem and len(records) < size:
            problem = f"it declares {size:,} bytes, but has {len(records):,}"
        return records, problem

    def _finish(self) -> None:
        for segment in self._segments:
            self._counts.update(segment.counts)
            first = segment.start_ns
            self.start_ns = first if self.start_ns is None else min(self.start_ns, first)
            self.end_ns = max(self.end_ns, segment.end_ns)
        total = self._counts.total()
        for number, connection in self._by_id.items():
            connection.count = self._counts[number]
            if self._infos:
                connection.announced = self._announced[number]
        self.connections = [self._by_id[number] for number in sorted(self._by_id)]
        orphans = sum(n for number, n in self._counts.items() if number not in self._by_id)
        if not self._closed:
            self.damaged = True
            self.warnings.insert(0, f"the recording was cut off, {total:,} messages are readable")
        if self._closed and self._chunk_count not in (None, self._found_chunks):
            said = self._chunk_count or 0
            self.warnings.append(
                f"the bag declares {said:,} chunks, but {self._found_chunks:,} are readable"
            )
            self.damaged |= said > self._found_chunks
        if orphans:
            self.damaged = True
            self.warnings.append(
                f"{orphans:,} messages belong to connections that are not in the bag"
            )

    # --- messages -------------------------------------------------------------------------------

    def messages(
        self, wanted: Wanted, start_ns: int | None, end_ns: int | None, _bad: OnBad
    ) -> Iterator[RawMessage]:
        chosen = {number for number, one in self._by_id.items() if wanted(one)}
        start = 0 if start_ns is None else start_ns
        end = 1 << 64 if end_ns is None else end_ns
        segments = [
            segment
            for segment in self._segments
            if segment.start_ns < end and segment.end_ns >= start and chosen & segment.counts.keys()
        ]

        def read(segment: Segment) -> Iterator[RawMessage]:
            data: bytes | memoryview = self._view[segment.offset : segment.end]
            if segment.in_chunk:
                data, _ = self._records_of(_record(self._view, segment.offset, cut=True))
            for record in _inner(data):
                if isinstance(record, str) or record.op != MESSAGE:
                    continue
                number, time_ns = record.number(b"conn"), record.time_ns()
                if number in chosen and start <= time_ns < end:
                    found = bytes(data[record.start : record.end])
                    yield RawMessage(self._by_id[number], time_ns, found)

        yield from in_order(segments, read, lambda message: message.time_ns)


def _inner(data: bytes | memoryview) -> Iterator[_Record | str]:
    """Yields the valid records, and a text at the end if the rest is not valid."""
    at = 0
    while at < len(data):
        try:
            record = _record(data, at)
        except _DAMAGE as error:
            yield f"a record in it is damaged: {_said(error)}"
            return
        at = record.end
        try:
            if record.op in (MESSAGE, CONNECTION):
                record.number(b"conn")
            if record.op == MESSAGE:
                record.time_ns()
        except _DAMAGE as error:
            yield f"a record in it is damaged: {_said(error)}"
            continue
        yield record


def _said(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"it has no field {error.args[0]!r}"
    return str(error) or type(error).__name__


def _decompress(kind: str, data: memoryview, size: int) -> tuple[bytes, str]:
    """The readable part, and the problem after it or ""."""
    if size > _MOST_CHUNK:
        return b"", f"{size:,} bytes are implausibly large for a chunk"
    if kind == "none":
        return bytes(data), ""
    if kind not in ("bz2", "lz4"):
        return b"", f"unknown compression '{kind}'"
    decompressor = bz2.BZ2Decompressor() if kind == "bz2" else lz4.frame.LZ4FrameDecompressor()
    out = bytearray()
    feed = bytes(data)
    try:
        most = max(size, _USUAL_CHUNK) + 1
        while not decompressor.eof and len(out) < most:
            part = decompressor.decompress(feed, max_length=most - len(out))
            feed = b""
            if not part and decompressor.needs_input:
                return bytes(out), f"{kind}: it is cut off"
            out += part
    except (OSError, EOFError, RuntimeError, ValueError) as error:
        return bytes(out), f"{kind}: {error}"
    return bytes(out), ""
