"""Each advice of the recording commands helps when the user follows it.

Every command runs on every kind of file: of Hyphos, foreign, truncated, damaged, and missing. The
test then runs the commands after the "→" as printed. They succeed, and the first command succeeds
on their output.
"""

from __future__ import annotations

import random
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import hyphos
import pytest
from helpers import Cli
from hyphos.msgs import Odometry, String
from hyphos.recording.mcap_file import McapRecording
from hyphos.ros.typebook import TypeBook
from mcap.writer import CompressionType, Writer
from ros_recordings import write_ros1, write_ros2
from rosbags.rosbag2 import StoragePlugin

SECOND = 1_000_000_000
DONE = (0, 3)


def own(path: Path, cls: type[String | Odometry] = String) -> Path:
    recording = McapRecording(path, TypeBook(), chunk_bytes=300)
    kind = hyphos.TypeId(cls.DESCRIPTOR.full_name, "protobuf")
    channel = recording.add_channel("note", kind.name, "protobuf", kind.hash, {})
    for number in range(40):
        data = String(data=f"text {number} " * 5).SerializeToString() if cls is String else b""
        recording.write(channel, number * SECOND, number * SECOND, number, data)
    recording.close()
    return path


def foreign(path: Path, encoding: str) -> Path:
    """A file of another writer, without a profile. One topic has two types."""
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=200, compression=CompressionType.ZSTD)
        writer.start("", "other")
        for name in ("my.One", "my.Two"):
            schema = writer.register_schema(name, encoding, b"")
            channel = writer.register_channel("topic", encoding, schema)
            for number in range(20):
                writer.add_message(channel, number * SECOND, b"{}", number * SECOND)
        writer.finish()  # type: ignore[no-untyped-call]
    return path


def files(folder: Path) -> Iterator[tuple[str, Path, bool]]:
    """The name, the file or folder, and whether a part of it is readable."""
    (folder / "text.mcap").write_text("this is a text")
    (folder / "text.bag").write_text("this is a text")
    (folder / "empty.mcap").touch()
    (folder / "nothing").mkdir()
    yield "text", folder / "text.mcap", False
    yield "text_bag", folder / "text.bag", False
    yield "empty", folder / "empty.mcap", False
    yield "folder_of_nothing", folder / "nothing", False
    yield "not_there", folder / "not there.mcap", False
    (folder / "some files").mkdir()
    own(folder / "some files" / "run 1.mcap")
    yield "folder_of_own", folder / "some files", False
    whole = {
        "own": own(folder / "own run.mcap"),
        "protobuf": foreign(folder / "protobuf.mcap", "protobuf"),
        "json": foreign(folder / "json.mcap", "json"),
        "ros1": write_ros1(folder / "ros 1.bag"),
        "ros2": next(write_ros2(folder / "two", StoragePlugin.MCAP).glob("*.mcap")),
        "db3": next(write_ros2(folder / "three", StoragePlugin.SQLITE3).glob("*.db3")),
    }
    for name, path in whole.items():
        yield name, path, True
        data = path.read_bytes()
        rng = random.Random(name)
        cut = path.with_name(f"cut {path.name}")
        cut.write_bytes(data[: len(data) * 2 // 3])
        yield f"cut_{name}", cut, name != "db3"
        hurt = bytearray(data)
        for _ in range(3):
            hurt[rng.randrange(len(data) // 2, len(data))] ^= 0x55
        damaged = path.with_name(f"damaged {path.name}")
        damaged.write_bytes(hurt)
        yield f"damaged_{name}", damaged, name != "db3"
        if name in ("own", "ros2"):
            tail = path.with_name(f"tail {path.name}")
            tail.write_bytes(data[:-40])  # damages the index, which comes after all messages
            yield f"tail_{name}", tail, True
    yield "ros2_folder", folder / "two", True
    yield "db3_folder", folder / "three", True


NAMES = [
    *("text", "text_bag", "empty", "folder_of_nothing", "not_there", "folder_of_own"),
    *(
        f"{how}{name}"
        for name in ("own", "protobuf", "json", "ros1", "ros2", "db3")
        for how in ("", "cut_", "damaged_")
    ),
    *("tail_own", "tail_ros2", "ros2_folder", "db3_folder"),
]
COMMANDS = {
    "info": ["bag", "info", "FILE"],
    "check": ["bag", "check", "FILE"],
    "cut": ["bag", "cut", "FILE", "-o", "OUT.mcap", "-s", "0"],
    "cut_nothing": ["bag", "cut", "FILE", "-o", "OUT.mcap", "-c", "no/such/channel"],
    "merge": ["bag", "merge", "FILE", "OWN", "-o", "OUT.mcap"],
    "merge_other_types": ["bag", "merge", "FILE", "OTHER", "-o", "OUT.mcap"],
    "merge_ros": ["bag", "merge", "FILE", "ROS2", "-o", "OUT.mcap"],
    "to_mcap": ["bag", "convert", "FILE", "-o", "OUT.mcap"],
    "to_ros1": ["bag", "convert", "FILE", "-o", "OUT.bag"],
    "replay": ["replay", "FILE", "--list"],
    "replay_nothing": ["replay", "FILE", "-c", "no/such/channel", "--wait", "0"],
}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, bool]]:
    folder = tmp_path_factory.mktemp("samples")
    found = {name: (path, readable) for name, path, readable in files(folder)}
    assert list(found) and set(found) == set(NAMES)
    return found


def advice(text: str) -> list[list[str]]:
    """The commands after the arrows, split as a shell does."""
    found = []
    for line in text.splitlines():
        _, arrow, said = line.partition("→ ")
        if arrow and said.startswith("hyphos "):
            found += [shlex.split(one)[1:] for one in said.split(" && ")]
    return found


# These commands refuse an input for reasons that do not depend on the kind of file.
FEW = {"cut_nothing", "merge_other_types", "replay_nothing"}
CASES = [
    (name, command)
    for name in NAMES
    for command in COMMANDS
    if (command not in FEW or name in ("own", "ros1", "ros2", "cut_own"))
    and not (name.startswith("damaged") and command in ("merge_ros", "to_ros1"))
]


@pytest.mark.parametrize(("name", "command"), CASES)
def test_advice_helps_when_followed(
    name: str,
    command: str,
    samples: dict[str, tuple[Path, bool]],
    tmp_path: Path,
    hyphos_cli: Cli,
    domain: str,
) -> None:
    source, readable = samples[name]
    path = tmp_path / source.name
    if source.is_dir():
        shutil.copytree(source, path)
    elif source.exists():
        shutil.copy(source, path)
    places = {
        "FILE": str(path),
        "OUT": str(tmp_path / "made" / "out"),
        "OWN": str(samples["own"][0]),
        "OTHER": str(own(tmp_path / "other types.mcap", Odometry)),
        "ROS2": str(samples["ros2"][0]),
    }
    (tmp_path / "made").mkdir()

    def filled(word: str) -> str:
        stem, dot, suffix = word.partition(".")
        return places.get(stem, stem) + dot + suffix if stem in places else word

    words = [filled(word) for word in COMMANDS[command]]
    if words[0] == "replay":
        words += ["-d", domain]
    code, out, err = hyphos_cli(*words)
    said = out + err
    assert "Traceback" not in said
    follow = advice(said)
    if code in DONE and command != "check":
        return
    for step in follow:
        more = ["-d", domain] if step[0] == "replay" else []
        done, step_out, step_err = hyphos_cli(*step, *more)
        assert done in DONE, (words, step, step_err)
        assert step_out
    if not readable or (command == "check" and code == 0):
        return
    if command == "to_ros1":  # none of its types has a counterpart
        assert "no channel can be converted" in err
        return
    assert follow, (words, said)
    made = [tmp_path / one for one in _outputs(follow)]
    if command.startswith("merge"):
        assert Path(f"{places['OUT']}.mcap").exists()
    elif command in FEW:
        assert made or follow[0][-1] == "--list" or follow[0][1] == "info"
    elif command == "cut":
        again = [str(made[-1]) if word == str(path) else word for word in words]
        assert hyphos_cli(*again)[0] in DONE
    else:
        assert hyphos_cli("bag", "check", str(made[-1]))[0] == 0


def _outputs(commands: list[list[str]]) -> list[str]:
    return [
        step[step.index(option) + 1]
        for step in commands
        for option in ("-o", "--repair")
        if option in step
    ]
