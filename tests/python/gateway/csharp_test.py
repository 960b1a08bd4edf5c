"""The C# client in mono: the same messages as in Python, services, lifetimes, and `hyphos msg
csharp`.
"""

from __future__ import annotations

import base64
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
import yaml
from csharp_programs import ROOT, compiled, require_mono
from google.protobuf import descriptor_pool, message_factory
from helpers import Inbox, Program, Start, wait_until
from hyphos import Attached
from hyphos.csharp.generate import generate, standard_files
from hyphos.csharp.unity_metas import write_metas
from hyphos.msgs import Float64, Image, String, Vector3
from hyphos.ros.protos import compile_protos
from launched import is_heard

KINDS = """syntax = "proto3";
package test.kinds;
enum Colour { COLOUR_NONE = 0; COLOUR_RED = 1; COLOUR_DARK_BLUE = -7; }
message All {
  message Part { int32 value = 1; Part next = 2; }
  enum Status { OK = 0; BAD = 1; }
  double a = 1; float b = 2; int64 c = 3; uint64 d = 4; int32 e = 5; uint32 f = 6; sint32 g = 7;
  sint64 h = 8; fixed32 i = 9; fixed64 j = 10; sfixed32 k = 11; sfixed64 l = 12; bool m = 13;
  string n = 14; bytes o = 15; Colour p = 16; Status status = 17; Part part = 18;
  repeated double ra = 21; repeated float rb = 22; repeated int64 rc = 23; repeated uint64 rd = 24;
  repeated int32 re = 25; repeated uint32 rf = 26; repeated sint32 rg = 27; repeated sint64 rh = 28;
  repeated fixed32 ri = 29; repeated fixed64 rj = 30; repeated sfixed32 rk = 31;
  repeated sfixed64 rl = 32; repeated bool rm = 33; repeated string rn = 34; repeated bytes ro = 35;
  repeated Colour rp = 36; repeated Part rq = 37; repeated int32 unpacked = 38 [packed = false];
  optional int32 maybe = 41; optional string maybe_text = 42; optional bytes maybe_bytes = 43;
  oneof choice { int32 number = 51; string word = 52; Part piece = 53; bytes raw = 54; }
  map<string, int32> counts = 61; map<int32, Part> parts = 62;
  int32 all = 71; int32 get_type = 72; int32 types = 73; int32 class = 74; int32 has_part = 75;
  int32 far = 536870911;
}
"""


def kinds(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "kinds.proto").write_text(KINDS)
    return folder


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that runs the test program."""
    require_mono()
    place = tmp_path_factory.mktemp("csharp")
    sources = sorted((ROOT / "tests/clients/csharp").glob("*.cs"))
    return compiled(place, sources, [kinds(place / "protos")])


@pytest.fixture
def robot(program: list[str], start: Start, domain: str) -> Program:
    running = start(*program, "robot", domain)
    assert running.line() == "ready"
    return running


def fill(message: Any, rng: random.Random, depth: int = 0) -> None:
    """Fills some of the fields with random values."""
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.3 or (field.message_type and depth > 3):
            continue
        place = getattr(message, field.name)
        if hasattr(place, "add") or hasattr(place, "append"):
            for _ in range(rng.randrange(4)):
                if field.message_type:
                    fill(place.add(), rng, depth + 1)
                else:
                    place.append(value(field, rng))
        elif field.message_type and field.message_type.GetOptions().map_entry:
            fill_map(field, place, rng, depth)
        elif field.message_type:
            place.SetInParent()
            fill(place, rng, depth + 1)
        else:
            setattr(message, field.name, value(field, rng))


def fill_map(field: Any, place: Any, rng: random.Random, depth: int) -> None:
    key, kept = (field.message_type.fields_by_name[name] for name in ("key", "value"))
    for _ in range(rng.randrange(3)):
        if kept.message_type:
            fill(place[value(key, rng)], rng, depth + 1)
        else:
            place[value(key, rng)] = value(kept, rng)


def value(field: Any, rng: random.Random) -> Any:
    if field.enum_type:
        return rng.choice(field.enum_type.values).number
    if field.cpp_type == field.CPPTYPE_STRING:
        text = "".join(rng.choice("ab ὕφ😀\n") for _ in range(rng.randrange(6)))
        return text.encode() if field.type == field.TYPE_BYTES else text
    if field.cpp_type == field.CPPTYPE_BOOL:
        return rng.random() < 0.5
    if field.cpp_type in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
        number = rng.choice([0.0, -0.0, float("inf"), rng.uniform(-1e6, 1e6)])
        return float(np.float32(number)) if field.cpp_type == field.CPPTYPE_FLOAT else number
    bits = 64 if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64) else 32
    number = rng.getrandbits(rng.choice([1, 7, 8, bits]))
    if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64):
        number -= rng.choice([0, 2 ** (bits - 1)]) if number < 2 ** (bits - 1) else 2**bits
    return number


def every_class(folder: Path) -> list[Any]:
    """The classes of the standard messages and of the message with all kinds of fields."""
    pool = descriptor_pool.DescriptorPool()
    for file in compile_protos(kinds(folder)).file:
        pool.AddSerializedFile(file.SerializeToString())
    found = [
        message_factory.GetMessageClass(message)
        for file in standard_files()
        for message in file.message_types_by_name.values()
    ]
    return [*found, message_factory.GetMessageClass(pool.FindMessageTypeByName("test.kinds.All"))]


def random_messages(folder: Path, count: int) -> list[Any]:
    rng = random.Random(11)
    messages = []
    for cls in every_class(folder):
        for _ in range(count * 10 if cls.DESCRIPTOR.name == "All" else count):
            message = cls()
            fill(message, rng)
            messages.append(message)
    return messages


def lines_of(messages: list[Any]) -> str:
    return "".join(
        f"{m.DESCRIPTOR.full_name} {base64.b64encode(m.SerializeToString()).decode()}\n"
        for m in messages
    )


def test_csharp_and_python_messages_are_equal(program: list[str], tmp_path: Path) -> None:
    messages = random_messages(tmp_path / "protos", 40)
    done = subprocess.run(
        [*program, "convert"], input=lines_of(messages), capture_output=True, text=True, check=True
    )
    answers = done.stdout.splitlines()
    assert len(answers) == len(messages)
    for message, answer in zip(messages, answers, strict=True):
        again = type(message).FromString(base64.b64decode(answer))
        assert again == message
        assert again.SerializeToString(deterministic=True) == message.SerializeToString(
            deterministic=True
        )


def test_damaged_messages_are_refused_without_overreads(program: list[str], tmp_path: Path) -> None:
    messages = random_messages(tmp_path / "protos", 10)
    done = subprocess.run(
        [*program, "damage"], input=lines_of(messages), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    good, bad = map(int, done.stdout.split())
    assert good + bad == 200 * len(messages)
    assert bad > 1000


def test_the_client_passes_its_own_checks(program: list[str], domain: str) -> None:
    done = subprocess.run(
        [*program, "checks", domain], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") >= 13


@pytest.mark.cell("worlds", "Hyphos C#", "topic")
def test_images_reach_csharp_and_return(
    robot: Program,
    node: hyphos.Node,
    inbox: Inbox,
    domain: str,
) -> None:
    node.subscribe("inverted", Attached[Image], inbox)
    out = node.publisher("image", Attached[Image])
    end = node.publisher("end", String)
    wait_until(lambda: out.listeners == 1 and end.listeners == 1 and is_heard(domain, "inverted"))
    pixels = np.arange(3 * 640 * 480, dtype=np.uint8)
    out.publish(Attached(Image(width=640, height=480, encoding="rgb8"), [pixels]))
    [back] = inbox.wait(1)
    assert back.head == Image(width=640, height=480, encoding="rgb8")
    assert np.array_equal(np.frombuffer(back.buffers[0], np.uint8), 255 - pixels)
    end.publish(String(data="."))
    assert robot.popen.wait(60) == 0


def test_a_killed_client_blocks_no_other_process(
    program: list[str], start: Start, node: hyphos.Node, inbox: Inbox, domain: str
) -> None:
    rng = random.Random(3)
    numbered = Inbox()  # numbered messages, since late messages of killed clients may still arrive
    node.subscribe(
        "inverted", Attached[Image], lambda back: (numbered if back.head.width else inbox)(back)
    )
    out = node.publisher("image", Attached[Image])
    pixels = np.zeros(1_000_000, np.uint8)
    for _ in range(8):
        running = start(*program, "robot", domain)
        assert running.line() == "ready"
        wait_until(lambda: out.listeners == 1)
        for _ in range(rng.randrange(30)):
            assert out.publish(Attached(Image(), [pixels]))
        running.popen.kill()
        running.popen.wait(60)
        assert out.publish(Attached(Image(), [pixels]))
        wait_until(lambda: out.listeners == 0)
    # All slots are reclaimed: the next client receives every image completely.
    start(*program, "robot", domain)
    wait_until(lambda: out.listeners == 1 and is_heard(domain, "inverted"))
    inbox.items.clear()
    for count in range(1, 51):
        assert out.publish(Attached(Image(width=count), [pixels]))
        back = numbered.wait(count)[-1]
        assert back.head.width == count
        assert np.all(np.frombuffer(back.buffers[0], np.uint8) == 255)


@pytest.mark.usefixtures("robot")
@pytest.mark.cell("worlds", "Hyphos C#", "service")
def test_csharp_offers_a_service_and_calls_one(
    node: hyphos.Node,
    inbox: Inbox,
    domain: str,
) -> None:
    length = node.client("length", Vector3, Float64)
    length.wait_for_server(timeout_ms=60_000)
    assert length.call(Vector3(x=3, y=4), timeout_ms=60_000).data == 5
    with pytest.raises(hyphos.Error, match="must be 0 or more") as refused:
        length.call(Vector3(x=-1), timeout_ms=60_000)
    assert refused.value.code == "out_of_range"

    node.service("sum", Vector3, Float64, lambda v: Float64(data=v.x + v.y + v.z))
    node.subscribe("said", String, inbox)
    ask = node.publisher("ask", Vector3)
    wait_until(lambda: ask.listeners == 1 and is_heard(domain, "said"))
    ask.publish(Vector3(x=1, y=2, z=3))
    [said] = inbox.wait(1)
    assert said.data == "sum is 6"


def test_a_process_that_exits_early_ends_cleanly(program: list[str], domain: str) -> None:
    for _ in range(5):
        done = subprocess.run(
            [*program, "leave", domain], capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "leaving\n", "")


def test_scripts_can_be_reloaded_while_messages_arrive(program: list[str], domain: str) -> None:
    done = subprocess.run(
        [*program, "reload", domain], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "reloaded\n", "")


def test_files_other_than_proto3_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "old.proto").write_text('syntax = "proto2"; package old; message A {}\n')
    with pytest.raises(hyphos.Error, match=r"old\.proto is not proto3"):
        generate([tmp_path], [], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_writes_the_standard_messages(hyphos_cli: Any, tmp_path: Path) -> None:
    code, output, errors = hyphos_cli("msg", "csharp", "-o", "made")
    assert code == 0, errors
    assert "messages in 8 files" in output
    text = (tmp_path / "made" / "HyphosMsgsSensor.cs").read_text()
    assert "public sealed class LaserScan : global::Hyphos.IMessage" in text


def test_members_get_names_that_csharp_accepts(tmp_path: Path) -> None:
    generate([kinds(tmp_path / "protos")], [], tmp_path / "out")
    text = (tmp_path / "out" / "Kinds.cs").read_text()
    for line in ("public int All_;", "public int GetType_;", "public int Types_;"):
        assert line in text
    assert "DarkBlue = -7," in text


def make_package(place: Path) -> Path:
    """Makes a package as clients/csharp/CMakeLists.txt does, with an empty library."""
    shutil.copytree(ROOT / "clients/csharp", place)
    (place / "CMakeLists.txt").unlink()
    generate([], [], place / "Runtime/Messages")
    library = place / "Runtime/Plugins/Linux/x86_64/libhyphos_c.so"
    library.parent.mkdir(parents=True)
    library.touch()
    write_metas(place)
    return place


def test_each_package_file_has_a_meta_with_a_unique_guid(tmp_path: Path) -> None:
    package = make_package(tmp_path / "first")
    metas = {path: path.read_text() for path in package.rglob("*.meta")}
    kept = [path for path in package.rglob("*") if path.suffix != ".meta"]
    assert {path.with_name(path.name + ".meta") for path in kept} - set(metas) == {
        package / "Samples~.meta"  # Unity does not import it
    }
    assert len(metas) == len(kept) - 1
    assert len(metas) > 30
    contents = {path: yaml.load(text, yaml.BaseLoader) for path, text in metas.items()}
    guids = [content["guid"] for content in contents.values()]
    assert len(set(guids)) == len(guids)
    assert all(len(guid) == 32 for guid in guids)
    for path, content in contents.items():
        assert ("folderAsset" in content) == path.with_suffix("").is_dir(), path
    again = make_package(tmp_path / "second")
    assert metas == {
        package / path.relative_to(again): path.read_text() for path in again.rglob("*.meta")
    }


def test_unity_loads_the_library_in_editor_and_linux_players(tmp_path: Path) -> None:
    package = make_package(tmp_path / "package")
    meta = package / "Runtime/Plugins/Linux/x86_64/libhyphos_c.so.meta"
    platforms = yaml.safe_load(meta.read_text())["PluginImporter"]["platformData"]
    enabled = {
        next(iter(each["first"].items())): each["second"]["settings"]["CPU"]
        for each in platforms
        if each["second"]["enabled"]
    }
    assert enabled == {("Editor", "Editor"): "x86_64", ("Standalone", "Linux64"): "x86_64"}


@pytest.mark.usefixtures("program")
def test_the_package_compiles_with_the_symbols_of_unity(tmp_path: Path) -> None:
    generate([], [], tmp_path / "messages")
    folders = [ROOT / "clients/csharp", ROOT / "tests/clients/csharp/unity", tmp_path]
    sources = sorted(str(path) for folder in folders for path in folder.rglob("*.cs"))
    symbols = (
        "UNITY_5_3_OR_NEWER;UNITY_2020_1_OR_NEWER;UNITY_EDITOR;ENABLE_UNITY_COLLECTIONS_CHECKS"
    )
    words = ["mcs", "-unsafe", "-langversion:7", "-warnaserror+", f"-define:{symbols}"]
    done = subprocess.run(
        [*words, "-target:library", f"-out:{tmp_path}/package.dll", *sources],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
