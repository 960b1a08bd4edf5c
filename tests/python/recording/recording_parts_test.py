"""One bad part of a recording costs no other part: an odd definition, or invalid metadata."""

from __future__ import annotations

import re
import shutil
import sqlite3
import struct
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pytest
from bags_made import Row, Topic, make_bag, make_db3, string1, string2
from chatter import CHATTER, COUNT, SEPARATOR, START, STRING, WHOLE, chatter, raw, ros2_file, texts
from helpers import Cli
from hyphos.msgs import String
from hyphos.recording.bag import Selection, WriteOptions, check, cut, gather, merge
from hyphos.recording.bag_convert import convert
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.source import LEFT_OUT
from mcap_made import (
    Channel,
    Layout,
    Message,
    Record,
    Schema,
    make,
)
from recordings import everything
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.enums import CompressionFormat, CompressionMode
from rosbags.typesys import Stores, get_typestore

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
