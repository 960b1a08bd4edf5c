"""Recording to MCAP, and replaying it and the recordings of ROS."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from helpers import Cli, Inbox, Start, wait_until
from hyphos import Attached, Struct
from hyphos.msgs import Image, LaserScan, Odometry, PointCloud, TfMessage
from hyphos.recording import attached
from hyphos.recording.control import ask, recorders
from hyphos.recording.mcap_file import INTERIM, SUMMARY, McapRecording, McapSource
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.ros_bag import channel_of
from hyphos.recording.source import Item, open_source
from hyphos.tools.observe import look
from hyphos.tools.typebook import TypeBook
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

POSE = Struct("test.Pose", [("x", "f8"), ("n", "u4")])
SECOND = 1_000_000_000


@pytest.fixture
def robot(domain: str) -> Iterator[hyphos.Node]:
    """Publishes four kinds of types, numbered, a hundred times a second."""
    with hyphos.Node.open("robot", domain=domain) as node:
        scan = node.publisher("scan", LaserScan)
        camera = node.publisher("camera", Attached[Image])
        pose = node.publisher("pose", POSE)
        raw = node.publisher("raw", bytes)
        number = 0

        def tick() -> None:
            nonlocal number
            number += 1
            scan.publish(LaserScan(ranges=[number] * 5))
            camera.publish(Image(width=number), np.full(2000, number % 256, np.uint8), b"second")
            pose.publish(POSE(x=number / 2, n=number))
            raw.publish(b"%d" % number)

        node.every(tick, rate_hz=100)
        yield node


def everything(path: Path) -> dict[str, list[Item]]:
    source = open_source(path)
    found: dict[str, list[Item]] = {track.channel: [] for track in source.tracks}
    for item in source.items(lambda _track: True, source.start_ns, source.end_ns):
        found[item.track.channel].append(item)
    source.close()
    return found


def counts(path: Path) -> dict[str, dict[str, int]]:
    source = open_source(path)
    assert isinstance(source, McapSource)
    return {name: json.loads(text) for name, text in source.summary.items()}


# --- the format ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[], [0], [5], [300, 0, 70_000]])
def test_buffers_are_joined_and_split(sizes: list[int]) -> None:
    head = Image(width=3, encoding="mono8").SerializeToString()
    buffers = [bytes([n]) * size for n, size in enumerate(sizes)]
    got_head, got_buffers = attached.split(attached.join(head, buffers))
    assert bytes(got_head) == head
    assert [bytes(buffer) for buffer in got_buffers] == buffers


def test_an_array_of_any_type_can_be_joined() -> None:
    array = np.arange(4, dtype=np.float32).reshape(2, 2)
    _, [buffer] = attached.split(attached.join(b"", [array]))
    assert bytes(buffer) == array.tobytes()


def test_damaged_messages_are_refused() -> None:
    stored = attached.join(Image(width=3, encoding="mono8").SerializeToString(), [b"abc" * 50])
    for cut in range(1, len(stored)):
        try:
            head, buffers = attached.split(stored[:cut])
        except ValueError:
            continue
        assert not buffers  # only what ends between two fields of the head may pass
        Image.FromString(bytes(head))
    with pytest.raises(ValueError, match="wire type"):
        attached.split(b"\x0f")
    with pytest.raises(ValueError, match="behind"):
        attached.split(attached.join(b"", [b"x"]) + b"\x08\x01")


def test_any_protobuf_tool_reads_attached_buffers(tmp_path: Path) -> None:
    path = tmp_path / "one.mcap"
    recording = McapRecording(path, TypeBook())
    channel = recording.add_channel("camera", "hyphos.msgs.Image", "attached", 7, {})
    data = attached.join(Image(width=2).SerializeToString(), [b"px", b"q"])
    recording.write(channel, 5, 4, 2**40 + 3, data)
    recording.close({})
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        [(schema, _, record, message)] = list(reader.iter_decoded_messages())
    assert schema is not None
    assert (schema.name, schema.encoding) == ("hyphos.msgs.Image", "protobuf")
    assert (record.log_time, record.publish_time, record.sequence) == (5, 4, 3)
    assert (message.width, list(message.attached_buffers)) == (2, [b"px", b"q"])


def test_schemas_are_complete(tmp_path: Path) -> None:
    path = tmp_path / "one.mcap"
    recording = McapRecording(path, TypeBook())
    recording.add_channel("odom", "hyphos.msgs.Odometry", "protobuf", 1, {})
    recording.add_channel("mine", "mine.Unknown", "protobuf", 2, {})
    recording.close({})
    assert recording.unknown_types == {"mine.Unknown"}
    with path.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    schemas = {schema.name: schema for schema in summary.schemas.values()}
    files = FileDescriptorSet.FromString(schemas["hyphos.msgs.Odometry"].data)
    names = [file.name for file in files.file]
    assert names.index("hyphos/msgs/std.proto") < names.index("hyphos/msgs/nav.proto")
    assert schemas["mine.Unknown"].encoding == ""


def test_a_recording_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "one.mcap"
    path.write_text("precious")
    with pytest.raises(hyphos.Error, match="exists"):
        McapRecording(path, TypeBook())
    assert path.read_text() == "precious"


@pytest.mark.parametrize("compression", ["zstd", "lz4", "none"])
def test_a_cut_recording_is_read_up_to_its_last_chunk(tmp_path: Path, compression: str) -> None:
    whole = tmp_path / "whole.mcap"
    recording = McapRecording(whole, TypeBook(), compression=compression)
    channel = recording.add_channel("scan", "hyphos.msgs.LaserScan", "protobuf", 7, {})
    sizes = []
    for chunk in range(5):
        for number in range(10):
            data = LaserScan(range_max=chunk * 10 + number).SerializeToString()
            recording.write(channel, chunk * 10 + number, 0, number, data)
        recording.flush()
        sizes.append(recording.size)
    recording.close({})
    data = whole.read_bytes()
    for complete, (size, following) in enumerate(pairwise(sizes), 1):
        for cut in (size, (size + following) // 2 - 8):
            part = tmp_path / f"{cut}.mcap"
            part.write_bytes(data[:cut])
            items = everything(part)["scan"]
            assert [item.time_ns for item in items] == list(range(complete * 10))
            assert "was cut off" in open_source(part).warnings[0]


def test_noise_is_no_recording(tmp_path: Path) -> None:
    for name, data in (
        ("a.mcap", b"noise"),
        ("b.bag", b""),
        ("c.mcap", b"\x89MCAP0\r\n" + b"x" * 99),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(hyphos.Error):
            open_source(path)


# --- record and replay --------------------------------------------------------------------------


def record(hyphos_start: Start, domain: str, path: Path, *words: str) -> Any:
    return hyphos_start("record", "-d", domain, "-o", str(path), *words)


def wait_for_size(path: Path, size: int) -> None:
    wait_until(lambda: path.exists() and path.stat().st_size > size, f"{path.name} to grow")


@pytest.mark.usefixtures("robot")
def test_what_is_recorded_is_what_was_sent(
    hyphos_start: Start, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "--chunk-kb", "16")
    wait_for_size(path, 30_000)
    code, _, err = program.stop()
    assert code == 0, err
    found = everything(path)
    assert set(found) == {"scan", "camera", "pose", "raw"}
    first = int(bytes(found["raw"][0].payload))  # type: ignore[call-overload]
    for index, item in enumerate(found["raw"]):
        assert bytes(item.payload) == b"%d" % (first + index)  # type: ignore[call-overload]
    image = found["camera"][3]
    head = Image.FromString(bytes(image.payload))  # type: ignore[call-overload]
    assert bytes(image.buffers[0]) == bytes([head.width % 256]) * 2000  # type: ignore[call-overload]
    assert bytes(image.buffers[1]) == b"second"  # type: ignore[call-overload]
    pose = np.frombuffer(found["pose"][0].payload, POSE.dtype)[0]  # type: ignore[call-overload]
    assert pose.x == pose.n / 2
    for name, count in counts(path).items():
        assert count["received"] == count["written"] + count["drop_queue"]
        assert count["written"] == len(found[name])
        assert count["missing"] == 0


@pytest.mark.usefixtures("robot")
def test_record_takes_patterns(hyphos_cli: Cli, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    words = ("record", "s*", "raw", "absent", "-x", "sc?n", "-d", domain, "-o", str(path))
    code, _, err = hyphos_cli(*words, "--for", "1")
    assert code == 0, err
    assert "nobody published 'absent'" in err
    assert set(everything(path)) == {"raw"}


def test_a_recording_of_nothing_is_whole_and_told(
    hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "folder"
    words = ("record", "-d", domain, "-o", str(path), "--for", "0.3", "--quiet")
    code, out, err = hyphos_cli(*words)
    assert (code, out) == (0, "")
    assert err == f"nothing was recorded: nobody published in domain '{domain}'\n"
    [file] = path.iterdir()
    assert everything(file) == {}
    assert hyphos_cli("bag", "check", str(file))[0] == 0
    with hyphos.Node.open("mute", domain=domain) as node:
        raw = node.publisher("raw", bytes)
        _, _, err = hyphos_cli(*words, "--overwrite")
        assert err == "nothing was recorded: no message came on raw\n"
        raw.close()
        _, _, err = hyphos_cli(*words, "--overwrite", "absent*")
        assert "nobody published on a channel that was asked for in domain" in err


def catches(pid: int, number: signal.Signals) -> bool:
    """Whether the process has a handler for the signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(status.split("SigCgt:")[1].split()[0], 16)
    return bool(caught >> (number - 1) & 1)


@pytest.mark.usefixtures("robot")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_recorder_that_is_ended_while_it_starts(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "--quiet")
    # Its handlers stand before it has loaded what it needs. Python has one for SIGINT by itself.
    wait_until(lambda: catches(program.popen.pid, signal.SIGTERM), "its handlers")
    program.signal(number)
    code, out, err = program.end()
    assert (code, out) == (0, "")
    assert hyphos_cli("bag", "check", str(path))[0] == 0
    written = sum(len(items) for items in everything(path).values())
    assert err.startswith("nothing was recorded: ") == (written == 0), err


def test_log_lines_are_recorded(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    with hyphos.Node.open("mapper", domain=domain) as node:
        node.log.info("before")  # so that there is a channel
        program = record(hyphos_start, domain, path, "log")
        wait_until(lambda: any(end.node.startswith("recorder") for _, end in look(domain).ends()))
        node.log.warning("battery at %.1f V", 11.5)
        node.log.error("no map")
        wait_until(lambda: counted(domain, "log") >= 2)
        code, _, err = program.stop()
    assert code == 0, err
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        read = list(reader.iter_decoded_messages(topics=["log"]))
    assert {schema.name for schema, *_ in read if schema} == {"hyphos.msgs.Log"}
    lines = [(line.level, line.name, line.msg) for *_, line in read]
    assert lines[-2:] == [(30, "mapper", "battery at 11.5 V"), (40, "mapper", "no map")]
    code, out, err = hyphos_cli("replay", str(path), "--list")
    assert code == 0, err
    assert "hyphos.msgs.Log" in out


def counted(domain: str, channel: str) -> int:
    """Messages that recorders of the domain have received."""
    [pid] = recorders(domain)
    return int(ask(domain, pid, {"do": "status"})["channels"].get(channel, {}).get("received", 0))


@pytest.mark.usefixtures("robot")
def test_a_killed_recorder_leaves_readable_chunks(
    hyphos_start: Start, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "--chunk-kb", "4")
    wait_for_size(path, 60_000)
    program.signal(signal.SIGKILL)
    program.end()
    source = open_source(path)
    assert "was cut off" in source.warnings[0]
    numbers = [int(bytes(i.payload)) for i in everything(path)["raw"]]  # type: ignore[call-overload]
    assert len(numbers) > 20
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.usefixtures("robot")
def test_late_channels_join_the_recording(hyphos_start: Start, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "--chunk-kb", "4")
    wait_for_size(path, 5_000)
    with hyphos.Node.open("late", domain=domain) as node:
        late = node.publisher("late", bytes)
        node.every(lambda: late.publish(b"here"), rate_hz=50)
        wait_until(lambda: late.listeners == 1, "the recorder")
        wait_for_size(path, path.stat().st_size + 20_000)
        assert program.stop()[0] == 0
    assert everything(path)["late"]


def make_recording(path: Path, count: int = 20) -> None:
    """`count` scans and images, 10 ms apart."""
    recording = McapRecording(path, TypeBook())
    scan_id = hyphos.TypeId("hyphos.msgs.LaserScan", "protobuf")
    image_id = hyphos.TypeId("hyphos.msgs.Image", "attached")
    scan = recording.add_channel("scan", scan_id.name, "protobuf", scan_id.hash, {"latched": True})
    camera = recording.add_channel("camera", image_id.name, "attached", image_id.hash, {})
    for number in range(count):
        at = 5 * SECOND + number * 10_000_000
        recording.write(scan, at, at, number, LaserScan(range_max=number).SerializeToString())
        data = attached.join(Image(width=number).SerializeToString(), [bytes([number])])
        recording.write(camera, at, at, number, data)
    recording.close({})


def test_replay_gives_back_what_was_recorded(hyphos_cli: Cli, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    make_recording(path)
    scans, images = Inbox(), Inbox()
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("laser", LaserScan, lambda scan: scans(scan.range_max))
        node.subscribe("camera", Attached[Image], images)
        words = ("--wait", "30", "--remap", "scan:=laser", "-d", domain)
        code, _, err = hyphos_cli("replay", str(path), *words)
        assert code == 0, err
        assert scans.wait(20) == list(range(20))
        for number, image in enumerate(images.wait(20)):
            assert (image.head.width, bytes(image.buffers[0])) == (number, bytes([number]))


def test_replay_starts_ends_and_filters(hyphos_cli: Cli, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    make_recording(path)
    scans, images = Inbox(), Inbox()
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("scan", LaserScan, lambda scan: scans(scan.range_max))
        node.subscribe("camera", Attached[Image], images)
        words = ("--wait", "30", "-c", "sc*", "-s", "0.05", "-e", "0.1", "--rate", "0")
        code, _, err = hyphos_cli("replay", str(path), *words, "-d", domain)
        assert code == 0, err
        assert scans.wait(5) == [5, 6, 7, 8, 9]
        assert images.items == []
        assert "5 messages on 1 channel" in err


def test_replay_loops_until_stopped(hyphos_start: Start, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    make_recording(path, 3)
    scans = Inbox()
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("scan", LaserScan, lambda scan: scans(scan.range_max))
        program = hyphos_start("replay", str(path), "--loop", "-d", domain, "--wait", "30")
        assert scans.wait(9)[:9] == [0, 1, 2] * 3
        assert program.stop()[0] == 0


def test_replay_lists_and_refuses(hyphos_cli: Cli, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    make_recording(path)
    code, out, _ = hyphos_cli("replay", str(path), "--list")
    assert code == 0
    assert "hyphos.msgs.Image" in out
    assert "0.2 s" in out
    for words, message in (
        (["-c", "absent"], "no channel of the recording is to be played"),
        (["--remap", "a=b"], "OLD:=NEW"),
        (["--remap", "a:=b"], "no channel 'a'"),
        (["--rate", "-1"], "must not be negative"),
    ):
        code, _, err = hyphos_cli("replay", str(path), "-d", domain, *words)
        assert code == 1
        assert message in err


# --- ROS ----------------------------------------------------------------------------------------


def ros_messages(store: Any, *, ros1: bool) -> list[tuple[str, str, Any]]:
    """(topic, type, message) of a few types that show every rule of the mapping."""
    t = store.types
    header = {"seq": 4} if ros1 else {}
    stamp = t["builtin_interfaces/msg/Time"](sec=3, nanosec=7)
    head = t["std_msgs/msg/Header"](stamp=stamp, frame_id="laser", **header)
    vector = t["geometry_msgs/msg/Vector3"]
    turn = t["geometry_msgs/msg/Quaternion"](x=0.0, y=0.0, z=0.0, w=1.0)
    scan = t["sensor_msgs/msg/LaserScan"](
        header=head,
        angle_min=-1.0,
        angle_max=1.0,
        angle_increment=0.5,
        time_increment=0.0,
        scan_time=0.1,
        range_min=0.0,
        range_max=30.0,
        ranges=np.array([1, 2, 3], np.float32),
        intensities=np.array([], np.float32),
    )
    image = t["sensor_msgs/msg/Image"](
        header=head,
        height=1,
        width=2,
        encoding="mono8",
        is_bigendian=0,
        step=2,
        data=np.array([9, 8], np.uint8),
    )
    field = t["sensor_msgs/msg/PointField"](name="x", offset=0, datatype=7, count=1)
    cloud = t["sensor_msgs/msg/PointCloud2"](
        header=head,
        height=1,
        width=2,
        fields=[field],
        is_bigendian=False,
        point_step=4,
        row_step=8,
        data=np.array([1.5, 2.5], np.float32).view(np.uint8),
        is_dense=True,
    )
    transform = t["geometry_msgs/msg/TransformStamped"](
        header=head,
        child_frame_id="tip",
        transform=t["geometry_msgs/msg/Transform"](
            translation=vector(x=1.0, y=2.0, z=3.0), rotation=turn
        ),
    )
    tf = t["tf2_msgs/msg/TFMessage"](transforms=[transform, transform])
    odometry = t["nav_msgs/msg/Odometry"](
        header=head,
        child_frame_id="base",
        pose=t["geometry_msgs/msg/PoseWithCovariance"](
            pose=t["geometry_msgs/msg/Pose"](
                position=t["geometry_msgs/msg/Point"](x=1.0, y=0.0, z=0.0), orientation=turn
            ),
            covariance=np.arange(36, dtype=np.float64),
        ),
        twist=t["geometry_msgs/msg/TwistWithCovariance"](
            twist=t["geometry_msgs/msg/Twist"](
                linear=vector(x=0.5, y=0.0, z=0.0), angular=vector(x=0.0, y=0.0, z=0.1)
            ),
            covariance=np.zeros(36),
        ),
    )
    strange = t["shape_msgs/msg/Plane"](coef=np.zeros(4))
    return [
        ("/front/scan", "sensor_msgs/msg/LaserScan", scan),
        ("/camera", "sensor_msgs/msg/Image", image),
        ("/cloud", "sensor_msgs/msg/PointCloud2", cloud),
        ("/tf", "tf2_msgs/msg/TFMessage", tf),
        ("/odom", "nav_msgs/msg/Odometry", odometry),
        ("/strange", "shape_msgs/msg/Plane", strange),
    ]


def write_ros1(path: Path) -> Path:
    store = get_typestore(Stores.ROS1_NOETIC)
    definition = "geometry_msgs/TransformStamped[] transforms\n"
    store.register(get_types_from_msg(definition, "tf2_msgs/msg/TFMessage"))
    with Writer1(path) as writer:
        for number, (topic, kind, message) in enumerate(ros_messages(store, ros1=True)):
            connection = writer.add_connection(topic, kind, typestore=store)
            data = store.serialize_ros1(message, kind)
            writer.write(connection, SECOND + number * 1_000_000, data)
    return path


def write_ros2(path: Path, plugin: StoragePlugin) -> Path:
    store = get_typestore(Stores.ROS2_HUMBLE)
    with Writer2(path, version=9, storage_plugin=plugin) as writer:
        for number, (topic, kind, message) in enumerate(ros_messages(store, ros1=False)):
            connection = writer.add_connection(topic, kind, typestore=store)
            data = store.serialize_cdr(message, kind)
            writer.write(connection, SECOND + number * 1_000_000, data)
    return path


@pytest.fixture(params=["bag", "db3", "mcap", "folder"])
def ros_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "bag":
        return write_ros1(tmp_path / "run.bag")
    plugin = StoragePlugin.MCAP if request.param == "mcap" else StoragePlugin.SQLITE3
    folder = write_ros2(tmp_path / "run", plugin)
    if request.param == "folder":
        return folder
    [file] = folder.glob(f"*.{request.param}")
    return file


def test_ros_messages_become_ours_field_by_field(ros_file: Path) -> None:
    source = open_source(ros_file)
    problems = {track.channel: track.problem for track in source.tracks}
    assert problems.pop("strange") == "hyphos.msgs has no shape_msgs/msg/Plane"
    assert set(problems.values()) == {""}
    source.close()

    found = {name: items[0] for name, items in everything(ros_file).items() if items}
    assert set(found) == {"front/scan", "camera", "cloud", "tf", "odom"}
    assert found["front/scan"].time_ns == SECOND

    def head(name: str, cls: Any) -> Any:
        return cls.FromString(bytes(found[name].payload))  # type: ignore[call-overload]

    scan = head("front/scan", LaserScan)
    assert scan.header.stamp_ns == 3 * SECOND + 7
    assert scan.header.frame_id == "laser"
    assert scan.header.seq == (4 if ros_file.suffix == ".bag" else 0)
    assert list(scan.ranges) == [1, 2, 3]
    image = Attached(head("camera", Image), found["camera"].buffers)
    assert hyphos.image_to_numpy(image).tolist() == [[9, 8]]
    cloud = Attached(head("cloud", PointCloud), found["cloud"].buffers)
    assert hyphos.cloud_to_numpy(cloud)["x"].tolist() == [1.5, 2.5]
    tf = head("tf", TfMessage)
    assert [t.child_frame_id for t in tf.transforms] == ["tip", "tip"]
    assert tf.transforms[1].transform.translation.z == 3
    odometry = head("odom", Odometry)
    assert list(odometry.pose.covariance) == list(range(36))
    assert odometry.twist.twist.angular.z == pytest.approx(0.1)


def test_ros_recordings_are_replayed(
    hyphos_cli: Cli, domain: str, ros_file: Path, inbox: Inbox
) -> None:
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("scan", LaserScan, inbox)
        words = ("-c", "front/*", "--remap", "front/scan:=scan", "--wait", "30", "-d", domain)
        code, _, err = hyphos_cli("replay", str(ros_file), *words)
        assert code == 0, err
        assert list(inbox.wait(1)[0].ranges) == [1, 2, 3]


def test_topics_become_channels() -> None:
    assert channel_of("/front/scan") == "front/scan"
    assert channel_of("/a-b//2d") == "a_b/_2d"
    assert channel_of("/") == "_"


def test_the_summary_has_a_known_name() -> None:
    assert SUMMARY == "hyphos.recording"  # documented: other tools look for it


# --- rings, splits, death, a full disk ------------------------------------------------------------


def check(hyphos_cli: Cli, path: Path) -> tuple[int, str]:
    code, out, _ = hyphos_cli("bag", "check", str(path))
    return code, out


@pytest.mark.usefixtures("robot")
def test_a_ring_is_written_on_request(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "crash.mcap"
    program = record(hyphos_start, domain, path, "--ring-s", "60", "--chunk-kb", "4")
    wait_until(lambda: bool(recorders(domain)), "the recorder")
    [pid] = recorders(domain)
    wait_until(lambda: _received(domain, pid) > 40, "messages")
    first = tmp_path / "first.mcap"
    code, out, err = hyphos_cli("record", "--snapshot", "-d", domain, "-o", str(first))
    assert code == 0, err
    assert "first.mcap" in out
    assert not path.exists()
    assert len(everything(first)["raw"]) > 5
    assert check(hyphos_cli, first)[0] == 0
    program.signal(signal.SIGUSR1)
    wait_until(lambda: bool(list(tmp_path.glob("crash_*.mcap"))), "the second snapshot")
    code, _, err = program.stop()
    assert code == 0, err
    [second] = tmp_path.glob("crash_*.mcap")
    assert len(everything(second)["raw"]) > len(everything(first)["raw"])
    code, _, err = hyphos_cli("record", "--snapshot", "-d", domain)
    assert code == 1
    assert "no recorder runs" in err


def _received(domain: str, pid: int) -> int:
    reply = ask(domain, pid, {"do": "status"})
    return sum(count["received"] for count in reply["channels"].values())


@pytest.mark.usefixtures("robot")
def test_a_recording_is_split(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    program = record(hyphos_start, domain, tmp_path / "run.mcap", "--split-s", "0.3")
    wait_until((tmp_path / "run_002.mcap").exists, "the third file")
    code, _, err = hyphos_cli("record", "--split-now", "-d", domain)
    assert code == 0, err
    code, _, err = program.stop()
    assert code == 0, err
    numbers: list[int] = []
    for path in sorted(tmp_path.glob("run_*.mcap")):
        assert check(hyphos_cli, path)[0] == 0
        found = everything(path)
        numbers += [int(bytes(item.payload)) for item in found["raw"]]  # type: ignore[call-overload]
        for name, count in counts(path).items():
            assert count["written"] == len(found[name])
            assert count["received"] == count["written"] + count["drop_queue"]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.usefixtures("robot")
def test_a_killed_recording_is_repaired_with_its_counters_and_plan(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    path, plan = tmp_path / "run.mcap", tmp_path / "robot.yaml"
    plan.write_text("hyphos: 1\nnodes:\n  talker: {plugin: x.so, params: {speed: 2}}\n")
    program = record(hyphos_start, domain, path, "--chunk-kb", "4", "--plan", str(plan))
    wait_until(lambda: path.exists() and INTERIM.encode() in path.read_bytes(), "the counters")
    program.signal(signal.SIGKILL)
    program.end()
    code, out = check(hyphos_cli, path)
    assert code == 1
    assert "writer was killed" in out or "cut off" in out
    scan = Scan(path).read()
    assert sum(scan.counts.values()) > 20
    mended = tmp_path / "mended.mcap"
    code, out, err = hyphos_cli("bag", "check", str(path), "--repair", str(mended))
    assert code == 0, err
    again = Scan(mended).read()
    assert again.problems == []
    assert again.counts.total() == scan.counts.total()
    assert {a.name: a.data for a in again.attachments}["robot.yaml"] == plan.read_bytes()
    metadata = dict(again.metadata)
    assert json.loads(metadata["hyphos.params.plan"]["talker"]) == {"speed": 2}
    for count in counts(mended).values():
        assert count["received"] == count["written"] + count["drop_queue"] + count["drop_disk"]


@pytest.mark.usefixtures("robot")
def test_a_full_disk_ends_the_recording_and_leaves_a_whole_file(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode != 0:
        pytest.skip("a file system can only be mounted by root")
    try:
        path = folder / "run.mcap"
        program = record(hyphos_start, domain, path, "--chunk-kb", "8", "--compression", "none")
        code, _, err = program.end()
        assert code == 1
        assert "the disk is full" in err
        assert "are lost" in err
        assert "free space" in err
        # Room for the index was kept: the file is a complete one.
        assert check(hyphos_cli, path) == (0, check(hyphos_cli, path)[1])
        found = everything(path)
        for name, count in counts(path).items():
            assert count["written"] == len(found[name])
            assert count["received"] == count["written"] + count["drop_queue"] + count["drop_disk"]
        assert sum(count["drop_disk"] for count in counts(path).values()) > 0
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_slow_reader_drops_are_counted_from_end_to_end(
    hyphos_start: Start, domain: str, tmp_path: Path
) -> None:
    """sent = written + Σ drops, with a queue far too small for what comes."""
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "--queue-mb", "1", "--chunk-kb", "64")
    with hyphos.Node.open("flood", domain=domain) as node:
        flood = node.publisher("flood", bytes)
        wait_until(lambda: flood.listeners == 1, "the recorder")
        payload = np.random.default_rng(1).bytes(200_000)
        sent = 0
        for _ in range(400):
            flood.publish(payload)
            sent += 1
        wait_until(lambda: _total(domain) >= sent, "the last message")
        assert program.stop()[0] == 0
    [count] = counts(path).values()
    assert count["written"] == len(everything(path)["flood"])
    assert count["received"] == count["written"] + count["drop_queue"]
    assert count["received"] + count["missing"] == sent


def _total(domain: str) -> int:
    [pid] = recorders(domain)
    [count] = ask(domain, pid, {"do": "status"})["channels"].values()
    return int(count["received"]) + int(count["missing"])


def test_replay_goes_step_by_step(hyphos_start: Start, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    make_recording(path)
    scans = Inbox()
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("scan", LaserScan, lambda scan: scans(scan.range_max))
        program = hyphos_start(
            "replay", str(path), "--step", "-c", "scan", "-d", domain, "--wait", "30", keys=True
        )
        for number in range(3):
            program.type("\n")
            assert scans.wait(number + 1) == list(range(number + 1))
            assert program.line().endswith("scan")
        program.type("q\n")
        assert program.end()[0] == 0
    assert len(scans.items) == 3
