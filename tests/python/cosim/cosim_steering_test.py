"""Robots in MuJoCo that Hyphos nodes drive."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from helpers import Start

TREE = Path(__file__).resolve().parents[3]
EXAMPLE = TREE / "examples/cosim/escort.yaml"
MUJOCO = TREE / "build/release/cosim/hyphos-cosim-mujoco.so"

pytestmark = pytest.mark.skipif(
    not MUJOCO.exists(), reason="no MuJoCo adapter: run scripts/setup core cosim, make build"
)

# Reports every odometry message of its robot, and publishes its command after half a second.
NODES = """
import json

from hyphos import Node
from hyphos.msgs import Odometry, String, Twist


class Driver:
    def __init__(self, node: Node) -> None:
        self.clock = node.clock
        self.motion = Twist()
        self.motion.linear.x = node.param("x", 0.0)
        self.motion.linear.y = node.param("y", 0.0)
        self.motion.angular.z = node.param("turn", 0.0)
        self.command = node.publisher("cmd_vel", Twist)
        self.word = node.publisher("word", String)
        node.subscribe("word", String, lambda word: None)
        node.subscribe("odom", Odometry, self.tell)
        node.every(self.drive, period_ms=100)

    def tell(self, odometry: Odometry) -> None:
        pose, twist = odometry.pose.pose, odometry.twist.twist
        q, linear, angular = pose.orientation, twist.linear, twist.angular
        print("heard", json.dumps({
            "now_ns": self.clock.now_ns(),
            "place": [pose.position.x, pose.position.y, pose.position.z],
            "orientation": [q.x, q.y, q.z, q.w],
            "linear": [linear.x, linear.y, linear.z],
            "angular": [angular.x, angular.y, angular.z],
        }), flush=True)

    def drive(self) -> None:
        self.word.publish(String(data="here"))
        if self.clock.now_ns() >= 500_000_000:
            self.command.publish(self.motion)
"""

SCENARIO = """
duration_s: 6
method: {name: lockstep}
physics: {simulator: mujoco}
robots:
  anna: {KIND, at: [0, 0, 5], plan: driver.yaml, set: [SET]}
  bert: {at: [30, 0, 0], plan: still.yaml}
channels:
  word: {}
"""

PLAN = """
hyphos: 1
processes: {main: {nodes: [driver]}}
nodes:
  driver: {python: nodes.py:Driver}
"""

STILL = """
from hyphos import Node
from hyphos.msgs import String


class Still:
    def __init__(self, node: Node) -> None:
        node.subscribe("word", String, lambda word: None)
"""


def drive(
    hyphos_start: Start, folder: Path, kind: str, motion: dict[str, float]
) -> tuple[str, list[dict[str, Any]]]:
    """Returns the final output, and every odometry message that the driver received."""
    (folder / "nodes.py").write_text(NODES)
    (folder / "still.py").write_text(STILL)
    (folder / "driver.yaml").write_text(PLAN)
    (folder / "still.yaml").write_text(
        PLAN.replace("driver", "still").replace("nodes.py:Driver", "still.py:Still")
    )
    params = ", ".join(f"nodes.driver.params.{key}={value}" for key, value in motion.items())
    scenario = SCENARIO.replace("KIND", f"kind: {kind}").replace("SET", params)
    (folder / "cosim.yaml").write_text(scenario)
    code, out, err = hyphos_start("cosim", "run", str(folder / "cosim.yaml")).end()
    assert code == 0, err
    heard = [json.loads(line[6:]) for line in out.splitlines() if line.startswith("heard ")]
    assert len(heard) == 300  # 50 times a second
    return out, heard


def test_a_node_drives_a_ugv_and_receives_its_odometry(hyphos_start: Start, tmp_path: Path) -> None:
    _, heard = drive(hyphos_start, tmp_path, "ugv", {"x": 1.0, "turn": 0.5})
    before = [one for one in heard if one["now_ns"] <= 500_000_000]
    assert all(math.hypot(*one["place"][:2]) < 0.01 for one in before)
    late = heard[200:]
    ahead = sum(one["linear"][0] for one in late) / len(late)
    turn = sum(one["angular"][2] for one in late) / len(late)
    assert ahead == pytest.approx(1, abs=0.1)
    assert turn == pytest.approx(0.5, abs=0.045)
    # 5.5 s at 0.5 rad/s: the reported turn matches the change of the orientation.
    yaws = [2 * math.atan2(one["orientation"][2], one["orientation"][3]) for one in heard[-2:]]
    assert math.remainder(yaws[1] - yaws[0], 2 * math.pi) / 0.02 == pytest.approx(turn, abs=0.1)


def test_a_node_flies_a_uav_and_receives_its_tilt(hyphos_start: Start, tmp_path: Path) -> None:
    _, heard = drive(hyphos_start, tmp_path, "uav", {"x": 3.0, "y": 1.0, "turn": 0.4})
    assert max(abs(one["orientation"][1]) for one in heard) > 0.1, "it accelerates along x"
    assert max(abs(one["angular"][1]) for one in heard) > 0.3
    last = heard[-1]
    assert sum(part * part for part in last["orientation"]) == pytest.approx(1, abs=1e-6)
    assert last["place"][2] == pytest.approx(5, abs=0.2)
    assert math.hypot(*last["linear"]) == pytest.approx(math.hypot(3, 1), abs=0.3)
    assert last["angular"][2] == pytest.approx(0.4, abs=0.1)


def test_infeasible_commands_are_counted(hyphos_start: Start, tmp_path: Path) -> None:
    out, heard = drive(hyphos_start, tmp_path, "ugv", {"x": 0.5, "y": 0.5})
    assert (
        "in part    robot anna followed 55 motion commands only in part, first at 0.500 s: it has "
        "wheels and cannot move sideways" in out
    )
    assert heard[-1]["place"][0] > 1


def test_the_escort_example_is_reproducible_with_and_without_mujoco(
    hyphos_start: Start, tmp_path: Path
) -> None:
    short = EXAMPLE.read_text().replace("duration_s: 60", "duration_s: 20")
    short = short.replace("nodes/", f"{EXAMPLE.parent}/nodes/")
    (tmp_path / "mujoco.yaml").write_text(short)
    (tmp_path / "kinematic.yaml").write_text(
        short.replace("simulator: mujoco", "simulator: kinematic")
    )
    for name in ("mujoco", "kinematic"):
        shown = []
        for options in ([], ["--no-skip"]):
            report = tmp_path / "run.json"
            words = [
                "cosim",
                "run",
                str(tmp_path / f"{name}.yaml"),
                "--json",
                str(report),
                *options,
            ]
            code, out, err = hyphos_start(*words).end()
            assert code == 0, err
            assert "in part" not in out
            shown.append(out.splitlines()[-1])
        assert shown[0].startswith("trace")
        assert shown[0] == shown[1]
        ways = json.loads(report.read_text())["trajectories"]
        husky, iris = (ways[robot][-1][1:] for robot in ("husky", "iris"))
        assert husky[0] > 20, "around the first corner, or on its way to it"
        assert 2 < math.dist(husky[:2], iris[:2]) < 8
        assert iris[2] == pytest.approx(8, abs=0.5)
