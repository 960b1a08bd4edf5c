"""A damaged message of a recording costs only itself, and no name in a file harms a terminal."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from bags_made import string1, string2
from chatter import CHATTER, SEPARATOR, START, STRING, raw, ros1_file, ros2_file, texts
from helpers import Cli, Inbox
from hyphos import Node
from hyphos.msgs import String
from hyphos.recording.bag import WriteOptions
from hyphos.recording.bag_convert import convert
from hyphos.recording.opening import open_source
from hyphos.recording.source import LEFT_OUT
from mcap_made import (
    Attachment,
    Channel,
    Layout,
    Message,
    Metadata,
    Record,
    Schema,
    make,
)

BAD_CDR = {
    "empty": (b"", "it is empty"),
    "head only": (b"\0\1\0\0", "cut off or damaged"),
    "half a head": (b"\0\1", "does not begin like CDR"),
    "half a length": (b"\0\1\0\0\5", "cut off or damaged"),
    "too short": (string2("hello")[:-3], "cut off or damaged"),
    "huge length": (b"\0\1\0\0\xff\xff\xff\xff", "cut off or damaged"),
    "length 0": (b"\0\1\0\0\0\0\0\0", "cut off or damaged"),
    "no end of the text": (string2("hello")[:-1] + b"x", "cut off or damaged"),
    "too long": (string2("hello") + bytes(9), "longer than its type"),
    "unknown encapsulation": (b"\0\x7f\0\0" + string2("x")[4:], "does not begin like CDR"),
}
BAD_ROS1 = {
    "empty": (b"", "it is empty"),
    "half a length": (b"\5\0", "cut off or damaged"),
    "too short": (string1("hello")[:-3], "cut off or damaged"),
    "huge length": (b"\xff\xff\xff\xff", "cut off or damaged"),
    "too long": (string1("hello") + b"x", "longer than its type"),
}


CASES = [
    *(("mcap", kind, *BAD_CDR[kind]) for kind in BAD_CDR),
    *(("bag", kind, *BAD_ROS1[kind]) for kind in BAD_ROS1),
]


@pytest.mark.parametrize(("ending", "kind", "data", "reason"), CASES)
def test_a_damaged_message_costs_only_itself(
    ending: str,
    kind: str,
    data: bytes,
    reason: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    good = string2 if ending == "mcap" else string1
    write = ros2_file if ending == "mcap" else ros1_file
    path = write(tmp_path / f"run.{ending}", [good("a"), data, good("b"), data, good("c")])
    assert texts(path) == ["a", "b", "c"]
    for target, name in (("mcap", "o.mcap"), ("ros1", "o.bag"), ("ros2-db3", "o")):
        capsys.readouterr()
        code = convert(path, target, WriteOptions(tmp_path / name, overwrite=True))
        same = (target == "ros1") == (ending == "bag") and target != "mcap"
        if same:  # copied, with any content
            assert code == 0
            assert raw(tmp_path / name)["/chatter"] == raw(path)["/chatter"]
        else:
            assert code == LEFT_OUT, (kind, target)
            shown = capsys.readouterr().out
            assert "2 messages: " in shown
            assert reason in shown
            assert texts(tmp_path / name) == ["a", "b", "c"]


def test_replay_counts_damaged_messages(
    hyphos_cli: Cli, domain: str, tmp_path: Path, inbox: Inbox
) -> None:
    datas = [string2("a"), *(data for data, _ in BAD_CDR.values()), string2("b")]
    path = ros2_file(tmp_path / "run.mcap", datas)
    with Node.open("hearer", domain=domain) as node:
        node.subscribe("chatter", String, lambda message: inbox(message.data))
        code, _, err = hyphos_cli("replay", str(path), "-r", "0", "--wait", "30", "-d", domain)
        assert inbox.wait(2) == ["a", "b"]
    assert code == LEFT_OUT
    assert "Traceback" not in err
    assert "published 2 messages" in err
    for reason in {reason for _, reason in BAD_CDR.values()}:
        count = sum(reason == one for _, one in BAD_CDR.values())
        assert f"left out: /chatter std_msgs/msg/String, {count} messages: " in err
        assert reason in err


@pytest.mark.parametrize("data", [b"gr\xfcn", b"\xff\xfe\x00x", b"\xc3", b"\xed\xa0\x80"])
def test_invalid_bytes_of_a_text_are_replaced(data: bytes, tmp_path: Path) -> None:
    expected = data.decode(errors="replace")
    big = b"\0\0\0\0" + struct.pack(">I", len(data) + 1) + data + b"\0"
    for path in (
        ros2_file(tmp_path / "a.mcap", [string2(data), big]),
        ros1_file(tmp_path / "a.bag", [string1(data)]),
    ):
        out = tmp_path / "o.mcap"
        assert convert(path, None, WriteOptions(out, overwrite=True)) == 0
        assert set(texts(out)) == {expected}


def test_big_endian_messages_are_converted(tmp_path: Path) -> None:
    big = b"\0\0\0\0" + struct.pack(">I", 4) + b"big\0"
    path = ros2_file(tmp_path / "a.mcap", [big, string2("little")])
    for name in ("o.mcap", "o.bag"):
        assert convert(path, None, WriteOptions(tmp_path / name)) == 0
        assert texts(tmp_path / name) == ["big", "little"]


def test_noise_in_messages_never_ends_a_conversion(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    scan = (
        b"std_msgs/Header header\nfloat32[] ranges\nstring[] names\nint16[<=3] few\n"
        + SEPARATOR.encode()
        + b"MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
    )
    schema = Schema(1, "sensor_msgs/msg/LaserScan", "ros2msg", scan)
    datas = [b"\0\1\0\0" + rng.bytes(int(rng.integers(0, 60))) for _ in range(300)]
    messages = [Message(START + n, n, 1, START + n, data) for n, data in enumerate(datas)]
    path = tmp_path / "run.mcap"
    path.write_bytes(make([schema, CHATTER, *messages], Layout(profile="ros2")))
    source = open_source(path)
    items = list(source.items(lambda _track: True, source.start_ns, source.end_ns))
    assert len(items) + source.skipped.total() == 300
    assert source.skipped.total() > 200
    source.close()


NAMES = ["[/red]", "[bold]x", "\x1b[31mred", "a\nb", "", "a\0b", "x" * 300, "\u202eright", "/"]


@pytest.mark.parametrize("profile", ["ros2", ""])
def test_names_in_a_file_cannot_control_the_terminal(
    hyphos_cli: Cli, domain: str, tmp_path: Path, profile: str
) -> None:
    """Topics, types, encodings, attachments, metadata and the name of the file itself."""
    good = "cdr" if profile else "protobuf"
    records: list[Record] = [STRING, Schema(2, "[/type]", "[/encoding]", b"x")]
    for number, name in enumerate(NAMES, 1):
        records.append(Channel(number, 1 + number % 2, name, good if number % 3 else name, ()))
        records.append(Message(START + number, 0, number, START, string2("x")))
    records += [Attachment("[/a]", "[/b]"), Metadata("[/m]"), Message(1, 0, 99, 1, b"")]
    path = tmp_path / "[\udcff].mcap"
    path.write_bytes(make(records, Layout(profile=profile)))
    for words in (
        ("bag", "info", str(path)),
        ("bag", "check", str(path)),
        ("replay", str(path), "--list"),
        ("replay", str(path), "-q", "-r", "0", "-d", domain),
        ("bag", "convert", str(path), "-o", "[x].mcap"),
        ("bag", "cut", str(path), "-o", "[y].mcap"),
        ("bag", "check", str(path), "--repair", "[z].mcap"),
    ):
        code, out, err = hyphos_cli(*words)
        assert code == LEFT_OUT, (words, err)
        assert "Traceback" not in err
        assert "\x1b" not in out + err
        assert "\u202e" not in out + err
