"""One interface over every kind of recording."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from hyphos._errors import Error

LEFT_OUT = 3  # exit code of commands that omitted something, which they list

MCAP_MAGIC = b"\x89MCAP0\r\n"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_/]")
_INT64 = range(-(1 << 63), 1 << 63)  # range of times in Hyphos, in nanoseconds


@dataclass
class Track:
    """One channel of a recording."""

    channel: str
    type_name: str
    encoding: str  # as in TypeId: protobuf, attached, struct, bytes, custom
    count: int
    type_hash: int | None = None  # None: computed from name and encoding
    policy: dict[str, object] = field(default_factory=dict)
    origin: str = ""  # name in a foreign recording, with the type if there is one
    topic: str = ""  # like origin, without the type
    problem: str = ""  # reason why it cannot be replayed, or ""
    # The types as a serialized FileDescriptorSet, or b"".
    descriptors: bytes = field(default=b"", repr=False, compare=False)


class Item(NamedTuple):
    """One message: its recording time, its track, its bytes."""

    time_ns: int
    track: Track
    payload: object
    buffers: Sequence[object]


class Skipped(Counter[tuple[str, str]]):
    """Counts omitted messages by channel and reason."""

    def add(self, track: Track, reason: str) -> None:
        self[(track.origin or track.channel, reason)] += 1

    def lines(self) -> list[str]:
        return [
            f"left out: {name}, {count:,} messages: {why}" for (name, why), count in self.items()
        ]


class Source(Protocol):
    """An open recording. Items come in order of time.

    Counts and times are those of the readable messages. `damaged`: a part of the recording is not
    readable, and `warnings` names it. `skipped`: messages omitted in the last pass of items().
    """

    kind: str
    tracks: list[Track]
    start_ns: int
    end_ns: int
    warnings: list[str]
    damaged: bool
    skipped: Skipped

    def items(
        self, wanted: Callable[[Track], bool], start_ns: int, end_ns: int
    ) -> Iterator[Item]: ...

    def close(self) -> None: ...


def channel_of(topic: str) -> str:
    """The channel for a ROS topic: "/front/scan" → "front/scan". Other characters become _."""
    words = [word for word in _NOT_IN_NAMES.sub("_", topic).split("/") if word]
    return "/".join(f"_{word}" if word[0].isdigit() else word for word in words) or "_"


def same_kind(one: Track, other: Track) -> bool:
    """True if two tracks are the same channel in two entries of a file."""

    def kind(track: Track) -> tuple[object, ...]:
        return (
            track.channel,
            track.origin,
            track.type_name,
            track.encoding,
            track.type_hash,
            str(sorted(track.policy.items())),
            track.problem,
        )

    return kind(one) == kind(other)


def refuse_second_types(tracks: Sequence[Track]) -> None:
    """One channel has one type. Of several in a recording, the one with the most messages is kept,
    and the others get a problem."""
    first: dict[str, Track] = {}
    for track in sorted(tracks, key=lambda track: -track.count):
        if track.problem:
            continue
        kept = first.setdefault(track.channel, track)
        hashes = {kept.type_hash, track.type_hash} - {None}  # None: computed from the rest
        if (kept.type_name, kept.encoding) != (track.type_name, track.encoding) or len(hashes) > 1:
            other = kept.type_name or kept.encoding
            track.problem = f"the channel '{track.channel}' already has the type {other}"


def playable(source: Source, items: Iterator[Item]) -> Iterator[Item]:
    """The items whose time fits into int64 nanoseconds. The others are counted."""
    for item in items:
        if item.time_ns in _INT64:
            yield item
        else:
            source.skipped.add(item.track, "its time is after the year 2262")


def part_of(source: Source, start_s: float, end_s: float | None) -> tuple[int, int]:
    """Start and end (exclusive) of a part, in seconds from the start of the recording."""
    start = source.start_ns + seconds_ns(start_s, "--start")
    if end_s is None:
        return start, source.end_ns
    return start, min(source.end_ns, source.start_ns + seconds_ns(end_s, "--end"))


def seconds_ns(seconds: float, option: str) -> int:
    """Seconds to nanoseconds. Raises an error if a recording cannot have such a time."""
    if not abs(seconds) < 1 << 64:  # also false for NaN
        raise Error("invalid_config", f"{option} {seconds:g} is not a valid time in a recording")
    return round(seconds * 1e9)


def utc(time_ns: int) -> str:
    """A time as text, also if no calendar has it."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(time_ns // 1_000_000_000))
    except (OverflowError, ValueError, OSError):
        return f"{time_ns / 1e9:,.0f} s after 1970"


def is_mcap(path: Path) -> bool:
    """True for an MCAP file, by its content, not by its name."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MCAP_MAGIC)) == MCAP_MAGIC
