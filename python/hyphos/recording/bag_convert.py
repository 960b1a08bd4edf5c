"""hyphos bag convert: MCAP of Hyphos ↔ ROS 1 bags ↔ ROS 2 recordings, through `rosbags`."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability
from rosbags.interfaces import QosTime as Span
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from hyphos._errors import Error
from hyphos._hyphos import TypeId
from hyphos.recording import attached
from hyphos.recording.bag import Selection, WriteOptions, cut, progress_bar, writing
from hyphos.recording.mcap_file import PROFILE, McapSource
from hyphos.recording.ros_bag import RosSource
from hyphos.recording.ros_to_ros import RosWays, time_problem
from hyphos.recording.ros_types import damage_in
from hyphos.recording.ros_unmap import Backward, make_backward
from hyphos.recording.source import LEFT_OUT, Skipped, Source, Track, open_source
from hyphos.tools.console import console

_FORMATS = ("mcap", "ros1", "ros2", "ros2-db3")
_FOREVER = Span(2147483647, 4294967295)


def _format(to: str | None, output: Path) -> str:
    if to is not None:
        if to not in _FORMATS:
            raise Error("invalid_config", f"--to {to}: right would be {', '.join(_FORMATS)}")
        return to
    if output.suffix == ".mcap":
        return "mcap"
    if output.suffix == ".bag":
        return "ros1"
    if output.suffix == "":
        return "ros2"
    raise Error(
        "invalid_config",
        f"'{output.name}' does not tell the format",
        advice=f"--to {' | '.join(_FORMATS)}",
    )


def convert(path: Path, to: str | None, options: WriteOptions) -> int:
    """0; or LEFT_OUT if something was, which is named and counted."""
    target = _format(to, options.output)
    source = open_source(path)
    try:
        if isinstance(source, RosSource):
            if target == "mcap":
                return _to_hyphos(source, path, options)
            return _ros_to_ros(source, path, target, options)
        if target != "mcap":
            return _to_ros(source, path, target, options)
    finally:
        source.close()
    if isinstance(source, McapSource) and source.profile != PROFILE:
        return cut(path, Selection(), options)  # its channels as they are
    raise Error(
        "invalid_config",
        "it is an MCAP file of Hyphos already",
        str(path),
        "hyphos bag cut FILE -o OUT --compression zstd|lz4|none writes it anew",
    )


class _Report:
    """What was left out: named and counted."""

    def __init__(self) -> None:
        self.written = 0
        self.left_out: list[tuple[Track, str]] = []
        self.damaged: Counter[str] = Counter()
        self.skipped = Skipped()
        self.notes: list[str] = []

    def print(self, output: Path, source: Source) -> int:
        """The exit code."""
        out = console()
        out.print(f"wrote {output}: {self.written:,} messages")
        for track, why in self.left_out:
            name = track.origin or track.channel
            out.print(f"left out: {name}, {track.count:,} messages: {why}")
        for channel, count in self.damaged.items():
            out.print(f"left out: {channel}, {count:,} messages that do not parse")
        for line in (*source.skipped.lines(), *self.skipped.lines()):
            out.print(line)
        for note in self.notes:
            out.print(f"note: {note}")
        partial = self.left_out or self.damaged or self.skipped or source.skipped
        return LEFT_OUT if partial or source.damaged else 0


# --- ROS to Hyphos ------------------------------------------------------------------------------


def _to_hyphos(source: RosSource, path: Path, options: WriteOptions) -> int:
    report = _Report()
    report.notes = list(source.warnings)
    total = sum(track.count for track in source.tracks if not track.problem)
    with (
        progress_bar("converting", total) as progress,
        writing(options, PROFILE, [path]) as to,
    ):
        ids: dict[int, int] = {}
        for track in source.tracks:
            if track.problem:
                report.left_out.append((track, track.problem))
                continue
            number = track.type_hash
            if number is None:
                number = TypeId(track.type_name, track.encoding).hash
            ids[id(track)] = to.add_channel(
                track.channel, track.type_name, track.encoding, number, track.policy
            )
        numbers: Counter[int] = Counter()
        for item in source.items(lambda _track: True, source.start_ns, source.end_ns + 1):
            if why := time_problem("mcap", item.time_ns):
                report.skipped.add(item.track, why)
                continue
            key = id(item.track)
            numbers[key] += 1
            payload: Any = item.payload
            data = attached.join(payload, item.buffers) if item.buffers else bytes(payload)
            to.write(ids[key], item.time_ns, item.time_ns, numbers[key], data)
            report.written += 1
            progress(report.written)
    return report.print(options.output, source)


# --- Hyphos to ROS ------------------------------------------------------------------------------


@contextmanager
def _ros_writer(target: str, options: WriteOptions, inputs: Sequence[Path]) -> Iterator[Any]:
    """Writes; what is not finished is removed."""
    output = options.output
    if any(output.exists() and output.samefile(path) for path in inputs):
        raise Error("invalid_config", "a file cannot be written over itself", str(output))
    if output.exists():
        if not options.overwrite:
            raise Error("already_exists", "it exists", str(output), "another name, or --overwrite")
        if output.is_dir() and not (output / "metadata.yaml").exists():
            raise Error("invalid_config", "this folder is no ROS 2 recording", str(output))
        shutil.rmtree(output) if output.is_dir() else output.unlink()
    done = False
    try:
        if target == "ros1":
            with Writer1(output) as writer:
                yield writer
        else:
            plugin = StoragePlugin.MCAP if target == "ros2" else StoragePlugin.SQLITE3
            with Writer2(output, version=9, storage_plugin=plugin) as writer:
                yield writer
        done = True
    finally:
        if not done and output.exists():
            shutil.rmtree(output) if output.is_dir() else output.unlink()


def _typestore(target: str) -> Any:
    if target != "ros1":
        return get_typestore(Stores.LATEST)
    store = get_typestore(Stores.ROS1_NOETIC)
    definition = "geometry_msgs/TransformStamped[] transforms\n"
    store.register(get_types_from_msg(definition, "tf2_msgs/msg/TFMessage"))
    return store


def _backward(track: Track, store: Any) -> Backward | str:
    """How to convert, or why not."""
    if track.encoding not in ("protobuf", "attached"):
        return f"ROS has nothing like the encoding '{track.encoding}'"
    found = make_backward(track.type_name, store)
    if found is None:
        return f"ROS has no message like {track.type_name}"
    if found.attached != (track.encoding == "attached"):
        return f"{track.type_name} is '{track.encoding}' here, and not what hyphos.msgs has"
    return found


def latched_qos() -> list[Qos]:
    return [
        Qos(
            QosHistory.KEEP_LAST,
            1,
            QosReliability.RELIABLE,
            QosDurability.TRANSIENT_LOCAL,
            _FOREVER,
            _FOREVER,
            QosLiveliness.AUTOMATIC,
            _FOREVER,
            avoid_ros_namespace_conventions=False,
        )
    ]


def _to_ros(source: Source, path: Path, target: str, options: WriteOptions) -> int:
    report = _Report()
    report.notes = list(source.warnings)
    store = _typestore(target)
    ros1 = target == "ros1"
    converters: dict[int, Backward] = {}
    for track in source.tracks:
        found = track.problem or _backward(track, store)
        if isinstance(found, str):
            report.left_out.append((track, found))
        else:
            converters[id(track)] = found
    if not converters:
        raise Error(
            "unsupported",
            "no channel can be converted: "
            + "; ".join(f"{track.channel}: {why}" for track, why in report.left_out),
            str(path),
        )
    for kind in {c.ros_type: c for c in converters.values()}.values():
        if kind.ignored:
            report.notes.append(f"{kind.ros_type} has no {', '.join(sorted(set(kind.ignored)))}")
        if kind.defaulted:
            report.notes.append(f"filled with zero: {', '.join(sorted(set(kind.defaulted)))}")
    total = sum(track.count for track in source.tracks if id(track) in converters)
    with (
        progress_bar("converting", total) as progress,
        _ros_writer(target, options, [path]) as writer,
    ):
        connections = {}
        for track in source.tracks:
            if id(track) not in converters:
                continue
            latched = bool(track.policy.get("latched"))
            extra: dict[str, Any] = (
                {"latching": int(latched)}
                if ros1
                else {"offered_qos_profiles": latched_qos() if latched else []}
            )
            connections[id(track)] = writer.add_connection(
                "/" + track.channel, converters[id(track)].ros_type, typestore=store, **extra
            )
        serialize = store.serialize_ros1 if ros1 else store.serialize_cdr
        span = (source.start_ns, max(source.end_ns, source.start_ns + 1))
        for item in source.items(lambda track: id(track) in converters, *span):
            if why := time_problem(target, item.time_ns):
                report.skipped.add(item.track, why)
                continue
            converter = converters[id(item.track)]
            payload: Any = item.payload
            try:
                message = converter(bytes(payload), item.buffers)
                data = serialize(message, converter.ros_type)
            except Exception:  # noqa: BLE001 - a damaged message fails in many ways
                report.damaged[item.track.channel] += 1
                continue
            writer.write(connections[id(item.track)], item.time_ns, data)
            report.written += 1
            progress(report.written)
    return report.print(options.output, source)


# --- ROS to ROS ---------------------------------------------------------------------------------


def _ros_to_ros(source: RosSource, path: Path, target: str, options: WriteOptions) -> int:
    report = _Report()
    report.notes = [note for note in source.warnings if ": not kept: " not in note]
    total = sum(connection.count for connection in source.connections)
    with (
        progress_bar("converting", total) as progress,
        _ros_writer(target, options, [path]) as writer,
    ):
        made = RosWays(target, writer)
        ways = {}
        for connection in source.connections:
            way = made.way(connection)
            if isinstance(way, str):
                origin = f"{connection.topic} {connection.type_name}".rstrip()
                track = Track(connection.topic, "", "", connection.count, origin=origin)
                report.left_out.append((track, way))
            else:
                ways[id(connection)] = way
        for connection, time_ns, data in source.raw_messages(lambda one: id(one) in ways):
            if why := time_problem(target, time_ns):
                report.skipped[(connection.topic, why)] += 1
                continue
            way = ways[id(connection)]
            try:
                converted = way.convert(data)
            except Exception as error:  # noqa: BLE001 - a damaged message fails in many ways
                report.skipped[(connection.topic, damage_in(data, error))] += 1
                continue
            writer.write(way.to, time_ns, converted)
            report.written += 1
            progress(report.written)
    return report.print(options.output, source)
