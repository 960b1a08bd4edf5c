"""Golden recordings: the messages of a run, compared with those of an earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import TypeId
from hyphos.observe import matches
from hyphos.recording import attached
from hyphos.recording.mcap_file import McapRecording
from hyphos.recording.opening import open_source
from hyphos.recording.schemas import recorded_policy
from hyphos.recording.track_filter import wanted
from hyphos.ros.typebook import TypeBook
from hyphos.testing.inbox import Inbox, Kept, Types
from hyphos.testing.near import Near

_MOST_LINES = 3  # of one channel


@dataclass(frozen=True)
class Rules:
    """The differences that are allowed."""

    tolerance: float | Mapping[str, float] = 0.0
    ignore: Sequence[str] = ()
    time_tolerance_s: float | None = None

    def of(self, channel: str) -> Near:
        if isinstance(self.tolerance, Mapping):
            return Near(self.tolerance.get(channel, 0.0), self.ignore)
        return Near(self.tolerance, self.ignore)


@dataclass
class _Channel:
    """The messages of one channel in a golden recording."""

    type: TypeId
    messages: list[Kept]


def chosen(inboxes: Mapping[str, Inbox], patterns: Sequence[str]) -> list[Inbox]:
    """The channels with a type that match, by name."""
    return [
        inbox
        for name, inbox in sorted(inboxes.items())
        if inbox.type is not None and matches(name, patterns)
    ]


def write(path: Path, inboxes: Sequence[Inbox]) -> None:
    """Writes the kept messages of channels in the order of their times."""
    path.parent.mkdir(parents=True, exist_ok=True)
    recording = McapRecording(path, TypeBook(), overwrite=True)
    found: list[tuple[int, int, int, Kept, str]] = []
    for inbox in inboxes:
        kind, policy = inbox.type, inbox.policy
        if kind is None:
            continue
        number = recording.add_channel(
            inbox.channel, kind.name, kind.encoding, kind.hash, recorded_policy(policy)
        )
        for place, one in enumerate(inbox.since(0)[1]):
            found.append((one.time_ns, number, place, one, kind.encoding))
    for time_ns, number, place, one, encoding in sorted(found, key=lambda entry: entry[:3]):
        data = attached.join(one.payload, one.buffers) if encoding == "attached" else one.payload
        recording.write(number, time_ns, time_ns, place + 1, data)
    recording.close()


def differences(
    path: Path, inboxes: Sequence[Inbox], patterns: Sequence[str], rules: Rules, types: Types
) -> list[str]:
    """The differences of a run to a golden recording, a few lines for each channel."""
    if not path.exists():
        raise Error(
            "not_found",
            "no such golden recording",
            str(path),
            "pytest --hyphos-update-golden writes it",
        )
    golden = _read(path, patterns)
    present = {inbox.channel: inbox for inbox in inboxes if inbox.total}
    lines = [f"{name}: not in the golden recording" for name in present if name not in golden]
    start_ns = min((c.messages[0].time_ns for c in golden.values() if c.messages), default=0)
    began_ns = min((inbox.since(0)[1][0].time_ns for inbox in present.values()), default=0)
    for name, expected in golden.items():
        inbox = present.get(name)
        if inbox is None:
            lines.append(f"{name}: 0 messages instead of {len(expected.messages):,}")
            continue
        found = _compare(inbox, expected, rules, types, start_ns - began_ns)
        lines += [f"{name}: {line}" for line in islice(found, _MOST_LINES)]
    return lines


def _read(path: Path, patterns: Sequence[str]) -> dict[str, _Channel]:
    source = open_source(path)
    try:
        found = {}
        for track in source.tracks:
            if track.count and not track.problem and wanted(track, patterns):
                kind = (
                    TypeId(track.type_name, track.encoding)
                    if track.type_hash is None
                    else TypeId.known(track.type_name, track.encoding, track.type_hash)
                )
                found[track.channel] = _Channel(kind, [])
        for item in source.items(
            lambda track: track.channel in found, source.start_ns, source.end_ns
        ):
            payload: Any = item.payload
            buffers: list[Any] = list(item.buffers)
            kept = Kept(item.time_ns, 0, bytes(payload), tuple(map(bytes, buffers)))
            found[item.track.channel].messages.append(kept)
        return found
    finally:
        source.close()


def _compare(
    inbox: Inbox, golden: _Channel, rules: Rules, types: Types, later_ns: int
) -> Iterator[str]:
    kind = inbox.type
    assert kind is not None, "a channel with messages has a type"
    if (kind.name, kind.encoding) != (golden.type.name, golden.type.encoding):
        yield f"{kind.name} instead of {golden.type.name}"
        return
    if inbox.forgotten:
        yield f"the oldest {inbox.forgotten:,} messages are not kept: raise keep_messages"
        return
    near = rules.of(inbox.channel)
    messages = inbox.since(0)[1]
    for number, (one, other) in enumerate(zip(messages, golden.messages, strict=False), 1):
        late_s = (one.time_ns + later_ns - other.time_ns) / 1e9
        if rules.time_tolerance_s is not None and abs(late_s) > rules.time_tolerance_s:
            yield f"message {number}: {abs(late_s):g} s {'late' if late_s > 0 else 'early'}"
        if one.payload == other.payload and one.buffers == other.buffers:
            continue
        value, expected = (types.value(inbox.channel, kind, each) for each in (one, other))
        for line in near.differences(value, expected):
            yield f"message {number}: {line}"
    if len(messages) != len(golden.messages):
        yield f"{len(messages):,} messages instead of {len(golden.messages):,}"
