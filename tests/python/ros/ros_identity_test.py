"""The identity of a ROS type: md5 sums of ROS 1 and hashes of ROS 2, compared with the tools of
ROS.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hyphos.ros.definition import Flavour, Name
from hyphos.ros.derived import services
from hyphos.ros.library import Library
from ros_corpus import HERE, PACKAGES, RandomDefinitions, write_package, write_types_of_ros2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

GENMSG = Path("/usr/lib/python3/dist-packages/genmsg")
genmsg_only = pytest.mark.skipif(
    not GENMSG.is_dir(), reason="no genmsg: apt install python3-genmsg"
)

# Computes the sums of all messages and services of packages by genmsg, as "package/Name": sum.
ASK_GENMSG = """
import json, sys
from pathlib import Path
sys.path.append(sys.argv[1])
from genmsg import gentools, msg_loader
folders = [Path(one) for one in sys.argv[2:]]
search = {one.name: [str(one / "msg")] for one in folders}
sums = {}
for folder in folders:
    for file in sorted(folder.glob("*/*")):
        if file.suffix in (".msg", ".srv"):
            context = msg_loader.MsgContext.create_default()
            name = folder.name + "/" + file.stem
            load = getattr(msg_loader, f"load_{file.suffix[1:]}_from_file")
            spec = load(context, str(file), name)
            msg_loader.load_depends(context, spec, search)
            sums[name] = gentools.compute_md5(context, spec)
print(json.dumps(sums))
"""

# From ROS 1 packages. The sum of an action's message also depends on genaction.
SUMS = {
    "std_msgs/String": "992ce8a1687cec8c8bd883ec73ca41d1",
    "std_msgs/Header": "2176decaecbce78abc3b96ef049fabed",
    "sensor_msgs/LaserScan": "90c7ef2dc6895d81024acba2ac42f369",
    "diagnostic_msgs/DiagnosticStatus": "d0ce08bc6e5ba34c7754f563a9cabaf1",
}

# Hashes that rosidl has written into its generated code for these definitions.
ADD_TWO_INTS = "int64 a\nint64 b\n---\nint64 sum"
MOVE_ROBOT = """# Goal
string command
int32 mode
int32 speed
float32 duration
int32 amplitude
int32 times
---
int32 error_code
string error_message
string execution_status
float32 progress
int32 count
int64 start_time
---
float32 progress
string execution_status
int32 error_code
int32 count
"""
HASHES = {
    "example_interfaces/srv/AddTwoInts":
        "e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a",
    "example_interfaces/srv/AddTwoInts_Request":
        "000c5fd92d6b2e1a05949348f584d6d652adea1e92d691792011ac2273508302",
    "example_interfaces/srv/AddTwoInts_Response":
        "de5c030d4af33cba2749310b249737b631594703f9300495f48bffb2b44dcc2f",
    "example_interfaces/srv/AddTwoInts_Event":
        "32c1d140259c71e5c355115942bcb31df98b4330e4d906b1b75ccb1c9b3ce6c8",
    "robot_control_interfaces/action/MoveRobot":
        "e0c1d4c0611da78de6e6e3ccc0a2b0ab86a426ac4a422df9f8a3086d8ab6bdac",
    "robot_control_interfaces/action/MoveRobot_Goal":
        "f35a2186b770882b4f0df8df04e866b55c7a052e46bb29588478e89c49345826",
    "robot_control_interfaces/action/MoveRobot_SendGoal":
        "56c1351617fc4aa59dd454b8f896c823bb49fa8e7cba81c3045e41bf97f28645",
    "robot_control_interfaces/action/MoveRobot_SendGoal_Request":
        "296890b4ead703ef8a3b193200777f6c6cb0d3c059f24ff7b05df2a772a3157b",
    "robot_control_interfaces/action/MoveRobot_SendGoal_Response":
        "d7d05b178bcc8d8d45b46cb3172722409acf1618105893434b71bf0ccdbadf05",
    "robot_control_interfaces/action/MoveRobot_GetResult":
        "abb4591be74a784947490bc56f81cb343de89a725ebe3197195361554e7e6275",
    "robot_control_interfaces/action/MoveRobot_GetResult_Event":
        "2d5004abaaee1258c552752bedf0bf38ee37d4c9382433d180af273f67f274a1",
    "robot_control_interfaces/action/MoveRobot_FeedbackMessage":
        "a9c93f8b56155e3f15e7140ffaf63aef9dc60739e5b8e475ff1da2e308523485",
    "std_msgs/msg/Char": "3ad2d04dd29ba19d04b16659afa3ccaedd691914b02a64e82e252f2fa6a586a9",
    "builtin_interfaces/msg/Time":
        "b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197",
    "unique_identifier_msgs/msg/UUID":
        "1b8e8aca958cbea28fe6ef60bf6c19b683c97a9ef60bb34752067d0f2f7ab437",
    "service_msgs/msg/ServiceEventInfo":
        "41bcbbe07a75c9b52bc96bfd5c24d7f0fc0a08c0cb7921b3373c5732345a6f45",
}  # fmt: skip


def sums_of(library: Library) -> dict[str, str]:
    """The same result as that of ASK_GENMSG."""
    found = {}
    for interface in library.asked():
        [thing, *_] = services(interface) or interface.parts
        found[f"{interface.name.package}/{interface.name.base}"] = library.md5(thing)
    return found


def sums_of_genmsg(folders: list[Path]) -> dict[str, str]:
    words = [sys.executable, "-c", ASK_GENMSG, str(GENMSG.parent), *map(str, folders)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


@HERE
def test_well_known_md5_sums_are_correct() -> None:
    sums = sums_of(Library.load(PACKAGES))
    assert {name: sums[name] for name in SUMS} == SUMS


@HERE
@genmsg_only
def test_md5_sums_of_debian_types_equal_those_of_genmsg() -> None:
    ours = sums_of(Library.load(PACKAGES, Flavour.ROS1))
    assert len(ours) > 150
    assert ours == sums_of_genmsg(PACKAGES)


def test_line_endings_do_not_change_md5_sums(tmp_path: Path) -> None:
    text = "string A=b\nint32 x # y\ntime t\n"
    sums = []
    for folder, ending in (("one", "\n"), ("other", "\r\n")):
        package = write_package(tmp_path / folder / "demo_msgs", {})
        (package / "msg" / "A.msg").write_bytes(text.replace("\n", ending).encode())
        sums.append(sums_of(Library.load([package])))
    assert sums[0] == sums[1] != {}


@genmsg_only
def test_md5_sums_of_random_types_equal_those_of_genmsg(tmp_path: Path) -> None:
    texts = RandomDefinitions(3, Flavour.ROS1).package(80)
    # genmsg does not allow tabs
    texts = {name: text.replace("\t", " ") for name, text in texts.items()}
    write_package(tmp_path / "random_msgs", texts)
    parts = list(texts.values())
    pairs = enumerate(zip(parts, reversed(parts), strict=True))
    named = {f"S{number}": f"{one}\n---\n{other}" for number, (one, other) in pairs}
    write_package(tmp_path / "random_msgs", named, "srv")
    ours = sums_of(Library.load([tmp_path], Flavour.ROS1))
    assert len(ours) == 160
    assert ours == sums_of_genmsg([tmp_path / "random_msgs"])


def test_a_ros_1_action_gives_the_messages_of_genaction(tmp_path: Path) -> None:
    action = "# why\nint32 a\n---\nstring b\n---\nfloat32 c\n"
    write_package(tmp_path / "demo_msgs", {"Go": action}, "action")
    for package, texts in {
        "std_msgs": {"Header": "uint32 seq\ntime stamp\nstring frame_id"},
        "actionlib_msgs": {
            "GoalID": "time stamp\nstring id",
            "GoalStatus": "GoalID goal_id\nuint8 status\nstring text",
        },
    }.items():
        write_package(tmp_path / package, texts)
    library = Library.load([tmp_path], Flavour.ROS1)
    bases = [one.name.base for one in library.asked() if one.name.package == "demo_msgs"]
    assert bases == sorted(
        f"Go{part}"
        for part in (
            "Goal", "Result", "Feedback", "Action", "ActionGoal", "ActionResult", "ActionFeedback",
        )
    )  # fmt: skip
    outer = library.message(Name("demo_msgs", "msg", "GoActionGoal"))
    assert [(one.name, one.type.message and one.type.message.base) for one in outer.fields] == [
        ("header", "Header"), ("goal_id", "GoalID"), ("goal", "GoGoal"),
    ]  # fmt: skip
    library.order(library.message(Name("demo_msgs", "msg", "GoAction")))


@HERE
@genmsg_only
def test_action_messages_equal_those_of_debian(tmp_path: Path) -> None:
    share = PACKAGES[0].parent
    others = [share / one for one in ("std_msgs", "geometry_msgs", "actionlib_msgs")]
    theirs = sums_of_genmsg(PACKAGES)
    for package, action in (("nav_msgs", "GetMap"), ("tf2_msgs", "LookupTransform")):
        text = (share / package / "action" / f"{action}.action").read_text()
        folder = write_package(tmp_path / package, {action: text}, "action")
        plain = {
            file.stem: file.read_text()
            for file in (share / package / "msg").glob("*.msg")
            if action not in file.stem
        }
        write_package(folder, plain)
        ours = sums_of(Library.load([folder, *others], Flavour.ROS1))
        made = {name: ours[name] for name in ours if name.startswith(f"{package}/{action}")}
        assert len(made) == 7
        assert all(theirs[name] == md5 for name, md5 in made.items())


def test_hashes_equal_those_written_by_rosidl(tmp_path: Path) -> None:
    write_package(tmp_path / "example_interfaces", {"AddTwoInts": ADD_TWO_INTS}, "srv")
    write_package(tmp_path / "robot_control_interfaces", {"MoveRobot": MOVE_ROBOT}, "action")
    write_package(tmp_path / "std_msgs", {"Char": "char data"})
    library = Library.load([tmp_path], Flavour.ROS2)
    library.asked()
    for text, digest in HASHES.items():
        assert library.type_hash(Name(*text.split("/"))) == f"RIHS01_{digest}"


def test_hashes_of_all_ros_2_types_are_correct(tmp_path: Path) -> None:
    theirs = write_types_of_ros2(tmp_path)
    library = Library.load([tmp_path], Flavour.ROS2)
    assert {name: library.type_hash(Name(*name.split("/"))) for name in theirs} == theirs
    # A type with bounded sequences. The hash is from code that rosidl has generated.
    bounded = library.type_hash(Name("rcl_interfaces", "msg", "ParameterDescriptor"))
    digest = "52175dbfda6c51153101d33d2a9da05743f66f02d5ab2ca9ec4709b46b73d704"
    assert bounded == f"RIHS01_{digest}"


def test_hashes_of_random_types_equal_those_of_rosbags(tmp_path: Path) -> None:
    texts = RandomDefinitions(5, Flavour.ROS2).package(60)
    store = get_typestore(Stores.EMPTY)
    for name, text in texts.items():
        # rosbags supports no wide strings and no comments after strings, and treats `char` as that
        # of IDL.
        plain = [line.partition("#")[0].replace("\t", " ") for line in text.split("\n")]
        plain = [one for one in plain if "wstring" not in one and not one.startswith("char")]
        plain = [one for one in plain if " C_" not in one]
        texts[name] = "\n".join(plain)
        store.register(get_types_from_msg(texts[name], f"random_msgs/msg/{name}"))
    write_package(tmp_path / "random_msgs", texts)
    library = Library.load([tmp_path], Flavour.ROS2)
    for interface in library.asked():
        theirs = store.hash_rihs01("/".join(interface.name))
        assert library.type_hash(interface.name) == theirs, interface.name
