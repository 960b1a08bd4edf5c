"""Tools show the fields of a struct, because each process announces the layout of its structs."""

from __future__ import annotations

import ctypes
import json
import random
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from helpers import Cli, Start, repeating, wait_until
from hyphos import Raw, _hyphos
from hyphos.recording.control import recorders
from hyphos.recording.mcap_scan import Scan
from hyphos.ros.typebook import TypeBook
from hyphos.struct_layout import definition, layout, layouts, read_layout
from hyphos.tools.struct_message import StructMessage
from hyphos.types import Struct
from recordings import counted, record

POSE = Struct(
    "rover.Pose",
    [("x", "f8"), ("moves", "?"), ("name", "S8"), ("ranges", "f4", (3,)), ("at", [("z", "i8")])],
)
TEXT = """x: 1.5
moves: true
name: front
ranges: [0.1, 2.0, .inf]
at:
  z: -3
"""
BYTES = "no process announces the fields of rover.Pose, so the output is bytes: list them in its"


@pytest.fixture
def pose() -> Any:
    return POSE(x=1.5, moves=True, name="front", ranges=[0.1, 2, float("inf")], at={"z": -3})


def echo(cli: Cli, domain: str, *words: str) -> str:
    code, out, err = cli(
        "channel", "echo", "pose", "-n", "1", "--timeout", "60", "-d", domain, *words
    )
    assert code == 0, err
    return out


def test_echo_shows_the_fields_of_a_struct(
    node: hyphos.Node, hyphos_cli: Cli, domain: str, pose: Any
) -> None:
    publisher = node.publisher("pose", POSE)
    with repeating(lambda: publisher.publish(pose)):
        assert echo(hyphos_cli, domain).startswith(TEXT + "---\n")
        assert json.loads(echo(hyphos_cli, domain, "--json")) == {
            "x": 1.5, "moves": True, "name": "front",
            "ranges": [0.1, 2.0, "Infinity"], "at": {"z": "-3"},
        }  # fmt: skip
        assert echo(hyphos_cli, domain, "--field", "at.z") == "-3\n"
        assert echo(hyphos_cli, domain, "--field", "ranges[1]") == "2.0\n"
        words = ("channel", "echo", "pose", "--field", "rangs", "-d", domain, "--timeout", "60")
        code, _, err = hyphos_cli(*words)
        assert code == 1
        assert "--field rangs: rover.Pose has no 'rangs'; did you mean 'ranges'?" in err


def test_a_struct_without_a_layout_is_shown_as_bytes(
    node: hyphos.Node, hyphos_cli: Cli, domain: str, pose: Any
) -> None:
    publisher = node.publisher("pose", Raw(POSE.id))
    with repeating(lambda: publisher.publish((pose.tobytes(), []))):
        out = echo(hyphos_cli, domain)
        assert BYTES in out
        assert pose.tobytes()[:8].hex(" ") in out
        # The layout of a struct of another size does not fit.
        node.publisher("other", Struct("rover.Pose", [("x", "f8")]))
        assert BYTES in echo(hyphos_cli, domain)


def test_pub_writes_a_struct_and_refuses_values_that_do_not_fit(
    node: hyphos.Node, hyphos_cli: Cli, domain: str, pose: Any, inbox: Any
) -> None:
    node.subscribe("pose", POSE, inbox)
    words = ("channel", "pub", "pose", "rover.Pose")
    for text, remedy in {
        "ranges: [1, 2]": "field 'ranges' needs 3 values, not 2",
        "name: longer than eight": "field 'name' is |S8 and cannot hold",
        "y: 1": "did you mean",
    }.items():
        code, _, err = hyphos_cli(*words, text, "-d", domain)
        assert (code, remedy in err or "'y'" in err) == (1, True), err
    code, _, err = hyphos_cli(*words, TEXT, "--wait", "60", "-d", domain)
    assert code == 0, err
    [received] = inbox.wait(1)
    assert received.tobytes() == pose.tobytes()


def test_services_of_structs_are_called_with_fields(
    node: hyphos.Node, hyphos_cli: Cli, domain: str
) -> None:
    pair, total = Struct("rover.Pair", [("a", "i4"), ("b", "i4")]), Struct("rover.Sum", "i8")
    node.service("add", pair, total, lambda asked: asked.a + asked.b)
    code, out, err = hyphos_cli("service", "call", "add", "{a: 2, b: 40}", "-d", domain)
    assert (code, out) == (0, "value: 42\n"), err


def test_a_ctypes_structure_is_shown_too(node: hyphos.Node, hyphos_cli: Cli, domain: str) -> None:
    class Wheel(ctypes.Structure):
        hyphos_type = "rover.Wheel"
        _fields_ = (("name", ctypes.c_char * 6), ("speed", ctypes.c_float * 2))

    class Bits(ctypes.Structure):
        hyphos_type = "rover.Bits"
        _fields_ = (("low", ctypes.c_uint, 3), ("high", ctypes.c_uint, 5))

    node.publisher("bits", Bits)
    publisher = node.publisher("pose", Wheel)
    with repeating(lambda: publisher.publish(Wheel(b"left", (0.5, 2)))):
        assert echo(hyphos_cli, domain) == "name: left\nspeed: [0.5, 2.0]\n---\n"
    assert TypeBook(domain=domain).struct("rover.Bits") is None, "NumPy has no bit fields"


def test_msg_lists_and_shows_structs(node: hyphos.Node, hyphos_cli: Cli, domain: str) -> None:
    publisher = node.publisher("pose", POSE)
    code, out, err = hyphos_cli("msg", "list", "rover.*", "--json", "-d", domain)
    assert code == 0, err
    assert json.loads(out) == [{"name": "rover.Pose", "sources": ["main"], "channels": ["pose"]}]
    code, out, err = hyphos_cli("msg", "show", "rover.Pose", "-d", domain)
    assert (code, out) == (
        0,
        "// rover.Pose: a struct, known from main\n"
        "struct rover.Pose {  // 40 bytes\n"
        "  f8 x;  // offset 0\n"
        "  b1 moves;  // offset 8\n"
        "  S8 name;  // offset 9\n"
        "  f4 ranges[3];  // offset 20\n"
        "  struct {  // 8 bytes\n"
        "    i8 z;  // offset 0\n"
        "  } at;  // offset 32\n"
        "}\n",
    ), err
    publisher.close()


def test_a_recording_has_the_layout_and_a_replay_announces_it(
    node: hyphos.Node,
    hyphos_start: Start,
    hyphos_cli: Cli,
    domain: str,
    tmp_path: Path,
    pose: Any,
) -> None:
    publisher = node.publisher("pose", POSE)
    path = tmp_path / "run.mcap"
    recorder = record(hyphos_start, domain, path)
    with repeating(lambda: publisher.publish(pose)):
        wait_until(lambda: bool(recorders(domain)) and counted(domain, "pose") > 0, "the recorder")
    assert recorder.stop()[0] == 0
    [schema] = [one for one in Scan(path).read().schemas.values() if one.name == "rover.Pose"]
    assert schema.encoding == "hyphos.struct"
    assert read_layout(schema.data.decode()) == ("rover.Pose", POSE.dtype)
    publisher.close()
    player = hyphos_start("replay", str(path), "--loop", "-d", domain, "--quiet")
    wait_until(lambda: any(t.pid == player.popen.pid for t in _hyphos.announced_types(domain)))
    assert TEXT in echo(hyphos_cli, domain)
    player.stop()


# --- Two definitions of one name ----------------------------------------------------------------


def test_two_definitions_of_a_struct_are_reported_once(
    hyphos_cli: Cli, domain: str, pose: Any
) -> None:
    swapped = Struct("rover.Pose", [("y", "f8"), *_fields(POSE)[1:]])
    with (
        hyphos.Node.open("a", process="rover", domain=domain) as first,
        hyphos.Node.open("b", process="tanker", domain=domain) as second,
    ):
        publisher = first.publisher("pose", POSE)
        second.subscribe("pose", swapped, lambda _: None)
        words = ("channel", "echo", "pose", "-n", "2", "--timeout", "60", "-d", domain)
        with repeating(lambda: publisher.publish(pose)):
            code, _, err = hyphos_cli(*words)
    assert code == 0, err
    assert err.count("warning: ") == 1
    assert "announce different definitions of rover.Pose. The one of '" in err
    assert "'rover' (pid " in err
    assert "'tanker' (pid " in err


def _fields(struct: Struct) -> list[Any]:
    known: Any = struct.dtype.fields or {}
    return [(name, known[name][0]) for name in struct.dtype.names or ()]


# --- The layout as text -------------------------------------------------------------------------

KINDS = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "S5", "U3")
MORE = ("M8[ns]", "m8[s]", "V3", ">i4", ">f8")


def random_fields(rng: random.Random, depth: int = 0) -> list[Any]:
    fields: list[Any] = []
    for number in range(rng.randint(1, 5)):
        inner = depth < 2 and rng.random() < 0.25
        kind = random_fields(rng, depth + 1) if inner else rng.choice(KINDS + MORE)
        shape = tuple(rng.randint(1, 3) for _ in range(rng.choice((0, 0, 1, 2))))
        fields.append((f"f{number}", kind, shape) if shape else (f"f{number}", kind))
    return fields


@pytest.mark.parametrize("seed", range(60))
def test_any_struct_is_described_shown_and_read_back(seed: int) -> None:
    rng = random.Random(seed)
    struct = Struct("rover.Any", random_fields(rng), align=rng.random() < 0.7)
    text = layout(struct.name, struct.dtype)
    name, dtype = read_layout(text)
    assert (name, dtype) == (struct.name, struct.dtype)
    assert list(layouts(definition(struct.name, struct.dtype))) == [text]
    shown = StructMessage(Struct(name, dtype))
    value = shown.FromString(bytes(dtype.itemsize))
    again = shown.payload(value)
    assert shown.FromString(again) == value
    assert not np.frombuffer(again, np.uint8).any()


def test_the_documented_layout_is_a_layout() -> None:
    page = Path(__file__).parents[3] / "docs/reference/type_definitions.md"
    text = page.read_text().partition("```json\n")[2].partition("```")[0]
    corner = [("z", "f4"), ("on", "?")]
    fields = [("x", "f8"), ("label", "S16"), ("grid", "i2", (2, 3)), ("corner", corner)]
    struct = Struct("demo.Pose", fields)
    assert read_layout(text) == ("demo.Pose", struct.dtype)
    assert json.loads(layout(struct.name, struct.dtype)) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"name":"x"}',
        '{"name":3,"type":"<f8"}',
        '{"name":"x","type":"O"}',
        '{"name":"x","type":"<f3"}',
        '{"name":"x","type":"<f8","shape":[-1]}',
        '{"name":"x","type":"<f8","shape":[99999999999]}',
        '{"name":"x","type":"<f8","shape":"ab"}',
        '{"name":"x","size":4,"fields":{"a":1}}',
        '{"name":"x","size":1e9,"fields":[]}',
        '{"name":"x","size":0,"fields":[]}',
        '{"name":"x","size":4,"fields":[{"name":"a","offset":2,"type":"<f4"}]}',
        '{"name":"x","size":4,"fields":[{"name":"a","offset":-2,"type":"<f4"}]}',
        '{"name":"x","size":4,"fields":['
        + ",".join(f'{{"name":"a{i}","offset":0,"type":"|u1"}}' for i in range(5000))
        + "]}",
    ],
)
def test_a_damaged_layout_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_layout(text)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_announcements_of_layouts_end_the_reading(seed: int) -> None:
    rng = random.Random(seed)
    whole = bytearray(definition("a.B", POSE.dtype) * 3)
    for _ in range(rng.randint(1, 20)):
        whole[rng.randrange(len(whole))] = rng.randrange(256)
    for text in layouts(bytes(whole[: rng.randrange(len(whole))])):
        assert len(text) <= len(whole)
