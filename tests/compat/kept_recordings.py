"""The kept recordings: how they are made, and their content by two readers.

The independent reader is the MCAP library. Its listing is kept, and that of the Hyphos reader is
compared with it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import hyphos
import numpy as np
from goldens import Listing
from helpers import wait_until
from hyphos import Attached, Struct
from hyphos.msgs import Image, LaserScan
from hyphos.recording.opening import open_source
from mcap.exceptions import EndOfFile, McapError
from mcap.records import Attachment, Channel, Chunk, Header, Message, Metadata, Schema
from mcap.stream_reader import StreamReader

COUNT = 12
PARAMETERS = b"\x0d\0\0\0hyphos.params"  # the start of that metadata record
POSE = Struct("test.Pose", [("x", "f8"), ("n", "u4")])
PLAN = """hyphos: 1
nodes: {robot: {python: "robot:Robot", params: {speed: 0.5}}}
"""


class Words:
    """A type with its own encoding."""

    hyphos_type = "test.Words"

    def __init__(self, text: str = "") -> None:
        self.text = text

    def serialize(self) -> bytes:
        return self.text.encode()

    @classmethod
    def parse(cls, data: bytes) -> Words:
        return cls(bytes(data).decode())


# --- Writing ------------------------------------------------------------------------------------


def write(folder: Path) -> None:
    """Records every encoding with every compression, and copies one file before its end."""
    domain = f"compat-{os.getpid()}"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, _anonymous():
        plan = Path(place) / "robot.yaml"
        plan.write_text(PLAN)
        for compression in ("zstd", "lz4", "none"):
            path = folder / f"{compression}.mcap"
            _record(path, domain, plan, compression, lambda: None)
        whole = Path(place) / "whole.mcap"
        unfinished = folder / "unfinished.mcap"

        def copy() -> None:
            interim = b"hyphos.recording.interim"
            wait_until(lambda: interim in whole.read_bytes(), "the counters so far")
            shutil.copyfile(whole, unfinished)

        _record(whole, domain, plan, "zstd", copy)


@contextmanager
def _anonymous() -> Iterator[None]:
    """Keeps the names of this machine out of the files."""
    with (
        patch("socket.gethostname", lambda: "robot"),
        patch("platform.platform", lambda: "Linux"),
        patch.object(sys, "argv", ["hyphos", "record"]),
    ):
        yield


def _record(
    path: Path, domain: str, plan: Path, compression: str, before_end: Callable[[], None]
) -> None:
    with hyphos.Node.open("robot", domain=domain) as node:
        node.param("speed", 0.5)
        reliable = hyphos.Policy(reliability="reliable", depth=50)
        latched = hyphos.Policy(latched=True, depth=5)
        publishers: dict[str, hyphos.Publisher[Any]] = {
            "scan": node.publisher("front/scan", LaserScan, policy=reliable),
            "camera": node.publisher("camera", Attached[Image]),
            "pose": node.publisher("pose", POSE, policy=latched),
            "raw": node.publisher("raw", bytes),
            "words": node.publisher("words", Words),
        }
        recording = hyphos.Recording(
            path, domain=domain, compression=compression, chunk_kb=1, plan=plan, overwrite=True,
            exclude=["hyphos/*", "log"],
        )  # fmt: skip
        with recording:
            wait_until(lambda: all(each.listeners for each in publishers.values()), "the recorder")
            for number in range(COUNT):
                publishers["scan"].publish(LaserScan(range_max=number, ranges=[number] * 40))
                image = Image(width=number, encoding="mono8")
                publishers["camera"].publish(image, np.full(200, number, np.uint8), b"depth")
                publishers["pose"].publish(POSE(x=number / 2, n=number))
                publishers["raw"].publish(b"%d" % number * 20)
                publishers["words"].publish(Words(f"word {number}"))
                wait_until(lambda: _received(recording, number + 1), "the message")  # noqa: B023
            wait_until(lambda: _has_parameters(recording, path), "the parameters")
            before_end()


def _has_parameters(recording: hyphos.Recording, path: Path) -> bool:
    """Reads them again if the node did not reply in time, as on a busy machine."""
    if PARAMETERS not in path.read_bytes():
        recording._recorder.read_parameters()
    return PARAMETERS in path.read_bytes()


def _received(recording: hyphos.Recording, count: int) -> bool:
    channels = recording.status().channels
    return len(channels) == 5 and all(each["received"] == count for each in channels.values())


# --- Reading ------------------------------------------------------------------------------------


def _records(path: Path) -> Iterator[Any]:
    """The records of a file in their order. A file that was cut off ends at its last chunk."""
    with path.open("rb") as file, suppress(EndOfFile, McapError):
        yield from StreamReader(file, emit_chunks=False).records


def by_mcap(folder: Path) -> Listing:
    """The messages of each file, as the MCAP library reads them."""
    found: Listing = {}
    for path in sorted(folder.glob("*.mcap")):
        channels: dict[int, Channel] = {}
        for record in _records(path):
            if isinstance(record, Channel):
                channels[record.id] = record
                found.setdefault(f"{path.name} {record.topic}", _track(record.metadata))
            elif isinstance(record, Message):
                track = found[f"{path.name} {channels[record.channel_id].topic}"]
                parts = _parts(record.data, track["encoding"])
                track["messages"].append(line(parts, record.log_time))
    return found


def line(parts: Iterable[Any], time_ns: int) -> str:
    """A message as text: its time, its payload, and its attached buffers."""
    return " ".join([str(time_ns), *(bytes(part).hex() for part in parts)])


def _parts(data: bytes, encoding: str) -> list[bytes]:
    """Head and buffers of a stored message: docs/reference/recording.md."""
    if encoding != "attached":
        return [data]
    head, *rest = data.split(b"\x82\xea\x30")
    parts = [head]
    for one in rest:
        size, start = (one[0], 1) if one[0] < 0x80 else (one[0] & 0x7F | one[1] << 7, 2)
        assert size == len(one) - start, "the bytes of the tag are in a buffer"
        parts.append(one[start:])
    return parts


def _track(metadata: dict[str, str]) -> dict[str, Any]:
    named = {key: metadata[f"hyphos.{key}"] for key in ("type", "encoding", "type_hash")}
    policy: dict[str, Any] = json.loads(metadata["hyphos.policy"])
    return named | {"policy": policy, "messages": []}


def by_hyphos(folder: Path) -> Listing:
    """The same listing, as Hyphos reads the files."""
    found: Listing = {}
    for path in sorted(folder.glob("*.mcap")):
        source = open_source(path)
        for track in source.tracks:
            assert track.type_hash is not None
            metadata = {
                "type": track.type_name,
                "encoding": track.encoding,
                "type_hash": f"{track.type_hash:016x}",
                "policy": track.policy,
                "messages": [],
            }
            found[f"{path.name} {track.channel}"] = metadata
        for item in source.items(lambda _: True, source.start_ns, source.end_ns):
            messages = found[f"{path.name} {item.track.channel}"]["messages"]
            messages.append(line([item.payload, *item.buffers], item.time_ns))
        source.close()
    return found


# --- Format -------------------------------------------------------------------------------------


def shape(folder: Path) -> Listing:
    """The parts of each file besides the messages: names, encodings and keys."""
    found: Listing = {}
    for path in sorted(folder.glob("*.mcap")):
        schemas: dict[int, Schema] = {}
        for record in _records(path):
            if isinstance(record, Header):
                found[f"{path.name} profile"] = record.profile
            elif isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel):
                schema = schemas.get(record.schema_id)
                described = {"message_encoding": record.message_encoding, **record.metadata}
                described["schema"] = f"{schema.name} {schema.encoding}" if schema else "none"
                found[f"{path.name} channel {record.topic}"] = described
            elif isinstance(record, Metadata) and _is_lasting(record, path):
                for key, value in record.metadata.items():
                    inner = sorted(json.loads(value)) if value.startswith("{") else "text"
                    found[f"{path.name} metadata {record.name} {key}"] = inner
            elif isinstance(record, Attachment):
                found[f"{path.name} attachment {record.name}"] = record.media_type
        used = _compressions(path)
        # A chunk that does not shrink stays uncompressed.
        for compression in used - {""} or used:
            found[f"{path.name} compression '{compression}'"] = "used"
    return found


def _is_lasting(record: Metadata, path: Path) -> bool:
    """False for the counters so far in a complete file: only a slow recording has them."""
    return path.stem == "unfinished" or not record.name.endswith(".interim")


def _compressions(path: Path) -> set[str]:
    found = set()
    with path.open("rb") as file, suppress(EndOfFile, McapError):
        for record in StreamReader(file, emit_chunks=True).records:
            if isinstance(record, Chunk):
                found.add(record.compression)
    return found


@cache
def shape_of_today() -> Listing:
    """The format of recordings that this build writes."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        return shape(Path(folder))
