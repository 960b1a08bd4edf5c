"""hyphos bag convert: MCAP of Hyphos ↔ ROS 1 bags ↔ ROS 2 recordings, through `rosbags`."""

from __future__ import annotations

import shutil
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from hyphos._errors import Error
from hyphos._hyphos import TypeId
from hyphos.recording import attached
from hyphos.recording.bag import Selection, WriteOptions, cut, progress_bar, writing
from hyphos.recording.bag_report import Report
from hyphos.recording.mcap_file import PROFILE, McapSource
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.names import renamed_channels, ros2_topics, ros_topics
from hyphos.recording.opening import open_source
from hyphos.recording.remedies import command
from hyphos.recording.ros_bag import RosSource
from hyphos.recording.ros_qos import latched_qos
from hyphos.recording.ros_stamps import UnholdableError
from hyphos.recording.ros_to_ros import RosWays, time_problem
from hyphos.recording.ros_types import damage_in
from hyphos.recording.ros_unmap import Backward, make_backward
from hyphos.recording.schemas import NOT_CONVERTIBLE, Conversion, Conversions
from hyphos.recording.source import Source, Track

_FORMATS = ("mcap", "ros1", "ros2", "ros2-db3")


def _format(to: str | None, output: Path) -> str:
    if to is not None:
        if to not in _FORMATS:
            raise Error(
                "invalid_config",
                f"unknown format --to {to}: give one of {', '.join(_FORMATS)}, foxglove",
            )
        return to
    if output.suffix == ".mcap":
        return "mcap"
    if output.suffix == ".bag":
        return "ros1"
    if output.suffix == "":
        return "ros2"
    raise Error(
        "invalid_config",
        f"the name '{output.name}' does not determine the format",
        advice=f"--to {' | '.join(_FORMATS)}",
    )


def convert(path: Path, to: str | None, options: WriteOptions) -> int:
    """Converts a recording. Returns 0, or LEFT_OUT if it omitted anything. Lists and counts each
    omission."""
    target = _format(to, options.output)
    source = open_source(path)
    try:
        if isinstance(source, RosSource):
            if target == "mcap":
                return to_hyphos(source, path, options)
            return _ros_to_ros(source, path, target, options)
        if target != "mcap":
            return _to_ros(source, path, target, options)
    finally:
        source.close()
    if isinstance(source, McapSource) and source.profile != PROFILE:
        return cut(path, Selection(), options)  # channels unchanged
    raise Error(
        "invalid_config",
        "the file is already an MCAP file of Hyphos",
        str(path),
        command("bag", "cut", path, "-o", options.output, "--compression", options.compression),
    )


# --- ROS to Hyphos ------------------------------------------------------------------------------


def to_hyphos(
    source: RosSource, path: Path, options: WriteOptions, conversions: Conversions | None = None
) -> int:
    """Converts a ROS recording to an MCAP file. Types with a conversion get its schema."""
    report = Report()
    report.notes = [*source.warnings, *renamed_channels(source.tracks), *_not_kept(source)]
    total = sum(track.count for track in source.tracks if not track.problem)
    with (
        progress_bar("converting", total) as progress,
        writing(options, PROFILE, [path]) as to,
    ):
        ids: dict[int, int] = {}
        known: dict[int, Conversion] = {}
        for track in source.tracks:
            if track.problem:
                report.left_out.append((track, track.problem))
                continue
            found = conversions(track.type_name, track.encoding) if conversions else None
            if found is not None:
                known[id(track)] = found
                ids[id(track)] = to.add(found.spec(track.channel, track.policy))
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
            if key in known:
                try:
                    data = known[key].convert(payload, item.buffers, item.time_ns)
                except NOT_CONVERTIBLE as error:
                    report.skipped.add(item.track, str(error))
                    continue
            else:
                data = attached.join(payload, item.buffers) if item.buffers else bytes(payload)
            to.write(ids[key], item.time_ns, item.time_ns, numbers[key], data)
            report.written += 1
            progress(report.written)
    return report.print(options.output, source)


def _not_kept(source: RosSource) -> list[str]:
    """Content that Hyphos messages cannot hold."""
    lost = []
    if any(one.caller for one in source.connections):
        lost.append("names of the publishing nodes")
    if any(one.qos for one in source.connections):
        lost.append("QoS except latching")
    for storage in source.storages:
        scan = getattr(storage, "scan", None)
        if scan is not None:
            lost += _extras(scan)
    return [f"not kept: {', '.join(dict.fromkeys(lost))}"] if lost else []


def _extras(scan: Scan) -> list[str]:
    """The names of an MCAP file's attachments and metadata."""
    names = [f"attachment {one.name}" for one in scan.attachments]
    return names + [f"metadata {name}" for name, _ in scan.metadata]


# --- Hyphos to ROS ------------------------------------------------------------------------------


@contextmanager
def _ros_writer(target: str, options: WriteOptions, inputs: Sequence[Path]) -> Iterator[Any]:
    """Opens the output. Removes it if it is not finished."""
    output = options.output
    if any(output.exists() and output.samefile(path) for path in inputs):
        raise Error(
            "invalid_config", "the output is the input file: give another name", str(output)
        )
    if output.exists():
        if not options.overwrite:
            raise Error(
                "already_exists",
                "the file exists",
                str(output),
                "give another name, or --overwrite",
            )
        if output.is_dir() and not (output / "metadata.yaml").exists():
            raise Error("invalid_config", "this folder is not a ROS 2 recording", str(output))
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


def _backward(track: Track, store: Any, *, ros1: bool) -> Backward | str:
    """The converter of a channel, or the reason why there is none."""
    if track.encoding not in ("protobuf", "attached"):
        return f"ROS has no counterpart of the encoding '{track.encoding}'"
    found = make_backward(track.type_name, store, ros1=ros1)
    if found is None:
        return f"ROS has no counterpart of {track.type_name}"
    if found.attached != (track.encoding == "attached"):
        return f"{track.type_name} is '{track.encoding}' here, unlike in hyphos.msgs"
    return found


def _offered(track: Track, *, ros1: bool) -> dict[str, Any]:
    """The policy of a channel as ROS settings."""
    policy = track.policy
    latched = bool(policy.get("latched"))
    if ros1:
        return {"latching": int(latched)}
    if not policy.keys() & {"reliability", "depth"}:
        return {"offered_qos_profiles": latched_qos() if latched else []}
    reliable = latched or policy.get("reliability") == "reliable"
    depth = policy.get("depth", 1)
    made = latched_qos(
        depth=depth if isinstance(depth, int) else 1, latched=latched, reliable=reliable
    )
    return {"offered_qos_profiles": made}


def _not_kept_by_ros(source: Source, tracks: Sequence[Track], *, ros1: bool) -> list[str]:
    lost = ["times of publishing", "sequence numbers"]
    kept = {"latched"} if ros1 else {"latched", "reliability", "depth"}
    plain = {"overflow": "drop_oldest", "reliability": "best_effort", "priority": "normal"}
    policies = {
        name
        for track in tracks
        for name, value in track.policy.items()
        if name not in kept and value not in (0, "", plain.get(name))
    }
    if policies:
        lost.append(f"of the policies {', '.join(sorted(policies))}")
    if isinstance(source, McapSource):
        lost += _extras(source.scan)
    return [f"not kept, because ROS has none: {', '.join(lost)}"]


def _why(error: Exception) -> str:
    """The reason why a message has no counterpart, equal for all messages with the same reason."""
    if isinstance(error, UnholdableError):
        return str(error)
    if isinstance(error, struct.error | OverflowError):
        return "a number does not fit into its ROS field"
    if "array length" in str(error):
        return "a list has another length than in ROS"
    return "the message cannot be parsed"


def _to_ros(source: Source, path: Path, target: str, options: WriteOptions) -> int:
    report = Report()
    report.notes = list(source.warnings)
    store = _typestore(target)
    ros1 = target == "ros1"
    converters: dict[int, Backward] = {}
    for track in source.tracks:
        found = track.problem or _backward(track, store, ros1=ros1)
        if isinstance(found, str):
            report.left_out.append((track, found))
        else:
            converters[id(track)] = found
    if not converters:
        raise Error(
            "unsupported",
            "no channel can be converted: "
            + ", ".join(f"{track.channel}: {why}" for track, why in report.left_out),
            str(path),
        )
    for kind in {c.ros_type: c for c in converters.values()}.values():
        if kind.ignored:
            report.notes.append(f"{kind.ros_type} has no {', '.join(sorted(set(kind.ignored)))}")
        if kind.defaulted:
            report.notes.append(f"filled with zero: {', '.join(sorted(set(kind.defaulted)))}")
    chosen = [track for track in source.tracks if id(track) in converters]
    topics, renamed = ros_topics(track.channel for track in chosen)
    report.notes += renamed + _not_kept_by_ros(source, chosen, ros1=ros1)
    total = sum(track.count for track in chosen)
    with (
        progress_bar("converting", total) as progress,
        _ros_writer(target, options, [path]) as writer,
    ):
        connections = {
            id(track): writer.add_connection(
                topics[track.channel],
                converters[id(track)].ros_type,
                typestore=store,
                **_offered(track, ros1=ros1),
            )
            for track in chosen
        }
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
            except Exception as error:  # noqa: BLE001 - a damaged message fails in many ways
                report.skipped.add(item.track, _why(error))
                continue
            writer.write(connections[id(item.track)], item.time_ns, data)
            report.written += 1
            progress(report.written)
    return report.print(options.output, source)


# --- ROS to ROS ---------------------------------------------------------------------------------


def _ros_to_ros(source: RosSource, path: Path, target: str, options: WriteOptions) -> int:
    report = Report()
    report.notes = [note for note in source.warnings if ": not kept: " not in note]
    extras = [
        name
        for storage in source.storages
        if (scan := getattr(storage, "scan", None)) is not None
        for name in _extras(scan)
        if name != "metadata rosbag2"  # a copy of metadata.yaml
    ]
    if extras:
        report.notes.append(f"not kept: {', '.join(extras)}")
    total = sum(connection.count for connection in source.connections)
    with (
        progress_bar("converting", total) as progress,
        _ros_writer(target, options, [path]) as writer,
    ):
        topics: dict[str, str] = {}
        if target != "ros1" and any(one.wire == "ros1" for one in source.connections):
            topics, renamed = ros2_topics(one.topic for one in source.connections)
            report.notes += renamed
        made = RosWays(target, writer, topics)
        ways = {}
        for connection in source.connections:
            way = made.way(connection)
            if isinstance(way, str):
                origin = f"{connection.topic} {connection.type_name}".rstrip()
                track = Track(connection.topic, "", "", connection.count, origin=origin)
                report.left_out.append((track, way))
            else:
                ways[id(connection)] = way
                report.notes += [note for note in way.notes if note not in report.notes]
        for connection, time_ns, data in source.raw_messages(lambda one: id(one) in ways):
            if why := time_problem(target, time_ns):
                report.skipped[(connection.topic, why)] += 1
                continue
            way = ways[id(connection)]
            try:
                converted = way.convert(data)
            except UnholdableError as error:
                report.skipped[(connection.topic, str(error))] += 1
                continue
            except Exception as error:  # noqa: BLE001 - a damaged message fails in many ways
                report.skipped[(connection.topic, damage_in(data, error))] += 1
                continue
            writer.write(way.to, time_ns, converted)
            report.written += 1
            progress(report.written)
    return report.print(options.output, source)
