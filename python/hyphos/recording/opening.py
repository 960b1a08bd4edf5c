"""Opens any recording."""

from __future__ import annotations

from pathlib import Path

from hyphos._errors import Error
from hyphos.recording.source import MCAP_MAGIC, Source

_SQLITE_MAGIC = b"SQLite format 3\0"
_ROSBAG_MAGIC = b"#ROSBAG V"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ROS_ENCODINGS = ("cdr", "ros1", "ros1msg", "ros2msg", "ros2idl")


def open_source(path: Path) -> Source:
    """Opens any recording, by its content, not by its name. An error has the problem."""
    if not path.exists():
        raise Error("not_found", "no such file", str(path), "check the path")
    if path.is_dir():
        return _open_folder(path)
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise Error("not_found", error.strerror or str(error), str(path)) from error
    if head.startswith(MCAP_MAGIC):
        return _open_mcap(path)
    if head.startswith(_ROSBAG_MAGIC):
        from hyphos.recording.ros_bag import RosSource  # noqa: PLC0415
        from hyphos.recording.rosbag1 import Bag1  # noqa: PLC0415

        return RosSource([Bag1(path)], "ROS 1 bag")
    if head.startswith(_SQLITE_MAGIC):
        from hyphos.recording.ros_bag import RosSource  # noqa: PLC0415
        from hyphos.recording.rosbag2 import Db3  # noqa: PLC0415

        return RosSource([Db3(path)], "ROS 2 recording")
    if head.startswith(_ZSTD_MAGIC):
        return _open_packed(path)
    if not head:
        raise Error("corrupt", "the file is empty", str(path))
    raise Error(
        "unsupported",
        "the file is neither MCAP, nor a ROS 1 bag, nor a ROS 2 database",
        str(path),
        "recordings are .mcap, .bag and .db3 files, and folders of ROS 2",
    )


def _open_mcap(path: Path) -> Source:
    from hyphos.recording.mcap_file import McapSource  # noqa: PLC0415
    from hyphos.recording.mcap_scan import Scan  # noqa: PLC0415

    scan = Scan(path).read()
    if scan.problems and not (scan.records or scan.complete):
        said = scan.problems[0]
        raise Error("corrupt", f"the MCAP file cannot be read: {said}", str(path))
    encodings = {channel.message_encoding for channel in scan.channels.values()}
    if "" in encodings:  # then the encoding of the schemas decides
        encodings |= {schema.encoding for schema in scan.schemas.values()}
    if not scan.profile.startswith("ros") and encodings.isdisjoint(_ROS_ENCODINGS):
        return McapSource(path, scan)
    from hyphos.recording.ros_bag import RosSource  # noqa: PLC0415
    from hyphos.recording.rosbag2 import RosMcap  # noqa: PLC0415

    kind = "ROS 1 recording" if scan.profile == "ros1" else "ROS 2 recording"
    return RosSource([RosMcap(path, scan)], kind)


def _open_packed(path: Path) -> Source:
    """Opens a file of a recording that rosbag2 has compressed."""
    from hyphos.recording.ros_bag import RosSource  # noqa: PLC0415
    from hyphos.recording.rosbag2 import open_packed  # noqa: PLC0415

    storage, temporary = open_packed(path)
    return RosSource([storage], "ROS 2 recording", None, temporary)


def _open_folder(path: Path) -> Source:
    from hyphos.recording.ros_bag import RosSource  # noqa: PLC0415
    from hyphos.recording.rosbag2 import open_folder  # noqa: PLC0415

    storages, metadata, temporary = open_folder(path)
    return RosSource(storages, "ROS 2 recording", metadata, temporary)
