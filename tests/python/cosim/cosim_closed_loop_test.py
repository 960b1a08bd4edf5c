"""Real programs of ROS 1, of DDS and of Hyphos that drive simulated robots, in lock step."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import Start, wait_until
from ros1_programs import SYSTEM_PYTHON, needs_ros1
from ros2_gateway import needs_ros2

TREE = Path(__file__).resolve().parents[3]

# Drives a square by odometry: 2 m ahead, a right angle, and so on. Prints its place each second.
ROSPY = """
import math, rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan
class Square:
    def __init__(self):
        self.ranges = []
        self.second = -1
        self.out = rospy.Publisher("cmd_vel", Twist, queue_size=None)
        rospy.Subscriber("scan", LaserScan, self.scan)
        rospy.Subscriber("odom", Odometry, self.odom)
    def scan(self, scan):
        self.ranges = scan.ranges
    def odom(self, odom):
        now = rospy.get_time()
        phase = now % 3
        twist = Twist()
        if phase < 2:
            twist.linear.x = 1.0
        else:
            twist.angular.z = math.pi / 2
        self.out.publish(twist)
        if int(now) != self.second:
            self.second = int(now)
            here = odom.pose.pose.position
            near = min(self.ranges) if self.ranges else 0.0
            print("at %.3f: %.3f %.3f, wall %.3f, frames %s %s" % (
                now, here.x, here.y, near, odom.header.frame_id, odom.child_frame_id), flush=True)
rospy.init_node("square")
square = Square()
rospy.spin()
"""

SCENARIO = """
duration_s: {seconds}
seed: 3
physics: {{rate_hz: 200}}
method: {{name: lockstep}}
world: {{boxes: [{{low: [-20, -20, 0], high: [-10, 20, 3]}}]}}
robots:
  husky:
    at: [0, 0, 0.5]
    run: {run}
    body: {body}
  base: {{at: [60, 0, 0.5]}}
nodes: {{pose_rate_hz: 20, timeout_s: 60}}
"""

BODY = (
    "{gateway: [ros1], clock_rate_hz: 20, rest_ms: 0, wait_for: [cmd_vel, odom, scan], "
    "command: {timeout_ms: 500}}\n    sensors: {lidar: {rate_hz: 5, rays: 90}}"
)


def write(folder: Path, program: str, body: str, seconds: float = 6) -> Path:
    (folder / "program.py").write_text(program)
    run = f"[{SYSTEM_PYTHON}, program.py]"
    file = folder / "cosim.yaml"
    file.write_text(SCENARIO.format(run=run, body=body, seconds=seconds))
    return file


def run(start: Start, file: Path, *options: str) -> tuple[str, dict[str, Any]]:
    told = file.with_suffix(".json")
    code, out, err = start("cosim", "run", str(file), "--json", str(told), *options).end()
    assert code == 0, out + err
    return out, json.loads(told.read_text())


def said(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.startswith("husky: at")]


@needs_ros1
def test_a_ros_1_program_drives_a_robot_and_each_run_is_the_same(
    hyphos_start: Start, tmp_path: Path
) -> None:
    file = write(tmp_path, ROSPY, BODY)
    out, told = run(hyphos_start, file)
    lines = said(out)
    assert len(lines) >= 6
    # After 2 s at 1 m/s it is at (2, 0), and it turns by a right angle in each third second.
    at = {float(m[1]): (float(m[2]), float(m[3])) for m in
          (re.match(r"husky: at (\S+): (\S+) (\S+),", line) for line in lines) if m}  # fmt: skip
    assert at[2.0] == pytest.approx((2, 0), abs=0.06)
    assert at[5.0] == pytest.approx((2, 2), abs=0.12)
    assert "frames world base" in lines[-1]
    assert float(lines[2].split("wall ")[1].split(",")[0]) == pytest.approx(12, abs=0.2)
    assert told["motions"]["told"] >= 100
    # Load on both processors changes the speed, and nothing else.
    spinners = [subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(2)]
    try:
        again, told_again = run(hyphos_start, file)
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    assert said(again) == lines
    assert told_again["trajectories"] == told["trajectories"]


CHATTY = """
import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from std_msgs.msg import String
rospy.init_node("{name}")
out = rospy.Publisher("told", String, queue_size=None)
wheels = rospy.Publisher("cmd_vel", Twist, queue_size=None)
def odom(odom):
    out.publish("{name} at %.2f" % rospy.get_time())
    wheels.publish(Twist())
def hear(text):
    print("%.3f heard %s" % (rospy.get_time(), text.data), flush=True)
rospy.Subscriber("heard", String, hear)
rospy.Subscriber("odom", Odometry, odom)
rospy.spin()
"""

TWO = """
duration_s: 2
method: {{name: lockstep}}
physics: {{rate_hz: 200}}
robots:
  anna: {{at: [0, 0, 0.5], run: [{python}, anna.py], body: &ros {body}}}
  bert: {{at: [{away}, 0, 0.5], run: [{python}, bert.py], body: *ros}}
nodes: {{pose_rate_hz: 10, timeout_s: 60}}
channels:
  told:
    - {{from: anna, to: bert, as: heard}}
    - {{from: bert, to: anna, as: heard}}
"""


@needs_ros1
@pytest.mark.parametrize("away", [20, 5000])
def test_messages_of_ros_programs_cross_the_simulated_radio(
    hyphos_start: Start, tmp_path: Path, away: int
) -> None:
    for name in ("anna", "bert"):
        (tmp_path / f"{name}.py").write_text(CHATTY.format(name=name))
    body = "{gateway: [ros1], clock_rate_hz: 100, rest_ms: 0, wait_for: [cmd_vel, odom]}"
    file = tmp_path / "cosim.yaml"
    file.write_text(TWO.format(python=SYSTEM_PYTHON, body=body, away=away))
    out, told = run(hyphos_start, file)
    heard = [line for line in out.splitlines() if " heard " in line]
    if away == 5000:
        assert not heard
        assert told["packets"]["dropped"]["out_of_range"] >= 30
        return
    assert len(heard) >= 30
    for line in heard:
        name, at, _, other, _, sent = line.split()
        assert {name.rstrip(":"), other} == {"anna", "bert"}
        assert 0 < float(at) - float(sent) < 0.05
    again, _ = run(hyphos_start, file)
    assert sorted(line for line in again.splitlines() if " heard " in line) == sorted(heard)


DDS = """
import os
os.environ["CYCLONEDDS_URI"] = (
    "<CycloneDDS><Domain><General><Interfaces>"
    "<NetworkInterface name='lo' multicast='true'/></Interfaces></General></Domain></CycloneDDS>")
from dataclasses import dataclass
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float32, float64, int32, sequence, uint32
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
class LaserScan(IdlStruct, typename="sensor_msgs::msg::dds_::LaserScan_"):
    header: Header
    angle_min: float32
    angle_max: float32
    angle_increment: float32
    time_increment: float32
    scan_time: float32
    range_min: float32
    range_max: float32
    ranges: sequence[float32]
    intensities: sequence[float32]

participant = DomainParticipant(int(os.environ["ROS_DOMAIN_ID"]))
qos = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(10),
          Policy.DataRepresentation(use_cdrv0_representation=True))
out = DataWriter(participant, Topic(participant, "rt/cmd_vel", Twist), qos=qos)
scans = DataReader(participant, Topic(participant, "rt/scan", LaserScan), qos=qos)
while True:
    for scan in scans.take_iter(timeout=duration(seconds=1000)):
        ahead = min(scan.ranges)
        speed = -1.0 if ahead > 6 else 0.0  # backwards, to the wall behind it
        print("at %d.%09d: wall at %.3f" % (
            scan.header.stamp.sec, scan.header.stamp.nanosec, ahead), flush=True)
        out.write(Twist(Vector3(x=speed), Vector3()))
"""


@needs_ros2
def test_a_ros_2_program_drives_to_a_wall_and_each_run_is_the_same(
    hyphos_start: Start, tmp_path: Path
) -> None:
    pytest.importorskip("cyclonedds.domain", reason="pip install cyclonedds")
    (tmp_path / "program.py").write_text(DDS)
    file = tmp_path / "cosim.yaml"
    body = (
        "{gateway: [ros2], clock_rate_hz: 20, wait_for: [cmd_vel, scan]}\n"
        "    sensors: {lidar: {rate_hz: 10, rays: 36}}"
    )
    file.write_text(SCENARIO.format(run=f"[{sys.executable}, program.py]", body=body, seconds=6))
    runs = [run(hyphos_start, file) for _ in range(2)]
    assert len(said(runs[0][0])) == 60
    assert said(runs[0][0]) == said(runs[1][0])
    path = runs[0][1]["trajectories"]["husky"]
    assert path[-1][1] == pytest.approx(-4, abs=0.15)
    assert path == runs[1][1]["trajectories"]["husky"]


BAD = """
import math, rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
rospy.init_node("bad")
out = rospy.Publisher("cmd_vel", Twist, queue_size=None)
count = 0
def odom(odom):
    global count
    twist = Twist()
    twist.linear.x = math.nan if count % 2 else 9.0
    count += 1
    if count <= 20:
        out.publish(twist)
rospy.Subscriber("odom", Odometry, odom)
rospy.spin()
"""


@needs_ros1
def test_bad_commands_are_refused_limited_and_timed_out(
    hyphos_start: Start, tmp_path: Path
) -> None:
    body = (
        "{gateway: [ros1], clock_rate_hz: 20, rest_ms: 0, wait_for: [cmd_vel, odom], "
        "command: {timeout_ms: 200, speed: 2}}"
    )
    out, told = run(hyphos_start, write(tmp_path, BAD, body, 3))
    assert "on robot husky, channel cmd_vel: drop.command.refused" in out
    assert "a speed of 9 m/s was limited to 2" in out
    refused = [lost for lost in told["lost"] if lost["reason"] == "drop.command.refused"]
    assert [lost["count"] for lost in refused] == [10]
    [part] = told["motions"]["in_part"]
    assert part["count"] == 11  # ten limited commands, and one stop
    path = told["trajectories"]["husky"]
    assert path[-1][1] == pytest.approx(2 * (0.05 * 18 + 0.2), abs=0.25)
    assert path[-1][1] == path[-20][1]


NAMED = """
import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
rospy.init_node("pilot")
out = rospy.Publisher("/rover1/cmd_vel", Twist, queue_size=None)
def odom(odom):
    twist = Twist()
    twist.linear.x = 1.0
    out.publish(twist)
    if rospy.get_time() > 0.9:
        print(rospy.get_name(), odom.child_frame_id, flush=True)
rospy.Subscriber("/rover1/odom", Odometry, odom)
rospy.spin()
"""


@needs_ros1
def test_the_topics_of_a_robot_have_its_namespace(hyphos_start: Start, tmp_path: Path) -> None:
    body = (
        "{gateway: [ros1], namespace: rover1, clock_rate_hz: 20, rest_ms: 0, "
        "wait_for: [cmd_vel, odom]}"
    )
    out, told = run(hyphos_start, write(tmp_path, NAMED, body, 1))
    assert "husky: /rover1/pilot rover1/base" in out
    assert told["trajectories"]["husky"][-1][1] > 0.8


DYING = """
import rospy, os, signal
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
rospy.init_node("dying")
out = rospy.Publisher("cmd_vel", Twist, queue_size=None)
def odom(odom):
    if rospy.get_time() > 0.5:
        os.kill(os.getpid(), signal.SIGKILL)
rospy.Subscriber("odom", Odometry, odom)
rospy.spin()
"""


@needs_ros1
def test_a_program_that_dies_is_named(hyphos_start: Start, tmp_path: Path) -> None:
    body = "{gateway: [ros1], clock_rate_hz: 20, rest_ms: 0, wait_for: [cmd_vel, odom]}"
    code, _, err = hyphos_start("cosim", "run", str(write(tmp_path, DYING, body))).end()
    assert code == 1
    assert "robot 'husky': the program was killed by signal 9 (Killed)" in err


def test_a_program_that_opens_nothing_is_an_error_with_the_channel(
    hyphos_start: Start, tmp_path: Path
) -> None:
    file = tmp_path / "cosim.yaml"
    file.write_text(
        SCENARIO.format(run="[sleep, 1000]", body="{wait_for: [cmd_vel]}", seconds=1).replace(
            "timeout_s: 60", "timeout_s: 1"
        )
    )
    code, _, err = hyphos_start("cosim", "run", str(file)).end()
    assert code == 1
    assert "robot 'husky': no program has opened channel 'cmd_vel' within 1000 ms" in err
    assert "`body.wait_for` lists the channels to wait for" in err


HYPHOS = """
import sys
import hyphos
from hyphos.msgs import Odometry, Twist
node = hyphos.Node.open("pilot", clock="sim")
out = node.publisher("cmd_vel", Twist)
def odom(odom):
    twist = Twist()
    twist.linear.x = 0.5
    out.publish(twist)
    print(f"{node.clock.now_ns()} {odom.pose.pose.position.x:.3f}", flush=True)
node.subscribe("odom", Odometry, odom)
node.spin()
"""


def test_a_program_of_hyphos_drives_a_robot_without_a_gateway(
    hyphos_start: Start, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(HYPHOS)
    file = tmp_path / "cosim.yaml"
    body = "{clock_rate_hz: 20, rest_ms: 0, wait_for: [cmd_vel, odom]}"
    file.write_text(SCENARIO.format(run=f"[{sys.executable}, program.py]", body=body, seconds=2))
    runs = [run(hyphos_start, file) for _ in range(2)]
    lines = [[one for one in out.splitlines() if one.startswith("husky: ")] for out, _ in runs]
    assert len(lines[0]) == 40
    assert lines[0][-1] == "husky: 1950000000 0.975"
    assert lines[0] == lines[1]
    assert runs[0][1]["trajectories"] == runs[1][1]["trajectories"]


def test_nothing_is_left_of_a_killed_run(hyphos_start: Start, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(HYPHOS)
    mark = str(tmp_path / "mark-of-this-test")
    file = tmp_path / "cosim.yaml"
    words = f"[sh, -c, 'sleep 1000 & exec {sys.executable} program.py', {mark}]"
    file.write_text(SCENARIO.format(run=words, body="{wait_for: [cmd_vel, odom]}", seconds=100000))
    running = hyphos_start("cosim", "run", str(file))
    wait_until(lambda: "husky: " in running.line(), "the first line of the program")
    folder = tmp_path.resolve()

    def alive() -> list[str]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").resolve() == folder:
                    found.append((process / "cmdline").read_text())
            except OSError:
                continue
        return found

    assert len(alive()) >= 2
    os.kill(running.popen.pid, signal.SIGKILL)
    wait_until(lambda: not alive(), "the end of all programs")


MISTAKES = [
    ("{gateway: [ros3]}", "'ros3' is no gateway: begin with ros1, ros2, rosbridge or ros_tcp"),
    ("{namespace: a/b}", "body.namespace: expected one name of letters, digits and _"),
    ("{}, sensors: {lidar: {rays: 0}}", "sensors.lidar.rays"),
    ("{}, sensors: {lidar: {range_m: .nan}}", "sensors.lidar.range_m"),
    ("{}, sensors: {lidar: {from_deg: 90, to_deg: -90}}", "must not be below from_deg"),
    ("{}, sensors: {lidar: [{}, {}]}", "two sensors have the channel 'scan': give one of them"),
    ("{}, sensors: {lidar: []}", "sensors.lidar: expected 1 to 16 sensors"),
    ("{}, sensors: {}", "expected `imu`, `lidar` or `camera`"),
    ("{}, sensors: {imu: {}}", "sensors.imu: only valid with `physics.simulator: mujoco`"),
    ("{}, sensors: {camera: {}}", "sensors.camera: only valid with `physics.simulator: mujoco`"),
    ("{}, sensors: {camera: {width: 2000, height: 1000}}", "use 1280 x 800 or less"),
    ("{}, sensors: {camera: {width: 7}}", "sensors.camera.width"),
    ("{}, sensors: {camera: {fov_deg: 180}}", "sensors.camera.fov_deg"),
    ("{}, sensors: {camera: {nearest_m: 0}}", "nearest_m: must be at least 0.01"),
    ("{}, sensors: {camera: {depht: true}}", "did you mean 'depth'?"),
    (
        "{scan: {beams: 90, height_m: 1, noise_m: 0.2}}",
        "Replace it by robots.husky.sensors: {lidar: {frame: base, mount: [0, 0, 1], range_m: 20, "
        "nearest_m: 0.05, rays: 90, noise_m: 0.2}}",
    ),
    ("{command: {speed: -1}}", "body.command.speed"),
    ("{command: {timeout_ms: never}}", "body.command.timeout_ms"),
    ("{clock_rate_hz: 0}", "body.clock_rate_hz"),
    ("{scam: {}}", "did you mean 'scan'?"),
]


@pytest.mark.parametrize(("body", "told"), MISTAKES, ids=[body for body, _ in MISTAKES])
def test_mistakes_are_refused_with_line_and_remedy(
    hyphos_start: Start, tmp_path: Path, body: str, told: str
) -> None:
    file = tmp_path / "cosim.yaml"
    body = body.replace("}, sensors", "}\n    sensors")
    file.write_text(SCENARIO.format(run="[true]", body=body, seconds=1))
    code, _, err = hyphos_start("cosim", "run", str(file)).end()
    assert code == 1
    assert told in err
    assert f"{file}:1" in err  # lines 10 to 19
