"""ROS types as protobuf: `hyphos msg import`, and the content of the descriptors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from helpers import Cli
from hyphos.ros.definition import Count, Field, Flavour, Message, Name, Type
from hyphos.ros.importing import import_types
from hyphos.ros.md5 import md5_sum
from hyphos.ros.type_hash import type_hash
from hyphos.ros.typebook import TypeBook
from ros_corpus import HERE, PACKAGES, RandomDefinitions, write_package, write_types_of_ros2

TIMES = {"TIME": "Time", "DURATION": "Duration"}


class Descriptors:
    """The output of protoc for a folder, and the options in it."""

    def __init__(self, folder: Path) -> None:
        out = folder / "set.pb"
        names = sorted(str(one.relative_to(folder)) for one in folder.rglob("*.proto"))
        words = ["protoc", "-I", str(folder), "--include_imports", "-o", str(out), *names]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        self._pool = descriptor_pool.DescriptorPool()
        self.files = FileDescriptorSet.FromString(out.read_bytes()).file
        for file in self.files:
            self._pool.AddSerializedFile(file.SerializeToString())

    def message(self, name: str) -> Any:
        return self._pool.FindMessageTypeByName(name)

    def service(self, name: str) -> Any:
        return self._pool.FindServiceByName(name)

    def told(self, thing: Any, extension: str) -> Any:
        """The option of a descriptor."""
        options = thing.GetOptions()
        known = self._pool.FindMessageTypeByName(options.DESCRIPTOR.full_name)
        parsed: Any = message_factory.GetMessageClass(known).FromString(options.SerializeToString())
        return parsed.Extensions[self._pool.FindExtensionByName(f"hyphos.ros.{extension}")]

    def messages(self, package: str) -> list[Any]:
        return [
            self.message(f"{file.package}.{one.name}")
            for file in self.files
            if file.package.startswith(package)
            for one in file.message_type
        ]


class FromDescriptors:
    """Definitions built only from descriptors. If their sums and hashes are right, no part that
    these depend on has been lost.
    """

    def __init__(self, descriptors: Descriptors, flavour: Flavour) -> None:
        self._told = descriptors.told
        self._flavour = flavour
        self._by_name = {self._name(one): one for one in descriptors.messages(f"{flavour.value}.")}

    def find(self, name: Name) -> Message:
        if name not in self._by_name:  # a ROS 2 time
            numbers = {"sec": "int32", "nanosec": "uint32"}
            return Message(name, tuple(Field(Type(v, v), k) for k, v in numbers.items()))
        descriptor = self._by_name[name]
        return Message(name, tuple(self._field(one) for one in descriptor.fields))

    def md5(self, descriptor: Any) -> str:
        """The sum, from the descriptors of the message and of the messages in it."""
        message = self.find(self._name(descriptor))
        return md5_sum([message], lambda name: self.md5(self._by_name[name]))

    def _name(self, descriptor: Any) -> Name:
        _, package, folder, base = descriptor.full_name.split(".")
        return Name(package, folder, base)

    def _field(self, descriptor: Any) -> Field:
        told = self._told(descriptor, "field")
        kind = {number: name for name, number in _types(told).items()}[told.type]
        count = list(Count)[told.count]
        message = self._name(descriptor.message_type) if kind == "MESSAGE" else None
        primitive = kind.lower() if message is None else ""
        if kind in TIMES and self._flavour is Flavour.ROS2:
            message, primitive = Name("builtin_interfaces", "msg", TIMES[kind]), ""
        size = {Count.FIXED: str(told.size), Count.AT_MOST: f"<={told.size}"}.get(count, "")
        text = primitive + ("" if count is Count.ONE else f"[{size}]")
        name = told.name or descriptor.name
        return Field(Type(text, primitive, message, count, told.size, told.string_size), name)


def _types(told: Any) -> dict[str, int]:
    enum = told.DESCRIPTOR.file.message_types_by_name["Field"].enum_types_by_name["Type"]
    return {one.name: one.number for one in enum.values}


def do_import(paths: list[Path], out: Path, flavour: Flavour | None = None) -> Descriptors:
    assert import_types(paths, out, flavour) == 0
    return Descriptors(out)


@HERE
def test_all_types_of_debian_become_protobuf(tmp_path: Path) -> None:
    made = do_import(PACKAGES, tmp_path)
    files = [
        one for folder in PACKAGES for one in folder.glob("*/*") if one.suffix in (".msg", ".srv")
    ]
    assert len([one for one in made.files if one.package.startswith("ros1.")]) == len(files) > 150
    scan = made.message("ros1.sensor_msgs.msg.LaserScan")
    assert made.told(scan, "type").md5 == "90c7ef2dc6895d81024acba2ac42f369"
    assert (
        made.told(scan, "type").text
        == (PACKAGES[0].parent / "sensor_msgs/msg/LaserScan.msg").read_text()
    )
    stamp = made.message("ros1.std_msgs.msg.Header").fields_by_name["stamp_ns"]
    assert made.told(stamp, "field").name == "stamp"
    get_map = made.service("ros1.nav_msgs.srv.GetMap")
    assert made.told(get_map, "service").md5 == "6cdd0a18e0aff5b0a3ca2326a89b54ff"
    assert get_map.methods[0].output_type.name == "GetMapResponse"
    pixels = made.message("ros1.sensor_msgs.msg.Image").fields_by_name["data"]
    assert pixels.type == pixels.TYPE_BYTES


@pytest.mark.parametrize("flavour", list(Flavour))
def test_descriptors_of_random_types_lose_nothing(tmp_path: Path, flavour: Flavour) -> None:
    texts = RandomDefinitions(11, flavour).package(60)
    plain = {  # a sum needs constants as written, but the options hold their values
        name: "\n".join(line for line in text.split("\n") if " C_" not in line)
        for name, text in texts.items()
    }
    write_package(tmp_path / "random_msgs", plain)
    made = do_import([tmp_path / "random_msgs"], tmp_path / "out", flavour)
    again = FromDescriptors(made, flavour)
    found = made.messages(f"{flavour.value}.random_msgs.")
    assert len(found) == 60
    for one in found:
        told = made.told(one, "type")
        if flavour is Flavour.ROS1:
            assert again.md5(one) == told.md5
        else:
            name = Name(*told.name.split("/"))
            assert type_hash(again.find(name), again.find) == told.type_hash


def test_descriptors_of_all_ros_2_types_lose_nothing(tmp_path: Path) -> None:
    hashes = write_types_of_ros2(tmp_path / "share")
    made = do_import([tmp_path / "share"], tmp_path / "out")
    again = FromDescriptors(made, Flavour.ROS2)
    for name, digest in hashes.items():
        message = again.find(Name(*name.split("/")))
        assert type_hash(message, again.find) == digest, name


def test_constants_are_enums_and_options(tmp_path: Path) -> None:
    text = (
        "uint8 A=0\nuint8 B=1\nuint8 ALSO_B=1\nfloat32 HALF=0.5\nuint32 BIG=4000000000\n"
        'string S="a \\n b"ü\nint8 NEG=-1\nbool YES=True\nuint8 a_2=2\nuint8 A2=3\n'
        "uint8 CONSTANT_A3=7\nuint8 A3=8\nint32 b\n"
    )
    folder = write_package(tmp_path / "demo_msgs", {"C": text})
    made = do_import([folder], tmp_path / "out", Flavour.ROS1)
    message = made.message("ros1.demo_msgs.msg.C")
    [enum] = message.enum_types
    values = {one.name: one.number for one in enum.values}
    # For protoc, A2 and a_2 are one name, and so are A3 and CONSTANT_A3. The second of each is only
    # in the options.
    assert values == {"A": 0, "B": 1, "ALSO_B": 1, "NEG": -1, "a_2": 2, "CONSTANT_A3": 7}
    constants = made.told(message, "type").constants
    assert {one.name: one.value for one in constants} == {
        "A": "0", "B": "1", "ALSO_B": "1", "HALF": "0.5", "BIG": "4000000000",
        "S": '"a \\n b"ü', "NEG": "-1", "YES": "true", "a_2": "2", "A2": "3",
        "CONSTANT_A3": "7", "A3": "8",
    }  # fmt: skip


def test_colliding_names_are_changed_and_keep_their_ros_names(tmp_path: Path) -> None:
    names = [
        *("K", "k", "ref_1", "ref1", "descriptor", "class", "message", "Constant", "OK", "from"),
        *("ranges_size", "clear_x", "x", "stamp_ns", "string", "Bad", "New", "option"),
    ]
    fields = "\n".join(f"float32 {one}" for one in names)
    text = f"time stamp\nstring[] ranges\n{fields}\nuint8 OK=0\nuint8 UNSET=1\nuint8 Bad=2\n"
    folder = write_package(tmp_path / "class_msgs", {"Bad": text, "Constant": "uint8 int=1\n"})
    made = do_import([folder], tmp_path / "out", Flavour.ROS1)
    bad = made.message("ros1.class_msgs.msg.Bad")
    kept = [made.told(one, "field").name or one.name for one in bad.fields]
    assert kept == ["stamp", "ranges", *names]
    renamed = {made.told(one, "field").name: one.name for one in bad.fields}
    assert renamed["ranges_size"] == "ranges_size_field"
    assert renamed["descriptor"] == "descriptor_field"
    assert renamed["k"] == "k_field"
    assert "message" not in renamed
    out = tmp_path / "out"
    protos = [str(one.relative_to(out)) for one in out.rglob("*.proto")]
    subprocess.run(["protoc", "-I", out, f"--cpp_out={out}", *protos], check=True)
    sources = [str(one) for one in (out / "ros1").rglob("*.pb.cc")]
    compiler = ["g++", "-std=c++20", "-fsyntax-only", "-I", str(out), *sources]
    subprocess.run(compiler, check=True)


def test_field_numbers_follow_the_order_and_skip_reserved_ones(tmp_path: Path) -> None:
    text = "\n".join(f"bool a{number}" for number in range(19010))
    made = do_import(
        [write_package(tmp_path / "m", {"Many": text})], tmp_path / "out", Flavour.ROS1
    )
    numbers = [one.number for one in made.message("ros1.m.msg.Many").fields]
    assert numbers[:2] == [1, 2]
    assert numbers[18997:19001] == [18998, 18999, 20000, 20001]


def test_ros_2_services_and_actions_include_all_wire_types(tmp_path: Path) -> None:
    folder = write_package(tmp_path / "demo", {"Ask": "---\nbool yes true"}, "srv")
    write_package(folder, {"Go": "float32 far\n---\n---\nbuiltin_interfaces/Time at"}, "action")
    made = do_import([folder], tmp_path / "out", Flavour.ROS2)
    assert {one.name for one in made.messages("ros2.demo.action")} == {
        "Go_Goal", "Go_Result", "Go_Feedback", "Go_FeedbackMessage", "Go_SendGoal_Request",
        "Go_SendGoal_Response", "Go_GetResult_Request", "Go_GetResult_Response",
    }  # fmt: skip
    send = made.service("ros2.demo.action.Go_SendGoal")
    assert made.told(send, "service").type_hash.startswith("RIHS01_")
    at = made.message("ros2.demo.action.Go_Feedback").fields_by_name["at_ns"]
    assert made.told(at, "field").type == 16
    yes = made.message("ros2.demo.srv.Ask_Response").fields_by_name["yes"]
    assert made.told(yes, "field").default_value == "true"


def test_imported_types_work_in_the_other_commands(tmp_path: Path) -> None:
    folder = write_package(tmp_path / "demo", {"Note": "string text\nuint8[] raw\nduration left"})
    do_import([folder], tmp_path / "out", Flavour.ROS1)
    note = TypeBook([tmp_path / "out"]).get("ros1.demo.msg.Note")(text="hi", raw=b"\1", left_ns=-5)
    assert type(note).FromString(note.SerializeToString()) == note


def test_generated_python_classes_contain_their_ros_type(tmp_path: Path) -> None:
    folder = write_package(tmp_path / "demo", {"Note": "float64[36] from\nint8 A=1"})
    do_import([folder], tmp_path, Flavour.ROS1)
    file = "ros1/demo/msg/Note.proto"
    subprocess.run(["protoc", "-I", tmp_path, f"--python_out={tmp_path}", file], check=True)
    program = """
from hyphos.ros import options_pb2 as ros
from ros1.demo.msg.Note_pb2 import Note

field = Note.DESCRIPTOR.fields_by_name["from"].GetOptions().Extensions[ros.field]
print(Note.DESCRIPTOR.GetOptions().Extensions[ros.type].name, field.size, Note(**{"from": [1]}))
print(field.type == ros.Field.FLOAT64, field.count == ros.Field.FIXED, Note.A)
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "demo/Note 36 from: 1\n\nTrue True 1\n"


def test_a_file_imports_only_the_types_that_it_needs(tmp_path: Path) -> None:
    folder = write_package(tmp_path / "demo", {"A": "B b", "B": "int32 x", "C": "broken here 1"})
    made = do_import([folder / "msg" / "A.msg"], tmp_path / "out", Flavour.ROS1)
    assert [one.name for one in made.messages("ros1.")] == ["B", "A"]


def test_import_lists_its_files_and_show_prints_a_type(hyphos_cli: Cli, tmp_path: Path) -> None:
    write_package(tmp_path / "demo_msgs", {"Pose": "# Where.\nbyte N=3\nfloat32[2] xy\ntime stamp"})
    write_package(tmp_path / "demo_msgs", {"Ask": "Pose near\n---\nPose[] found"}, "srv")
    code, out, err = hyphos_cli("msg", "import", "demo_msgs", "-o", "protos")
    assert (code, err) == (0, "")
    assert out == "demo_msgs: 1 message, 1 service\nwrote 2 files of ROS 1 to protos/ros1\n"
    assert sorted(one.name for one in (tmp_path / "protos").rglob("*") if one.is_file()) == [
        "Ask.proto", "Pose.proto", "options.proto",
    ]  # fmt: skip
    code, out, _ = hyphos_cli("msg", "show", "demo_msgs/Pose", "demo_msgs")
    assert code == 0
    assert out.splitlines() == [
        "demo_msgs/Pose: message of ROS 1",
        "md5 " + md5(b"byte N=3\nfloat32[2] xy\ntime stamp").hexdigest(),
        "",
        "  byte N = 3",
        "  float32[2] xy",
        "  time stamp",
    ]
    code, out, _ = hyphos_cli("msg", "show", "Ask", "demo_msgs", "--json")
    assert '"type": "demo_msgs/Pose[]"' in out


Make = Callable[[Path], object]
MISTAKES: list[tuple[Make, list[str], str, str]] = [
    (
        lambda at: write_package(at / "a_msgs", {"A": "\nb_msgs/B b\ntime t"}),
        ["a_msgs"],
        "a_msgs/msg/A.msg:2: 'b' is a b_msgs/B, but the package 'b_msgs' is not given",
        "also give its folder: hyphos msg import ... PATH/TO/b_msgs",
    ),
    (
        lambda at: write_package(at / "a_msgs", {"A": "Bc b\ntime t", "Bcd": ""}),
        ["a_msgs"],
        "a_msgs/msg/A.msg:1: the package 'a_msgs' has no message 'Bc'; did you mean 'Bcd'?",
        "correct the name",
    ),
    (
        lambda at: write_package(at / "a_msgs", {"A": "B b", "B": "C c", "C": "A[] a\ntime t"}),
        ["a_msgs"],
        "a message cannot contain itself: a_msgs/A → a_msgs/B → a_msgs/C → a_msgs/A",
        "remove one of these fields",
    ),
    (
        lambda at: write_package(at / "a_msgs", {"A": "string data"}),
        ["a_msgs"],
        "these definitions are valid in ROS 1 and in ROS 2",
        "give --ros1 or --ros2",
    ),
    (
        lambda at: write_package(at / "a_msgs", {"A": "time t", "B": "wstring w"}),
        ["a_msgs"],
        "a_msgs/msg/A.msg looks like ROS 1, a_msgs/msg/B.msg like ROS 2",
        "one after the other",
    ),
    (
        lambda at: write_package(at / "a_msgs", {"A": "time t"}, "wrong"),
        ["a_msgs"],
        "a_msgs: no ROS definition in this folder",
        "definitions are PACKAGE/msg/*.msg",
    ),
    (
        lambda at: (at / "A.msg").write_text("time t"),
        ["A.msg"],
        "A.msg: the package of this file is unknown",
        "PACKAGE/msg/NAME.msg",
    ),
    (
        lambda at: write_package(at / "a-msgs", {"A": "time t"}),
        ["a-msgs"],
        "a-msgs/msg/A.msg: 'a-msgs' is not a valid package name",
        "name its folder",
    ),
    (
        lambda at: (write_package(at / "a", {}) / "msg/A.msg").write_bytes(b"time t\n# \xe9\n"),
        ["a"],
        "a/msg/A.msg:2: the file is not UTF-8",
        "save the file as UTF-8",
    ),
    (lambda _: None, ["nowhere"], "nowhere: no such file or folder", "check the path"),
    (
        lambda at: (
            write_package(at / "x" / "a_msgs", {"A": "time t"}),
            write_package(at / "y" / "a_msgs", {"A": "time u"}),
        ),
        ["x", "y"],
        "'a_msgs/A' has another definition in x/a_msgs/msg/A.msg",
        "give only one of the two",
    ),
]


@pytest.mark.parametrize(("make", "paths", "message", "advice"), MISTAKES)
def test_a_mistake_has_a_remedy_and_writes_nothing(
    hyphos_cli: Cli, tmp_path: Path, make: Make, paths: list[str], message: str, advice: str
) -> None:
    make(tmp_path)
    code, out, err = hyphos_cli("msg", "import", *paths, "-o", "out")
    assert (code, out) == (1, "")
    assert message in err
    assert advice in err
    assert not list(tmp_path.glob("out/*"))


def test_a_missing_package_is_named_with_its_folder(hyphos_cli: Cli, tmp_path: Path) -> None:
    write_package(tmp_path / "a_msgs", {"A": "b_msgs/B b\ntime t"})
    write_package(tmp_path / "b_msgs", {"B": ""})
    _, _, err = hyphos_cli("msg", "import", "a_msgs")
    assert f"also give its folder: {tmp_path / 'b_msgs'}" in err
    assert hyphos_cli("msg", "import", "a_msgs", "b_msgs")[0] == 0


def test_a_failed_import_keeps_earlier_imports(hyphos_cli: Cli, tmp_path: Path) -> None:
    folder = write_package(tmp_path / "a_msgs", {"A": "time t", "B": "int32 x"})
    assert hyphos_cli("msg", "import", "a_msgs", "-o", "out")[0] == 0
    before = {one: one.read_text() for one in (tmp_path / "out").rglob("*.proto")}
    write_package(folder, {"A": "time other", "B": "int32"})
    assert hyphos_cli("msg", "import", "a_msgs", "-o", "out")[0] == 1
    assert {one: one.read_text() for one in (tmp_path / "out").rglob("*.proto")} == before
    assert not list((tmp_path / "out").glob(".hyphos-*"))


def test_an_unwritable_folder_is_named(hyphos_cli: Cli, tmp_path: Path) -> None:
    write_package(tmp_path / "a_msgs", {"A": "time t"})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "ros1").write_text("in the way")
    code, out, err = hyphos_cli("msg", "import", "a_msgs", "-o", "out")
    assert (code, out) == (1, "")
    assert "out/ros1/a_msgs/msg: cannot write: " in err
    assert "give another -o" in err
    assert [one.name for one in (tmp_path / "out").rglob("*") if one.is_file()] == ["ros1"]


def test_package_xml_gives_the_name_and_ros_version(hyphos_cli: Cli, tmp_path: Path) -> None:
    folder = write_package(tmp_path / "folder", {"A": "string data"})
    manifest = "<package><name>real_msgs</name><depend>rosidl_default_generators</depend></package>"
    (folder / "package.xml").write_text(manifest)
    code, out, err = hyphos_cli("msg", "import", "folder", "-o", "out")
    assert (code, err) == (0, "")
    assert (tmp_path / "out/ros2/real_msgs/msg/A.proto").is_file()
    assert "1 file of ROS 2" in out
