"""`hyphos cosim emulate` with bodies: programs drive simulated robots in real time."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import Start, wait_until
from hyphos import Error
from hyphos.cosim.emulation import Emulation, Ways
from lab_places import need, things_named
from ros1_programs import SYSTEM_PYTHON, needs_ros1

OWN = f"hyphos-lab-{os.getpid()}-"
SCENARIO = """
realtime: {{lag_p99_ms: 600000, lag_longest_ms: 600000}}
world: {{boxes: [{{low: [-20, -20, 0], high: [-10, 20, 3]}}]}}
robots:
  husky:
    at: [0, 0, 0.5]
    run: {run}
    body: {body}
  base: {{at: [60, 0, 0.5]}}
"""

BODY = "{command: {speed: 1.5}}\n    sensors: {lidar: {}}"
# True for the 20th message of a moving robot. Those of a burst, which follows a stall, count once,
# because the robot takes the newest of their commands alone.
DRIVEN = """
import time
class Driven:
    def __init__(self):
        self.count, self.last = 0, 0.0
    def __call__(self, x):
        now = time.monotonic()
        if x > 0.01 and now - self.last > 0.005:
            self.count, self.last = self.count + 1, now
        return self.count >= 20
driven = Driven()
"""
# Drives ahead, and ends when it has moved, has a scan, and has simulated time.
PILOT = (
    DRIVEN
    + """
import math, os
import hyphos
from hyphos.msgs import Clock, LaserScan, Odometry, Twist
node = hyphos.Node.open("pilot")
seen = {"scan": 0.0, "clock": 0}
out = node.publisher("cmd_vel", Twist)
def scan(scan):
    seen["scan"] = min(scan.ranges)
def clock(clock):
    seen["clock"] = clock.clock_ns
def odom(odom):
    twist = Twist()
    twist.linear.x = 2.0
    out.publish(twist)
    bad = Twist()
    bad.linear.x = math.nan
    out.publish(bad)
    x = odom.pose.pose.position.x
    if driven(x) and x > 1 and seen["scan"] > 10.9 and seen["clock"] > 5e8:
        print(f"arrived {x:.2f} {seen['scan']:.2f}", flush=True)
        os._exit(0)
node.subscribe("scan", LaserScan, scan)
node.subscribe("clock", Clock, clock)
node.subscribe("odom", Odometry, odom)
node.spin()
"""
)

ROSPY = (
    DRIVEN
    + """
import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
rospy.init_node("pilot")
out = rospy.Publisher("cmd_vel", Twist, queue_size=1)
def odom(odom):
    twist = Twist()
    twist.linear.x = 2.0
    out.publish(twist)
    x = odom.pose.pose.position.x
    if driven(x) and x > 1:
        print("arrived", flush=True)
        rospy.signal_shutdown("arrived")
rospy.Subscriber("odom", Odometry, odom)
rospy.spin()
"""
)


def scenario(folder: Path, program: str, python: str, body: str) -> Path:
    (folder / "program.py").write_text(program)
    file = folder / "cosim.yaml"
    file.write_text(SCENARIO.format(run=f"[{python}, program.py]", body=body))
    return file


def emulated(start: Start, file: Path) -> tuple[str, dict[str, Any]]:
    told = file.with_suffix(".json")
    words = ["cosim", "emulate", str(file), "--for", "1000", "--json", str(told)]
    code, out, err = start(*words).end()
    assert code == 0, out + err
    wait_until(lambda: not things_named(OWN), "the reaper to remove everything")
    return out, json.loads(told.read_text())


@need()
def test_a_program_drives_a_robot_in_real_time(hyphos_start: Start, tmp_path: Path) -> None:
    file = scenario(tmp_path, PILOT, sys.executable, BODY)
    out, told = emulated(hyphos_start, file)
    assert "husky: arrived" in out
    assert "commands of programs moved the robots" in out
    assert told["bodies"]["motions"] > 10
    [lost] = told["bodies"]["lost"]
    assert (lost["robot"], lost["reason"]) == ("husky", "drop.command.refused")
    assert lost["count"] > 10
    [part] = told["bodies"]["in_part"]
    assert part["left_out"] == "a speed of 2 m/s was limited to 1.5"


@need()
@needs_ros1
def test_a_ros_1_program_drives_a_robot_in_real_time(hyphos_start: Start, tmp_path: Path) -> None:
    file = scenario(tmp_path, ROSPY, SYSTEM_PYTHON, "{gateway: [ros1]}")
    out, told = emulated(hyphos_start, file)
    assert "husky: arrived" in out
    assert told["bodies"]["motions"] > 10


@need()
def test_a_body_that_dies_ends_the_run_with_its_name(tmp_path: Path) -> None:
    file = scenario(tmp_path, PILOT, sys.executable, "{}")
    with Emulation(file, Ways(seconds=1000)) as running:
        running.begin()
        [body] = running.bodies.processes()
        os.kill(body, signal.SIGKILL)
        with pytest.raises(Error, match="the body of husky was killed by signal 9"):
            while True:
                running.watch(0.05)
    wait_until(lambda: not things_named(OWN), "the reaper to remove everything")


@need()
def test_a_body_that_ends_with_the_run_does_not_fail_it(tmp_path: Path) -> None:
    """As on a machine on which the radio and the body end before this program looks again."""
    file = scenario(tmp_path, PILOT, sys.executable, "{}")
    with Emulation(file, Ways(seconds=1000)) as running:
        running.begin()
        wait_until(lambda: running.watch(1) is not None, "the clock to run")
        assert running._radio is not None
        running._radio.terminate()
        wait_until(lambda: running.bodies.ended() is not None, "the end of the body")
        assert running.end()["valid"]
