"""Compares the index of an MCAP file with its content, for `hyphos bag check`.

Reading needs no index, so a fault of the index loses no content.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from hyphos.recording import mcap_records as mcap
from hyphos.recording.mcap_records import HEAD, Message
from hyphos.recording.mcap_scan import ChunkInfo, Problem, Scan


@dataclass
class CheckedScan(Scan):
    """A scan that also compares every index and every checksum with the content."""

    # Index entries by channel, of the previous chunk. None if it cannot be read.
    _expected: dict[int, list[tuple[int, int]]] | None = None

    def _take_chunk(self, offset: int, content: memoryview, *, keep: bool) -> list[Message]:
        self._expected = None
        found = super()._take_chunk(offset, content, keep=keep)
        records = mcap.open_chunk(content).records
        expected: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for at, op, end in Scan._records_of_chunk(Scan(self.path), offset, records):
            if op == mcap.MESSAGE and end - at >= mcap.MESSAGE_HEAD.size:
                number, _, log_ns, _ = mcap.MESSAGE_HEAD.unpack_from(records, at)
                expected[number].append((log_ns, at - HEAD.size))
        self._expected = dict(expected)
        self._check_times(offset, self.chunks[-1])
        return found

    def _check_times(self, offset: int, chunk: ChunkInfo) -> None:
        times = [time for entries in (self._expected or {}).values() for time, _ in entries]
        if times and (chunk.start_ns, chunk.end_ns) != (min(times), max(times)):
            self._problem(
                offset,
                f"a chunk declares messages from {chunk.start_ns:,} to {chunk.end_ns:,} ns, but "
                f"they are from {min(times):,} to {max(times):,} ns",
                lost=False,
            )

    def _take_index(self, offset: int, content: memoryview) -> None:
        if self._expected is None:
            return
        channel, entries = mcap.parse_message_index(content)
        expected = self._expected.pop(channel, [])
        if sorted(entries) != sorted(expected):
            text = (
                f"the message index of channel {channel} has {len(entries):,} entries that do not "
                f"agree with the {len(expected):,} messages of its chunk"
            )
            self._problem(offset, text, lost=False)

    def _check_end(self, view: memoryview) -> None:
        super()._check_end(view)
        self._check_chunk_indexes()
        if self.data_end is not None and self.data_end[1]:
            offset, said = self.data_end
            if (found := zlib.crc32(view[:offset])) != said:
                text = f"the checksum of the data is {found:08x}, not {said:08x}"
                self._problem(offset, text, lost=False)

    def _check_chunk_indexes(self) -> None:
        if not self.chunk_indexes:
            return
        chunks = {chunk.offset: chunk for chunk in self.chunks}
        for index in self.chunk_indexes:
            chunk = chunks.pop(index.offset, None)
            if chunk is None:
                text = "the index has a chunk here, but none is readable"
                self._problem(index.offset, text, lost=False)
                continue
            said = (index.length, index.compression, index.stored, index.size)
            if said != (chunk.length, chunk.compression, chunk.stored, chunk.size):
                text = "the index of this chunk does not match it"
                self._problem(index.offset, text, lost=False)
            elif (index.start_ns, index.end_ns) != (chunk.start_ns, chunk.end_ns):
                text = "the times of this chunk differ between index and head"
                self._problem(index.offset, text, lost=False)
        if chunks:
            text = f"{len(chunks):,} chunks are not in the index"
            self._problem(min(chunks), text, lost=False)


def check_file(scan: CheckedScan) -> Iterator[Problem]:
    """Yields faults that only the whole file shows. Call it after read()."""
    if scan.orphans:
        text = f"{scan.orphans:,} messages belong to channels that are not in the file"
        yield Problem(scan.size, text)
    elif scan.early:
        text = f"{scan.early:,} messages precede the record of their channel"
        yield Problem(scan.size, text, lost=False)
