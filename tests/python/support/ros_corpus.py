"""ROS definitions for tests: the definitions of Debian's packages, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hyphos.ros.definition import INTEGERS, Flavour
from rosbags.typesys import Stores, get_typestore

# Of ros-std-msgs, ros-sensor-msgs and so on: `apt-cache search '^ros-.*-msgs$'`.
SHARE = Path("/usr/share")
PACKAGES = sorted(one.parent for one in SHARE.glob("*_msgs/msg"))
HERE = pytest.mark.skipif(
    not PACKAGES, reason="no ROS definitions are installed: scripts/setup core ros"
)

_ROS1 = ("bool", "byte", "char", *INTEGERS, "float32", "float64", "string", "time", "duration")
_ROS2 = ("bool", "byte", "char", *INTEGERS, "float32", "float64", "string", "wstring")
_WORDS = ("x", "range", "data", "stamp", "of", "n2", "descriptor", "class", "size", "a1")


class RandomDefinitions:
    """Definitions, each built from the previous ones. Their meaning is kept beside the text."""

    def __init__(self, seed: int, flavour: Flavour) -> None:
        self._random = random.Random(seed)
        self._strict = flavour is Flavour.ROS2

    def package(self, count: int) -> dict[str, str]:
        """The texts of messages, by name."""
        texts: dict[str, str] = {}
        for number in range(count):
            lines = [text for text, _ in self.fields(list(texts))] + list(self._constants())
            self._random.shuffle(lines)
            texts[f"M{number}"] = "\n".join(self._noise(lines))
        return texts

    def fields(self, messages: list[str]) -> Iterator[tuple[str, tuple[str, str]]]:
        """Lines, and the type and name of the field that each line defines."""
        for number in range(self._random.randrange(8)):
            kind = self._random.choice(_ROS2 if self._strict else _ROS1)
            if messages and self._random.random() < 0.3:
                kind = self._random.choice(["", "random_msgs/"]) + self._random.choice(messages)
            elif kind.endswith("string") and self._strict and self._random.random() < 0.4:
                kind += f"<={self._random.randrange(1, 100)}"
            kind += self._random.choice(["", "", "[]", f"[{self._random.randrange(1, 9)}]"])
            if self._strict and kind.endswith("[]") and self._random.random() < 0.5:
                kind = kind.replace("[]", f"[<={self._random.randrange(1, 9)}]")
            name = f"{self._random.choice(_WORDS)}_{number}"
            if not self._strict and self._random.random() < 0.3:
                name = name.upper()
            yield f"{kind}{self._space()}{name}", (kind, name)

    def _constants(self) -> Iterator[str]:
        for number in range(self._random.randrange(4)):
            kind, value = self._random.choice(
                [("int32", "-7"), ("uint8", "200"), ("float32", "1.50"), ("string", "a = b c")]
            )
            yield f"{kind} C_{number}{self._random.choice(['=', ' = '])}{value}"

    def _noise(self, lines: list[str]) -> Iterator[str]:
        for line in lines:
            if self._random.random() < 0.3:
                yield self._random.choice(["", "# about the next", "   # about the last", "  "])
            constant = "string C" in line  # in ROS 1 its value extends to the end of the line
            yield line if constant or self._random.random() < 0.6 else f"{line}  # why"

    def _space(self) -> str:
        return self._random.choice([" ", " ", "   ", " \t "])


def write_types_of_ros2(folder: Path) -> dict[str, str]:
    """Writes packages with all ROS 2 Jazzy types of rosbags and returns their hashes. Types with a
    `char` have no hash here, because rosbags treats a .msg `char` as an .idl `char`.
    """
    store = get_typestore(Stores.ROS2_JAZZY)
    hashes = {}
    for name in store.fielddefs:
        package, _, base = name.split("/")
        text, _ = store.generate_msgdef(name, ros_version=2)
        write_package(folder / package, {base: text.partition("=" * 80)[0]})
        if "\nchar" not in f"\n{text}":
            hashes[name] = store.hash_rihs01(name)
    assert len(hashes) > 150
    return hashes


def write_package(folder: Path, texts: dict[str, str], kind: str = "msg") -> Path:
    """Writes PACKAGE/kind/NAME.kind for each text. Returns the folder."""
    (folder / kind).mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / kind / f"{name}.{kind}").write_text(text)
    return folder
