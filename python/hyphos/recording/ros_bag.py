"""ROS 1 bags and ROS 2 recordings (db3, MCAP, folders), read through the `rosbags` library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from hyphos._errors import Error
from hyphos.recording.ros_map import Converter, make_converter
from hyphos.recording.source import Item, Track

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_/]")


def channel_of(topic: str) -> str:
    """The channel for a ROS topic: "/front/scan" → "front/scan"; other signs become _."""
    words = [word for word in _NOT_IN_NAMES.sub("_", topic).split("/") if word]
    return "/".join(f"_{word}" if word[0].isdigit() else word for word in words) or "_"


class RosSource:
    """A ROS recording as hyphos.msgs. Topics of types that hyphos.msgs does not have are listed
    with the reason and left out."""

    def __init__(self, path: Path) -> None:
        self.warnings: list[str] = []
        self._closed = False
        try:
            # Old ROS 2 recordings do not hold the definitions of their types.
            self._reader = AnyReader([path], default_typestore=get_typestore(Stores.LATEST))
            self._reader.open()
        except Exception as error:
            raise Error(
                "corrupt",
                f"rosbags cannot read it: {error}",
                str(path),
                "check it with its own tools",
            ) from error
        self.kind = "ROS 2 recording" if self._reader.is2 else "ROS 1 bag"
        self.start_ns = self._reader.start_time if self._reader.message_count else 0
        self.end_ns = self._reader.end_time if self._reader.message_count else 0
        self._converters: dict[str, Converter] = {}
        self._tracks: dict[str, Track] = {}
        for topic, info in self._reader.topics.items():
            self._tracks[topic] = self._track(topic, info)
        self.tracks = list(self._tracks.values())

    def _track(self, topic: str, info: Any) -> Track:
        ros_type = info.msgtype or ""
        track = Track(channel_of(topic), "", "", info.msgcount, origin=f"{topic} {ros_type}")
        if not ros_type:
            track.problem = "its messages have several types"
            return track
        converter = self._converters.get(ros_type) or make_converter(
            ros_type, self._reader.typestore
        )
        if converter is None:
            track.problem = f"hyphos.msgs has no {ros_type}"
            return track
        if ros_type not in self._converters and converter.ignored:
            self.warnings.append(f"{ros_type}: not kept: {', '.join(converter.ignored)}")
        self._converters[ros_type] = converter
        track.type_name = converter.type_name
        track.encoding = converter.encoding
        track.policy = {"latched": any(_latched(c.ext) for c in info.connections)}
        return track

    def items(self, wanted: Callable[[Track], bool], start_ns: int, end_ns: int) -> Iterator[Item]:
        connections = [
            connection
            for connection in self._reader.connections
            if not self._tracks[connection.topic].problem and wanted(self._tracks[connection.topic])
        ]
        if not connections:
            return
        messages = self._reader.messages(connections, start=start_ns, stop=end_ns)
        for connection, time_ns, data in messages:
            message = self._reader.deserialize(data, connection.msgtype)
            payload, buffers = self._converters[connection.msgtype](message)
            yield Item(time_ns, self._tracks[connection.topic], payload, buffers)

    def raw(self, track: Track) -> Iterator[tuple[int, bytes]]:
        """The messages of a topic, of whatever type, as they lie in the file."""
        wanted = [c for c in self._reader.connections if self._tracks[c.topic] is track]
        for _, time_ns, data in self._reader.messages(wanted):
            yield time_ns, bytes(data)

    def close(self) -> None:
        if not self._closed:
            self._reader.close()
            self._closed = True


def _latched(ext: Any) -> bool:
    if getattr(ext, "latching", None):
        return True
    profiles = getattr(ext, "offered_qos_profiles", [])
    return any(getattr(profile.durability, "name", "") == "TRANSIENT_LOCAL" for profile in profiles)
