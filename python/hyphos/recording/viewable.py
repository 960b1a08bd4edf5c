"""Recordings of ROS for `hyphos view`: the messages of a bag or database in an MCAP file.

The viewer reads the messages of ROS in MCAP files. So they are copied unchanged, with their
definitions, into a cache of bounded size. A copy is used again until its source changes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from hyphos._errors import Error
from hyphos.recording.bag import WriteOptions, progress_bar, writing
from hyphos.recording.opening import open_source
from hyphos.recording.ros_bag import RosSource
from hyphos.recording.ros_storage import Connection
from hyphos.recording.ros_types import understand
from hyphos.recording.schemas import ChannelSpec
from hyphos.tools.console import say

MOST_BYTES = 16 << 30  # of all copies: beyond it the oldest are removed
_SUFFIXES = (".bag", ".db3", ".zstd")
_VERSION = "1"  # of the copies
_LATCHED = "- durability: 1\n"
_TEXTS = ("ros1msg", "ros2msg")  # definitions that the viewer reads


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "hyphos/view"


def viewable(path: Path) -> Path:
    """The file that the viewer opens for `path`: itself, or a copy of it in the cache."""
    if path.is_dir():
        files = [one for one in path.iterdir() if one.suffix in (".mcap", *_SUFFIXES)]
        if len(files) == 1 and files[0].suffix == ".mcap":
            return files[0]
    elif path.suffix not in _SUFFIXES or not path.exists():
        return path
    folder = cache_folder() / _key(path)
    made = folder / f"{path.resolve().name}.mcap"
    if made.exists():
        os.utime(folder)  # it was used last
        return made
    _remove_oldest(MOST_BYTES - _size(path))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _copy(path, made)
    except BaseException:
        with suppress(OSError):
            folder.rmdir()
        raise
    return made


def _files(path: Path) -> list[Path]:
    return sorted(one for one in path.iterdir() if one.is_file()) if path.is_dir() else [path]


def _size(path: Path) -> int:
    return sum(one.stat().st_size for one in _files(path))


def _key(path: Path) -> str:
    parts = [_VERSION, str(path.resolve())]
    for one in _files(path):
        found = one.stat()
        parts += [one.name, str(found.st_size), str(found.st_mtime_ns)]
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:20]


def _remove_oldest(most: int) -> None:
    """Removes the copies that were used longest ago, until at most `most` bytes are left."""
    base = cache_folder()
    if not base.is_dir():
        return
    copies = sorted((one for one in base.iterdir() if one.is_dir()), key=_used, reverse=True)
    total = 0
    for one in copies:
        with suppress(OSError):
            total += _size(one)
        if total > most:
            shutil.rmtree(one, ignore_errors=True)


def _used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _copy(path: Path, made: Path) -> None:
    source = open_source(path)
    try:
        if not isinstance(source, RosSource):
            raise Error("unsupported", "this is no recording of ROS", str(path))
        _copy_messages(source, path, made)
    finally:
        source.close()


def _copy_messages(source: RosSource, path: Path, made: Path) -> None:
    out = Console(stderr=True, highlight=False, soft_wrap=True)
    if out.is_terminal:
        say(out, f"copying {path} for the viewer, to {made.parent}")
    left_out: list[str] = []
    specs: dict[int, ChannelSpec] = {}
    for connection in source.connections:
        spec = _spec(connection)
        if isinstance(spec, str):
            left_out.append(f"left out: {connection.topic}, {connection.count:,} messages: {spec}")
        else:
            specs[id(connection)] = spec
    total = sum(one.count for one in source.connections if id(one) in specs)
    wires = {one.message_encoding for one in specs.values()}
    profile = "ros1" if wires == {"ros1"} else "ros2"
    inputs = [path] if path.is_file() else []
    with (
        progress_bar("copying", total) as progress,
        writing(WriteOptions(made), profile, inputs) as to,
    ):
        ids = {key: to.add(spec) for key, spec in specs.items()}
        numbers = dict.fromkeys(ids, 0)
        written = 0
        for connection, time_ns, data in source.raw_messages(lambda one: id(one) in ids):
            key = id(connection)
            numbers[key] += 1
            if time_ns < 0:
                left_out.append(f"left out: a message of {connection.topic} at {time_ns} ns")
                continue
            to.write(ids[key], time_ns, time_ns, numbers[key], data)
            written += 1
            progress(written)
    for line in (*source.warnings, *left_out, *source.skipped.lines()):
        say(out, f"{path.name}: {line}")


def _spec(connection: Connection) -> ChannelSpec | str:
    """The channel of a connection in the copy, or the reason why there is none."""
    if connection.wire not in ("cdr", "ros1"):
        return f"its encoding is '{connection.wire}'"
    encoding, text = connection.definition_encoding, connection.definition
    if encoding not in _TEXTS or not text.strip():
        ros1 = connection.wire == "ros1"
        known = understand(connection.type_name, encoding, text, connection.digest, ros1=ros1)
        if known.problem:
            return known.problem
        encoding = "ros1msg" if ros1 else "ros2msg"
        text = known.store.generate_msgdef(known.name, ros_version=1 if ros1 else 2)[0]
    qos = connection.qos or (_LATCHED if connection.latched else "")
    metadata = {"offered_qos_profiles": qos} if qos else {}
    return ChannelSpec(
        connection.topic,
        connection.wire,
        connection.type_name,
        encoding,
        text.encode(),
        metadata,
    )
