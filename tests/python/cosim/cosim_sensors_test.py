"""Sensors of robots in MuJoCo, received by Hyphos nodes, and models and troubles of robots."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from helpers import Cli, Start

TREE = Path(__file__).resolve().parents[3]
EXAMPLES = TREE / "examples/cosim"
MUJOCO = TREE / "build/release/cosim/hyphos-cosim-mujoco.so"

pytestmark = pytest.mark.skipif(
    not MUJOCO.exists(), reason="no MuJoCo adapter: run scripts/setup core cosim, make build"
)

NODES = """
import json

from hyphos import Node
from hyphos.msgs import Imu, LaserScan, String


class Reader:
    def __init__(self, node: Node) -> None:
        self.word = node.publisher("word", String)
        node.subscribe("word", String, lambda word: None)
        node.subscribe("imu", Imu, self.imu)
        node.subscribe("scan", LaserScan, self.scan)
        node.every(lambda: self.word.publish(String(data="x")), period_ms=500)

    def imu(self, imu: Imu) -> None:
        a, q = imu.linear_acceleration, imu.orientation
        print("imu", json.dumps([imu.header.stamp_ns, a.x, a.y, a.z, q.w]), flush=True)

    def scan(self, scan: LaserScan) -> None:
        print("scan", json.dumps([scan.header.stamp_ns, scan.angle_min, scan.angle_max,
                                  [r if r < 1e9 else None for r in scan.ranges]]), flush=True)


class Still:
    def __init__(self, node: Node) -> None:
        node.subscribe("word", String, lambda word: None)
"""
PLAN = """
hyphos: 1
processes: {main: {nodes: [one]}}
nodes:
  one: {python: nodes.py:CLASS}
"""
SCENARIO = """
duration_s: 3
method: {name: lockstep}
physics: {simulator: mujoco}
world: {boxes: [{low: [4, -3, 0], high: [5, 3, 2], loss_db: 3}]}
robots:
  anna:
    at: [0, 0, 0]
    plan: anna.yaml
    sensors:
      imu: {rate_hz: 100, noise_m_s2: 0.1}
      lidar: {rate_hz: 10, rays: 5, from_deg: -90, to_deg: 90, range_m: 20, mount: [0, 0, 0.1]}
  bert: {at: [0, 6, 0], plan: bert.yaml}
channels:
  word: {}
"""


def run(start: Start, folder: Path, *more: str) -> tuple[list[Any], list[Any], str]:
    (folder / "nodes.py").write_text(NODES)
    (folder / "anna.yaml").write_text(PLAN.replace("CLASS", "Reader"))
    (folder / "bert.yaml").write_text(PLAN.replace("CLASS", "Still"))
    (folder / "s.yaml").write_text(SCENARIO)
    code, out, err = start("cosim", "run", str(folder / "s.yaml"), *more).end()
    assert code == 0, err
    lines = out.splitlines()
    imu = [json.loads(line[4:]) for line in lines if line.startswith("imu ")]
    scan = [json.loads(line[5:]) for line in lines if line.startswith("scan ")]
    return imu, scan, lines[-1]


def test_nodes_receive_imu_and_lidar_and_a_run_repeats(hyphos_start: Start, tmp_path: Path) -> None:
    imu, scan, trace = run(hyphos_start, tmp_path)
    assert len(imu) == 300
    assert len(scan) == 30
    assert [one[0] for one in imu[:3]] == [0, 10_000_000, 20_000_000]
    rest = imu[100:]
    mean = math.fsum(one[3] for one in rest) / len(rest)
    assert mean == pytest.approx(9.81, abs=0.05)
    spread = math.sqrt(math.fsum((one[3] - mean) ** 2 for one in rest) / len(rest))
    assert spread == pytest.approx(0.1, abs=0.03)
    stamp, low, high, ranges = scan[-1]
    assert stamp == 2_900_000_000
    assert (low, high) == (pytest.approx(-math.pi / 2), pytest.approx(math.pi / 2))
    assert ranges[0] is None
    assert ranges[2] == pytest.approx(4, abs=0.05)
    assert ranges[4] == pytest.approx(6 - 0.26, abs=0.25)  # the side of bert
    again = run(hyphos_start, tmp_path, "--no-skip")
    assert again == (imu, scan, trace)


def test_a_channel_that_no_node_opens_is_an_error(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nodes.py").write_text(NODES)
    (tmp_path / "anna.yaml").write_text(PLAN.replace("CLASS", "Still"))
    (tmp_path / "bert.yaml").write_text(PLAN.replace("CLASS", "Still"))
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("  word: {}", "  word: {}"))
    code, _, err = hyphos_cli("cosim", "run", str(tmp_path / "s.yaml"))
    assert code != 0
    assert "no node of robot 'anna' has opened channel 'imu' of its sensor" in err


def test_the_example_with_terrain_and_a_model_runs(hyphos_cli: Cli, tmp_path: Path) -> None:
    report = tmp_path / "run.json"
    words = ("cosim", "run", str(EXAMPLES / "world.yaml"), "--json", str(report))
    code, out, err = hyphos_cli(*words)
    assert code == 0, err
    assert "trouble" not in out
    told = json.loads(report.read_text())
    assert told["troubles"] == []
    assert told["trajectories"]["cart"][-1][2] > 5  # it turned and drove
    assert hyphos_cli(*words, "--no-ahead")[1].splitlines()[-1] == out.splitlines()[-1]


@pytest.mark.parametrize(
    ("robots", "kind", "words"),
    [
        (
            "husky: {waypoints: [[0, 0, 0], [30, 0, 0]], speed: 2}",
            "stuck",
            "robot husky did not come forward on its path",
        ),
        (
            "husky: {waypoints: [[0, 20, 0], [80, 20, 0]], speed: 3}",
            "outside",
            "robot husky was off the ground of the world",
        ),
    ],
)
def test_a_robot_in_trouble_is_reported(
    hyphos_cli: Cli, tmp_path: Path, robots: str, kind: str, words: str
) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "duration_s: 20\nphysics: {simulator: mujoco}\n"
        "world:\n  terrain: {size_m: [60, 60]}\n"
        "  boxes: [{low: [8, -3, 0], high: [9, 3, 3], loss_db: 10}]\n"
        f"robots:\n  {robots}\n  other: {{at: [0, -20, 0]}}\n"
    )
    report = tmp_path / "run.json"
    code, out, err = hyphos_cli("cosim", "run", str(scenario), "--json", str(report))
    assert code == 0, err
    assert f"trouble    {words}" in out
    assert "until the end" in out
    (trouble,) = json.loads(report.read_text())["troubles"]
    assert (trouble["robot"], trouble["kind"], trouble["at_end"]) == ("husky", kind, True)


def test_a_robot_that_starts_on_its_side_is_tipped(hyphos_cli: Cli, tmp_path: Path) -> None:
    # A tall thing on a steep hill falls over.
    (tmp_path / "tower.xml").write_text(
        "<mujoco><worldbody><body><freejoint/>"
        "<geom type='box' size='.1 .1 1' mass='5'/></body></worldbody></mujoco>"
    )
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "duration_s: 6\nphysics: {simulator: mujoco}\n"
        "world: {terrain: {size_m: [60, 60], hills: [{at: [0, 0], radius_m: 6, height_m: 4}]}}\n"
        "robots:\n  tower: {at: [4, 0, 0], model: {file: tower.xml}}\n  other: {at: [0, 20, 0]}\n"
    )
    code, out, err = hyphos_cli("cosim", "run", str(scenario))
    assert code == 0, err
    assert "trouble    robot tower lay on its side" in out
