"""Recordings as input of a robot under test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import Policy, TypeId
from hyphos.publisher import Publisher
from hyphos.recording.opening import open_source
from hyphos.recording.source import Source, Track, playable
from hyphos.recording.track_filter import wanted
from hyphos.testing.hosted import Stepped
from hyphos.testing.inbox import Offer
from hyphos.testing.stage import RobotError
from hyphos.types import Raw


def start_of(recording: Path) -> int:
    """The time of the first message in nanoseconds, for a robot that begins then."""
    source = open_source(recording)
    try:
        return max(0, source.start_ns)
    finally:
        source.close()


def play(
    stage: Stepped,
    recording: Path,
    channels: Sequence[str],
    remap: Mapping[str, str],
    connect: Callable[[Offer], None],
) -> int:
    """Publishes the messages of a recording in lock-step. Returns their number. `connect` is called
    with each channel before its first message."""
    source = open_source(recording)
    try:
        tracks = [track for track in source.tracks if _plays(stage, track, channels, remap)]
        if not tracks:
            names = ", ".join(sorted(track.channel for track in source.tracks)) or "nothing"
            raise Error("not_found", f"no channel to play; it has {names}", str(recording))
        publishers = {id(track): _publisher(stage, track, remap, connect) for track in tracks}
        return _publish(stage, source, publishers)
    finally:
        source.close()


def _plays(stage: Stepped, track: Track, channels: Sequence[str], remap: Mapping[str, str]) -> bool:
    if track.problem or not track.count or not wanted(track, channels):
        return False
    name = remap.get(track.channel, track.channel)
    if name in stage.own_channels:
        return False
    named = track.channel in channels  # and not only by a pattern
    return named or not any(end.is_publisher for end in stage.ends(name))


def _publisher(
    stage: Stepped, track: Track, remap: Mapping[str, str], connect: Callable[[Offer], None]
) -> Publisher[Any]:
    kind = (
        TypeId(track.type_name, track.encoding)
        if track.type_hash is None
        else TypeId.known(track.type_name, track.encoding, track.type_hash)
    )
    wish: dict[str, Any] = dict(track.policy)
    policy = Policy(**wish)
    name = remap.get(track.channel, track.channel)
    connect(Offer(name, kind, policy))
    return stage.run(lambda: stage.node.publisher(name, Raw(kind), policy=policy))


def _publish(stage: Stepped, source: Source, publishers: dict[int, Publisher[Any]]) -> int:
    later_ns = stage.now_ns - max(0, source.start_ns)
    count = 0
    items = source.items(lambda track: id(track) in publishers, source.start_ns, source.end_ns)
    for item in playable(source, items):
        stage.step_to(item.time_ns + later_ns)
        publisher, value = publishers[id(item.track)], (item.payload, item.buffers)
        stage.run(partial(publisher.publish, value))
        count += 1
    for publisher in publishers.values():
        publisher.close()
    return count


def replay(domain: str, recording: Path, channels: Sequence[str], remap: Mapping[str, str]) -> None:
    """Publishes a recording in real time, by `hyphos replay`."""
    words = [sys.executable, "-m", "hyphos", "replay", str(recording), "--quiet"]
    words += ["--domain", domain, "--wait", "10"]
    for pattern in channels:
        words += ["--channels", pattern]
    for old, new in remap.items():
        words += ["--remap", f"{old}:={new}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RobotError(f"hyphos replay {recording} failed: {done.stderr.strip()}")
