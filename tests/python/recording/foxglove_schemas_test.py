"""Recordings with the schemas that Foxglove draws: `hyphos record --schemas foxglove` and
`hyphos bag convert --to foxglove`. The library `mcap` reads them, with the schemas in the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hyphos
import pytest
from foxglove import messages as fox
from helpers import Cli, Start, wait_until
from hyphos import Attached, msgs
from hyphos.recording import attached
from hyphos.recording.control import recorders
from hyphos.recording.mcap_file import McapRecording
from hyphos.ros.typebook import TypeBook
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory
from recordings import SECOND, counted, counts, record
from ros_recordings import write_ros1

CELLS = 12


def scan() -> msgs.LaserScan:
    made = msgs.LaserScan(angle_min=-1, angle_max=1, ranges=[1, 2, 3])
    made.header.stamp_ns, made.header.frame_id = 5 * SECOND, "laser"
    return made


def frames() -> msgs.TfMessage:
    made = msgs.TfMessage()
    one = made.transforms.add(child_frame_id="base")
    one.header.stamp_ns, one.header.frame_id = 5 * SECOND, "map"
    return made


def shapes() -> msgs.MarkerArray:
    made = msgs.MarkerArray()
    made.markers.add(ns="old", action=msgs.Marker.DELETEALL)
    goal = made.markers.add(ns="goal", id=3, type=msgs.Marker.SPHERE, lifetime_ns=2 * SECOND)
    goal.header.stamp_ns, goal.header.frame_id = 5 * SECOND, "map"
    goal.scale.x = goal.scale.y = goal.scale.z = 0.5
    return made


def picture(size: int = CELLS) -> tuple[msgs.Image, bytes]:
    return msgs.Image(width=4, height=3, step=4, encoding="mono8"), bytes(range(size))


def read(path: Path) -> dict[str, list[tuple[str, Any]]]:
    """The (schema, message) of each topic, as any MCAP tool reads them."""
    found: dict[str, list[tuple[str, Any]]] = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for schema, channel, _, message in reader.iter_decoded_messages():
            assert schema is not None
            found.setdefault(channel.topic, []).append((schema.name, message))
    return found


def schemas(path: Path) -> dict[str, bytes]:
    with path.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    return {schema.name: schema.data for schema in summary.schemas.values()}


def expect_drawn(path: Path) -> None:
    """The channels of the tests in the schemas as the SDK publishes them."""
    found = read(path)
    name, made = found["scan"][0]
    assert (name, list(made.ranges)) == ("foxglove.LaserScan", [1, 2, 3])
    assert (made.timestamp.seconds, made.frame_id) == (5, "laser")
    name, made = found["tf"][0]
    assert (name, made.transforms[0].child_frame_id) == ("foxglove.FrameTransforms", "base")
    name, made = found["camera"][0]
    assert (name, bytes(made.data)) == ("foxglove.RawImage", bytes(range(CELLS)))
    name, made = found["shapes"][0]
    [entity] = made.entities
    assert (name, entity.id, entity.spheres[0].size.x) == ("foxglove.SceneUpdate", "goal:3", 0.5)
    assert (entity.timestamp.seconds, entity.frame_id, entity.lifetime.seconds) == (5, "map", 2)
    assert found["words"][0][0] == "hyphos.msgs.String"
    inside = schemas(path)
    for known in (fox.LaserScan, fox.FrameTransforms, fox.RawImage, fox.SceneUpdate):
        assert inside[known.get_schema().name] == known.get_schema().data


def test_a_recorder_writes_the_schemas_of_foxglove(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    latched = hyphos.Policy(latched=True)
    with hyphos.Node.open("robot", domain=domain) as node:
        laser = node.publisher("scan", msgs.LaserScan, policy=latched)
        tree = node.publisher("tf", msgs.TfMessage, policy=latched)
        words = node.publisher("words", msgs.String, policy=latched)
        laser.publish(scan())
        tree.publish(frames())
        view = node.publisher("shapes", msgs.MarkerArray, policy=latched)
        view.publish(shapes())
        words.publish(msgs.String(data="word"))
        camera = node.publisher("camera", Attached[msgs.Image])
        program = record(hyphos_start, domain, path, "--schemas", "foxglove")
        wait_until(
            lambda: (
                bool(recorders(domain))
                and camera.listeners == 1
                and all(counted(domain, name) for name in ("scan", "tf", "words", "shapes"))
            ),
            "the recorder",
        )
        camera.publish(Attached(picture()[0], [picture()[1]]))
        camera.publish(
            Attached(picture()[0], [picture(CELLS - 1)[1]])
        )  # its head declares one byte more
        wait_until(lambda: counted(domain, "camera") == 2, "both images")
        code, _, err = program.stop()
    assert code == 0, err
    expect_drawn(path)
    count = counts(path)["camera"]
    assert (count["received"], count["written"], count["drop_convert"]) == (2, 1, 1)
    assert "camera: 1 of 2 lost: 1 not convertible to the schema" in err
    code, out, err = hyphos_cli("bag", "check", str(path))
    assert code == 0, out + err
    assert "1 drop_convert" in hyphos_cli("bag", "info", str(path))[1]


def own_recording(path: Path) -> None:
    recording = McapRecording(path, TypeBook())
    values: dict[str, tuple[Any, list[bytes]]] = {
        "scan": (scan(), []),
        "tf": (frames(), []),
        "shapes": (shapes(), []),
        "words": (msgs.String(data="word"), []),
        "camera": (picture()[0], [picture()[1]]),
    }
    for name, (message, buffers) in values.items():
        encoding = "attached" if buffers else "protobuf"
        kind = hyphos.TypeId(message.DESCRIPTOR.full_name, encoding)
        number = recording.add_channel(name, kind.name, encoding, kind.hash, {})
        data = message.SerializeToString()
        data = attached.join(data, buffers) if buffers else data
        recording.write(number, SECOND, SECOND, 1, data)
        if name == "camera":
            short = attached.join(message.SerializeToString(), [b"\0"])
            recording.write(number, 2 * SECOND, 2 * SECOND, 2, short)
    recording.attach("note.txt", "text/plain", b"kept")
    recording.close({})


def test_a_recording_is_converted_for_foxglove(hyphos_cli: Cli, tmp_path: Path) -> None:
    path, to = tmp_path / "run.mcap", tmp_path / "shown.mcap"
    own_recording(path)
    code, out, err = hyphos_cli("bag", "convert", str(path), "--to", "foxglove", "-o", str(to))
    assert code == 3, out + err
    assert "left out: camera, 1 messages: the buffer has 1 bytes" in out
    expect_drawn(to)
    with to.open("rb") as file:
        assert [one.data for one in make_reader(file).iter_attachments()] == [b"kept"]


def test_a_ros_recording_is_converted_for_foxglove(hyphos_cli: Cli, tmp_path: Path) -> None:
    bag, to = tmp_path / "run.bag", tmp_path / "shown.mcap"
    write_ros1(bag)
    code, out, err = hyphos_cli("bag", "convert", str(bag), "--to", "foxglove", "-o", str(to))
    assert code == 3, out + err  # shape_msgs/Plane has no counterpart in Hyphos
    assert {name for name, _ in read(to)["front/scan"]} == {"foxglove.LaserScan"}


@pytest.mark.parametrize(
    "words", [["record", "--schemas", "rviz"], ["record", "--schemas", "Foxglove"]]
)
def test_unknown_schemas_are_refused(hyphos_cli: Cli, words: list[str]) -> None:
    code, _, err = hyphos_cli(*words)
    assert code == 2
    assert "give hyphos or foxglove" in " ".join(err.split())
