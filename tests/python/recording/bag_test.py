"""Tests of `hyphos bag`: info, check and repair, cut, merge, convert. The `mcap` library reads the
files that the C++ writer makes.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from helpers import Cli
from hyphos.msgs import Image, LaserScan, Odometry, PointCloud, TfMessage
from hyphos.recording import attached
from hyphos.recording.mcap_file import SUMMARY, McapRecording
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.opening import open_source
from hyphos.recording.source import LEFT_OUT
from hyphos.ros.typebook import TypeBook
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer
from recordings import everything
from ros_recordings import ros_messages, write_ros1
from rosbags.highlevel import AnyReader

SECOND = 1_000_000_000


def make(path: Path, *, count: int = 100, first: int = 0, compression: str = "zstd") -> Path:
    """Writes scans and images, 10 ms apart, in chunks of about ten messages."""
    kind = {name: hyphos.TypeId(f"hyphos.msgs.{name}", how) for name, how in KINDS.items()}
    recording = McapRecording(path, TypeBook(), compression=compression, chunk_bytes=3000)
    ids = {
        name: recording.add_channel(
            name.lower(), kind[name].name, kind[name].encoding, kind[name].hash, {"latched": False}
        )
        for name in KINDS
    }
    recording.attach("robot.yaml", "application/yaml", b"hyphos: 1\n", 7)
    for number in range(first, first + count):
        at = SECOND + number * 10_000_000
        data = LaserScan(range_max=number, ranges=[number] * 60).SerializeToString()
        recording.write(ids["LaserScan"], at, at - 5, number, data)
        head = Image(width=number).SerializeToString()
        recording.write(ids["Image"], at, at, number, attached.join(head, [bytes([number % 256])]))
    tally = {"received": count, "written": count, "missing": 0, "drop_queue": 0, "drop_disk": 0}
    recording.close({name.lower(): json.dumps(tally) for name in KINDS})
    return path


KINDS = {"LaserScan": "protobuf", "Image": "attached"}


def numbers(path: Path, channel: str = "laserscan") -> list[int]:
    return [
        round(LaserScan.FromString(bytes(item.payload)).range_max)  # type: ignore[call-overload]
        for item in everything(path)[channel]
    ]


# --- files of the C++ writer, read by other libraries ---------------------------------------------


@pytest.mark.parametrize("compression", ["zstd", "lz4", "none"])
def test_the_mcap_library_reads_every_file_with_checks_on(tmp_path: Path, compression: str) -> None:
    path = make(tmp_path / "run.mcap", compression=compression)
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        assert summary.statistics.message_count == 200
        assert summary.statistics.chunk_count == len(summary.chunk_indexes) > 5
        assert set(summary.statistics.channel_message_counts.values()) == {100}
        assert summary.statistics.message_start_time == SECOND
        assert summary.statistics.message_end_time == SECOND + 99 * 10_000_000
        found = list(reader.iter_messages())
        assert [m.log_time for _, _, m in found] == sorted(m.log_time for _, _, m in found)
        assert len(found) == 200
        # By the message indexes alone: a time span of one channel.
        some = reader.iter_messages(["image"], starting_at=SECOND + 100, ending_before=2 * SECOND)
        assert len(list(some)) == 99
        [attachment] = reader.iter_attachments()
        assert (attachment.name, attachment.data, attachment.log_time) == (
            "robot.yaml",
            b"hyphos: 1\n",
            7,
        )
        assert [m.name for m in reader.iter_metadata()] == [SUMMARY]
    with path.open("rb") as file:
        kinds = [type(record).__name__ for record in StreamReader(file, validate_crcs=True).records]
    assert kinds[0] == "Header"
    assert kinds[-1] == "Footer"


def test_every_record_equals_that_of_the_mcap_library(tmp_path: Path) -> None:
    """The same calls to both writers give the same records: byte for byte, where the format leaves
    no choice.
    """
    ours, theirs = tmp_path / "ours.mcap", tmp_path / "theirs.mcap"
    mine = hyphos._hyphos.McapWriter.create(str(ours), "p", compression="none")
    with theirs.open("wb") as file:
        other = Writer(file, compression=CompressionType.NONE)
        other.start("p", "hyphos")
        schema = mine.add_schema("n", "e", b"data")
        assert schema == other.register_schema("n", "e", b"data")
        channel = mine.add_channel("t", "m", schema, {"a": "b", "c": ""})
        assert channel == other.register_channel("t", "m", schema, {"a": "b", "c": ""})
        mine.attach("file", "text/plain", b"xyz", 4, 3)
        mine.describe("meta", {"k": "v"})
        for number in range(5):
            mine.write(channel, 100 - number, 50, number, b"payload" * number)
            other.add_message(channel, 100 - number, b"payload" * number, 50, number)
        mine.close()
        other.add_attachment(3, 4, "file", "text/plain", b"xyz")
        other.add_metadata("meta", {"k": "v"})
        other.finish()  # type: ignore[no-untyped-call]

    def records(path: Path) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        with path.open("rb") as file:
            for record in StreamReader(file, validate_crcs=True).records:
                found.setdefault(type(record).__name__, []).append(record)
        return found

    left, right = records(ours), records(theirs)
    for name in ("Header", "Attachment", "Metadata", "Message", "Statistics", "DataEnd"):
        assert left[name] == right[name], name
    assert left["Schema"][0] == right["Schema"][0]
    assert left["Channel"][0] == right["Channel"][0]
    assert [r.group_opcode for r in left["SummaryOffset"]] == [
        r.group_opcode for r in right["SummaryOffset"]
    ]
    assert left["ChunkIndex"][0].message_end_time == right["ChunkIndex"][0].message_end_time == 100
    assert set(left) == set(right)


# --- check and repair -----------------------------------------------------------------------------


def test_check_reports_an_undamaged_file_as_whole(hyphos_cli: Cli, tmp_path: Path) -> None:
    path = make(tmp_path / "run.mcap")
    code, out, err = hyphos_cli("bag", "check", str(path))
    assert code == 0, err
    assert "the file is whole" in out
    assert "200 messages" in out


def test_check_accepts_a_file_of_another_writer(tmp_path: Path) -> None:
    path = tmp_path / "other.mcap"
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=100)
        writer.start("", "other")
        channel = writer.register_channel("t", "json", 0)
        for number in range(50):
            writer.add_message(channel, number, b"{}", number)
        writer.finish()  # type: ignore[no-untyped-call]
    scan = Scan(path).read()
    assert scan.problems == []
    assert scan.counts == {channel: 50}


def test_damage_is_found_anywhere_and_the_rest_is_repaired(tmp_path: Path) -> None:
    path = make(tmp_path / "run.mcap")
    whole = path.read_bytes()
    chunks = Scan(path).read().chunks
    hurt = chunks[3]
    for what, data in {
        "checksum": _changed(whole, hurt.offset + hurt.length - 5),
        "length": _changed(whole, hurt.offset + 6, 0xFF),  # reaches beyond the file
        "kind": _changed(whole, hurt.offset, 0x7A),
    }.items():
        broken = tmp_path / f"{what}.mcap"
        broken.write_bytes(data)
        scan = Scan(broken).read()
        assert scan.problems, what
        assert any(problem.offset == hurt.offset for problem in scan.problems), what
        assert len(scan.chunks) == len(chunks) - 1, what
        assert sum(scan.counts.values()) == 200 - hurt.messages, what


def _changed(data: bytes, at: int, value: int | None = None) -> bytes:
    new = data[at] ^ 0x55 if value is None else value
    return data[:at] + bytes([new]) + data[at + 1 :]


def test_repair_writes_all_readable_messages(hyphos_cli: Cli, tmp_path: Path) -> None:
    path = make(tmp_path / "run.mcap")
    data = path.read_bytes()
    chunks = Scan(path).read().chunks
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: chunks[7].offset + 100])
    code, out, _ = hyphos_cli("bag", "check", str(cut))
    assert code == LEFT_OUT
    assert "cut off" in out
    assert "7 complete chunks" in out
    mended = tmp_path / "mended.mcap"
    code, out, err = hyphos_cli("bag", "check", str(cut), "--repair", str(mended))
    assert code == LEFT_OUT, err
    scan = Scan(mended).read()
    assert scan.problems == []
    readable = sum(chunk.messages for chunk in chunks[:7])
    assert sum(scan.counts.values()) == readable
    assert [a.name for a in scan.attachments] == ["robot.yaml"]
    got = numbers(mended)
    assert got == list(range(len(got)))


def test_noise_never_breaks_the_scan(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    whole = make(tmp_path / "run.mcap", count=20).read_bytes()
    for _ in range(200):
        data = bytearray(whole)
        for at in rng.integers(8, len(data), 5):
            data[at] = rng.integers(256)
        path = tmp_path / "noise.mcap"
        path.write_bytes(data[: rng.integers(9, len(data))])
        Scan(path).read()  # the scan ends in any case


def test_a_chunk_that_claims_to_be_huge_is_refused(tmp_path: Path) -> None:
    whole = make(tmp_path / "run.mcap", count=3).read_bytes()
    chunk = Scan(tmp_path / "run.mcap").read().chunks[0]
    at = chunk.offset + 9 + 16
    path = tmp_path / "huge.mcap"
    path.write_bytes(whole[:at] + struct.pack("<Q", 1 << 60) + whole[at + 8 :])
    assert any("implausibly large" in str(problem) for problem in Scan(path).read().problems)


# --- info, cut, merge -----------------------------------------------------------------------------


def test_info_lists_the_content(hyphos_cli: Cli, tmp_path: Path) -> None:
    path = make(tmp_path / "run.mcap")
    code, out, _ = hyphos_cli("bag", "info", str(path))
    assert code == 0
    for word in ("laserscan", "hyphos.msgs.Image", "robot.yaml", "200 messages", "zstd"):
        assert word in out
    code, out, _ = hyphos_cli("bag", "info", "--json", str(path))
    [info] = json.loads(out)
    assert info["messages"] == 200
    assert {channel["channel"] for channel in info["channels"]} == {"laserscan", "image"}


def test_cut_takes_a_span_and_channels(hyphos_cli: Cli, tmp_path: Path) -> None:
    path, part = make(tmp_path / "run.mcap"), tmp_path / "part.mcap"
    words = ("bag", "cut", str(path), "-o", str(part), "-s", "0.1", "-e", "0.2", "-c", "laser*")
    code, _, err = hyphos_cli(*words)
    assert code == 0, err
    assert numbers(part) == list(range(10, 20))
    assert set(everything(part)) == {"laserscan"}
    assert Scan(part).read().problems == []
    code, _, err = hyphos_cli(*words)
    assert code == 1
    assert "exists" in err
    assert hyphos_cli(*words, "--overwrite")[0] == 0
    code, _, err = hyphos_cli("bag", "cut", str(path), "-o", str(tmp_path / "x.mcap"), "-c", "no")
    assert code == 1
    assert "this part has no messages" in err
    assert not (tmp_path / "x.mcap").exists()


def test_merge_sorts_by_time(hyphos_cli: Cli, tmp_path: Path) -> None:
    late = make(tmp_path / "b.mcap", first=50, count=50)
    early = make(tmp_path / "a.mcap", count=60)
    merged = tmp_path / "m.mcap"
    code, _, err = hyphos_cli("bag", "merge", str(late), str(early), "-o", str(merged))
    assert code == 0, err
    assert numbers(merged) == sorted([*range(60), *range(50, 100)])
    scan = Scan(merged).read()
    assert scan.problems == []
    assert len(scan.channels) == 2
    [summary] = [values for name, values in scan.metadata if name == SUMMARY]
    assert json.loads(summary["image"])["written"] == 110
    code, _, err = hyphos_cli(
        "bag", "merge", "--prefix", str(late), str(early), "-o", str(tmp_path / "p.mcap")
    )
    assert code == 0, err
    assert set(everything(tmp_path / "p.mcap")) == {
        "a/laserscan",
        "a/image",
        "b/laserscan",
        "b/image",
    }


def test_one_channel_of_two_types_is_not_merged(hyphos_cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "other.mcap"
    recording = McapRecording(path, TypeBook())
    kind = hyphos.TypeId("hyphos.msgs.Odometry", "protobuf")
    channel = recording.add_channel("laserscan", kind.name, "protobuf", kind.hash, {})
    recording.write(channel, 1, 1, 1, b"")
    recording.close()
    out = tmp_path / "m.mcap"
    code, _, err = hyphos_cli(
        "bag", "merge", str(make(tmp_path / "a.mcap")), str(path), "-o", str(out)
    )
    assert code == 1
    assert "hyphos.msgs.Odometry" in err
    assert "--prefix" in err
    assert not out.exists()


# --- convert --------------------------------------------------------------------------------------


def test_ros_1_to_hyphos_and_back_keeps_every_field(hyphos_cli: Cli, tmp_path: Path) -> None:
    bag, middle, back = write_ros1(tmp_path / "a.bag"), tmp_path / "a.mcap", tmp_path / "b.bag"
    code, out, err = hyphos_cli("bag", "convert", str(bag), "-o", str(middle))
    assert code == LEFT_OUT, err
    assert "left out: /strange shape_msgs/msg/Plane, 1 messages" in out
    found = everything(middle)
    assert set(found) == {"front/scan", "camera", "cloud", "tf", "odom"}
    assert found["front/scan"][0].time_ns == SECOND
    code, out, err = hyphos_cli("bag", "convert", str(middle), "-o", str(back))
    assert code == 0, err
    assert _ros_content(back) == {
        topic: content for topic, content in _ros_content(bag).items() if topic != "/strange"
    }


def test_hyphos_recordings_convert_to_ros_2(hyphos_cli: Cli, tmp_path: Path) -> None:
    middle = tmp_path / "a.mcap"
    bag = write_ros1(tmp_path / "a.bag")
    assert hyphos_cli("bag", "convert", str(bag), "-o", str(middle))[0] == LEFT_OUT
    for kind in ("ros2", "ros2-db3"):
        folder = tmp_path / kind
        code, out, err = hyphos_cli("bag", "convert", str(middle), "-o", str(folder), "--to", kind)
        assert code == 0, err
        assert "Header.seq" in out  # ROS 2 has no such field, so the conversion reports it
        again = everything(folder)
        scan = LaserScan.FromString(bytes(again["front/scan"][0].payload))  # type: ignore[call-overload]
        assert list(scan.ranges) == [1, 2, 3]
        assert scan.header.stamp_ns == 3 * SECOND + 7
        cloud = again["cloud"][0]
        assert PointCloud.FromString(bytes(cloud.payload)).width == 2  # type: ignore[call-overload]
        assert np.frombuffer(cloud.buffers[0], np.float32).tolist() == [1.5, 2.5]  # type: ignore[call-overload]
        tf = TfMessage.FromString(bytes(again["tf"][0].payload))  # type: ignore[call-overload]
        assert tf.transforms[1].transform.translation.z == 3
        odom = Odometry.FromString(bytes(again["odom"][0].payload))  # type: ignore[call-overload]
        assert list(odom.pose.covariance) == list(range(36))


def test_ros_1_recordings_convert_to_ros_2_directly(hyphos_cli: Cli, tmp_path: Path) -> None:
    bag, folder = write_ros1(tmp_path / "a.bag"), tmp_path / "two"
    code, out, err = hyphos_cli("bag", "convert", str(bag), "-o", str(folder))
    assert code == 0, err
    assert f"{len(ros_messages(_noetic(), ros1=True))} messages" in out
    with AnyReader([folder]) as reader:
        assert "/strange" in reader.topics
    code, _, err = hyphos_cli("bag", "convert", str(bag), "-o", str(folder))
    assert code == 1
    assert "the file exists" in err


def test_conversion_names_features_that_ros_lacks(hyphos_cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    recording = McapRecording(path, TypeBook())
    for channel, name, encoding in (
        ("raw", "bytes", "bytes"),
        ("mine", "mine.Type", "protobuf"),
        ("scan", "hyphos.msgs.LaserScan", "protobuf"),
    ):
        number = recording.add_channel(channel, name, encoding, 1, {})
        recording.write(number, 1, 1, 1, LaserScan().SerializeToString())
    recording.close()
    out_path = tmp_path / "out.bag"
    code, out, err = hyphos_cli("bag", "convert", str(path), "-o", str(out_path))
    assert code == LEFT_OUT, err
    assert "left out: raw, 1 messages: ROS has no counterpart of the encoding 'bytes'" in out
    assert "left out: mine, 1 messages: ROS has no counterpart of mine.Type" in out
    source = open_source(out_path)
    assert [track.channel for track in source.tracks] == ["scan"]
    source.close()


def _noetic() -> Any:
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore  # noqa: PLC0415

    store = get_typestore(Stores.ROS1_NOETIC)
    definition = "geometry_msgs/TransformStamped[] transforms\n"
    store.register(get_types_from_msg(definition, "tf2_msgs/msg/TFMessage"))
    return store


def _ros_content(path: Path) -> dict[str, list[tuple[int, bytes]]]:
    found: dict[str, list[tuple[int, bytes]]] = {}
    with AnyReader([path]) as reader:
        for connection, time_ns, data in reader.messages():
            found.setdefault(connection.topic, []).append((time_ns, bytes(data)))
    return found
