"""One bad part of a recording costs no other part: an odd definition, a damaged message, or invalid
metadata. The commands read everything that the specification allows.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from bags_made import STRING_MD5, BagLayout, Row, Topic, make_bag, make_db3, string1, string2
from helpers import Cli, Inbox
from hyphos import Node
from hyphos.msgs import String
from hyphos.recording.bag import Selection, WriteOptions, check, cut, gather, merge
from hyphos.recording.bag_convert import convert
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.opening import open_source
from hyphos.recording.ros_bag import RosSource
from hyphos.recording.source import LEFT_OUT
from mcap_made import (
    CHUNK,
    MAGIC,
    Attachment,
    Channel,
    Layout,
    Message,
    Metadata,
    Record,
    Schema,
    make,
    record,
    text,
)
from recordings import SECOND, everything
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.enums import CompressionFormat, CompressionMode
from rosbags.typesys import Stores, get_typestore

START = 1_700_000_000 * SECOND
STRING = Schema(1, "std_msgs/msg/String", "ros2msg", b"string data\n")
CHATTER = Channel(1, 1, "/chatter", "cdr", ())
COUNT = 5


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


WHOLE = [f"n{number}" for number in range(COUNT)]

# --- definitions ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Odd:
    """A definition. `reason` is part of the problem of its channel, or empty if the definition is
    readable.
    """

    text: str | bytes
    reason: str
    name: str = "my_msgs/msg/Odd"
    encoding: str = "ros2msg"
    schema: int = 9


SEPARATOR = "=" * 80 + "\n"
IDL = "module std_msgs { module msg { struct String { string data; }; }; };\n"
ODD = {
    "service": Odd("bool data\n---\nbool success\n", "service", "std_srvs/srv/SetBool_Event"),
    "service of ROS 2": Odd("---\n", "service", "std_srvs/srv/Empty"),
    "wstring": Odd("wstring w\n", "wstring"),
    "bounded wstring": Odd("wstring<=5 w\n", "wstring"),
    "array of wstring": Odd("int8 a\nwstring[3] w\n", "wstring"),
    "unknown encoding": Odd("string data\n", "'jsonschema'", encoding="jsonschema"),
    "missing part": Odd("my_msgs/Inner inner\n", "lacks my_msgs/msg/Inner"),
    "missing part of a part": Odd(
        f"A a\n{SEPARATOR}MSG: my_msgs/A\nmy_msgs/B b\n", "lacks my_msgs/msg/B"
    ),
    "no definition": Odd("", "no definition of my_msgs/msg/Odd", encoding=""),
    "empty definition": Odd("", "hyphos.msgs has no"),
    "noise": Odd("%$§ ((", "not understood"),
    "no UTF-8": Odd(b"string \xff\xfe\n", "not understood"),
    "itself": Odd("my_msgs/Odd[] odd\n", "contains itself"),
    "each other": Odd(f"A a\n{SEPARATOR}MSG: my_msgs/A\nmy_msgs/Odd o\n", "contains itself"),
    "huge array": Odd("string[1000000000] a\n", "1,000,000,000 elements"),
    "names that are one in Python": Odd("int8 class\nint8 class_\n", "not understood"),
    "noise of IDL": Odd("module {", "not understood", encoding="ros2idl"),
    "IDL of another type": Odd(IDL, "not understood", encoding="ros2idl"),
    "no name": Odd("string data\n", "no schema", name=""),
    "schema 0": Odd("string data\n", "no schema", schema=0),
    "IDL": Odd(IDL, "", "std_msgs/msg/String", "ros2idl"),
    "IDL with headings": Odd(
        f"{SEPARATOR}IDL: std_msgs/msg/String\n{IDL}", "", "std_msgs/msg/String", "ros2idl"
    ),
    "line ends of Windows": Odd("string data\r\n", "", "std_msgs/msg/String"),
    "byte order mark": Odd("\ufeffstring data\n", "", "std_msgs/msg/String"),
    "no line end": Odd("string data", "", "std_msgs/msg/String"),
    "an odd part that nothing needs": Odd(
        f"string data\n{SEPARATOR}MSG: my_msgs/A\nwhat ((\n", "", "std_msgs/msg/String"
    ),
    "known type without definition": Odd("", "", "std_msgs/msg/String", encoding=""),
}
OTHER_DATA = string2("other")


def with_definition(path: Path, odd: Odd) -> Path:
    data = odd.text.encode() if isinstance(odd.text, str) else odd.text
    records: list[Record] = [STRING, CHATTER, *chatter()]
    if odd.schema:
        records.append(Schema(odd.schema, odd.name, odd.encoding, data))
    records.append(Channel(9, odd.schema, "/other", "cdr", ()))
    records.append(Message(START, 0, 9, START, OTHER_DATA))
    path.write_bytes(make(records, Layout(profile="ros2", chunks=True, statistics=True)))
    return path


def in_database(path: Path, odd: Odd) -> Path:
    assert isinstance(odd.text, str)
    # A type has one definition in a database.
    name = odd.name if odd.reason else "/other"
    definition = odd.text if odd.encoding else None
    row = Row(9, "/other", name, definition, odd.encoding)
    messages = [(1, START + number, string2(f"n{number}")) for number in range(COUNT)]
    return make_db3(path, [Row(), row], [*messages, (9, START, OTHER_DATA)])


@pytest.mark.parametrize("kind", ODD)
def test_a_bad_definition_costs_at_most_its_own_channel(kind: str, tmp_path: Path) -> None:
    odd = ODD[kind]
    path = with_definition(tmp_path / "run.mcap", odd)
    assert texts(path) == WHOLE
    assert texts(path, "other") == ([] if odd.reason else ["other"])
    [other] = [one for one in gather(path).channels if one["channel"] == "other"]
    assert other["messages"] == 1
    assert odd.reason in other["problem"]
    assert bool(odd.reason) == bool(other["problem"])


# A database holds texts, and has no schemas.
IN_DATABASES = [kind for kind, odd in ODD.items() if odd.reason and odd.schema]
IN_DATABASES.remove("no UTF-8")


@pytest.mark.parametrize("kind", IN_DATABASES)
def test_a_bad_definition_in_a_database_costs_one_channel(kind: str, tmp_path: Path) -> None:
    path = in_database(tmp_path / "a.db3", ODD[kind])
    assert texts(path) == WHOLE
    [other] = [one for one in gather(path).channels if one["channel"] == "other"]
    assert (other["messages"], ODD[kind].reason in other["problem"]) == (1, True)


@pytest.mark.parametrize("kind", ODD)
def test_a_type_with_a_bad_definition_is_copied(kind: str, tmp_path: Path) -> None:
    path = with_definition(tmp_path / "run.mcap", ODD[kind])
    kept = raw(path)
    part, both = tmp_path / "part.mcap", tmp_path / "both.mcap"
    assert cut(path, Selection(), WriteOptions(part)) == 0
    assert raw(part) == kept
    assert merge([path, part], WriteOptions(both), prefix=True) == 0
    assert raw(both) == {
        f"/{name}{topic}": data for name, (topic, data) in product(("run", "part"), kept.items())
    }
    database = tmp_path / "two"
    code = convert(path, "ros2-db3", WriteOptions(database))
    named = bool(ODD[kind].name and ODD[kind].schema)  # a database has a name for each type
    assert code == (0 if named else LEFT_OUT)
    assert raw(database) == {
        topic: data for topic, data in kept.items() if named or topic != "/other"
    }


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


@pytest.mark.parametrize("target", ["mcap", "ros1", "ros2", "ros2-db3"])
def test_conversions_name_the_parts_they_leave_out(
    hyphos_cli: Cli, tmp_path: Path, target: str
) -> None:
    path = with_definition(tmp_path / "run.mcap", ODD["missing part"])
    out = tmp_path / {"mcap": "o.mcap", "ros1": "o.bag"}.get(target, "o")
    code, shown, err = hyphos_cli("bag", "convert", str(path), "-o", str(out), "--to", target)
    same = target.startswith("ros2")
    assert code == (0 if same else LEFT_OUT), err
    assert ("left out: /other my_msgs/msg/Odd, 1 messages: its definition lacks" in shown) != same
    assert texts(out) == WHOLE


BAG_ODD = {
    "service": ("bool a\n---\nbool b\n", "service"),
    "missing part": ("Missing m\n", "lacks x/msg/Missing"),
    "noise": ("((", "not understood"),
    "no definition": ("", "hyphos.msgs has no"),
    "line ends": ("string data\r\n", ""),
}


@pytest.mark.parametrize("kind", BAG_ODD)
def test_a_bad_definition_in_a_bag_costs_one_channel(kind: str, tmp_path: Path) -> None:
    definition, reason = BAG_ODD[kind]
    name = "x/Odd" if reason else "std_msgs/String"
    topics = [Topic(), Topic(1, "/other", name, definition, "0" * 32)]
    messages = [(0, START + number, string1(f"n{number}")) for number in range(COUNT)]
    path = make_bag(tmp_path / "a.bag", topics, [*messages, (1, START, string1("other"))])
    assert texts(path) == WHOLE
    assert texts(path, "other") == ([] if reason else ["other"])
    [other] = [one for one in gather(path).channels if one["channel"] == "other"]
    assert (other["messages"], reason in other["problem"]) == (1, True)
    again = tmp_path / "b.bag"
    assert convert(path, None, WriteOptions(again)) == 0
    assert raw(again) == raw(path)


def test_missing_ros_parts_are_added_if_the_checksum_is_right(tmp_path: Path) -> None:
    twist = "Vector3 linear\nVector3 angular\n"
    right = "9f195f881246fdfa2798d1d3eebca84a"
    for md5, problem in ((right, ""), ("0" * 32, "lacks geometry_msgs/msg/Vector3")):
        topic = Topic(0, "/cmd_vel", "geometry_msgs/Twist", twist, md5)
        path = make_bag(tmp_path / "a.bag", [topic], [(0, START, bytes(48))])
        [channel] = gather(path).channels
        assert problem in channel["problem"]
        assert bool(problem) == bool(channel["problem"])


def test_two_types_of_one_topic_cost_the_rarer_one(tmp_path: Path) -> None:
    number = Schema(2, "std_msgs/msg/Int32", "ros2msg", b"int32 data\n")
    records: list[Record] = [STRING, number, CHATTER, Channel(2, 2, "/chatter", "cdr", ())]
    data = b"\0\1\0\0" + struct.pack("<i", 7)
    records += [*chatter(), Message(START, 0, 2, START, data)]
    path = tmp_path / "run.mcap"
    path.write_bytes(make(records, Layout(profile="ros2")))
    assert texts(path) == WHOLE
    problems = [one["problem"] for one in gather(path).channels]
    assert sorted(problems) == ["", "the channel 'chatter' already has the type hyphos.msgs.String"]


def test_channels_of_other_encodings_are_read_beside_ros(tmp_path: Path) -> None:
    """One file with channels of ROS 2, ROS 1, protobuf and JSON."""
    records: list[Record] = [STRING, CHATTER, *chatter()]
    records += [Schema(2, "std_msgs/String", "ros1msg", b"string data\n")]
    records += [Channel(2, 2, "/old", "ros1", ()), Message(START, 0, 2, START, string1("old"))]
    records += [Schema(3, "hyphos.msgs.String", "protobuf", b"")]
    data = String(data="new").SerializeToString()
    records += [Channel(3, 3, "/new", "protobuf", ()), Message(START, 0, 3, START, data)]
    records += [Channel(4, 0, "/json", "json", ()), Message(START, 0, 4, START, b"{}")]
    path = tmp_path / "run.mcap"
    nameless = [replace(one, encoding="") if one == CHATTER else one for one in records]
    for profile, chosen in product(("", "ros1", "ros2"), (records, nameless)):
        path.write_bytes(make(chosen, Layout(profile=profile)))
        assert (texts(path), texts(path, "old"), texts(path, "new")) == (WHOLE, ["old"], ["new"])
        out = tmp_path / "o.mcap"
        assert convert(path, "mcap", WriteOptions(out, overwrite=True)) == LEFT_OUT
        assert (texts(out), texts(out, "old"), texts(out, "new")) == (WHOLE, ["old"], ["new"])


@pytest.mark.parametrize("mode", [CompressionMode.FILE, CompressionMode.MESSAGE])
@pytest.mark.parametrize("plugin", list(StoragePlugin))
def test_files_compressed_by_rosbag2_are_read(
    mode: CompressionMode, plugin: StoragePlugin, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    writer = Writer(folder, version=9, storage_plugin=plugin)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        store = get_typestore(Stores.ROS2_HUMBLE)
        connection = writer.add_connection("/chatter", "std_msgs/msg/String", typestore=store)
        for number, text_ in enumerate(WHOLE):
            writer.write(connection, START + number, string2(text_))
    [file] = [path for path in folder.iterdir() if path.suffix != ".yaml"]
    assert texts(folder) == texts(file) == WHOLE


def test_the_log_beside_a_database_is_read(tmp_path: Path) -> None:
    """A killed recorder leaves its last messages in a separate file."""
    path, killed = tmp_path / "a.db3", tmp_path / "killed"
    make_db3(path, [Row()], [(1, START, string2("first"))])
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("INSERT INTO messages VALUES(9, 1, ?, ?)", (START + 1, string2("last")))
    database.commit()
    killed.mkdir()
    for one in tmp_path.glob("a.db3*"):
        shutil.copy(one, killed)
    database.close()
    assert (killed / "a.db3-wal").stat().st_size
    assert texts(killed / "a.db3") == ["first", "last"]


def test_one_unreadable_file_hides_no_other(hyphos_cli: Cli, tmp_path: Path) -> None:
    good = ros2_file(tmp_path / "good.mcap", [string2("a")])
    noise, gone = tmp_path / "noise.mcap", tmp_path / "gone.mcap"
    noise.write_bytes(b"noise")
    code, out, err = hyphos_cli("bag", "info", str(gone), str(noise), str(good))
    assert code == 1
    assert "good.mcap: ROS 2 recording" in out
    assert err.count("error: ") == 2


def test_two_types_of_one_topic_are_cut_and_merged(tmp_path: Path) -> None:
    number = Schema(2, "std_msgs/msg/Int32", "ros2msg", b"int32 data\n")
    records: list[Record] = [STRING, number, CHATTER, Channel(2, 2, "/chatter", "cdr", ())]
    records += [*chatter(), Message(START, 0, 2, START, b"\0\1\0\0\7\0\0\0")]
    path, part, both = (tmp_path / f"{name}.mcap" for name in ("run", "part", "both"))
    path.write_bytes(make(records, Layout(profile="ros2")))
    assert cut(path, Selection(), WriteOptions(part)) == 0
    assert merge([path, part], WriteOptions(both), prefix=False) == 0
    assert Scan(part).read().counts.total() == COUNT + 1
    assert Scan(both).read().counts.total() == 2 * (COUNT + 1)


@pytest.mark.parametrize("compression", ["", "zstd", "lz4"])
@pytest.mark.parametrize("field", ["size of the records", "size as stored", "start", "end"])
def test_wrong_sizes_in_the_head_of_a_chunk_are_ignored(
    field: str, compression: str, tmp_path: Path
) -> None:
    messages = [Message(START + n, n, 1, START, string2("x" * 50)) for n in range(COUNT)]
    layout = Layout(chunks=True, compression=compression, checksums=True, profile="ros2")
    data = bytearray(make([STRING, CHATTER, *messages], layout))
    at = 9 + data.index(b"\6", 8 + 9 + 8 + 4)
    place = {"start": at, "end": at + 8, "size of the records": at + 16}.get(field)
    if place is None:
        place = at + 28 + 4 + len(compression)
    for value in (1, 7, 1 << 20):
        struct.pack_into("<Q", data, place, value)
        path = tmp_path / "run.mcap"
        path.write_bytes(data)
        assert len(texts(path)) == COUNT, value
        assert check(path, None) != 0


@pytest.mark.parametrize("output", ["gone/o.mcap", "gone/o.bag", "file/o.mcap", "file/o.bag"])
def test_an_unwritable_output_is_reported_in_one_line(
    hyphos_cli: Cli, tmp_path: Path, output: str
) -> None:
    (tmp_path / "file").write_text("")
    path = ros2_file(tmp_path / "run.mcap", [string2("a")])
    code, _, err = hyphos_cli("bag", "convert", str(path), "-o", output)
    assert code == (2 if output.startswith("file") else 1)
    assert re.search(r"^error: ", err, re.IGNORECASE | re.MULTILINE)
    assert "Traceback" not in err


# --- messages -------------------------------------------------------------------------------------

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


def ros2_file(path: Path, datas: Sequence[bytes]) -> Path:
    messages = [Message(START + n, n, 1, START + n, data) for n, data in enumerate(datas)]
    path.write_bytes(make([STRING, CHATTER, *messages], Layout(profile="ros2")))
    return path


def ros1_file(path: Path, datas: Sequence[bytes]) -> Path:
    return make_bag(path, [Topic()], [(0, START + n, data) for n, data in enumerate(datas)])


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


# --- the limits of MCAP ---------------------------------------------------------------------------


def insert(data: bytes, more: bytes) -> bytes:
    """Inserts after the header."""
    at = len(MAGIC) + 9 + struct.unpack_from("<Q", data, len(MAGIC) + 1)[0]
    return data[:at] + more + data[at:]


EMPTY_CHUNK = struct.pack("<QQQI", 0, 0, 0, 0) + text("") + struct.pack("<Q", 0)
ADDITIONS: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda data: data,
    "a private record": lambda data: insert(data, record(0x80, b"mine")),
    "a future record": lambda data: insert(data, record(0x10, b"later") + record(0x7F, b"")),
    "an empty chunk": lambda data: insert(data, record(CHUNK, EMPTY_CHUNK)),
    "the same schema again": lambda data: insert(data, record(*STRING.content())),
    "an attachment": lambda data: insert(data, record(*Attachment().content())),
    "metadata": lambda data: insert(data, record(*Metadata().content())),
    "a schema of number 0": lambda data: insert(data, record(*Schema(0).content())),
}


@pytest.mark.parametrize("compression", ["", "zstd", "lz4"])
@pytest.mark.parametrize("chunks", [False, True])
@pytest.mark.parametrize("name", ADDITIONS)
def test_everything_that_the_format_allows_is_read(
    name: str, chunks: bool, compression: str, tmp_path: Path
) -> None:
    order = np.random.default_rng(1).permutation(COUNT * 4)
    messages = [chatter(COUNT * 4)[number] for number in order]
    path = tmp_path / "run.mcap"
    for pad, checksums, per_chunk in product([False, True], [False, True], [1, 7]):
        layout = Layout(
            chunks=chunks,
            compression=compression,
            pad=pad,
            pad_inside=pad,
            checksums=checksums and name == "nothing",  # they cover the inserted bytes
            per_chunk=per_chunk,
            profile="ros2",
        )
        # Schemas and channels are repeated before some messages.
        middle: list[Record] = [STRING, CHATTER]
        records: list[Record] = [*middle, *messages[:9], *middle, *messages[9:]]
        path.write_bytes(ADDITIONS[name](make(records, layout)))
        assert texts(path) == [f"n{number}" for number in range(COUNT * 4)]
        source = open_source(path)
        assert not source.damaged
        source.close()
        assert check(path, None) == (1 if "number 0" in name else 0)


def test_a_channel_record_may_come_late_or_never(hyphos_cli: Cli, tmp_path: Path) -> None:
    lost = Message(START, 0, 5, START, string2("x"))
    path = tmp_path / "run.mcap"
    path.write_bytes(make([*chatter(), CHATTER, STRING, lost], Layout(profile="ros2")))
    assert texts(path) == WHOLE
    code, out, _ = hyphos_cli("bag", "info", str(path))
    assert code == LEFT_OUT
    assert "1 messages belong to channels that are not in the file" in out
    out_path = tmp_path / "o.mcap"
    code, out, _ = hyphos_cli("bag", "check", str(path), "--repair", str(out_path))
    assert (code, texts(out_path)) == (LEFT_OUT, WHOLE)


def test_damage_between_unchunked_messages_costs_one(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    whole = make([STRING, CHATTER, *chatter(20)], Layout(profile="ros2"))
    at = whole.index(string2("n7"))
    path.write_bytes(whole[: at - 25] + b"\xee" * 20 + whole[at - 5 :])
    assert texts(path) == [f"n{n}" for n in range(20) if n not in (7,)]
    assert Scan(path).read().damaged


def test_a_bag_with_lz4_bz2_and_odd_records_is_converted(tmp_path: Path) -> None:
    messages = [(0, START + number, string1(f"n{number}")) for number in range(COUNT)]
    for compression, loose in product(("none", "bz2", "lz4"), (False, True)):
        layout = BagLayout(compression=compression, loose=loose, extra_ops=True)
        path = make_bag(tmp_path / "a.bag", [Topic(md5=STRING_MD5)], messages, layout)
        out = tmp_path / "o.mcap"
        assert convert(path, None, WriteOptions(out, overwrite=True)) == 0
        assert texts(out) == WHOLE


# --- the profile of Hyphos ------------------------------------------------------------------------

OWN = {
    "hyphos.encoding": "protobuf",
    "hyphos.type": "hyphos.msgs.String",
    "hyphos.type_hash": "00000000000000ff",
    "hyphos.policy": '{"depth": 3}',
}
WRONG = [None, "", "zz", "{", "[]", "-1", "1" * 40, "null", '{"depth": "x", "latched": 1}', "\0"]


@pytest.mark.parametrize("key", OWN)
@pytest.mark.parametrize("value", WRONG)
def test_metadata_of_a_channel_may_have_any_value(
    hyphos_cli: Cli, tmp_path: Path, key: str, value: str | None
) -> None:
    meta = {name: known for name, known in OWN.items() if name != key}
    if value is not None:
        meta[key] = value
    schema = Schema(1, "hyphos.msgs.String", "protobuf", b"")
    channels = [
        Channel(1, 1, "x", "protobuf", tuple(meta.items())),
        Channel(2, 1, "good", "protobuf", tuple(OWN.items())),
    ]
    body = String(data="hi").SerializeToString()
    messages = [Message(START, 0, number, START, body) for number in (1, 2)]
    path = tmp_path / "run.mcap"
    path.write_bytes(make([schema, *channels, *messages], Layout(profile="hyphos")))
    assert texts(path, "good") == ["hi"]
    code, out, err = hyphos_cli("bag", "info", str(path))
    assert (code, err) == (0, "")
    assert "good" in out
    assert hyphos_cli("replay", str(path), "--list")[0] == 0
    assert hyphos_cli("bag", "convert", str(path), "-o", "o.bag")[0] in (0, LEFT_OUT)
    assert texts(tmp_path / "o.bag", "good") == ["hi"]


def test_a_damaged_stored_message_is_counted(hyphos_cli: Cli, tmp_path: Path) -> None:
    meta = tuple({**OWN, "hyphos.encoding": "attached", "hyphos.type": "hyphos.msgs.Image"}.items())
    schema = Schema(1, "hyphos.msgs.Image", "protobuf", b"")
    datas = [b"", b"\x0a\xff", b"\xff", b""]
    messages = [Message(START + n, n, 1, START, data) for n, data in enumerate(datas)]
    path = tmp_path / "run.mcap"
    channel = replace(CHATTER, topic="camera", encoding="protobuf", metadata=meta)
    path.write_bytes(make([schema, channel, *messages], Layout(profile="hyphos")))
    assert len(everything(path)["camera"]) == 2
    code, out, _ = hyphos_cli("bag", "convert", str(path), "-o", "o.bag")
    assert code == LEFT_OUT
    assert "left out: camera, 2 messages: the message is cut off" in out
