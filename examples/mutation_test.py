"""The nodes of the examples are models: no field value of a message may crash them or pass a NaN
on.
Each Python node with a subscription receives messages with odd fields, without a runtime. The C++
nodes have a fuzzer (tests/fuzz/fuzz_patrol.cpp), and each of them must have a check.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import random
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args, get_origin

import hyphos
import numpy as np
import pytest
from google.protobuf.message import Message
from hyphos.msgs import Image, LaserScan, OccupancyGrid, Odometry, PointCloud, String, Twist
from hyphos.msgs import Path as PathMessage
from hyphos.node_view import View, ViewPublishers

EXAMPLES = Path(__file__).parent
MESSAGES = 400  # to each subscription
OPENED = r"^\w+ = hyphos\.(Node|Runtime)\.open"

FLOATS = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 1e-300, 1e30, -1e30, 3e38, 0.1, 30.0]
INTEGERS = [0, 1, -1, 2, 3, 255, 640, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63)]
TEXTS = ["", "odom", "/odom", "base", "tilt", "mono8", "rgb8", "32FC1", "16UC99", "no such", "ü"]
# These fields need not be finite: a range without a return is infinite or NaN, and range_max may be
# infinite for no limit.
MAY_BE_ODD = {"ranges", "intensities", "range_max"}
# These programs accept any value: they print it, count it, or pass it on unchanged.
TAKE_ANYTHING = {
    "01_struct/odometer.cpp",
    "03_loan_and_forward/relay.cpp",
    "06_drops/slow.cpp",
    "09_late_joiner/late.cpp",
    "09_late_joiner/server.cpp",
    "hello/listener.cpp",
}


class FakeNode:
    """Stands in for a node and keeps its subscriptions, timers and published messages."""

    def __init__(self) -> None:
        self.subscribed: list[tuple[str, Any, Callable[..., object]]] = []
        self.timers: list[Callable[[], object]] = []
        self.published: list[Any] = []
        self.shown: dict[str, Any] = {}
        self.clock = SimpleNamespace(now_ns=lambda: 5_000_000_000, elapsed_s=lambda: 5.0)
        quiet = SimpleNamespace(warn=lambda *_: None, info=lambda *_: None)
        self.log = SimpleNamespace(every=lambda _: quiet, warn=quiet.warn, info=quiet.info)

    def param(self, name: str, standard: Any) -> Any:
        return "tilt" if name == "tilt_frame" else standard

    def params(self) -> Any:
        def declare(name: str, standard: Any, **_: Any) -> Any:
            self.shown[name] = standard
            update = self.shown.update
            return SimpleNamespace(value=standard, set=lambda value: update({name: value}))

        return SimpleNamespace(declare=declare)

    def publisher(self, *_: Any, **__: Any) -> Any:
        return SimpleNamespace(
            publish=self.published.append,
            listeners=2,
            wait_for=lambda *_: None,
            loan=lambda size: np.zeros(size, np.uint8),
        )

    def subscribe(self, channel: str, kind: Any, callback: Any, *_: Any, **__: Any) -> None:
        if len(inspect.signature(callback).parameters) == 2:
            info = SimpleNamespace(replayed=True)
            self.subscribed.append((channel, kind, lambda message: callback(message, info)))
        else:
            self.subscribed.append((channel, kind, callback))

    def view(self, frame: str = "") -> View:
        return View(cast(Any, self), ViewPublishers(), "", frame)

    def transforms(self) -> Any:
        def take(transform: hyphos.Transform) -> None:
            assert all(map(math.isfinite, (*transform.translation, *transform.rotation)))

        return SimpleNamespace(set=take, set_static=take)

    def callback_group(self) -> None:
        return None

    def every(self, callback: Callable[[], object], **_: Any) -> None:
        self.timers.append(callback)

    def spin(self) -> int:
        return 0


def scripts() -> list[Path]:
    """All Python files of the examples with a node that subscribes, in a class or a program."""
    found = (path for path in EXAMPLES.glob("*/**/*.py") if not path.name.endswith("_test.py"))
    texts = {path: path.read_text() for path in found}
    nodes = re.compile(rf"^class |{OPENED}", re.MULTILINE)
    return sorted(p for p, text in texts.items() if ".subscribe(" in text and nodes.search(text))


def nodes_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[FakeNode]:
    """Runs a program, or constructs each class of a module of nodes."""
    made: list[FakeNode] = []

    def make(*_: Any, **__: Any) -> FakeNode:
        made.append(FakeNode())
        return made[-1]

    if re.search(OPENED, path.read_text(), re.MULTILINE):
        monkeypatch.setattr(hyphos.Node, "open", make)
        runtime = SimpleNamespace(node=make, spin=lambda: 0)
        monkeypatch.setattr(hyphos.Runtime, "open", lambda *_, **__: runtime)
        monkeypatch.setattr(sys, "argv", [str(path)])
        runpy.run_path(str(path))
        return made
    monkeypatch.syspath_prepend(path.parent)  # as `hyphos run` finds modules beside the plan
    spec = importlib.util.spec_from_file_location(f"mutated_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for kind in vars(module).values():
        if isinstance(kind, type) and kind.__module__ == module.__name__:
            kind(make())
    return made


class Mutator:
    """Makes nearly valid messages, in which some fields have values of faulty drivers."""

    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)

    def message(self, kind: Any) -> Any:
        if get_origin(kind) is hyphos.Attached:
            return self._attached(get_args(kind)[0])
        if isinstance(kind, hyphos.Struct):
            data = self.chance.randbytes(kind.dtype.itemsize)
            return np.frombuffer(data, kind.dtype)[0]
        if kind is bytes:
            return np.frombuffer(self.chance.randbytes(self.chance.choice([0, 1, 100])), np.uint8)
        if hasattr(kind, "DESCRIPTOR"):
            return self._protobuf(kind)
        floats = [self.chance.choice(FLOATS) for _ in range(self.chance.choice([0, 1, 3]))]
        return kind.parse(memoryview(np.array(floats, "<f4").tobytes()))

    def _attached(self, kind: Any) -> Any:
        head = self._protobuf(kind)
        row = head.step if kind is Image else head.width * head.point_step
        sizes = [0, 1, head.width * head.height, row * head.height, 640 * 480, 10**5]
        count = self.chance.choice([0, 1, 1, 1, 1, 2])
        size = min(self.chance.choice(sizes), 10**6)
        pixels = np.frombuffer(self.chance.randbytes(size), np.uint8)
        return hyphos.Attached(head, [pixels] * count)

    def _protobuf(self, kind: Any) -> Any:
        message = good(kind)
        for _ in range(self.chance.choice([0, 1, 1, 2, 3])):
            self._mutate(message)
        return message

    def _mutate(self, message: Message) -> None:
        fields: list[Any] = list(message.DESCRIPTOR.fields)
        if not fields:
            return
        field = self.chance.choice(fields)
        held = getattr(message, field.name)
        if field.type == field.TYPE_MESSAGE and hasattr(held, "add"):
            change = self.chance.choice(["clear", "add", "deeper", "deeper"])
            if change == "clear":
                message.ClearField(field.name)
            elif change == "add" or not held:
                held.add()
            else:
                self._mutate(self.chance.choice(list(held)))
        elif field.type == field.TYPE_MESSAGE:
            if self.chance.random() < 0.2:
                message.ClearField(field.name)
            else:
                self._mutate(held)
        elif hasattr(held, "append"):
            count = self.chance.choice([0, 1, 2, 50])
            message.ClearField(field.name)
            held = getattr(message, field.name)
            held.extend(self.value(field) for _ in range(count))
        else:
            setattr(message, field.name, self.value(field))

    def value(self, field: Any) -> Any:
        if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
            return self.chance.choice(FLOATS)
        if field.type == field.TYPE_STRING:
            return self.chance.choice(TEXTS)
        if field.type == field.TYPE_BYTES:
            return self.chance.randbytes(self.chance.choice([0, 1, 9]))
        if field.type == field.TYPE_BOOL:
            return self.chance.random() < 0.5
        wide = "64" in str(field.cpp_type) or field.cpp_type in (
            field.CPPTYPE_INT64,
            field.CPPTYPE_UINT64,
        )
        unsigned = field.cpp_type in (field.CPPTYPE_UINT32, field.CPPTYPE_UINT64)
        bits = 64 if wide else 32
        least, most = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if field.type == field.TYPE_ENUM:
            return self.chance.choice(field.enum_type.values).number
        return self.chance.choice([n for n in INTEGERS if least <= n <= most])


def good(kind: Any) -> Any:
    """A message that a node can use."""
    message = kind()
    if hasattr(message, "header"):
        message.header.stamp_ns = 5_000_000_000
    if kind is LaserScan:
        message.angle_min, message.angle_increment, message.angle_max = -3.0, 0.1, 2.9
        message.range_min, message.range_max = 0.1, 30.0
        message.ranges.extend([2.0] * 60)
    elif kind is Image:
        message.width, message.height, message.step, message.encoding = 640, 480, 640, "mono8"
    elif kind is PointCloud:
        message = hyphos.numpy_to_cloud(np.zeros((60, 3), np.float32)).head
    elif kind is OccupancyGrid:  # a tile of the shared map
        message.header.frame_id, message.data = "other/0", bytes(256)
    elif kind is String:
        message.data = "{}"
    elif kind is Odometry:
        message.pose.pose.orientation.w = 1.0
    elif kind is PathMessage:
        message.poses.add().pose.position.x = 1.0
    elif kind is Twist:
        message.linear.x = 0.5
    elif message.DESCRIPTOR.name == "TfMessage":
        for child in ("base", "tilt"):
            moved = message.transforms.add(child_frame_id=child)
            moved.header.stamp_ns, moved.header.frame_id = 5_000_000_000, "odom"
            moved.transform.rotation.w = 1.0
    return message


def odd_numbers(message: Message, path: str = "") -> Iterator[str]:
    """Names of the fields that must be finite and are not."""
    for field, held in message.ListFields():
        name = f"{path}{field.name}"
        many = held if hasattr(held, "append") or hasattr(held, "add") else [held]
        if field.type == field.TYPE_MESSAGE:
            for one in many:
                yield from odd_numbers(one, name + ".")
        elif field.type not in (field.TYPE_FLOAT, field.TYPE_DOUBLE) or field.name in MAY_BE_ODD:
            continue
        elif not all(map(math.isfinite, many)):
            yield name


@pytest.mark.parametrize("path", scripts(), ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_no_message_makes_a_python_node_fail(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = nodes_of(path, monkeypatch)
    assert any(node.subscribed for node in nodes)
    mutator = Mutator(str(path.relative_to(EXAMPLES)))
    with np.errstate(all="ignore"):
        for _ in range(MESSAGES):
            for node in nodes:
                for _, kind, callback in node.subscribed:
                    callback(mutator.message(kind))
                if mutator.chance.random() < 0.1:
                    for timer in node.timers:
                        timer()
    for node in nodes:
        for message in node.published:
            if isinstance(message, Message):
                assert not list(odd_numbers(message)), message
        if "refused" in node.shown:
            assert node.shown["refused"] > 0


@pytest.mark.parametrize("path", scripts(), ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_good_messages_pass_after_bad_ones(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutator = Mutator(f"then good: {path.name}")
    for node in nodes_of(path, monkeypatch):
        kinds = [kind for _, kind, _ in node.subscribed if hasattr(kind, "DESCRIPTOR")]
        with np.errstate(all="ignore"):
            for _ in range(100):
                for _, kind, callback in node.subscribed:
                    callback(mutator.message(kind))
        refused = node.shown.get("refused", 0)
        for _, kind, callback in node.subscribed:
            if kind in kinds:
                callback(good(kind))
        assert node.shown.get("refused", 0) == refused


def test_each_subscribing_cpp_node_checks_its_messages() -> None:
    unchecked = set()
    for path in EXAMPLES.glob("*/**/*.cpp"):
        text = path.read_text()
        if "subscribe<" in text and ".refuse(" not in text:
            unchecked.add(str(path.relative_to(EXAMPLES)))
    assert unchecked == TAKE_ANYTHING
