"""Cameras of robots in MuJoCo: images for nodes, for programs in real time, and for ROS."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import Start, wait_until
from lab_places import need, things_named
from ros1_programs import SYSTEM_PYTHON, needs_ros1
from ros2_gateway import needs_ros2

TREE = Path(__file__).resolve().parents[3]
MUJOCO = TREE / "build/release/cosim/hyphos-cosim-mujoco.so"
OWN = f"hyphos-lab-{os.getpid()}-"

pytestmark = pytest.mark.skipif(
    not MUJOCO.exists(), reason="no MuJoCo adapter: run scripts/setup core cosim, make build"
)

# Prints the place of the red pixels and their distance, and drives to the red box.
NODES = """
import json
import os
import numpy as np
import hyphos
from hyphos.msgs import CameraInfo, Image, String, TfMessage, Twist


def tell(word, *values):
    # One call, because two robots share the output.
    os.write(1, f"{word} {json.dumps(values[0] if len(values) == 1 else values)}\\n".encode())


def red(pixels):
    rgb = pixels.astype(int)
    return (rgb[..., 0] > 2 * rgb[..., 1] + 20) & (rgb[..., 0] > 2 * rgb[..., 2] + 20)


class Eye:
    def __init__(self, node: hyphos.Node) -> None:
        self.word = node.publisher("word", String)
        self.wheels = node.publisher("cmd_vel", Twist)
        self.depth = None
        node.subscribe("front/depth", hyphos.Attached[Image], self.on_depth)
        node.subscribe("front/image", hyphos.Attached[Image], self.on_image)
        node.subscribe("front/camera_info", CameraInfo, self.on_info)
        node.subscribe("tf", TfMessage, self.on_tf)
        node.subscribe("tf_static", TfMessage, self.on_tf)

    def on_info(self, info: CameraInfo) -> None:
        tell("info", info.header.stamp_ns, info.width, info.height, *info.k)

    def on_tf(self, message: TfMessage) -> None:
        for one in message.transforms:
            t = one.transform.translation
            tell("tf", one.header.stamp_ns, one.header.frame_id, one.child_frame_id,
                 round(t.x, 3), round(t.y, 3), round(t.z, 3))

    def on_depth(self, depth) -> None:
        head = depth.head
        self.depth = depth.buffers[0].view(np.float32).reshape(head.height, head.width).copy()

    def on_image(self, image) -> None:
        head = image.head
        pixels = image.buffers[0].reshape(head.height, head.width, 3)
        rows, columns = np.nonzero(red(pixels))
        place = [float(columns.mean()), float(rows.mean())] if len(rows) else None
        twist = Twist()
        twist.linear.x = 1.0
        self.wheels.publish(twist)
        tell("image", head.header.stamp_ns, head.header.frame_id, head.encoding,
             len(rows), place, int(pixels.astype(int).sum()))
        if self.depth is not None and place is not None:
            tell("depth", float(self.depth[rows, columns].mean()))


class Still:
    def __init__(self, node: hyphos.Node) -> None:
        node.subscribe("word", String, lambda word: None)
"""
PLAN = """
hyphos: 1
processes: {main: {nodes: [one]}}
nodes:
  one: {python: nodes.py:CLASS}
"""
SCENARIO = """
duration_s: 2
method: {name: lockstep}
physics: {simulator: mujoco}
world:
  boxes:
    - {low: [6, -0.5, 0.2], high: [7, 0.5, 1.0], color: "#e01010"}
robots:
  anna:
    at: [0, 0, 0]
    plan: anna.yaml
    sensors:
      camera: {channel: front/image, rate_hz: 5, width: 160, height: 120, fov_deg: 70, depth: true}
  bert: {at: [0, 30, 0], plan: bert.yaml}
channels:
  word: {}
"""


def files(folder: Path, scenario: str = SCENARIO) -> Path:
    (folder / "nodes.py").write_text(NODES)
    (folder / "anna.yaml").write_text(PLAN.replace("CLASS", "Eye"))
    (folder / "bert.yaml").write_text(PLAN.replace("CLASS", "Still"))
    (folder / "s.yaml").write_text(scenario)
    return folder / "s.yaml"


def run(start: Start, file: Path, *more: str) -> tuple[dict[str, list[Any]], str]:
    code, out, err = start("cosim", "run", str(file), *more).end()
    if "Install libegl1" in err:
        pytest.skip(err.strip())
    assert code == 0, err
    told: dict[str, list[Any]] = {"image": [], "depth": [], "info": [], "tf": []}
    for line in out.splitlines():
        kind, _, rest = line.partition(" ")
        if kind in told:
            told[kind].append(json.loads(rest))
    return told, out.splitlines()[-1]


def test_a_node_receives_images_in_lock_step_and_a_run_repeats(
    hyphos_start: Start, tmp_path: Path
) -> None:
    file = files(tmp_path)
    told, trace = run(hyphos_start, file)
    assert [one[0] for one in told["image"]] == [k * 200_000_000 for k in range(10)]
    assert {(one[1], one[2]) for one in told["image"]} == {("camera", "rgb8")}
    stamp, width, height, focal, _, cx, *_ = told["info"][0]
    assert (stamp, width, height) == (0, 160, 120)
    assert focal == pytest.approx(114.25, abs=0.01)
    # The box is straight ahead: its pixels are around the centre, and more from image to image.
    sizes = [one[3] for one in told["image"]]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 1.5 * sizes[0] > 100
    assert told["image"][0][4][0] == pytest.approx(cx, abs=1)
    assert told["depth"][0] == pytest.approx(6 - 0.3, abs=0.02)
    assert 3.5 < told["depth"][-1] < 4.6
    again, its_trace = run(hyphos_start, file, "--no-skip")
    assert again == told
    assert its_trace == trace


def test_the_frames_of_a_robot_and_its_camera_are_transforms(
    hyphos_start: Start, tmp_path: Path
) -> None:
    told, _ = run(hyphos_start, files(tmp_path))
    assert [0, "base", "camera", 0.3, 0.0, 0.3] in told["tf"]
    moving = [one for one in told["tf"] if one[1] == "world"]
    assert len(moving) == 99  # 50 a second, without instant 0
    assert {one[2] for one in moving} == {"base"}
    assert moving[-1][3] > 1
    silent = SCENARIO + "nodes: {transforms: false}\n"
    told, _ = run(hyphos_start, files(tmp_path, silent))
    assert not told["tf"]


def test_two_robots_have_cameras_of_their_own(hyphos_start: Start, tmp_path: Path) -> None:
    sensors = SCENARIO[SCENARIO.index("    sensors:") : SCENARIO.index("  bert:")]
    both = SCENARIO.replace(
        "  bert: {at: [0, 30, 0], plan: bert.yaml}\n",
        "  bert:\n    at: [0, 30, 0]\n    plan: anna.yaml\n" + sensors,
    )
    told, _ = run(hyphos_start, files(tmp_path, both))
    alone, _ = run(hyphos_start, files(tmp_path))
    red = [one for one in told["image"] if one[3] > 0]
    assert len(told["image"]) == 20
    assert [one[:5] for one in red] == [one[:5] for one in alone["image"]]


def test_a_camera_that_no_node_watches_is_an_error(hyphos_start: Start, tmp_path: Path) -> None:
    file = files(tmp_path, SCENARIO.replace("front/image", "back/image"))
    code, _, err = hyphos_start("cosim", "run", str(file)).end()
    assert code == 1
    assert "no node of robot 'anna' has opened channel 'back/image' of its sensor" in err


def test_without_egl_the_error_names_the_packages(
    hyphos_start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_FILENAMES", str(tmp_path / "none.json"))
    code, _, err = hyphos_start("cosim", "run", str(files(tmp_path))).end()
    assert code == 1
    assert "cannot draw the pictures of cameras" in err
    assert "Install libegl1 and libgl1-mesa-dri, or remove `camera` from the sensors" in err


# Ends when it has seen five large images with depth while time went on.
PROGRAM = """
import os
import numpy as np
import hyphos
from hyphos.msgs import Image, Twist
node = hyphos.Node.open("viewer", clock="sim")
out = node.publisher("cmd_vel", Twist)
seen = {"image": set(), "depth": set()}
def take(kind, image):
    head = image.head
    values = image.buffers[0]
    if kind == "depth":
        values = values.view(np.float32)
        middle = float(values.reshape(head.height, head.width)[230, 320])
    else:
        middle = values.reshape(head.height, head.width, 3)[230, 320].tolist()
    seen[kind].add(head.header.stamp_ns)
    if len(seen["image"]) >= 5 and len(seen["depth"]) >= 5 and kind == "depth":
        print(f"complete {head.width}x{head.height} {middle:.2f}", flush=True)
        os._exit(0)
node.subscribe("image", hyphos.Attached[Image], lambda image: take("image", image))
node.subscribe("depth", hyphos.Attached[Image], lambda image: take("depth", image))
node.spin()
"""
REAL_TIME = """
realtime: {lag_p99_ms: 600000, lag_longest_ms: 600000}
physics: {simulator: mujoco}
world: {boxes: [{low: [6, -3, 0], high: [7, 3, 3], color: "#e01010"}]}
robots:
  husky:
    at: [0, 0, 0]
    run: [PYTHON, program.py]
    body: {}
    sensors: {camera: {rate_hz: 2, width: 640, height: 480, depth: true}}
  base: {at: [60, 0, 0]}
"""


@need()
def test_a_program_receives_large_images_in_real_time(hyphos_start: Start, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    file = tmp_path / "cosim.yaml"
    file.write_text(REAL_TIME.replace("PYTHON", sys.executable))
    code, out, err = hyphos_start("cosim", "emulate", str(file), "--for", "1000").end()
    if "Install libegl1" in err:
        pytest.skip(err.strip())
    assert code == 0, out + err
    wait_until(lambda: not things_named(OWN), "the reaper to remove everything")
    assert "husky: complete 640x480 5.70" in out


CLOSED_LOOP = """
duration_s: 8
seed: 3
method: {name: lockstep}
physics: {simulator: mujoco}
world:
  boxes:
    - {low: [6, 0.8, 0], high: [6.8, 1.6, 1.2], color: "#e01010"}
robots:
  husky:
    at: [0, 0, 0]
    run: [PYTHON, program.py]
    body: {gateway: [GATEWAY], clock_rate_hz: 20, REST wait_for: [cmd_vel, image]}
    sensors: {camera: {rate_hz: 5, width: 160, height: 120, fov_deg: 80, range_m: 30}}
  base: {at: [60, 0, 0]}
nodes: {pose_rate_hz: 20, timeout_s: 60}
"""
# Turns to the red pixels and drives to them, until the box fills a third of the image.
STEER = """
def steer(data, width, height):
    bytes_ = bytes(data)
    columns = [i % width for i, (r, g, b) in
               enumerate(zip(bytes_[0::3], bytes_[1::3], bytes_[2::3]))
               if r > 2 * g + 20 and r > 2 * b + 20]
    if not columns:
        return 0.0, 0.5, 0.0, -1.0
    middle = sum(columns) / len(columns)
    share = len(columns) / (width * height)
    return (0.0 if share > 0.3 else 1.0), 0.02 * ((width - 1) / 2 - middle), share, middle
"""
DDS = (
    """
import os
os.environ["CYCLONEDDS_URI"] = (
    "<CycloneDDS><Domain><General><Interfaces>"
    "<NetworkInterface name='lo' multicast='true'/></Interfaces></General></Domain></CycloneDDS>")
from dataclasses import dataclass
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64, int32, sequence, uint8, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

@dataclass
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64 = 0.0
    y: float64 = 0.0
    z: float64 = 0.0
@dataclass
class Twist(IdlStruct, typename="geometry_msgs::msg::dds_::Twist_"):
    linear: Vector3
    angular: Vector3
@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32
@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str
@dataclass
class Image(IdlStruct, typename="sensor_msgs::msg::dds_::Image_"):
    header: Header
    height: uint32
    width: uint32
    encoding: str
    is_bigendian: uint8
    step: uint32
    data: sequence[uint8]
"""
    + STEER
    + """
participant = DomainParticipant(int(os.environ["ROS_DOMAIN_ID"]))
qos = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(10),
          Policy.DataRepresentation(use_cdrv0_representation=True))
out = DataWriter(participant, Topic(participant, "rt/cmd_vel", Twist), qos=qos)
images = DataReader(participant, Topic(participant, "rt/image", Image), qos=qos)
while True:
    for image in images.take_iter(timeout=duration(seconds=1000)):
        ahead, turn, share, column = steer(image.data, image.width, image.height)
        print("at %d.%09d: %s %s, red %.4f at %.3f" % (
            image.header.stamp.sec, image.header.stamp.nanosec, image.header.frame_id,
            image.encoding, share, column), flush=True)
        out.write(Twist(Vector3(x=ahead), Vector3(z=turn)))
"""
)
ROSPY = (
    """
import rospy
from geometry_msgs.msg import Twist
from sensor_msgs.msg import Image
"""
    + STEER
    + """
rospy.init_node("eye")
out = rospy.Publisher("cmd_vel", Twist, queue_size=None)
def take(image):
    ahead, turn, share, column = steer(image.data, image.width, image.height)
    print("at %d.%09d: %s %s, red %.4f at %.3f" % (
        image.header.stamp.secs, image.header.stamp.nsecs, image.header.frame_id,
        image.encoding, share, column), flush=True)
    twist = Twist()
    twist.linear.x = ahead
    twist.angular.z = turn
    out.publish(twist)
rospy.Subscriber("image", Image, take)
rospy.spin()
"""
)


def drive_to_the_box(start: Start, folder: Path, gateway: str, python: str, program: str) -> None:
    (folder / "program.py").write_text(program)
    file = folder / "cosim.yaml"
    text = CLOSED_LOOP.replace("PYTHON", python).replace("GATEWAY", gateway)
    file.write_text(text.replace("REST", "rest_ms: 0," if gateway == "ros1" else ""))
    runs = []
    for _ in range(2):
        told = folder / "run.json"
        code, out, err = start("cosim", "run", str(file), "--json", str(told)).end()
        if "Install libegl1" in err:
            pytest.skip(err.strip())
        assert code == 0, out + err
        lines = [line for line in out.splitlines() if line.startswith("husky: at")]
        runs.append((lines, json.loads(told.read_text())["trajectories"]["husky"]))
    lines, path = runs[0]
    assert len(lines) == 40
    assert all("camera rgb8, red" in line for line in lines)
    assert float(lines[-1].split("red ")[1].split()[0]) > 0.3, "it is in front of the box"
    _, x, y, *_ = path[-1]
    assert 3 < x < 5.5
    assert 0.4 < y < 1.6
    assert runs[1] == runs[0]


@needs_ros2
def test_a_ros_2_program_drives_to_a_box_that_it_sees(hyphos_start: Start, tmp_path: Path) -> None:
    pytest.importorskip("cyclonedds.domain", reason="pip install cyclonedds")
    drive_to_the_box(hyphos_start, tmp_path, "ros2", sys.executable, DDS)


@needs_ros1
def test_a_ros_1_program_drives_to_a_box_that_it_sees(hyphos_start: Start, tmp_path: Path) -> None:
    drive_to_the_box(hyphos_start, tmp_path, "ros1", SYSTEM_PYTHON, ROSPY)
