"""Recordings of standard messages for the tests of the viewer."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import Message
from hyphos import msgs
from hyphos._hyphos import TypeId
from hyphos.recording.mcap_file import McapRecording
from hyphos.ros.typebook import TypeBook

START = 1_700_000_000_000_000_000
SECOND = 1_000_000_000


class RobotWriter:
    """Writes a recording of standard messages."""

    def __init__(self, path: Path) -> None:
        self._file = McapRecording(path, TypeBook())
        self._ids: dict[tuple[str, str], int] = {}

    def put(self, channel: str, seconds: float, message: Message) -> None:
        kind = message.DESCRIPTOR.full_name
        if (channel, kind) not in self._ids:
            number = TypeId(kind, "protobuf").hash
            self._ids[channel, kind] = self._file.add_channel(channel, kind, "protobuf", number, {})
        at = START + round(seconds * SECOND)
        self._file.write(self._ids[channel, kind], at, at, 0, message.SerializeToString())

    def close(self) -> None:
        self._file.close()


def tf(x: float, stamp_s: float) -> msgs.TfMessage:
    made = msgs.TfMessage()
    one = made.transforms.add()
    one.header.frame_id = "map"
    one.header.stamp_ns = START + round(stamp_s * SECOND)
    one.child_frame_id = "base"
    one.transform.translation.x = x
    one.transform.rotation.w = 1
    return made


def odom(x: float, stamp_s: float) -> msgs.Odometry:
    made = msgs.Odometry()
    made.header.frame_id = "map"
    made.header.stamp_ns = START + round(stamp_s * SECOND)
    made.pose.pose.position.x = x
    made.pose.pose.orientation.w = 1
    return made
