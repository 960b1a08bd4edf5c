"""Writes random messages serialized by genpy of ROS 1. Each output line is JSON with the type, the
bytes and the values. Run this program with the Python interpreter that has genpy.

    genpy_writer.py SHARE ROUNDS
"""

import base64
import json
import random
import struct
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import genmsg
import genmsg.gentools
import genmsg.msg_loader
import genpy.dynamic

LIMITS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
WORDS = ("", "a", "map_frame/base", "ä π 😀", 'quote " and \\ and\nline')


class Randomly:
    def __init__(self, classes: dict[str, Any], seed: str) -> None:
        self._classes = classes
        self._pick = random.Random(seed)

    def message(self, name: str) -> Any:
        made = self._classes[name]()
        for slot, kind in zip(made.__slots__, made._slot_types, strict=True):
            value = self._value(kind)
            if slot == "is_bigendian":
                value = type(value)(value % 2)  # a flag, of any type
            setattr(made, slot, value)
        return made

    def _value(self, kind: str) -> Any:
        if not kind.endswith("]"):
            return self._one(kind)
        element, _, size = kind[:-1].partition("[")
        count = int(size) if size else self._pick.choice((0, 1, 2, 7))
        values = [self._one(element) for _ in range(count)]
        return bytes(values) if element in ("uint8", "char") else values

    def _one(self, kind: str) -> Any:
        kind = {"byte": "int8", "char": "uint8", "Header": "std_msgs/Header"}.get(kind, kind)
        pick = self._pick
        made: dict[str, Callable[[], Any]] = {
            "bool": lambda: pick.random() < 0.5,
            "string": lambda: pick.choice(WORDS),
            "float32": lambda: struct.unpack("f", struct.pack("f", pick.uniform(-1e6, 1e6)))[0],
            "float64": lambda: pick.choice((0.0, 1.5, -1e300, pick.uniform(-1e6, 1e6))),
            "time": lambda: genpy.Time(pick.randrange(1 << 31), pick.randrange(10**9)),
            "duration": lambda: genpy.Duration(pick.randrange(1 << 31), pick.randrange(10**9)),
        }
        if kind in made:
            return made[kind]()
        return self._integer(kind) if kind in LIMITS else self.message(kind)

    def _integer(self, kind: str) -> int:
        low = 0 if kind[0] == "u" else -(1 << (LIMITS[kind] - 1))
        high = low + (1 << LIMITS[kind]) - 1
        return self._pick.choice((0, 1, low, high, self._pick.randint(low, high)))


def plain(value: Any) -> Any:
    """The value as rosbridge writes it."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, genpy.rostime.TVal):
        return {"secs": value.secs, "nsecs": value.nsecs}
    if isinstance(value, genpy.Message):
        return {slot: plain(getattr(value, slot)) for slot in value.__slots__}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value


def classes_of(name: str, folders: dict[str, list[str]]) -> dict[str, Any]:
    context = genmsg.MsgContext.create_default()
    spec = genmsg.msg_loader.load_msg_by_type(context, name, folders)
    genmsg.msg_loader.load_depends(context, spec, folders)
    text = genmsg.gentools.compute_full_text(context, spec)
    made: dict[str, Any] = genpy.dynamic.generate_dynamic(name, text)
    return made


def main() -> None:
    share, rounds = sys.argv[1:]
    folders = {one.parent.name: [str(one)] for one in sorted(Path(share).glob("*_msgs/msg"))}
    for package, (folder,) in folders.items():
        for file in sorted(Path(folder).glob("*.msg")):
            name = f"{package}/{file.stem}"
            randomly = Randomly(classes_of(name, folders), name)
            for _ in range(int(rounds)):
                made = randomly.message(name)
                wire = BytesIO()
                made.serialize(wire)
                told = {"type": name, "wire": wire.getvalue().hex(), "values": plain(made)}
                print(json.dumps(told))


if __name__ == "__main__":
    main()
