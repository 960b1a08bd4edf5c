"""MCAP files as Hyphos writes them (docs/recording.md), and protobuf MCAP files of others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcap.reader import SeekingReader
from mcap.records import Channel, Chunk, Header, Message, Metadata, Schema
from mcap.stream_reader import StreamReader, breakup_chunk

from hyphos._errors import Error
from hyphos._hyphos import McapWriter
from hyphos.recording import attached
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.schemas import ChannelSpec, SchemaBook
from hyphos.recording.source import Item, Track
from hyphos.tools.typebook import TypeBook

PROFILE = "hyphos"
SUMMARY = "hyphos.recording"
INTERIM = "hyphos.recording.interim"


class McapRecording:
    """Writes messages as they travel, from Python. Not thread-safe: one thread writes.

    Chunks are handed to the system when they are full and at flush(): what has been handed over
    survives the death of the process.
    """

    def __init__(
        self,
        path: Path,
        book: TypeBook,
        *,
        profile: str = PROFILE,
        chunk_bytes: int = 4 * 1024 * 1024,
        compression: str = "zstd",
        overwrite: bool = False,
    ) -> None:
        self._writer = McapWriter.create(
            str(path),
            profile,
            chunk_bytes=chunk_bytes,
            compression=compression,
            overwrite=overwrite,
        )
        self.path = path
        self._book = SchemaBook(book)
        self._schemas: dict[tuple[str, str, bytes], int] = {}

    @property
    def unknown_types(self) -> set[str]:
        return self._book.unknown_types

    def add_channel(
        self,
        channel: str,
        type_name: str,
        encoding: str,
        type_hash: int,
        policy: dict[str, object],
    ) -> int:
        """Registers a channel of Hyphos and gives the id to write with."""
        return self.add(self._book.spec(channel, type_name, encoding, type_hash, policy))

    def add(self, spec: ChannelSpec) -> int:
        """Registers any channel, as it stands in another file."""
        schema_id = 0
        if spec.schema_name is not None:
            key = (spec.schema_name, spec.schema_encoding, spec.schema_data)
            if key not in self._schemas:
                self._schemas[key] = self._writer.add_schema(*key)
            schema_id = self._schemas[key]
        return self._writer.add_channel(
            spec.channel, spec.message_encoding, schema_id, spec.metadata
        )

    def write(
        self, channel_id: int, log_ns: int, publish_ns: int, sequence: int, data: bytes
    ) -> None:
        self._writer.write(channel_id, log_ns, publish_ns, sequence & 0xFFFFFFFF, data)

    def attach(self, name: str, media_type: str, data: bytes, log_ns: int = 0) -> None:
        self._writer.attach(name, media_type, data, log_ns, log_ns)

    def describe(self, name: str, values: dict[str, str]) -> None:
        self._writer.describe(name, values)

    def flush(self) -> None:
        """Ends the chunk: everything written so far survives a kill of this process."""
        self._writer.flush()

    @property
    def messages(self) -> int:
        return self._writer.messages

    @property
    def size(self) -> int:
        return self._writer.size

    def close(self, summary: dict[str, str] | None = None) -> None:
        """Writes the summary, if any, as metadata, the index and the end of the file."""
        if summary:
            self.flush()
            self._writer.describe(SUMMARY, summary)
        self._writer.close()


def mcap_profile(path: Path) -> str:
    """Which kind of MCAP file it is: "hyphos", "ros2", or whatever its writer said."""
    with path.open("rb") as file:
        try:
            for record in StreamReader(file, record_size_limit=path.stat().st_size).records:
                return record.profile if isinstance(record, Header) else ""
        except Exception as error:
            raise _damaged(path, error) from error
    return ""


def _damaged(path: Path, error: Exception) -> Error:
    reason = str(error) or type(error).__name__
    return Error("corrupt", f"the MCAP file cannot be read: {reason}", str(path))


@dataclass
class Extras:
    """What an MCAP file holds besides messages."""

    chunks: dict[str, int] = field(default_factory=dict)  # number by compression
    attachments: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)


def read_extras(path: Path) -> Extras:
    """From the index, or from the whole file if it has none."""
    with path.open("rb") as file:
        reader = SeekingReader(file, record_size_limit=path.stat().st_size)
        try:
            summary = reader.get_summary()
            if summary is not None and summary.statistics is not None:
                return Extras(
                    dict(Counter(i.compression or "uncompressed" for i in summary.chunk_indexes)),
                    [
                        {"name": a.name, "media_type": a.media_type, "bytes": a.data_size}
                        for a in summary.attachment_indexes
                    ],
                    {m.name: dict(m.metadata) for m in reader.iter_metadata()},
                )
        except Exception:  # noqa: BLE001 - the library raises many kinds for a missing end
            pass
    scan = Scan(path).read()
    return Extras(
        dict(Counter(chunk.compression or "uncompressed" for chunk in scan.chunks)),
        [
            {"name": a.name, "media_type": a.media_type, "bytes": len(a.data)}
            for a in scan.attachments
        ],
        dict(scan.metadata),
    )


class McapSource:
    """An MCAP recording. One that was cut off (crash, full disk) is read up to its last complete
    chunk, and `warnings` says so."""

    kind = "MCAP recording"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        self.summary: dict[str, str] = {}
        self._by_id: dict[int, Track] = {}
        self.start_ns = self.end_ns = 0
        self._complete = self._read_index()
        if not self._complete:
            self._scan()
        self.tracks = list(self._by_id.values())

    def _read_index(self) -> bool:
        with self.path.open("rb") as file:
            reader = SeekingReader(file, record_size_limit=self.path.stat().st_size)
            try:
                summary = reader.get_summary()
            except Exception:  # noqa: BLE001 - the library raises many kinds for a missing end
                return False
            if summary is None or summary.statistics is None:
                return False
            for metadata in reader.iter_metadata():
                if metadata.name == SUMMARY:
                    self.summary = dict(metadata.metadata)
            counts = summary.statistics.channel_message_counts
            for channel in summary.channels.values():
                schema = summary.schemas.get(channel.schema_id)
                self._by_id[channel.id] = _track(channel, schema, counts.get(channel.id, 0))
            if summary.statistics.message_count:
                self.start_ns = summary.statistics.message_start_time
                self.end_ns = summary.statistics.message_end_time + 1
        return True

    def _scan(self) -> None:
        times: list[int] = []
        for message in self._messages_of_cut_file():
            self._by_id[message.channel_id].count += 1
            times.append(message.log_time)
        if times:
            self.start_ns, self.end_ns = min(times), max(times) + 1
        self.warnings.append(
            f"the recording was cut off; {len(times)} messages in complete chunks are readable"
        )

    def _messages_of_cut_file(self) -> Iterator[Message]:
        """Messages up to the first damage, which in a cut file is its end."""
        schemas: dict[int, Schema] = {}
        with self.path.open("rb") as file:
            reader = StreamReader(
                file, emit_chunks=True, record_size_limit=self.path.stat().st_size
            )
            records = iter(reader.records)
            while True:
                try:
                    record = next(records)
                    inner = (
                        breakup_chunk(record, validate_crc=True)
                        if isinstance(record, Chunk)
                        else [record]
                    )
                except Exception:  # noqa: BLE001 - a cut record fails in any way
                    return
                yield from self._take(inner, schemas)

    def _take(self, records: Iterable[Any], schemas: dict[int, Schema]) -> Iterator[Message]:
        messages: list[Message] = []
        for record in records:
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel) and record.id not in self._by_id:
                self._by_id[record.id] = _track(record, schemas.get(record.schema_id), 0)
            elif isinstance(record, Metadata) and record.name in (SUMMARY, INTERIM):
                self.summary = dict(record.metadata)
            elif isinstance(record, Message):
                messages.append(record)
        messages.sort(key=lambda message: message.log_time)
        yield from messages

    def items(self, wanted: Callable[[Track], bool], start_ns: int, end_ns: int) -> Iterator[Item]:
        for message in self._messages(wanted, start_ns, end_ns):
            track = self._by_id[message.channel_id]
            if track.problem or not wanted(track) or not start_ns <= message.log_time < end_ns:
                continue
            yield _item(track, message)

    def raw(self, track: Track) -> Iterator[tuple[int, bytes]]:
        """The messages of a channel, of whatever type, as they lie in the file."""
        for message in self._messages(lambda one: one is track, self.start_ns, self.end_ns):
            if self._by_id[message.channel_id] is track:
                yield message.log_time, message.data

    def _messages(
        self, wanted: Callable[[Track], bool], start_ns: int, end_ns: int
    ) -> Iterator[Message]:
        if not self._complete:
            yield from self._messages_of_cut_file()
            return
        topics = [track.origin or track.channel for track in self.tracks if wanted(track)]
        with self.path.open("rb") as file:
            reader = SeekingReader(file, record_size_limit=self.path.stat().st_size)
            found = reader.iter_messages(topics, starting_at=start_ns, ending_before=end_ns)
            for _, _, message in found:
                yield message

    def close(self) -> None:
        """Nothing stays open between calls."""


def _track(channel: Channel, schema: Schema | None, count: int) -> Track:
    meta = channel.metadata
    if "hyphos.encoding" in meta:
        return Track(
            channel.topic,
            meta["hyphos.type"],
            meta["hyphos.encoding"],
            count,
            int(meta["hyphos.type_hash"], 16),
            json.loads(meta.get("hyphos.policy", "{}")),
        )
    name = schema.name if schema else ""
    track = Track(channel.topic.strip("/"), name, "protobuf", count, origin=channel.topic)
    if channel.message_encoding != "protobuf":
        track.problem = f"its encoding is '{channel.message_encoding}'"
    return track


def _item(track: Track, message: Message) -> Item:
    if track.encoding != "attached":
        return Item(message.log_time, track, message.data, ())
    head, buffers = attached.split(message.data)
    return Item(message.log_time, track, head, buffers)
