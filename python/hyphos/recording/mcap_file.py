"""MCAP files of Hyphos (docs/reference/recording.md), and protobuf MCAP files of other writers."""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import McapWriter
from hyphos.recording import attached
from hyphos.recording import mcap_records as mcap
from hyphos.recording.mcap_records import Channel, Schema
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.names import separate_names
from hyphos.recording.schemas import ChannelSpec, SchemaBook
from hyphos.recording.source import (
    Item,
    Skipped,
    Track,
    channel_of,
    refuse_second_types,
    same_kind,
)
from hyphos.ros.typebook import TypeBook
from hyphos.struct_layout import definition_of

PROFILE = "hyphos"
SUMMARY = "hyphos.recording"
INTERIM = "hyphos.recording.interim"
ENCODINGS = ("protobuf", "attached", "struct", "bytes", "custom")
_MOST_HEADER = 1 << 16  # bytes read of the first record
_MOST_NOTES = 10
MOST_TIME = (1 << 64) - 1


class McapRecording:
    """Writes encoded messages from Python. Not thread-safe: use one thread.

    Full chunks are passed to the system, and all chunks at flush(). Data that the system has
    survives a kill of this process.
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
        """Registers a channel of Hyphos. Returns the id for write()."""
        return self.add(self._book.spec(channel, type_name, encoding, type_hash, policy))

    def add(self, spec: ChannelSpec) -> int:
        """Registers any channel, as described in another file."""
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
        """Writes a message. Raises an error for a time outside MCAP's unsigned 64 bits."""
        if not (0 <= log_ns <= MOST_TIME and 0 <= publish_ns <= MOST_TIME):
            raise Error(
                "unsupported",
                f"MCAP cannot hold the time {min(log_ns, publish_ns)} ns",
                str(self.path),
            )
        self._writer.write(channel_id, log_ns, publish_ns, sequence & 0xFFFFFFFF, data)

    def attach(
        self,
        name: str,
        media_type: str,
        data: bytes,
        log_ns: int = 0,
        create_ns: int | None = None,
    ) -> None:
        created = log_ns if create_ns is None else create_ns
        self._writer.attach(name, media_type, data, log_ns, created)

    def describe(self, name: str, values: dict[str, str]) -> None:
        self._writer.describe(name, values)

    def flush(self) -> None:
        """Ends the chunk. All messages written so far survive a kill of this process."""
        self._writer.flush()

    @property
    def messages(self) -> int:
        return self._writer.messages

    @property
    def size(self) -> int:
        return self._writer.size

    def close(self, summary: dict[str, str] | None = None) -> None:
        """Writes the summary (if given) as metadata, the index and the end of the file."""
        if summary:
            self.flush()
            self._writer.describe(SUMMARY, summary)
        self._writer.close()


def mcap_profile(path: Path) -> str:
    """The profile of an MCAP file: "hyphos", "ros2", or another name from its writer."""
    with path.open("rb") as file:
        start = file.read(_MOST_HEADER)
    try:
        op, length = mcap.HEAD.unpack_from(start, len(mcap.MAGIC))
        at = len(mcap.MAGIC) + mcap.HEAD.size
        if op == mcap.HEADER:
            return mcap.Cursor(start[at : at + length]).text()
    except (struct.error, ValueError):
        pass
    return ""


@dataclass
class Extras:
    """The content of an MCAP file other than messages."""

    chunks: dict[str, int] = field(default_factory=dict)  # number by compression
    attachments: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)


def extras_of(scan: Scan) -> Extras:
    return Extras(
        dict(Counter(chunk.compression or "uncompressed" for chunk in scan.chunks)),
        [{"name": a.name, "media_type": a.media_type, "bytes": a.size} for a in scan.attachments],
        dict(scan.metadata),
    )


def damage_of(scan: Scan) -> list[str]:
    """One line for each kind of damage: places, losses, and wrong indexes."""
    lines = []
    total = scan.counts.total() - scan.orphans
    if not scan.complete:
        lines.append(
            f"the recording was cut off, {total:,} messages in complete chunks are readable"
        )
    lost = [problem for problem in scan.problems if problem.lost]
    if lost and (scan.complete or len(lost) > 1):
        more = f" and {len(lost) - 1:,} more places" if len(lost) > 1 else ""
        lines.append(f"damaged: {lost[0]}{more}")
    lines += [str(problem.text) for problem in scan.problems if not problem.lost][:_MOST_NOTES]
    if scan.orphans:
        lines.append(f"{scan.orphans:,} messages belong to channels that are not in the file")
    return lines


class McapSource:
    """An MCAP recording of Hyphos, or a protobuf one of another writer.

    The content is read once at the start. Channels, counts and times come from the messages, not
    from summary, statistics and index. `warnings` lists each difference. A file that was cut off
    (crash, full disk) or damaged yields all readable messages.
    """

    kind = "MCAP recording"

    def __init__(self, path: Path, scan: Scan | None = None) -> None:
        self.path = path
        self.scan = scan or Scan(path).read()
        self.profile = self.scan.profile
        self.warnings = damage_of(self.scan)
        self.damaged = self.scan.damaged
        self.skipped = Skipped()
        self.summary: dict[str, str] = {}
        for name, values in self.scan.metadata:
            if name in (SUMMARY, INTERIM):
                self.summary = dict(values)
        self._by_id: dict[int, Track] = {}
        for number in sorted(self.scan.channels):
            self._by_id[number] = self._track(number)
        self.tracks = list({id(track): track for track in self._by_id.values()}.values())
        separate_names(self.tracks)
        refuse_second_types(self.tracks)
        self.start_ns = self.scan.start_ns or 0
        self.end_ns = self.scan.end_ns + 1 if self.scan.start_ns is not None else 0

    def _track(self, number: int) -> Track:
        channel = self.scan.channels[number]
        schema = self.scan.schemas.get(channel.schema_id)
        made, warning = track_of(channel, schema, self.scan.counts[number])
        if warning:
            self.warnings.append(warning)
        for other_id, other in self._by_id.items():
            if self.scan.channels[other_id].topic == channel.topic and same_kind(other, made):
                other.count += made.count
                return other
        return made

    def items(self, wanted: Callable[[Track], bool], start_ns: int, end_ns: int) -> Iterator[Item]:
        self.skipped.clear()
        chosen = {n for n, track in self._by_id.items() if not track.problem and wanted(track)}
        for message in self.scan.ordered(chosen.__contains__, start_ns, end_ns):
            track = self._by_id[message.channel]
            try:
                payload, buffers = stored(track.encoding, message.data)
            except ValueError as error:
                self.skipped.add(track, str(error))
                continue
            yield Item(message.log_ns, track, payload, buffers)

    def raw(self, track: Track) -> Iterator[tuple[int, bytes]]:
        """The messages of a channel of any type, as stored in the file."""
        chosen = {number for number, one in self._by_id.items() if one is track}
        for message in self.scan.ordered(chosen.__contains__):
            yield message.log_ns, message.data

    def close(self) -> None:
        """Does nothing: no file stays open between calls."""


def track_of(channel: Channel, schema: Schema | None, count: int) -> tuple[Track, str]:
    """The track of a channel, and a warning if its metadata are not valid."""
    meta = dict(channel.metadata)
    if "hyphos.encoding" in meta:
        track, warning = _own_track(channel, meta, schema, count)
        if schema is not None and schema.encoding == "protobuf":
            track.descriptors = schema.data
        elif schema is not None and schema.encoding == "hyphos.struct" and schema.data:
            track.descriptors = definition_of(schema.data)
        return track, warning
    name = schema.name if schema else ""
    track = Track(channel_of(channel.topic), name, "protobuf", count, origin=channel.topic)
    track.topic = channel.topic
    if schema is not None and schema.encoding == "protobuf":
        track.descriptors = schema.data
    if channel.message_encoding != "protobuf":
        track.problem = f"its encoding is '{channel.message_encoding}'"
    elif not name:
        track.problem = "it has no schema with its type"
    return track, ""


def _own_track(
    channel: Channel, meta: dict[str, str], schema: Schema | None, count: int
) -> tuple[Track, str]:
    wrong = []
    encoding = meta["hyphos.encoding"]
    name = meta.get("hyphos.type") or (schema.name if schema else "")
    if "hyphos.type" not in meta and name:
        wrong.append("no hyphos.type (the name of its schema is used)")
    track = Track(channel.topic, name, encoding, count)
    try:
        track.type_hash = _hash(meta["hyphos.type_hash"])
    except KeyError:
        wrong.append("no hyphos.type_hash")
    except ValueError:
        wrong.append(f"'{meta['hyphos.type_hash']}' as hyphos.type_hash, which is not a number")
    track.policy, complaint = _policy(meta.get("hyphos.policy", "{}"))
    if complaint:
        wrong.append(complaint)
    if encoding not in ENCODINGS:
        track.problem = f"its encoding is '{encoding}'"
    elif not name:
        track.problem = "neither its metadata nor a schema has its type"
    elif track.type_hash is None and encoding not in ("protobuf", "attached", "bytes"):
        track.problem = f"its type id is missing, which '{encoding}' needs"
    warning = f"channel '{channel.topic}' has {', '.join(wrong)}" if wrong else ""
    return track, warning


def _hash(text: str) -> int:
    number = int(text, 16)
    if not 0 <= number < 1 << 64:
        raise ValueError(text)
    return number


MOST_LATCHED = 256  # kMaxLatchedDepth of the core

_POLICY: dict[str, Callable[[Any], bool]] = {
    "reliability": lambda value: value in ("best_effort", "reliable"),
    "overflow": lambda value: value in ("", "drop_oldest", "drop_newest", "block"),
    "priority": lambda value: value in ("low", "normal", "high"),
    "latched": lambda value: isinstance(value, bool),
    "latched_depth": lambda value: type(value) is int and 0 < value <= MOST_LATCHED,
    "lifespan_ms": lambda value: type(value) is int and 0 <= value < 1 << 31,
    "depth": lambda value: type(value) is int and 0 < value < 1 << 31,
    "deadline_ms": lambda value: type(value) is int and 0 <= value < 1 << 31,
    "block_timeout_ms": lambda value: type(value) is int and 0 <= value < 1 << 31,
}


def _policy(text: str) -> tuple[dict[str, object], str]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return {}, "a hyphos.policy that is not JSON"
    if not isinstance(values, dict):
        return {}, "a hyphos.policy that is not a JSON object"
    right = {
        name: value for name, value in values.items() if name in _POLICY and _POLICY[name](value)
    }
    bad = sorted(set(values) - set(right))
    return right, f"a hyphos.policy with a wrong {', '.join(bad)}" if bad else ""


def stored(encoding: str, data: bytes) -> tuple[object, Sequence[object]]:
    """Payload and buffers of a message in Hyphos's format. ValueError if it is damaged."""
    return attached.split(data) if encoding == "attached" else (data, ())


def tally_of(text: str) -> dict[str, int]:
    """The counters of a channel. Empty if the text has none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: count for name, count in found.items() if type(count) is int}
