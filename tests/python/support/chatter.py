"""The messages of a topic `/chatter`, from which the tests make recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bags_made import Topic, make_bag, string2
from hyphos.msgs import String
from hyphos.recording.opening import open_source
from hyphos.recording.ros_bag import RosSource
from mcap_made import Channel, Layout, Message, Schema, make
from recordings import SECOND, everything

START = 1_700_000_000 * SECOND
STRING = Schema(1, "std_msgs/msg/String", "ros2msg", b"string data\n")
CHATTER = Channel(1, 1, "/chatter", "cdr", ())
COUNT = 5
WHOLE = [f"n{number}" for number in range(COUNT)]
SEPARATOR = "=" * 80 + "\n"


def chatter(count: int = COUNT, first: int = 0) -> list[Message]:
    return [
        Message(START + number, number, 1, START + number, string2(f"n{number}"))
        for number in range(first, first + count)
    ]


def texts(path: Path, channel: str = "chatter") -> list[str]:
    return [
        String.FromString(bytes(item.payload)).data  # type: ignore[call-overload]
        for item in everything(path)[channel]
    ]


def raw(path: Path) -> dict[str, list[bytes]]:
    """The bytes of all messages by topic."""
    source = open_source(path)
    assert isinstance(source, RosSource)
    try:
        return {
            track.origin.partition(" ")[0]: [data for _, data in source.raw(track)]
            for track in source.tracks
        }
    finally:
        source.close()


def ros2_file(path: Path, datas: Sequence[bytes]) -> Path:
    messages = [Message(START + n, n, 1, START + n, data) for n, data in enumerate(datas)]
    path.write_bytes(make([STRING, CHATTER, *messages], Layout(profile="ros2")))
    return path


def ros1_file(path: Path, datas: Sequence[bytes]) -> Path:
    return make_bag(path, [Topic()], [(0, START + n, data) for n, data in enumerate(datas)])
