"""ROS 1 bags and ROS 2 recordings (db3, MCAP, folders) as hyphos.msgs, channel by channel."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from tempfile import TemporaryDirectory

from hyphos.recording.mcap_file import stored
from hyphos.recording.names import separate_names
from hyphos.recording.ros_map import Converter, make_converter
from hyphos.recording.ros_storage import Connection, RawMessage, Storage
from hyphos.recording.ros_types import RosType, damage_in, understand
from hyphos.recording.rosbag2 import Announced, cleaned
from hyphos.recording.source import Item, Skipped, Track, channel_of, refuse_second_types

__all__ = ["RosSource", "channel_of"]

_WIRES = ("cdr", "ros1")
Convert = Callable[[bytes], tuple[object, Sequence[object]]]


@dataclass
class _Topic:
    """All connections of one topic and type."""

    track: Track
    connections: list[Connection] = field(default_factory=list)
    problems: dict[int, str] = field(default_factory=dict)  # of connections with a problem, by id()


class RosSource:
    """A ROS recording.

    Topics whose type hyphos.msgs does not have, or whose definition is not understood, are listed
    with the reason and omitted. Unreadable messages are counted in `skipped`.
    """

    def __init__(
        self,
        storages: Sequence[Storage],
        kind: str,
        announced: Announced | None = None,
        temporary: TemporaryDirectory[str] | None = None,
    ) -> None:
        self.kind = kind
        self.storages = list(storages)
        self.warnings: list[str] = [line for one in storages for line in one.warnings]
        self.damaged = any(one.damaged for one in storages)
        self.skipped = Skipped()
        self._temporary = temporary
        self._closed = False
        starts = [one.start_ns for one in storages if one.start_ns is not None]
        self.start_ns = min(starts, default=0)
        self.end_ns = (
            max((one.end_ns for one in storages if one.start_ns is not None), default=-1) + 1
        )
        self._converters: dict[int, Convert] = {}  # by id() of the connection
        self._noted: set[str] = set()
        self._topics: dict[int, _Topic] = {}  # by id() of the connection
        self._group()
        topics = list({id(topic): topic for topic in self._topics.values()}.values())
        for topic in topics:
            self._understand(topic)
        self.tracks = [topic.track for topic in topics]
        separate_names(self.tracks)
        refuse_second_types(self.tracks)
        self._compare(announced)

    @property
    def connections(self) -> list[Connection]:
        return [connection for storage in self.storages for connection in storage.connections]

    def _group(self) -> None:
        made: dict[tuple[str, str, str], _Topic] = {}
        for connection in sorted(self.connections, key=lambda one: (one.topic, one.type_name)):
            key = (connection.topic, connection.type_name, connection.wire)
            if key not in made:
                origin = f"{connection.topic} {connection.type_name}".rstrip()
                track = Track(channel_of(connection.topic), "", "", 0, origin=origin)
                track.topic = connection.topic
                made[key] = _Topic(track)
            made[key].connections.append(connection)
            made[key].track.count += connection.count
            self._topics[id(connection)] = made[key]

    def _understand(self, topic: _Topic) -> None:
        for connection in topic.connections:
            problem = (
                self._pass_through(topic.track, connection)
                if connection.wire not in _WIRES
                else self._convert(topic, connection)
            )
            if problem:
                topic.problems[id(connection)] = problem
        if len(topic.problems) == len(topic.connections):
            topic.track.problem = next(iter(topic.problems.values()))

    def _pass_through(self, track: Track, connection: Connection) -> str:
        """Accepts a protobuf or Hyphos channel among ROS channels. Returns the problem, or ""."""
        own = connection.own
        if own is None or own.problem:
            return own.problem if own else f"its encoding is '{connection.wire}'"
        track.type_name, track.encoding, track.type_hash = (
            own.type_name,
            own.encoding,
            own.type_hash,
        )
        track.policy = own.policy
        self._converters[id(connection)] = partial(stored, own.encoding)
        return ""

    def _convert(self, topic: _Topic, connection: Connection) -> str:
        kind = type_of(connection)
        if kind.problem:
            return kind.problem
        try:
            found = make_converter(kind.name, kind.store, ros1=connection.wire == "ros1")
        except Exception as error:  # noqa: BLE001 - a type with this name, but with other fields
            return f"its {kind.name} differs from that of ROS: {error}"
        if found is None:
            return f"hyphos.msgs has no {connection.type_name}"
        self._converters[id(connection)] = _converting(connection, kind, found)
        track = topic.track
        track.type_name, track.encoding = found.type_name, found.encoding
        track.policy = {"latched": any(one.latched for one in topic.connections)}
        name = connection.type_name
        if found.ignored and name not in self._noted:
            self._noted.add(name)
            self.warnings.append(f"{name}: not kept: {', '.join(found.ignored)}")
        return ""

    def _compare(self, announced: Announced | None) -> None:
        """Compares the counts of indexes and metadata.yaml with those of the messages."""
        found: dict[str, int] = {}
        said: dict[str, int] = {}
        for connection in self.connections:
            found[connection.topic] = found.get(connection.topic, 0) + connection.count
            if connection.announced is not None:
                said[connection.topic] = said.get(connection.topic, 0) + connection.announced
        self._compare_counts("the index", said, found)
        if announced is None:
            return
        self.warnings += announced.warnings
        self.damaged |= announced.damaged
        self._compare_counts("metadata.yaml", announced.topics, found)
        total = sum(found.values())
        if announced.messages not in (None, total) and sum(announced.topics.values()) == total:
            self.warnings.append(
                f"metadata.yaml declares {announced.messages:,} messages, but {total:,} are "
                "readable"
            )
            self.damaged |= (announced.messages or 0) > total
        for topic in sorted(announced.topics.keys() - found.keys()):
            if not announced.topics[topic]:
                continue
            kind = announced.types[topic]
            reason = "no file of the recording contains it"
            self.tracks.append(
                Track(channel_of(topic), "", "", 0, origin=f"{topic} {kind}", problem=reason)
            )
        if announced.start_ns is None or announced.duration_ns is None or not total:
            return
        last = announced.start_ns + announced.duration_ns
        if (announced.start_ns, last) != (self.start_ns, self.end_ns - 1):
            self.warnings.append(
                f"metadata.yaml declares messages from {announced.start_ns:,} to {last:,} ns, but "
                f"they are from {self.start_ns:,} to {self.end_ns - 1:,} ns"
            )

    def _compare_counts(self, who: str, said: dict[str, int], found: dict[str, int]) -> None:
        for topic, count in said.items():
            readable = found.get(topic, 0)
            if count != readable:
                self.warnings.append(
                    f"{who} declares {count:,} messages of {topic}, but {readable:,} are readable"
                )
                self.damaged |= count > readable

    def raw_messages(
        self,
        wanted: Callable[[Connection], bool] = lambda _connection: True,
        start_ns: int | None = None,
        end_ns: int | None = None,
    ) -> Iterator[RawMessage]:
        """Yields messages in the format of the files, in order of time. `skipped` counts the
        unreadable ones."""

        def bad(connection: Connection, reason: str) -> None:
            self.skipped.add(self._topics[id(connection)].track, reason)

        passes = [one.messages(wanted, start_ns, end_ns, bad) for one in self.storages]
        yield from heapq.merge(*passes, key=lambda message: message.time_ns)

    def items(self, wanted: Callable[[Track], bool], start_ns: int, end_ns: int) -> Iterator[Item]:
        self.skipped.clear()

        def chosen(connection: Connection) -> bool:
            track = self._topics[id(connection)].track
            return not track.problem and wanted(track)

        for connection, time_ns, data in self.raw_messages(chosen, start_ns, end_ns):
            topic = self._topics[id(connection)]
            converter = self._converters.get(id(connection))
            if converter is None:
                self.skipped.add(topic.track, topic.problems[id(connection)])
                continue
            try:
                payload, buffers = converter(data)
            except Exception as error:  # noqa: BLE001 - a damaged message fails in many ways
                self.skipped.add(topic.track, damage_in(data, error))
                continue
            yield Item(time_ns, topic.track, payload, buffers)

    def raw(self, track: Track) -> Iterator[tuple[int, bytes]]:
        """The messages of a topic of any type, as stored in the file."""
        for message in self.raw_messages(lambda one: self._topics[id(one)].track is track):
            yield message.time_ns, message.data

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            for storage in self.storages:
                with suppress(BufferError):
                    storage.close()
            cleaned(self._temporary)


def type_of(connection: Connection) -> RosType:
    return understand(
        connection.type_name,
        connection.definition_encoding,
        connection.definition,
        connection.digest,
        ros1=connection.wire == "ros1",
    )


def _converting(connection: Connection, kind: RosType, converter: Converter) -> Convert:
    """The decoder of a connection. It raises many kinds of errors for a damaged message."""
    ros1 = connection.wire == "ros1"
    read = kind.store.deserialize_ros1 if ros1 else kind.store.deserialize_cdr
    return lambda data: converter(read(data, kind.name))
