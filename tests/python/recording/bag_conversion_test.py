"""Conversions keep names, times, types, order and counts, or list their losses.

The recordings are generated. They contain odd names, names that become equal by the mapping, times
and stamps at the limits, types without a counterpart, latched topics and damaged messages. Each
format is converted to each other format.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from helpers import Cli
from hyphos import msgs
from hyphos.recording import attached
from hyphos.recording.bag import WriteOptions
from hyphos.recording.bag_convert import convert
from hyphos.recording.mcap_file import McapRecording
from hyphos.recording.names import ros2_topics, ros_topics, unique_names
from hyphos.recording.opening import open_source
from hyphos.recording.ros_qos import latched_qos
from hyphos.recording.source import channel_of
from hyphos.ros.typebook import TypeBook
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

SECOND = 1_000_000_000
ROS1, ROS2 = get_typestore(Stores.ROS1_NOETIC), get_typestore(Stores.LATEST)
FORMATS = ("mcap", "ros1", "ros2", "ros2-db3")
TOPICS = ["/scan", "/a-b", "/a_b", "/a.b", "/front/scan", "/front/2d", "/front/_2d", "/deep/er/x",
          "/A", "/x__y", "/end_", "/sp ace", "/ümlaut"]  # fmt: skip
KINDS = ["LaserScan", "String", "Image", "Plane"]
EDGES = [0, 1, SECOND, 2**31 * SECOND, (2**32 - 1) * SECOND + 999_999_999]


@dataclass
class Made:
    """The content of a generated recording."""

    path: Path
    messages: list[tuple[str, int, Any]] = field(default_factory=list)  # topic, time, content
    kinds: dict[str, str] = field(default_factory=dict)
    latched: set[str] = field(default_factory=set)


def ros_message(store: Any, kind: str, number: int, seconds: int, *, ros1: bool) -> tuple[str, Any]:
    t = store.types
    name = {"Plane": "shape_msgs/msg/Plane", "String": "std_msgs/msg/String"}.get(
        kind, f"sensor_msgs/msg/{kind}"
    )
    if kind == "Plane":
        return name, t[name](coef=np.array([number, 0, 0, 0], np.float64))
    if kind == "String":
        return name, t[name](data=f"text {number}")
    seq = {"seq": 0} if ros1 else {}
    stamp = t["builtin_interfaces/msg/Time"](sec=seconds, nanosec=number)
    head = t["std_msgs/msg/Header"](stamp=stamp, frame_id="f", **seq)
    if kind == "Image":
        data = np.arange(number % 5, dtype=np.uint8)
        made = t[name](header=head, height=1, width=len(data), encoding="mono8", is_bigendian=0,
                       step=len(data), data=data)  # fmt: skip
        return name, made
    numbers = dict.fromkeys(("angle_min", "angle_max", "angle_increment", "time_increment",
                             "scan_time", "range_min", "range_max"), 0.5)  # fmt: skip
    values = np.array([number, np.inf, np.nan], np.float32)
    return name, t[name](header=head, ranges=values, intensities=np.zeros(0, np.float32), **numbers)


def generate(rng: random.Random, kind: str, folder: Path) -> Made:
    """Generates a recording in one of the formats."""
    topics = rng.sample(TOPICS, 6)
    made = Made(folder / {"mcap": "in.mcap", "ros1": "in.bag"}.get(kind, "in"))
    made.kinds = {topic: rng.choice(KINDS) for topic in topics}
    made.latched = {topic for topic in topics if rng.random() < 0.3}
    times = sorted(rng.choice([*EDGES[:3], rng.randrange(2**60)]) for _ in range(40))
    order = [rng.choice(topics) for _ in times]
    stamps = [rng.choice([0, 5, 2**31 - 1, -1 if kind != "mcap" else 7]) for _ in times]
    if kind == "mcap":
        _write_hyphos(made, times, order, stamps)
    else:
        _write_ros(made, kind, times, order, stamps)
    return made


def _write_ros(
    made: Made, kind: str, times: list[int], order: list[str], stamps: list[int]
) -> None:
    ros1 = kind == "ros1"
    store = ROS1 if ros1 else ROS2
    plugin = StoragePlugin.MCAP if kind == "ros2" else StoragePlugin.SQLITE3
    with Writer1(made.path) if ros1 else Writer2(made.path, version=9, storage_plugin=plugin) as to:
        ends: dict[str, Any] = {}
        for topic in made.kinds:
            name, _ = ros_message(store, made.kinds[topic], 0, 0, ros1=ros1)
            more: dict[str, Any] = {"latching": int(topic in made.latched)}
            if not ros1:
                more = {"offered_qos_profiles": latched_qos() if topic in made.latched else []}
            ends[topic] = to.add_connection(topic, name, typestore=store, **more)
        for number, (time, topic, seconds) in enumerate(zip(times, order, stamps, strict=True)):
            name, message = ros_message(store, made.kinds[topic], number, seconds, ros1=ros1)
            data = bytes((store.serialize_ros1 if ros1 else store.serialize_cdr)(message, name))
            if number % 11 == 5:
                data = data[:5]  # damaged
            to.write(ends[topic], time, data)
            made.messages.append((topic, time, number))


def _write_hyphos(made: Made, times: list[int], order: list[str], stamps: list[int]) -> None:
    recording = McapRecording(made.path, TypeBook())
    ids = {}
    for topic, kind in made.kinds.items():
        encoding = "attached" if kind == "Image" else "protobuf"
        if kind == "Plane":
            encoding = "struct"
        name = "test.Plane" if kind == "Plane" else f"hyphos.msgs.{kind}"
        made_id = hyphos.TypeId(name, encoding, 8 if kind == "Plane" else 0)
        policy: dict[str, object] = {"latched": topic in made.latched}
        ids[topic] = recording.add_channel(topic[1:], name, encoding, made_id.hash, policy)
    for number, (time, topic, seconds) in enumerate(zip(times, order, stamps, strict=True)):
        kind = made.kinds[topic]
        stamp = seconds * SECOND + number
        if kind == "LaserScan":
            scan = msgs.LaserScan(ranges=[number, np.inf, np.nan])
            scan.header.stamp_ns = stamp
            data = scan.SerializeToString()
        elif kind == "Image":
            image = msgs.Image(width=number % 5, height=1, encoding="mono8", step=number % 5)
            image.header.stamp_ns = stamp
            data = attached.join(image.SerializeToString(), [bytes(range(number % 5))])
        else:
            data = msgs.String(data=f"text {number}").SerializeToString()
        if number % 11 == 5:
            data = b"\xff\xff\xff"
        recording.write(ids[topic], time, time - min(time, 3), number, data)
        made.messages.append((topic, time, number))
    recording.close()


def contents(path: Path) -> tuple[dict[str, list[tuple[int, str]]], dict[str, bool]]:
    """Per channel: the times, the comparable content of the messages, and whether it is latched."""
    source = open_source(path)
    found: dict[str, list[tuple[int, str]]] = {}
    before = -(2**70)
    for item in source.items(lambda _track: True, source.start_ns, source.end_ns):
        assert item.time_ns >= before
        before = item.time_ns
        name = item.track.type_name.rpartition(".")[2]
        try:
            head = getattr(msgs, name).FromString(bytes(item.payload))  # type: ignore[call-overload]
        except Exception:  # noqa: BLE001 - damaged
            continue
        buffers = [bytes(buffer) for buffer in item.buffers if len(buffer)]  # type: ignore[call-overload,arg-type]
        found.setdefault(item.track.channel, []).append((item.time_ns, f"{head}{buffers}"))
    latched = {t.channel: bool(t.policy.get("latched")) for t in source.tracks if not t.problem}
    source.close()
    return found, latched


def left_out(out: str) -> Counter[str]:
    """The number of messages left out, by topic."""
    found: Counter[str] = Counter()
    for topic, count in re.findall(r"^left out: (.+?), ([\d,]+) messages: .+$", out, re.MULTILINE):
        found[topic] += int(count.replace(",", ""))
    return found


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("seed", range(6))
def test_conversions_keep_data_or_list_losses(
    seed: int, kind: str, to: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = generate(random.Random(f"{seed}{kind}"), kind, tmp_path)
    output = tmp_path / {"mcap": "out.mcap", "ros1": "out.bag"}.get(to, "out")
    if (kind, to) == ("mcap", "mcap"):
        return
    code = convert(made.path, to, WriteOptions(output))
    out = capsys.readouterr().out
    match = re.search(r"wrote .*: ([\d,]+) messages", out)
    assert match is not None
    written, lost = int(match[1].replace(",", "")), left_out(out)
    assert written + lost.total() == len(made.messages), out
    assert code == (3 if lost else 0)

    renamed = dict(re.findall(r"renamed: (.+?) is (?:the channel |the topic )?(\S+)", out))
    before, was_latched = contents(made.path)
    after, is_latched = contents(output)
    missing = sum(map(len, before.values())) - sum(map(len, after.values()))
    assert 0 <= missing <= lost.total()
    assert after
    for channel, messages in after.items():
        assert messages == sorted(messages, key=lambda one: one[0])
        origins = [name for name, new in renamed.items() if new.strip("/") == channel]
        [origin] = origins or [channel]
        name = channel if channel in before else origin.lstrip("/")
        name = name if name in before else channel_of(name)
        if kind == to or {kind, to} == {"ros2", "ros2-db3"}:
            assert len(messages) == len(before[name])
        assert set(messages) <= set(before[name]), (channel, name)
        assert is_latched[channel] == was_latched[name]


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("kind", FORMATS[1:])
def test_topics_with_equal_mapped_names_stay_apart(
    kind: str, to: str, tmp_path: Path, hyphos_cli: Cli
) -> None:
    names = ["/a-b", "/a_b", "/a.b", "/a_b_2"]
    made = Made(tmp_path / ("in.bag" if kind == "ros1" else "in"))
    made.kinds = dict.fromkeys(names, "String")
    _write_ros(made, kind, [1, 2, 3, 4], names, [0] * 4)
    output = tmp_path / {"mcap": "out.mcap", "ros1": "out.bag"}.get(to, "out")
    code, out, err = hyphos_cli("bag", "convert", str(made.path), "-o", str(output), "--to", to)
    assert code == 0, err
    found, _ = contents(output)
    assert sorted(text for items in found.values() for _, text in items) == [
        f'data: "text {number}"\n[]' for number in range(4)
    ]
    assert len(found) == 4
    assert [text for _, text in found["a_b"]] == ['data: "text 1"\n[]']
    assert [text for _, text in found["a_b_2"]] == ['data: "text 3"\n[]']
    if to == "mcap":
        assert "renamed: /a-b is the channel a_b_3" in out
        assert "renamed: /a.b is the channel a_b_4" in out
        assert "renamed: /a_b is" not in out


def test_generated_names_are_valid_and_distinct() -> None:
    rng = random.Random(4)
    for _ in range(200):
        names = ["/" + "".join(rng.choices("ab_-. /2é", k=rng.randint(1, 6))) for _ in range(20)]
        names += [re.sub(r"[^A-Za-z0-9_/]", "_", name) for name in names]
        channels = unique_names(names, channel_of)
        assert len(set(channels.values())) == len(set(names))
        for channel in channels.values():
            assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*", channel)
        for name in names:
            plain = channel_of(name)
            if plain == name.strip("/"):
                assert channels[name] == plain or f"/{plain}" in names or f"{plain}/" in name
        topics, lines = ros_topics(set(channels.values()))
        assert not lines
        assert all(topics[name] == f"/{name}" for name in topics)
        for topics, lines in (ros_topics(names), ros2_topics(names)):
            assert len(set(topics.values())) == len(set(names))
            changed = {name for name, new in topics.items() if new.lstrip("/") != name.lstrip("/")}
            assert len(lines) >= len(changed) - sum(name.rstrip("/") != name for name in changed)


@pytest.mark.parametrize(
    ("kind", "to", "seconds", "reason"),
    [
        ("ros1", "ros2", -1, "after 2038"),  # bytes of 2^32 - 1
        ("ros2", "ros1", -1, "before 1970"),
        ("ros2-db3", "ros1", -5, "before 1970"),
        ("ros1", "mcap", -1, ""),
        ("ros2", "mcap", -1, ""),
        ("ros1", "ros1", -1, ""),
    ],
)
def test_stamps_keep_their_time_or_are_left_out(
    kind: str, to: str, seconds: int, reason: str, tmp_path: Path, hyphos_cli: Cli
) -> None:
    made = Made(tmp_path / ("in.bag" if kind == "ros1" else "in"))
    made.kinds = {"/scan": "LaserScan"}
    _write_ros(made, kind, [1, 2], ["/scan"] * 2, [seconds, 5])
    output = tmp_path / {"mcap": "out.mcap", "ros1": "out.bag"}.get(to, "out")
    code, out, err = hyphos_cli("bag", "convert", str(made.path), "-o", str(output), "--to", to)
    assert code == (3 if reason else 0), err
    source = open_source(output)
    stamps = [
        msgs.LaserScan.FromString(bytes(item.payload)).header.stamp_ns  # type: ignore[call-overload]
        for item in source.items(lambda _: True, source.start_ns, source.end_ns)
    ]
    source.close()
    real = seconds % 2**32 if kind == "ros1" else seconds
    assert stamps == ([] if reason else [real * SECOND]) + [5 * SECOND + 1]
    if reason:
        assert re.search(rf"left out: /scan.*, 1 messages: a stamp is {reason}", out)


@pytest.mark.parametrize(
    ("to", "seconds", "held"),
    [
        ("ros1", 2**32 - 1, True),
        ("ros1", 2**32, False),
        ("ros1", -1, False),
        ("ros2", 2**31 - 1, True),
        ("ros2", 2**31, False),
        ("ros2", -(2**31), True),
        ("ros2-db3", -(2**31) - 1, False),
    ],
)
def test_stamps_at_the_limits_of_ros_are_kept_or_left_out(
    to: str, seconds: int, held: bool, tmp_path: Path, hyphos_cli: Cli
) -> None:
    path = tmp_path / "in.mcap"
    recording = McapRecording(path, TypeBook())
    kind = hyphos.TypeId("hyphos.msgs.LaserScan", "protobuf")
    channel = recording.add_channel("scan", kind.name, "protobuf", kind.hash, {})
    for number, stamp in enumerate((seconds, 5)):
        scan = msgs.LaserScan()
        scan.header.stamp_ns = stamp * SECOND
        recording.write(channel, number, number, number, scan.SerializeToString())
    recording.close()
    output = tmp_path / {"ros1": "out.bag"}.get(to, "out")
    code, out, err = hyphos_cli("bag", "convert", str(path), "-o", str(output), "--to", to)
    assert code == (0 if held else 3), err
    source = open_source(output)
    stamps = [
        msgs.LaserScan.FromString(bytes(item.payload)).header.stamp_ns  # type: ignore[call-overload]
        for item in source.items(lambda _: True, source.start_ns, source.end_ns)
    ]
    source.close()
    assert stamps == ([seconds * SECOND] if held else []) + [5 * SECOND]
    assert ("a stamp is" in out) != held


def test_features_missing_in_the_target_format_are_listed(tmp_path: Path, hyphos_cli: Cli) -> None:
    path = tmp_path / "in.mcap"
    recording = McapRecording(path, TypeBook())
    kind = hyphos.TypeId("hyphos.msgs.Imu", "protobuf")
    policy: dict[str, object] = {"overflow": "block", "reliability": "reliable", "depth": 7}
    channel = recording.add_channel("imu", kind.name, "protobuf", kind.hash, policy)
    for number, values in enumerate(([0.5] * 9, [0.5] * 8, [])):
        imu = msgs.Imu(orientation_covariance=values)
        recording.write(channel, number, number, number, imu.SerializeToString())
    recording.attach("robot.yaml", "text/yaml", b"hyphos: 1")
    recording.describe("hyphos.session", {"host": "here"})
    recording.close()
    for to, words in (("ros1", "overflow, reliability"), ("ros2", "policies overflow")):
        output = tmp_path / to
        code, out, err = hyphos_cli("bag", "convert", str(path), "-o", str(output), "--to", to)
        assert code == 3, err
        assert "1 messages: orientation_covariance does not have 9 values as in ROS" in out
        for word in ("times of publishing", "robot.yaml", "metadata hyphos.session", words):
            assert word in out
        source = open_source(output)
        assert [track.count for track in source.tracks] == [2]
        source.close()


@pytest.mark.parametrize("kind", ["mcap", "ros2"])
def test_prefixes_make_names_that_can_be_played(kind: str, tmp_path: Path, hyphos_cli: Cli) -> None:
    files = []
    for number, name in enumerate(("2024-01-01 run.mcap", "2024_01_01 run.mcap", "b/run.mcap")):
        made = Made(tmp_path / f"{number}{'.mcap' if kind == 'mcap' else ''}")
        made.kinds = {"/front/scan": "LaserScan"}
        if kind == "mcap":
            _write_hyphos(made, [1], ["/front/scan"], [0])
        else:
            _write_ros(made, kind, [1], ["/front/scan"], [0])
        [file] = [made.path] if made.path.is_file() else made.path.glob("*.mcap")
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        files.append(file.rename(path))
    output = tmp_path / "out.mcap"
    words = ("bag", "merge", "--prefix", *map(str, files), "-o", str(output))
    code, _, err = hyphos_cli(*words)
    assert code == 0, err
    names = {"_2024_01_01_run/front/scan", "_2024_01_01_run_2/front/scan", "run/front/scan"}
    source = open_source(output)
    assert {track.channel for track in source.tracks} == names
    assert {track.topic.lstrip("/") for track in source.tracks} <= {*names, ""}
    assert all("//" not in track.topic for track in source.tracks)
    source.close()
