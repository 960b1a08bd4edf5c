"""What can be replayed: one interface over every kind of recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from hyphos._errors import Error

_MCAP_MAGIC = b"\x89MCAP0\r\n"
_SQLITE_MAGIC = b"SQLite format 3\0"
_ROSBAG_MAGIC = b"#ROSBAG V"


@dataclass
class Track:
    """One channel of a recording."""

    channel: str
    type_name: str
    encoding: str  # as in TypeId: protobuf, attached, struct, bytes, custom
    count: int
    type_hash: int | None = None  # None: computed from name and encoding
    policy: dict[str, object] = field(default_factory=dict)
    origin: str = ""  # what it is called in a foreign recording
    problem: str = ""  # why it cannot be replayed; empty if it can


class Item(NamedTuple):
    """One message: when it was recorded, the track it belongs to, its bytes."""

    time_ns: int
    track: Track
    payload: object
    buffers: Sequence[object]


class Source(Protocol):
    """An open recording. Items come in order of time."""

    kind: str
    tracks: list[Track]
    start_ns: int
    end_ns: int
    warnings: list[str]

    def items(
        self, wanted: Callable[[Track], bool], start_ns: int, end_ns: int
    ) -> Iterator[Item]: ...

    def close(self) -> None: ...


def is_mcap(path: Path) -> bool:
    """By what is in it, not by its name."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MCAP_MAGIC)) == _MCAP_MAGIC


def open_source(path: Path) -> Source:
    """Opens any recording by what is in it, not by its name. Error says what is wrong."""
    if not path.exists():
        raise Error("not_found", "there is no such file", str(path), "check the path")
    if path.is_dir():
        if not (path / "metadata.yaml").exists():
            raise Error(
                "invalid_config",
                "a ROS 2 recording in a folder needs its metadata.yaml",
                str(path),
                "name the .mcap or .db3 file itself",
            )
        return _open_ros(path)
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(_MCAP_MAGIC):
        from hyphos.recording.mcap_file import McapSource, mcap_profile  # noqa: PLC0415

        if mcap_profile(path).startswith("ros"):
            return _open_ros(path)
        return McapSource(path)
    if head.startswith((_ROSBAG_MAGIC, _SQLITE_MAGIC)):
        return _open_ros(path)
    raise Error(
        "unsupported",
        "this is neither MCAP, nor a ROS 1 bag, nor a ROS 2 database",
        str(path),
        "hyphos replay reads .mcap, .bag, .db3 and ROS 2 folders",
    )


def _open_ros(path: Path) -> Source:
    from hyphos.recording.ros_bag import RosSource  # noqa: PLC0415

    return RosSource(path)
