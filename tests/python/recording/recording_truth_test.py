"""The messages of a recording are authoritative. The summary, the index, the statistics and
metadata.yaml are hints. The commands read all messages, and report each difference with both
numbers.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from bags_made import (
    BagLayout,
    Row,
    Topic,
    make_bag,
    make_db3,
    make_folder,
    string1,
    string2,
)
from helpers import Cli
from hyphos import Error
from hyphos.msgs import String
from hyphos.recording.bag import check
from hyphos.recording.opening import open_source
from hyphos.recording.source import LEFT_OUT
from mcap_made import (
    CHUNK_INDEX,
    FOOTER,
    MAGIC,
    MESSAGE_INDEX,
    STATISTICS,
    SUMMARY_OFFSET,
    Channel,
    Layout,
    Message,
    Record,
    Schema,
    make,
)
from recordings import SECOND, everything

START = 1_700_000_000 * SECOND
STEP = SECOND // 10
TIMES = [START + number * STEP for number in range(10)]
TEXTS = [f"n{number}" for number in range(10)]
STRING = Schema(1, "std_msgs/msg/String", "ros2msg", b"string data\n")
CHATTER = Channel(1, 1, "/chatter", "cdr", ())
MESSAGES = [
    Message(time, number, 1, time, string2(text))
    for number, (time, text) in enumerate(zip(TIMES, TEXTS, strict=True))
]
ROS: list[Record] = [STRING, CHATTER, *MESSAGES]


def texts(path: Path, channel: str = "chatter") -> list[tuple[int, str]]:
    return [
        (item.time_ns, String.FromString(bytes(item.payload)).data)  # type: ignore[call-overload]
        for item in everything(path)[channel]
    ]


ALL = list(zip(TIMES, TEXTS, strict=True))


def warnings(path: Path) -> tuple[list[str], bool]:
    source = open_source(path)
    source.close()
    return source.warnings, source.damaged


# --- MCAP -----------------------------------------------------------------------------------------

INDEXED = Layout(
    chunks=True,
    message_index=True,
    statistics=True,
    repeated_schemas=True,
    repeated_channels=True,
    chunk_index=True,
    summary_offset=True,
    profile="ros2",
    per_chunk=3,
)


def records(data: bytes) -> list[tuple[int, int, int]]:
    """(kind, start, end) of the content of each record outside of chunks."""
    found = []
    at = len(MAGIC)
    while at < len(data) - len(MAGIC):
        op, length = struct.unpack_from("<BQ", data, at)
        found.append((op, at + 9, at + 9 + length))
        at += 9 + length
    return found


@pytest.mark.parametrize("op", [MESSAGE_INDEX, CHUNK_INDEX, STATISTICS, SUMMARY_OFFSET, FOOTER])
def test_noise_in_hints_does_not_change_the_messages(op: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(op)
    whole = make(ROS, INDEXED)
    path = tmp_path / "run.mcap"
    for _ in range(8):
        data = bytearray(whole)
        for kind, start, end in records(whole):
            if kind == op:
                data[start:end] = rng.bytes(end - start)
        path.write_bytes(data)
        assert texts(path) == ALL
        assert "was cut off" not in " ".join(warnings(path)[0])
        if op != SUMMARY_OFFSET:
            assert check(path, None) in (1, LEFT_OUT)


@pytest.mark.parametrize("features", list(product([False, True], repeat=5)))
def test_no_part_of_the_summary_is_needed(features: tuple[bool, ...], tmp_path: Path) -> None:
    statistics, schemas, channels, chunk_index, message_index = features
    layout = replace(
        INDEXED,
        statistics=statistics,
        repeated_schemas=schemas,
        repeated_channels=channels,
        chunk_index=chunk_index,
        message_index=message_index,
    )
    path = tmp_path / "run.mcap"
    path.write_bytes(make(ROS, layout))
    assert texts(path) == ALL
    assert warnings(path) == ([], False)


@pytest.mark.parametrize(("said", "code"), [(12, LEFT_OUT), (7, 0), (0, 0), (1 << 63, LEFT_OUT)])
def test_a_wrong_count_is_reported_with_both_numbers(
    hyphos_cli: Cli, tmp_path: Path, said: int, code: int
) -> None:
    path, out = tmp_path / "run.mcap", tmp_path / "out.mcap"
    path.write_bytes(make(ROS, replace(INDEXED, said_messages=said)))
    words = f"declare {said:,} messages, but 10 are readable"
    for command in (
        ("bag", "info", str(path)),
        ("replay", str(path), "--list"),
        ("bag", "convert", str(path), "-o", str(out)),
    ):
        found, shown, _ = hyphos_cli(*command)
        assert (found, words in shown) == (code, True), (command, shown)
    assert texts(out) == ALL
    found, shown, _ = hyphos_cli("bag", "check", str(path))
    assert (found, words in shown) == (code or 1, True)


def test_statistics_without_channels_hide_nothing(hyphos_cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    channel = Channel(1, 1, "outer", "protobuf", ())
    path.write_bytes(
        make([Schema(1, "p.Outer", "protobuf", b""), channel, *MESSAGES], Layout(statistics=True))
    )
    code, out, _ = hyphos_cli("bag", "info", "--json", str(path))
    [info] = json.loads(out)
    assert (code, info["messages"], info["warnings"]) == (0, 10, [])
    assert [one["channel"] for one in info["channels"]] == ["outer"]


# --- metadata.yaml --------------------------------------------------------------------------------


def folder(path: Path, *, count: int, start_ns: int, duration_ns: int, named: int) -> Path:
    """A recording in two files."""
    make_folder(
        path,
        ["a_0.db3", "a_1.db3"][:named],
        count=count,
        start_ns=start_ns,
        duration_ns=duration_ns,
        topics=[("/chatter", "std_msgs/msg/String", count)],
    )
    messages = [(1, time, string2(text)) for time, text in ALL]
    make_db3(path / "a_0.db3", [Row()], messages[:6])
    make_db3(path / "a_1.db3", [Row()], messages[6:])
    return path


@pytest.mark.parametrize("count", [10, 4, 11])
@pytest.mark.parametrize("start_ns", [START, START + 6 * STEP, START - SECOND, 0, -5])
@pytest.mark.parametrize("duration_ns", [9 * STEP, STEP, 0])
def test_metadata_yaml_filters_nothing(
    tmp_path: Path, count: int, start_ns: int, duration_ns: int
) -> None:
    path = folder(
        tmp_path / "run", count=count, start_ns=start_ns, duration_ns=duration_ns, named=2
    )
    assert texts(path) == ALL
    found, damaged = warnings(path)
    assert damaged == (count > 10)
    said = " ".join(found)
    assert (f"declares {count:,} messages of /chatter, but 10 are readable" in said) == (
        count != 10
    )
    right = (start_ns, start_ns + duration_ns) == (TIMES[0], TIMES[-1])
    assert (f"from {start_ns:,} to {start_ns + duration_ns:,} ns" in said) != right


def test_a_file_that_metadata_yaml_does_not_name_is_read(tmp_path: Path) -> None:
    path = folder(tmp_path / "run", count=6, start_ns=START, duration_ns=5 * STEP, named=1)
    assert texts(path) == ALL
    assert any("does not name a_1.db3" in warning for warning in warnings(path)[0])


def test_a_file_that_is_missing_costs_only_its_messages(hyphos_cli: Cli, tmp_path: Path) -> None:
    path = folder(tmp_path / "run", count=10, start_ns=START, duration_ns=9 * STEP, named=2)
    (path / "a_1.db3").unlink()
    assert texts(path) == ALL[:6]
    code, out, _ = hyphos_cli("bag", "info", str(path))
    assert code == LEFT_OUT
    assert "names a_1.db3, which does not exist" in out
    assert "declares 10 messages of /chatter, but 6 are readable" in out


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1, 2",
        "a: b",
        "rosbag2_bagfile_information: 7",
        "rosbag2_bagfile_information: {relative_file_paths: {a: 1}, message_count: many}",
        "rosbag2_bagfile_information: {topics_with_message_count: [1, {topic_metadata: []}]}",
        "rosbag2_bagfile_information: {relative_file_paths: [../../x.db3, 7, '']}",
        "\x00\xff",
        "a: &a [*a]",
    ],
)
def test_metadata_yaml_may_have_any_content(text: str, tmp_path: Path) -> None:
    path = folder(tmp_path / "run", count=10, start_ns=START, duration_ns=9 * STEP, named=2)
    (path / "metadata.yaml").write_text(text, encoding="latin-1")
    assert texts(path) == ALL
    (path / "metadata.yaml").unlink()
    assert texts(path) == ALL


@pytest.mark.parametrize(
    ("qos", "latched", "wrong"),
    [
        ("", False, False),
        ("- {durability: 1}", True, False),
        ("- {durability: transient_local}", True, False),
        ("- {durability: 2, depth: x}", False, False),
        ("- durability: [", False, True),
        ("7", False, True),
        ("- 7", False, True),
        ("x" * 100_000, False, True),
    ],
)
def test_qos_texts_cost_no_messages(
    qos: str,
    latched: bool,
    wrong: bool,
    tmp_path: Path,
) -> None:
    files = [make_db3(tmp_path / "a.db3", [Row(qos=qos)], [(1, *_row(one)) for one in ALL])]
    channel = replace(CHATTER, metadata=(("offered_qos_profiles", qos),))
    files.append(tmp_path / "a.mcap")
    files[1].write_bytes(make([STRING, channel, *MESSAGES], Layout(profile="ros2")))
    for path in files:
        assert texts(path) == ALL
        source = open_source(path)
        assert source.tracks[0].policy["latched"] is latched
        assert any("offered_qos_profiles" in warning for warning in source.warnings) is wrong
        source.close()


def _row(one: tuple[int, str]) -> tuple[int, bytes]:
    return one[0], string2(one[1])


# --- databases ------------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", [1, 2, 3, 4])
def test_every_database_schema_is_read(schema: int, tmp_path: Path) -> None:
    path = make_db3(tmp_path / "a.db3", [Row()], [(1, *_row(one)) for one in ALL[::-1]], schema)
    assert texts(path) == ALL
    assert warnings(path) == ([], False)


def test_the_index_of_a_database_is_not_trusted(tmp_path: Path) -> None:
    path = make_db3(tmp_path / "a.db3", [Row()], [(1, *_row(one)) for one in ALL])
    database = sqlite3.connect(path)
    database.executescript(
        "PRAGMA writable_schema=ON;"
        "UPDATE sqlite_master SET sql='CREATE INDEX timestamp_idx ON messages (timestamp ASC)"
        " WHERE timestamp < 0' WHERE name='timestamp_idx';"
    )
    database.close()
    assert texts(path) == ALL


def test_a_damaged_database_schema_is_an_error_with_a_reason(tmp_path: Path) -> None:
    path = make_db3(tmp_path / "a.db3", [Row()], [(1, *_row(one)) for one in ALL])
    whole = path.read_bytes()
    start = whole.index(b"CREATE TABLE topics") - 40
    for at in range(start, start + 300, 5):
        path.write_bytes(whole[:at] + b"\xce" + whole[at + 1 :])
        try:
            assert len(texts(path)) in (0, 10)
        except (Error, KeyError) as error:
            assert isinstance(error, Error) or error.args == ("chatter",)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ((1, None, string2("x")), "1 messages have no valid time"),
        ((1, "late", string2("x")), "1 messages have no valid time"),
        ((1, 1.5, string2("x")), "1 messages have no valid time"),
        ((9, START, string2("x")), "1 messages belong to topics that are not in the database"),
    ],
)
def test_rows_that_form_no_message_are_counted(
    row: tuple[int, object, bytes], said: str, tmp_path: Path
) -> None:
    path = make_db3(tmp_path / "a.db3", [Row()], [*((1, *_row(one)) for one in ALL), row])
    assert texts(path) == ALL
    found, damaged = warnings(path)
    assert damaged
    assert any(said in warning for warning in found)


# --- bags -----------------------------------------------------------------------------------------

MESSAGES_1 = [(0, time, string1(text)) for time, text in ALL]
BAGS: dict[str, tuple[BagLayout, Sequence[str]]] = {
    "usual": (BagLayout(), ()),
    "bz2": (BagLayout(compression="bz2"), ()),
    "lz4": (BagLayout(compression="lz4"), ()),
    "without index records": (BagLayout(index_records=False), ()),
    "wrong offsets in the index": (BagLayout(index_shift=7), ()),
    "without chunk infos": (BagLayout(chunk_infos=False), ()),
    "counts too high": (
        BagLayout(count_factor=2),
        ("declares 20 messages of /chatter, but 10 are readable",),
    ),
    "counts zero": (
        BagLayout(count_factor=0),
        ("declares 0 messages of /chatter, but 10 are readable",),
    ),
    "connections in chunks only": (BagLayout(connections_in_index=False), ()),
    "connections in the index only": (BagLayout(connections_in_chunks=False), ()),
    "not closed": (BagLayout(closed=False), ("was cut off, 10 messages",)),
    "messages outside of chunks": (BagLayout(loose=True), ()),
    "unknown kinds": (BagLayout(extra_ops=True), ()),
}


@pytest.mark.parametrize("name", BAGS)
def test_the_index_of_a_bag_is_not_trusted(name: str, tmp_path: Path) -> None:
    layout, said = BAGS[name]
    path = make_bag(tmp_path / "a.bag", [Topic()], MESSAGES_1, layout)
    assert texts(path) == ALL
    found, damaged = warnings(path)
    assert len(found) == len(said)
    assert all(text in found[0] for text in said)
    assert damaged == (name in ("counts too high", "not closed"))


@pytest.mark.parametrize("compression", ["none", "bz2", "lz4"])
def test_a_bag_may_be_truncated_anywhere(compression: str, tmp_path: Path) -> None:
    whole = make_bag(
        tmp_path / "a.bag", [Topic()], MESSAGES_1, BagLayout(compression=compression)
    ).read_bytes()
    part = tmp_path / "part.bag"
    counts = []
    for end in range(4200, len(whole), 13):
        part.write_bytes(whole[:end])
        source = open_source(part)
        counts.append(sum(track.count for track in source.tracks))
        source.close()
        assert source.damaged or counts[-1] == 10
    assert counts == sorted(counts)
    assert counts[-1] == 10


def changed(path: Path, change: Callable[[bytearray], None]) -> None:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def test_a_damaged_chunk_of_a_bag_costs_no_other_chunk(tmp_path: Path) -> None:
    path = make_bag(tmp_path / "a.bag", [Topic()], MESSAGES_1, BagLayout(compression="bz2"))
    second = path.read_bytes().index(b"BZh", path.read_bytes().index(b"BZh") + 3)

    def hurt(data: bytearray) -> None:
        data[second + 20] ^= 0x55

    changed(path, hurt)
    assert texts(path) == ALL[:4] + ALL[8:]
    found, damaged = warnings(path)
    assert damaged
    assert any("declares 10 messages of /chatter, but 6 are readable" in one for one in found)
