"""Copies ROS messages to files of ROS 1 or ROS 2, connection by connection.

Within one ROS version the bytes and the definition are copied unchanged, even if the type is not
understood. Between the versions the type must be understood. Other connections are omitted with
the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rosbags.convert.converter import (
    STATIC_MSGTYPE_RENAMES,
    generate_message_converter,
    migrate_bytes,
)
from rosbags.rosbag2.metadata import parse_qos
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from hyphos.recording.ros_bag import type_of
from hyphos.recording.ros_qos import latched_qos
from hyphos.recording.ros_stamps import AFTER_2038, BEFORE_1970, UnholdableError, make_seconds
from hyphos.recording.ros_storage import Connection

_NO_HASH = "RIHS01_" + "0" * 64
_NO_MD5 = "*"
_SECONDS = 1_000_000_000
_RANGES = {
    "ros1": range((1 << 32) * _SECONDS),
    "ros2": range(1 << 63),
    "ros2-db3": range(-(1 << 63), 1 << 63),
    "mcap": range(1 << 64),
}
_SAID = {
    "ros1": "its time is outside the range of ROS 1, 1970 to 2106",
    "ros2": "its time is outside the range of ROS 2 in MCAP, 1970 to 2262",
    "ros2-db3": "its time is outside the range of ROS 2, 1677 to 2262",
    "mcap": "its time is outside the range of MCAP, 1970 to 2554",
}


def time_problem(target: str, time_ns: int) -> str:
    """The reason why a format cannot hold a time, or ""."""
    held = _RANGES[target]
    return "" if held.start <= time_ns < held.stop else _SAID[target]


@dataclass
class Way:
    """The path of a connection's messages into a file."""

    to: Any
    convert: Callable[[bytes], Any]
    notes: tuple[str, ...] = ()  # the losses


class RosWays:
    """Adds connections to an open writer of `rosbags`."""

    def __init__(self, target: str, writer: Any, topics: dict[str, str]) -> None:
        self._ros1 = target == "ros1"
        self._writer = writer
        self._topics = topics  # new names of renamed topics

    def way(self, connection: Connection) -> Way | str:
        """The path of a connection, or the reason why there is none."""
        if connection.wire not in ("cdr", "ros1"):
            return f"its encoding is '{connection.wire}'"
        try:
            if (connection.wire == "ros1") == self._ros1:
                return self._copied(connection)
            return self._converted(connection)
        except Exception as error:  # noqa: BLE001 - types fail in many ways
            said = (str(error) or type(error).__name__).splitlines()[0]
            return f"{connection.type_name} cannot be converted: {said[:120]}"

    def _copied(self, connection: Connection) -> Way | str:
        text, digest = connection.definition, connection.digest
        if not connection.type_name:
            return "it has no schema with its type"
        if not (text and digest):
            kind = type_of(connection)
            if kind.store is not None:
                made = kind.store.generate_msgdef(kind.name, ros_version=1 if self._ros1 else 2)
                text = text or made[0]
                digest = digest or (made[1] if self._ros1 else kind.store.hash_rihs01(kind.name))
        digest = digest or (_NO_MD5 if self._ros1 else _NO_HASH)
        return Way(self._add(connection, connection.type_name, text, digest), bytes)

    def _converted(self, connection: Connection) -> Way | str:
        kind = type_of(connection)
        if kind.problem:
            return kind.problem
        store = kind.store
        header = get_typestore(Stores.ROS1_NOETIC if self._ros1 else Stores.ROS2_FOXY)
        to = get_typestore(Stores.EMPTY)
        name = "std_msgs/msg/Header"
        to.register({**store.fielddefs, name: header.fielddefs[name]})
        renamed = STATIC_MSGTYPE_RENAMES.get(kind.name, kind.name)
        if renamed not in to.fielddefs:
            version = 1 if self._ros1 else 2
            types = get_types_from_msg(store.generate_msgdef(kind.name, version)[0], renamed)
            types.pop(name, None)
            to.register(types)
        cache: dict[str, object] = {}
        from2, to2 = self._ros1, not self._ros1
        direct = generate_message_converter(
            store, to, kind.name, renamed, cache, src_is2=from2, dst_is2=to2
        )
        slow = partial(
            migrate_bytes, store, to, kind.name, renamed, cache, src_is2=from2, dst_is2=to2
        )
        text, digest = to.generate_msgdef(renamed, ros_version=1 if self._ros1 else 2)
        if not self._ros1:
            digest = to.hash_rihs01(renamed)

        seconds = make_seconds(kind.name, store.fielddefs)
        read = store.deserialize_cdr if self._ros1 else store.deserialize_ros1

        def convert(data: bytes) -> Any:
            # Negative seconds here are after 2038 in ROS 1, and before 1970 in ROS 2.
            if seconds is not None and any(s < 0 for s in seconds(read(data, kind.name))):
                raise UnholdableError(BEFORE_1970 if self._ros1 else AFTER_2038)
            # The direct converter supports only little-endian CDR.
            return slow(data) if self._ros1 and data[:2] == b"\0\0" else direct(data)

        notes = []
        if self._ros1 and connection.qos:
            notes.append("not kept, because ROS 1 has none: QoS except latching")
        if not self._ros1 and connection.caller:
            notes.append("not kept, because ROS 2 has none: names of the publishing nodes")
        if "std_msgs/msg/Header" in store.fielddefs:
            notes.append(
                "Header.seq is 0, because ROS 2 has none"
                if self._ros1
                else "ROS 2 has no Header.seq"
            )
        if renamed != kind.name:
            notes.append(f"the type {kind.name} is renamed to {renamed}")
        return Way(self._add(connection, renamed, text, digest), convert, tuple(notes))

    def _add(self, connection: Connection, type_name: str, text: str, digest: str) -> Any:
        topic = self._topics.get(connection.topic, connection.topic)
        for one in self._writer.connections:
            if one.topic == topic and one.msgtype == type_name:
                same = one.ext == self._extension(connection) and one.msgdef.data == text
                if same or not self._ros1:
                    return one
        if self._ros1:
            return self._writer.add_connection(
                topic,
                type_name,
                msgdef=text,
                md5sum=digest,
                callerid=connection.caller or None,
                latching=1 if connection.latched else 0,
            )
        return self._writer.add_connection(
            topic,
            type_name,
            msgdef=text,
            rihs01=digest,
            serialization_format="cdr",
            offered_qos_profiles=_profiles(connection),
        )

    def _extension(self, connection: Connection) -> Any:
        from rosbags.interfaces import ConnectionExtRosbag1  # noqa: PLC0415

        return ConnectionExtRosbag1(connection.caller or None, 1 if connection.latched else 0)


def _profiles(connection: Connection) -> Any:
    try:
        found = parse_qos(connection.qos)
    except Exception:  # noqa: BLE001 - the text of another program
        found = []
    if found or not connection.latched:
        return found
    return latched_qos()
