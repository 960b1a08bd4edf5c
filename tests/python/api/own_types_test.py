"""Tools decode a user's own types without options, because each process announces its types."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import hyphos
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from helpers import Cli, Start, repeating, wait_until
from hyphos import Raw, TypeId, _hyphos
from hyphos.recording.control import recorders
from hyphos.recording.mcap_scan import Scan
from hyphos.ros.pool import Pool
from hyphos.ros.protos import compile_protos, descriptors_of, python_modules
from hyphos.ros.typebook import TypeBook, descriptor_set
from hyphos.types import definition
from recordings import counted, record

SAFETY = """syntax = "proto3";
package rover;
import "hyphos/msgs/std.proto";
import "rover/zone.proto";
message Safety {
  hyphos.msgs.Header header = 1;
  enum Mode { CLEAR = 0; STOP = 1; }
  Mode mode = 2;
  repeated Zone zones = 3;
  map<string, double> limits = 4;
  optional int32 retries = 5;
  oneof cause { string text = 6; int64 code = 7; }
}
"""
ZONE = 'syntax = "proto3"; package rover; message Zone { double radius = 1; string name = 2; }'
TEXT = "mode: STOP\nzones:\n- radius: 1.5\n  name: front\n"


def write_protos(folder: Path) -> Path:
    """A folder with two files of which one imports the other, and one of Hyphos."""
    (folder / "rover").mkdir(parents=True)
    (folder / "rover/safety.proto").write_text(SAFETY)
    (folder / "rover/zone.proto").write_text(ZONE)
    return folder


@pytest.fixture(scope="session")
def rover(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The Python module of rover/safety.proto."""
    folder = tmp_path_factory.mktemp("rover")
    python_modules([write_protos(folder / "protos")], folder / "made")
    sys.path.insert(0, str(folder / "made"))
    yield importlib.import_module("rover.safety_pb2")
    sys.path.remove(str(folder / "made"))


@pytest.fixture
def safety(rover: ModuleType) -> Any:
    zone = importlib.import_module("rover.zone_pb2").Zone(radius=1.5, name="front")
    return rover.Safety(mode=1, zones=[zone])


def echo(cli: Cli, domain: str, channel: str, *words: str) -> str:
    limits = ("-n", "1", "--timeout", "60", "-d", domain)
    code, out, err = cli("channel", "echo", channel, *limits, *words)
    assert code == 0, err
    return out


def test_echo_decodes_a_type_that_a_publisher_announces(
    node: hyphos.Node, hyphos_cli: Cli, domain: str, safety: Any
) -> None:
    publisher = node.publisher("safety", type(safety))
    with repeating(lambda: publisher.publish(safety)):
        out = echo(hyphos_cli, domain, "safety")
        assert TEXT in out
        assert "bytes" not in out
        assert json.loads(echo(hyphos_cli, domain, "safety", "--json"))["mode"] == "STOP"


def test_pub_takes_a_type_that_only_a_subscriber_announces(
    node: hyphos.Node, hyphos_cli: Cli, domain: str, safety: Any, inbox: Any
) -> None:
    node.subscribe("safety", type(safety), inbox)
    words = ("channel", "pub", "safety", "rover.Safety", TEXT, "--wait", "60", "-d", domain)
    code, _, err = hyphos_cli(*words)
    assert code == 0, err
    assert inbox.wait(1) == [safety]


def test_services_and_actions_announce_all_their_types(
    node: hyphos.Node, hyphos_cli: Cli, domain: str, safety: Any
) -> None:
    kind = type(safety)
    node.service("check", kind, kind, lambda asked: kind(text=f"{len(asked.zones)} zones"))
    node.action("watch", kind, kind, kind, lambda goal: goal.value)
    code, out, err = hyphos_cli("service", "call", "check", TEXT, "-d", domain)
    assert (code, "text: 1 zones" in out) == (0, True), out + err
    code, out, err = hyphos_cli("action", "send", "watch", TEXT, "-d", domain)
    assert (code, TEXT in out) == (0, True), out + err


def test_a_client_of_a_service_announces_its_types(domain: str, safety: Any) -> None:
    with hyphos.Node.open("asker", domain=domain) as asker:
        asker.client("check", type(safety), bytes)
        assert TypeBook(domain=domain).find("rover.Zone") is not None
    del asker
    assert TypeBook(domain=domain).find("rover.Zone") is None, "its files end with the process"


def test_standard_types_cost_no_announcement(node: hyphos.Node, domain: str) -> None:
    node.publisher("scan", hyphos.msgs.LaserScan)
    node.publisher("raw", bytes)
    assert _hyphos.announced_types(domain) == []
    assert node.runtime.announced_types() == b""


def test_a_file_is_announced_once(node: hyphos.Node, domain: str, safety: Any) -> None:
    for number in range(20):
        node.publisher(f"safety{number}", type(safety))
    [types] = _hyphos.announced_types(domain)
    files = FileDescriptorSet.FromString(types.descriptors)
    assert [file.name for file in files.file] == ["rover/zone.proto", "rover/safety.proto"]
    assert (types.pid, types.process) == (os.getpid(), "main")
    assert node.runtime.announced_types() == types.descriptors == definition(type(safety))


def test_announcements_are_bounded(node: hyphos.Node, domain: str) -> None:
    def file(number: int, size: int) -> bytes:
        files = FileDescriptorSet()
        files.file.add(name=f"big/{number}.proto", package="x" * size)
        return files.SerializeToString()

    node.runtime.announce_types(file(0, 3 << 20))
    with pytest.raises(hyphos.Error, match="at most 4 MiB") as caught:
        node.runtime.announce_types(file(1, 1 << 20))
    assert caught.value.code == "exhausted"
    node.runtime.announce_types(file(2, 1000))
    [types] = _hyphos.announced_types(domain)
    files = FileDescriptorSet.FromString(types.descriptors).file
    assert [one.name for one in files] == ["big/0.proto", "big/2.proto"]
    with pytest.raises(hyphos.Error, match="not a serialized FileDescriptorSet"):
        node.runtime.announce_types(b"\xff\xff")


def test_damaged_announcements_hide_no_others(node: hyphos.Node, domain: str, safety: Any) -> None:
    node.publisher("safety", type(safety))
    folder = Path(f"/dev/shm/hyphos-{os.getuid()}/{domain}")
    [announced] = folder.glob("*.types")
    damaged = announced.with_name(announced.name.replace(".0.types", ".1.types"))
    damaged.write_bytes(os.urandom(4096))
    assert TypeBook(domain=domain).find("rover.Safety") is None, "one set, which is damaged"
    damaged.unlink()
    assert TypeBook(domain=domain).find("rover.Safety") is not None


def test_two_processes_may_name_different_files_alike(domain: str, safety: Any) -> None:
    other = FileDescriptorSet()
    file = other.file.add(name="rover/safety.proto", package="tanker", syntax="proto3")
    file.message_type.add(name="Level").field.add(name="litres", number=1, type=1, label=1)
    with (
        hyphos.Node.open("rover", process="rover", domain=domain) as first,
        hyphos.Node.open("tanker", process="tanker", domain=domain) as second,
    ):
        first.publisher("safety", type(safety))
        second.runtime.announce_types(other.SerializeToString())
        book = TypeBook(domain=domain)
        assert book.get("tanker.Level")(litres=2.5).litres == 2.5
        assert book.get("rover.Safety")(mode=1).mode == 1
        assert book.sources()["tanker.Level"] == ["tanker"]


def test_two_definitions_of_one_name_are_reported_once(
    domain: str, safety: Any, hyphos_cli: Cli
) -> None:
    older = FileDescriptorSet.FromString(definition(type(safety)))
    older.file[1].name = "old/safety.proto"
    older.file[1].message_type[0].field[1].name = "state"
    same = FileDescriptorSet.FromString(definition(type(safety)))
    same.file[1].name = "moved/safety.proto"
    same.file[1].message_type.add(name="Unrelated")
    with (
        hyphos.Node.open("rover", process="rover", domain=domain) as first,
        hyphos.Node.open("moved", process="moved", domain=domain) as third,
    ):
        publisher = first.publisher("safety", type(safety))
        third.runtime.announce_types(same.SerializeToString())
        words = ("channel", "echo", "safety", "-n", "2", "--timeout", "60", "-d", domain)
        with repeating(lambda: publisher.publish(safety)):
            assert "warning" not in hyphos_cli(*words)[2], "the type itself is the same"
            with hyphos.Node.open("old", process="old", domain=domain) as second:
                second.runtime.announce_types(older.SerializeToString())
                code, out, err = hyphos_cli(*words)
    assert code == 0, err
    assert "mode: STOP\n" in out or "state: STOP\n" in out
    assert err.count("warning: ") == 1
    assert "announce different definitions of rover.Safety. The one of '" in err
    assert f"'old' (pid {os.getpid()})" in err


def test_pub_announces_the_types_of_its_options(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    own = ("-I", str(write_protos(tmp_path / "protos")))
    words = ("channel", "pub", "safety", "rover.Safety", TEXT, "--rate", "20", "-d", domain)
    talker = hyphos_start(*words, *own)
    assert TEXT in echo(hyphos_cli, domain, "safety")
    assert talker.stop()[0] == 0


def test_echo_of_an_unknown_type_prints_bytes_and_the_remedies(
    node: hyphos.Node, hyphos_cli: Cli, domain: str, safety: Any
) -> None:
    publisher = raw_publisher(node, "safety")
    with repeating(lambda: publisher.publish((safety.SerializeToString(), []))):
        out = echo(hyphos_cli, domain, "safety")
    assert "no process announces rover.Safety, so the output is bytes: give --proto-path" in out
    assert safety.SerializeToString().hex(" ")[:20] in out


def raw_publisher(node: hyphos.Node, channel: str) -> Any:
    return node.publisher(channel, Raw(TypeId("rover.Safety", "protobuf")))


# --- Folders ------------------------------------------------------------------------------------


def test_folders_are_compiled_together(tmp_path: Path) -> None:
    """They import each other, and Hyphos' own files, which no option names."""
    (tmp_path / "a/rover").mkdir(parents=True)
    (tmp_path / "b/rover").mkdir(parents=True)
    (tmp_path / "a/rover/safety.proto").write_text(SAFETY)
    (tmp_path / "b/rover/zone.proto").write_text(ZONE)
    book = TypeBook([tmp_path / "a", tmp_path / "b"])
    assert book.get("rover.Safety")(zones=[{"radius": 2}]).zones[0].radius == 2


def test_a_folder_inside_another_is_compiled_once(tmp_path: Path) -> None:
    write_protos(tmp_path / "protos")
    assert TypeBook([tmp_path, tmp_path / "protos"]).find("rover.Safety") is not None


def test_builds_and_environments_are_no_sources(tmp_path: Path) -> None:
    write_protos(tmp_path)
    for folder, mark in (("build", "CMakeCache.txt"), ("venv", "pyvenv.cfg"), (".git", "x")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / mark).touch()
        (tmp_path / folder / "broken.proto").write_text("nonsense")
    assert TypeBook([tmp_path]).find("rover.Safety") is not None


def test_a_folder_may_be_named_from_any_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_protos(tmp_path / "protos")
    (tmp_path / "rover").mkdir()
    (tmp_path / "rover/zone.proto").write_text("another file of this name, outside of the folder")
    monkeypatch.chdir(tmp_path)
    assert TypeBook([Path("protos")]).find("rover.Safety") is not None


def test_a_mistake_in_a_file_names_its_line(tmp_path: Path) -> None:
    write_protos(tmp_path)
    (tmp_path / "rover/zone.proto").write_text('syntax = "proto3";\nmessage Zone { dubble r = 1; }')
    with pytest.raises(hyphos.Error, match=r"rover/zone\.proto:2:16: \"dubble\" is not defined"):
        compile_protos(tmp_path)


# --- Recordings ---------------------------------------------------------------------------------


def recorded(domain: str) -> bool:
    """True if a recorder has received a message of the channel."""
    return bool(recorders(domain)) and counted(domain, "safety") > 0


def schema_of(path: Path, channel: str) -> tuple[str, bytes]:
    scan = Scan(path).read()
    [found] = [one for one in scan.channels.values() if one.topic == channel]
    schema = scan.schemas[found.schema_id]
    return schema.encoding, schema.data


def test_a_recording_has_the_schema_that_a_process_announces(
    node: hyphos.Node,
    hyphos_start: Start,
    hyphos_cli: Cli,
    domain: str,
    tmp_path: Path,
    safety: Any,
) -> None:
    publisher = node.publisher("safety", type(safety))
    path = tmp_path / "run.mcap"
    recorder = record(hyphos_start, domain, path)
    with repeating(lambda: publisher.publish(safety)):
        wait_until(lambda: recorded(domain), "the recorder")
    code, _, err = recorder.stop()
    assert (code, "without its schema" in err) == (0, False), err
    whole = descriptor_set(type(safety)).SerializeToString(deterministic=True)
    assert schema_of(path, "safety") == ("protobuf", whole)
    # Whoever plays the recording announces its types.
    publisher.close()
    player = hyphos_start("replay", str(path), "--loop", "-d", domain, "--quiet")
    wait_until(lambda: any(t.pid == player.popen.pid for t in _hyphos.announced_types(domain)))
    assert TEXT in echo(hyphos_cli, domain, "safety")
    player.stop()


def test_a_missing_schema_is_reported_even_in_a_quiet_recorder(
    node: hyphos.Node, hyphos_start: Start, domain: str, tmp_path: Path, safety: Any
) -> None:
    publisher = raw_publisher(node, "safety")
    path = tmp_path / "run.mcap"
    recorder = record(hyphos_start, domain, path, "--quiet")
    with repeating(lambda: publisher.publish((safety.SerializeToString(), []))):
        wait_until(lambda: recorded(domain), "the recorder")
    code, _, err = recorder.stop()
    assert code == 0
    assert "warning: rover.Safety is recorded without its schema" in err
    assert schema_of(path, "safety") == ("", b"")


# --- `protos:` of a plan ------------------------------------------------------------------------

RAW_TALKER = """
from hyphos import Raw, TypeId

class Talker:
    def __init__(self, node):
        out = node.publisher("safety", Raw(TypeId("rover.Safety", "protobuf")))
        message = bytes.fromhex("{message}")
        node.every(lambda: out.publish((message, [])), rate_hz=50)
"""


@pytest.fixture
def raw_robot(tmp_path: Path, domain: str, safety: Any) -> Path:
    """A plan whose node publishes a type by name only."""
    text = RAW_TALKER.replace("{message}", safety.SerializeToString().hex())
    (tmp_path / "talker.py").write_text(text)
    write_protos(tmp_path / "msgs")
    plan = tmp_path / "robot.yaml"
    plan.write_text(
        f"hyphos: 1\ndomain: {domain}\nprotos: [msgs]\n"
        "nodes: {talker: {python: talker.py:Talker}}\nrecord: {path: run.mcap}\n"
    )
    return plan


@pytest.mark.parametrize("kind", ["folder", "descriptors"])
def test_tools_decode_the_types_of_the_plan(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, raw_robot: Path, kind: str
) -> None:
    if kind == "descriptors":
        made = raw_robot.with_name("msgs.pb")
        made.write_bytes(descriptors_of([raw_robot.with_name("msgs")]))
        raw_robot.write_text(raw_robot.read_text().replace("[msgs]", "[msgs.pb]"))
    run = hyphos_start("run", str(raw_robot), "--record")
    recording = raw_robot.with_name("run.mcap")
    wait_until(lambda: recorded(domain), "the recorder")
    assert TEXT in echo(hyphos_cli, domain, "safety")
    code, out, err = run.stop()
    assert (code, "without its schema" in out + err) == (0, False), out + err
    encoding, schema = schema_of(recording, "safety")
    pool = Pool()
    pool.add(FileDescriptorSet.FromString(schema), "the recording")
    assert (encoding, pool.find("rover.Zone") is not None) == ("protobuf", True)


def test_a_plan_with_missing_or_wrong_protos_is_refused(hyphos_cli: Cli, raw_robot: Path) -> None:
    text = raw_robot.read_text()
    raw_robot.write_text(text.replace("[msgs]", "[msgs, absent]"))
    code, _, err = hyphos_cli("run", str(raw_robot), "--for", "1")
    assert code == 1
    assert "robot.yaml:3:16: protos: '" in err
    assert "absent' does not exist" in err
    (raw_robot.parent / "msgs/rover/zone.proto").write_text("nonsense")
    raw_robot.write_text(text)
    code, _, err = hyphos_cli("run", str(raw_robot), "--for", "1")
    assert code == 1
    assert "rover/zone.proto:1:1" in err


# --- `hyphos msg` -------------------------------------------------------------------------------

SHOWN = """message Safety {
  enum Mode {
    CLEAR = 0;
    STOP = 1;
  }
  hyphos.msgs.Header header = 1;
  rover.Safety.Mode mode = 2;
  repeated rover.Zone zones = 3;
  map<string, double> limits = 4;
  optional int32 retries = 5;
  oneof cause {
    string text = 6;
    int64 code = 7;
  }
}
"""


def test_msg_lists_and_shows_types_in_reach(
    node: hyphos.Node, hyphos_cli: Cli, domain: str, safety: Any
) -> None:
    publisher = node.publisher("safety", type(safety))
    code, out, err = hyphos_cli("msg", "list", "rover.*", "--json", "-d", domain)
    assert code == 0, err
    assert json.loads(out) == [
        {"name": "rover.Safety", "sources": ["main"], "channels": ["safety"]},
        {"name": "rover.Zone", "sources": ["main"], "channels": []},
    ]
    _, out, _ = hyphos_cli("msg", "list", "-d", domain)
    assert "hyphos.msgs.LaserScan" in out
    assert "rover.Safety" in out
    code, out, err = hyphos_cli("msg", "show", "rover.Safety", "-d", domain)
    assert (code, out) == (
        0,
        "// rover.Safety: rover/safety.proto, known from main\n" + SHOWN,
    ), err
    code, out, _ = hyphos_cli("msg", "show", "rover.Safety", "--json", "-d", domain)
    assert json.loads(out)["fields"][2] == {
        "name": "zones", "number": 3, "type": "rover.Zone", "repeated": True,
    }  # fmt: skip
    publisher.close()


def test_msg_shows_standard_types_and_types_of_ros_without_a_path(
    hyphos_cli: Cli, domain: str
) -> None:
    code, out, err = hyphos_cli("msg", "show", "LaserScan", "-d", domain)
    assert code == 0, err
    assert "  repeated float ranges = " in out
    code, out, err = hyphos_cli("msg", "show", "std_srvs/SetBool")
    assert code == 0, err
    assert "  bool data\n" in out
    assert "type_hash RIHS01_" in out
    code, _, err = hyphos_cli("msg", "show", "LaserScn", "-d", domain)
    assert code == 1
    assert "did you mean 'hyphos.msgs.LaserScan'?" in err
    code, _, err = hyphos_cli("msg", "show", "sensor_msgs/LaserScn")
    assert code == 1
    assert "did you mean 'LaserScan'?" in err


def test_msg_makes_python_modules_of_a_folder(hyphos_cli: Cli, tmp_path: Path) -> None:
    protos = write_protos(tmp_path / "protos")
    code, out, err = hyphos_cli("msg", "python", str(protos), "-o", str(tmp_path / "src"))
    assert code == 0, err
    assert out.split() == [str(tmp_path / f"src/rover/{n}_pb2.py") for n in ("safety", "zone")]
    assert (tmp_path / "src/rover/safety_pb2.pyi").exists()
