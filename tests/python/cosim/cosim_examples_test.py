"""The examples in which simulated robots do real work."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers import Start
from ros1_programs import needs_ros1

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/cosim"
HOUSE = (10, 30, 10, 25)  # of both scenarios


def run(start: Start, file: Path, told: Path) -> tuple[str, dict[str, Any]]:
    code, out, err = start("cosim", "run", str(file), "--json", str(told)).end()
    assert code == 0, out + err
    return out, json.loads(told.read_text())


def check_chase(out: str, told: dict[str, Any]) -> list[str]:
    news = [line for line in out.splitlines() if line.startswith("follower: ")]
    lost = [line for line in news if "lost the leader" in line]
    found = [line for line in news if "found the leader" in line]
    assert len(lost) >= 1
    assert len(found) == len(lost)
    silent = [float(m[1]) for line in found if (m := re.search(r"after (\S+) s", line))]
    assert max(silent) > 3  # behind the house, and not only a lost packet
    paths = told["trajectories"]
    low_x, high_x, low_y, high_y = HOUSE
    for _, x, y, _ in paths["follower"]:
        assert not (low_x < x < high_x and low_y < y < high_y), (x, y)
    leader, follower = paths["leader"][-1], paths["follower"][-1]
    assert abs(leader[1] - follower[1]) + abs(leader[2] - follower[2]) < 8
    return news


def test_a_follower_loses_its_leader_and_finds_it_again(
    hyphos_start: Start, tmp_path: Path
) -> None:
    check_chase(*run(hyphos_start, EXAMPLES / "lost_leader/cosim.yaml", tmp_path / "run.json"))


@needs_ros1
def test_a_follower_of_ros_1_does_the_same(hyphos_start: Start, tmp_path: Path) -> None:
    file = EXAMPLES / "lost_leader/ros1.yaml"
    news = check_chase(*run(hyphos_start, file, tmp_path / "run.json"))
    again, _ = run(hyphos_start, file, tmp_path / "again.json")
    assert [line for line in again.splitlines() if line.startswith("follower: ")] == news


def test_a_fleet_maps_a_building_and_shares_the_map(hyphos_start: Start, tmp_path: Path) -> None:
    out, told = run(hyphos_start, EXAMPLES / "shared_map/cosim.yaml", tmp_path / "run.json")
    shares: dict[tuple[str, str], tuple[float, float]] = {}
    for line in out.splitlines():
        if m := re.match(r"(\w+): (alone|merged): (\S+)% known, (\S+)% of it wrong", line):
            shares[m[1], m[2]] = float(m[3]), float(m[4])
    assert len(shares) == 6
    for robot in ("west", "middle", "east"):
        alone, merged = shares[robot, "alone"], shares[robot, "merged"]
        assert alone[0] < 60
        assert merged[0] > 95
        assert merged[0] > alone[0] + 25
        assert merged[1] < 5
    packets = told["packets"]
    lost = sum(packets["dropped"].values()) / packets["sent"]
    assert 0.1 < lost < 0.9  # the link is bad, and not dead


MUJOCO = EXAMPLES.parents[1] / "build/release/cosim/hyphos-cosim-mujoco.so"


@pytest.mark.skipif(not MUJOCO.exists(), reason="no MuJoCo adapter: scripts/setup core cosim")
def test_a_robot_finds_a_red_box_by_its_camera(hyphos_start: Start, tmp_path: Path) -> None:
    file = EXAMPLES / "camera/cosim.yaml"
    code, out, err = hyphos_start("cosim", "run", str(file), "--json", str(tmp_path / "r")).end()
    if "Install libegl1" in err:
        pytest.skip(err.strip())
    assert code == 0, out + err
    found = re.search(r"found at (\S+) s, (\S+) m away", out)
    assert found is not None, out
    assert 5 < float(found[1]) < 12
    assert 1 < float(found[2]) <= 1.5
    _, x, y, *_ = json.loads((tmp_path / "r").read_text())["trajectories"]["seeker"][-1]
    assert 5.5 < x < 8
    assert 1 < y < 3.5


@pytest.mark.parametrize("name", ["camera", "lost_leader", "shared_map"])
def test_the_examples_are_explained(name: str) -> None:
    text = (EXAMPLES / name / "README.md").read_text()
    for file in (EXAMPLES / name).glob("*.*"):
        assert file.name == "README.md" or f"({file.name})" in text
