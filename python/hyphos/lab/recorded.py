"""Recorded data as a workload: the messages of one topic, with their times and sizes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from hyphos._errors import Error
from hyphos.lab.case import Case
from hyphos.lab.worker.schedule import ENTRY, HEAD, MAGIC
from hyphos.recording.mcap_file import McapSource
from hyphos.recording.opening import open_source
from hyphos.recording.remedies import command, free_name
from hyphos.recording.ros_bag import RosSource
from hyphos.recording.source import Source, Track, is_mcap

# The laboratory's header must fit into each message. Shorter messages are padded with zeros.
MIN_SIZE = 32
MAX_BYTES = 512 << 20


@dataclass(frozen=True)
class Recorded:
    """All messages of one topic, in order of time, with the bytes from the file."""

    offsets_ns: list[int]  # relative to the first message
    payloads: list[bytes]

    @property
    def largest(self) -> int:
        return max(map(len, self.payloads))

    @property
    def span_ns(self) -> int:
        """The period after which playback starts over: its length and one mean gap. A second if
        the length is 0."""
        last, count = self.offsets_ns[-1], len(self.offsets_ns)
        return round(last * count / (count - 1)) if last else 1_000_000_000

    @property
    def rate_hz(self) -> float:
        return len(self.offsets_ns) * 1e9 / self.span_ns

    def write(self, path: Path) -> None:
        """Writes the schedule that the programs map, in the format of lab/common/schedule.hpp."""
        at = HEAD.size + ENTRY.size * len(self.payloads)
        with path.open("wb") as file:
            file.write(HEAD.pack(MAGIC, len(self.payloads), self.span_ns))
            for offset, payload in zip(self.offsets_ns, self.payloads, strict=True):
                file.write(ENTRY.pack(offset, len(payload), at))
                at += len(payload)
            file.writelines(self.payloads)


@lru_cache(maxsize=2)
def read_recorded(path: Path, channel: str, least: int = MIN_SIZE) -> Recorded:
    """The messages of `channel` in any file that `hyphos replay` reads, padded to `least` bytes.
    The name may be that in the file, or without the slashes around it. Raises Error if there is no
    such channel, or if the file was cut off or is damaged."""
    source = open_source(path)
    try:
        return _read(source, _track(source, path, channel), path, least)
    finally:
        source.close()


def _names(track: Track) -> list[str]:
    """The name of the channel, and its name in a foreign recording."""
    return [name.strip("/") for name in (track.channel, track.origin.partition(" ")[0]) if name]


def _track(source: Source, path: Path, channel: str) -> Track:
    if source.damaged:
        words: tuple[object, ...] = ("bag", "convert", path, "-o", free_name(path, "_hyphos"))
        if is_mcap(path):
            words = ("bag", "check", path, "--repair", free_name(path, "_repaired"))
        raise Error("corrupt", "; ".join(source.warnings), str(path), command(*words))
    full = [track for track in source.tracks if track.count]
    for track in full:
        if channel.strip("/") in _names(track):
            return track
    known = [track.channel for track in full]
    near = difflib.get_close_matches(channel, known, 1)
    said = f"no messages of '{channel}'" if channel else "no channel is given"
    raise Error(
        "not_found",
        said + (f", did you mean '{near[0]}'?" if near else ""),
        str(path),
        "set `channel` to one of " + ", ".join(known) if known else "the file has no messages",
    )


def _raw(source: Source, track: Track) -> Iterator[tuple[int, bytes]]:
    if not isinstance(source, McapSource | RosSource):
        raise TypeError(f"cannot read raw messages of {source.kind}")
    return source.raw(track)


def _read(source: Source, track: Track, path: Path, least: int) -> Recorded:
    found: list[tuple[int, bytes]] = []
    total = 0
    for time_ns, payload in _raw(source, track):
        total += len(payload)
        if total > MAX_BYTES:
            raise Error(
                "unsupported",
                f"'{track.channel}' has more than {MAX_BYTES >> 20} MB, which must fit in memory",
                str(path),
                "make a shorter recording with `hyphos bag cut`",
            )
        found.append((time_ns, payload.ljust(least, b"\0")))
    if not found:
        raise Error("corrupt", f"cannot read the messages of '{track.channel}'", str(path))
    found.sort(key=lambda one: one[0])
    begin = found[0][0]
    return Recorded([time_ns - begin for time_ns, _ in found], [payload for _, payload in found])


def of_case(case: Case) -> Recorded:
    return read_recorded(Path(case.recording), case.channel)


def resolved(case: Case) -> Case:
    """The case with the properties of its recording: the largest size, the mean rate and the full
    path."""
    if not case.recording:
        return case
    path = Path(case.recording).expanduser().resolve()
    recorded = read_recorded(path, case.channel)
    rate_hz = recorded.rate_hz * case.speed if case.speed else case.rate_hz
    return replace(
        case, recording=str(path), size=recorded.largest, rate_hz=float(f"{rate_hz:.6g}")
    )
