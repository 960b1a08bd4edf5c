"""A part of a recording begins with the latched values that were valid at its start."""

from __future__ import annotations

import json
import random
from pathlib import Path

import hyphos
import pytest
from helpers import Cli, Start, repeating, wait_until
from hyphos.msgs import String, TfMessage
from hyphos.observe import look
from hyphos.recording.control import recorders
from hyphos.recording.mcap_file import McapRecording
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.ros_qos import latched_qos
from hyphos.ros.typebook import TypeBook
from recordings import counted, record
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

SECOND = 1_000_000_000
START = 1000 * SECOND


def texts(path: Path) -> list[tuple[str, int, str]]:
    """Channel, time and text of each message, in order."""
    scan = Scan(path).read()
    assert scan.problems == []
    return [
        (scan.channels[m.channel].topic, m.log_ns, String.FromString(m.data).data)
        for m in scan.ordered()
    ]


@pytest.mark.parametrize("seed", range(25))
def test_a_part_begins_with_the_latched_values(seed: int, tmp_path: Path, hyphos_cli: Cli) -> None:
    rng = random.Random(seed)
    path, part = tmp_path / "in.mcap", tmp_path / "part.mcap"
    kind = hyphos.TypeId("hyphos.msgs.String", "protobuf")
    recording = McapRecording(path, TypeBook(), chunk_bytes=300)
    latched = {name: rng.random() < 0.6 for name in ("map", "goal", "scan")}
    depths = {name: rng.choice((1, 1, 2, 5)) for name in latched}
    ids = {
        name: recording.add_channel(
            name,
            kind.name,
            "protobuf",
            kind.hash,
            {"latched": on, **({"latched_depth": depths[name]} if depths[name] > 1 else {})},
        )
        for name, on in latched.items()
    }
    # Each publisher counts its own messages, from an arbitrary start.
    publishers = [(name, 1000 * number) for name in ids for number in range(rng.randint(1, 3))]
    sent = dict.fromkeys(publishers, 0)
    all_of_it = []
    for number in range(60):
        one = rng.choice(publishers)
        sent[one] += 1
        at = START + number * SECOND
        text = f"{one} {sent[one]}"
        data = String(data=text).SerializeToString()
        recording.write(ids[one[0]], at, at - 5, one[1] + sent[one], data)
        all_of_it.append((one, at, text))
    recording.close({name: json.dumps({"written": 1}) for name in ids})

    start = rng.randrange(0, 55)
    end = rng.randrange(start + 1, 70)
    channels = rng.choice([["*"], ["map"], ["map", "scan"]])
    words = ["bag", "cut", str(path), "-o", str(part), "-s", str(start), "-e", str(end)]
    code, out, err = hyphos_cli(*words, *(word for name in channels for word in ("-c", name)))
    wanted = set(ids) if channels == ["*"] else set(channels)
    shift = all_of_it[0][1]  # --start counts from the first message
    first, last = shift + start * SECOND, shift + end * SECOND
    valid = []
    for one in publishers:
        if latched[one[0]] and one[0] in wanted:
            before = [text for owner, at, text in all_of_it if owner == one and at < first]
            valid += [(one[0], first, text) for text in before[-depths[one[0]] :]]
    inside = [
        (o[0], at, text) for o, at, text in all_of_it if first <= at < last and o[0] in wanted
    ]
    if not valid and not inside:
        assert code == 1
        return
    assert code == 0, err
    found = texts(part)
    assert sorted(found[: len(valid)]) == sorted(valid)
    assert found[len(valid) :] == inside
    for name in {one[0] for one in valid}:
        number = sum(one[0] == name for one in valid)
        assert f"added at the start: {name}, {number} latched values" in out
    assert "left out: the counters" in out


def test_repeated_cuts_and_repeated_values_do_not_multiply(tmp_path: Path, hyphos_cli: Cli) -> None:
    path = tmp_path / "in.mcap"
    kind = hyphos.TypeId("hyphos.msgs.String", "protobuf")
    recording = McapRecording(path, TypeBook())
    map_id = recording.add_channel("map", kind.name, "protobuf", kind.hash, {"latched": True})
    scan_id = recording.add_channel("scan", kind.name, "protobuf", kind.hash, {})
    value = String(data="the map").SerializeToString()
    for at in (0, 5):  # the second time is by a recorder at the start of a file
        recording.write(map_id, at * SECOND, 0, 1, value)
    for number in range(20):
        data = String(data=str(number)).SerializeToString()
        recording.write(scan_id, number * SECOND, 0, number, data)
    recording.close()
    for _ in range(3):
        words = ("bag", "cut", str(path), "-o", str(tmp_path / "p.mcap"), "-s", "3", "--overwrite")
        code, _, err = hyphos_cli(*words)
        assert code == 0, err
        path = tmp_path / "q.mcap"
        (tmp_path / "p.mcap").replace(path)
        assert [text for name, _, text in texts(path) if name == "map"].count("the map") <= 2
    assert texts(path)[0] == ("map", 9 * SECOND, "the map")


@pytest.mark.parametrize("ros", [False, True])
def test_static_transforms_of_all_publishers_are_carried(
    ros: bool, tmp_path: Path, hyphos_cli: Cli
) -> None:
    frames = ["camera", "laser", "camera", "imu"]
    if ros:
        store = get_typestore(Stores.LATEST)
        name = "tf2_msgs/msg/TFMessage"
        t = store.types
        with Writer2(tmp_path / "in", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            tf = writer.add_connection(
                "/tf_static", name, typestore=store, offered_qos_profiles=latched_qos()
            )
            clock = writer.add_connection("/text", "std_msgs/msg/String", typestore=store)
            for number, frame in enumerate(frames):
                head = t["std_msgs/msg/Header"](
                    stamp=t["builtin_interfaces/msg/Time"](sec=0, nanosec=0), frame_id="base"
                )
                move = t["geometry_msgs/msg/Transform"](
                    translation=t["geometry_msgs/msg/Vector3"](x=1.0, y=0.0, z=0.0),
                    rotation=t["geometry_msgs/msg/Quaternion"](x=0.0, y=0.0, z=0.0, w=1.0),
                )
                one = t["geometry_msgs/msg/TransformStamped"](
                    header=head, child_frame_id=frame, transform=move
                )
                writer.write(tf, number, store.serialize_cdr(t[name](transforms=[one]), name))
            for at in (0, 20 * SECOND):
                text = t["std_msgs/msg/String"](data="x")
                writer.write(clock, at, store.serialize_cdr(text, "std_msgs/msg/String"))
        [path] = (tmp_path / "in").glob("*.mcap")
    else:
        path = tmp_path / "in.mcap"
        kind = hyphos.TypeId("hyphos.msgs.TfMessage", "protobuf")
        recording = McapRecording(path, TypeBook())
        channel = recording.add_channel(
            "tf_static", kind.name, "protobuf", kind.hash, {"latched": True}
        )
        for number, frame in enumerate(frames):
            message = TfMessage()
            message.transforms.add().child_frame_id = frame
            recording.write(channel, number, number, 1, message.SerializeToString())
        recording.write(channel, 20 * SECOND, 0, 2, b"")
        recording.close()
    part = tmp_path / "part.mcap"
    code, _, err = hyphos_cli("bag", "cut", str(path), "-o", str(part), "-s", "10")
    assert code == 0, err
    scan = Scan(part).read()
    data = [m.data for m in scan.ordered() if m.log_ns == 10 * SECOND]
    assert [next(f for f in set(frames) if f.encode() in one) for one in data] == [
        "laser",
        "camera",
        "imu",
    ]


def test_a_recording_keeps_depth_and_lifespan_of_a_channel(
    node: hyphos.Node, hyphos_start: Start, domain: str, tmp_path: Path
) -> None:
    policy = hyphos.Policy(latched=True, latched_depth=3, lifespan_ms=60_000, depth=7)
    publisher = node.publisher("goal", String, policy=policy)
    plain = node.publisher("plain", String)
    path = tmp_path / "run.mcap"
    recorder = record(hyphos_start, domain, path)
    with repeating(lambda: plain.publish(String(data="x"))):
        wait_until(
            lambda: (
                bool(recorders(domain))
                and counted(domain, "plain") > 0
                and publisher.listeners == 1  # channels are joined one by one
            ),
            "the recorder",
        )
        for text in ("a", "b", "c", "d"):
            publisher.publish(String(data=text))
        wait_until(lambda: counted(domain, "goal") >= 4, "the goals")
    assert recorder.stop()[0] == 0
    publisher.close()
    plain.close()
    policies = {
        channel.topic: json.loads(dict(channel.metadata)["hyphos.policy"])
        for channel in Scan(path).read().channels.values()
    }
    assert policies["goal"]["latched_depth"] == 3
    assert policies["goal"]["lifespan_ms"] == 60_000
    assert policies["plain"].keys() == {"reliability", "overflow", "latched", "depth"}
    player = hyphos_start("replay", str(path), "-d", domain, "--quiet", "--loop")

    def played() -> list[hyphos.Policy]:
        ends = [end for _, end in look(domain).ends("goal") if end.is_publisher]
        return [end.policy for end in ends]

    wait_until(lambda: len(played()) == 1, "the player")
    [found] = played()
    assert (found.latched, found.latched_depth, found.lifespan_ms) == (True, 3, 60_000)
    player.stop()
