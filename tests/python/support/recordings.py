"""Shared helpers of the tests of recordings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import hyphos
from helpers import Cli, Start, wait_until
from hyphos import Struct
from hyphos.msgs import Image, LaserScan
from hyphos.recording import attached
from hyphos.recording.control import ask, recorders
from hyphos.recording.mcap_file import McapRecording, McapSource
from hyphos.recording.opening import open_source
from hyphos.recording.source import Item
from hyphos.ros.typebook import TypeBook

POSE = Struct("test.Pose", [("x", "f8"), ("n", "u4")])
SECOND = 1_000_000_000


def everything(path: Path) -> dict[str, list[Item]]:
    source = open_source(path)
    found: dict[str, list[Item]] = {track.channel: [] for track in source.tracks}
    for item in source.items(lambda _track: True, source.start_ns, source.end_ns):
        found[item.track.channel].append(item)
    source.close()
    return found


def counts(path: Path) -> dict[str, dict[str, int]]:
    source = open_source(path)
    assert isinstance(source, McapSource)
    return {name: json.loads(text) for name, text in source.summary.items()}


def record(hyphos_start: Start, domain: str, path: Path, *words: str) -> Any:
    return hyphos_start("record", "-d", domain, "-o", str(path), *words)


def wait_for_size(path: Path, size: int) -> None:
    wait_until(lambda: path.exists() and path.stat().st_size > size, f"{path.name} to grow")


def counted(domain: str, channel: str) -> int:
    """The number of messages that recorders of the domain have received."""
    [pid] = recorders(domain)
    return int(ask(domain, pid, {"do": "status"})["channels"].get(channel, {}).get("received", 0))


def record_each(
    hyphos_start: Start, domain: str, path: Path, channels: Iterable[str], most: int = 1
) -> None:
    """Records until each of the channels has a message, and one of them has `most`."""
    recorder = record(hyphos_start, domain, path, "--quiet")
    wait_until(lambda: bool(recorders(domain)), "the recorder")

    def whole() -> bool:
        found = [counted(domain, channel) for channel in channels]
        return min(found) > 0 and max(found) >= most

    wait_until(whole, "messages")
    code, out, err = recorder.stop()
    assert code == 0, out + err


def make_recording(path: Path, count: int = 20) -> None:
    """Writes `count` scans and images, 10 ms apart."""
    recording = McapRecording(path, TypeBook())
    scan_id = hyphos.TypeId("hyphos.msgs.LaserScan", "protobuf")
    image_id = hyphos.TypeId("hyphos.msgs.Image", "attached")
    scan = recording.add_channel("scan", scan_id.name, "protobuf", scan_id.hash, {"latched": True})
    camera = recording.add_channel("camera", image_id.name, "attached", image_id.hash, {})
    for number in range(count):
        at = 5 * SECOND + number * 10_000_000
        recording.write(scan, at, at, number, LaserScan(range_max=number).SerializeToString())
        data = attached.join(Image(width=number).SerializeToString(), [bytes([number])])
        recording.write(camera, at, at, number, data)
    recording.close({})


def check(hyphos_cli: Cli, path: Path) -> tuple[int, str]:
    code, out, _ = hyphos_cli("bag", "check", str(path))
    return code, out
