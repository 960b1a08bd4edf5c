"""Tables II to IV: their cells, the parts of their delays, and the sentence of each row."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest
from helpers import Cli
from hyphos.cosim import delay_parts
from hyphos.cosim.experiments import field, paper
from hyphos.cosim.experiments.tables import TABLES, cells
from hyphos.cosim.experiments.why import why
from hyphos.cosim.results import Results, Run
from hyphos.cosim.runs import DELAY_PARTS, figures

TREE = Path(__file__).resolve().parents[3]
MUJOCO = TREE / "build/release/cosim/hyphos-cosim-mujoco.so"
NS3 = TREE / "build/release/cosim/hyphos-cosim-ns3.so"


def test_the_cells_have_the_distances_of_the_paper_and_mujoco() -> None:
    made = cells("analytic")
    assert len(made) == 80
    for pair, distance in itertools.product(("ugv-ugv", "ugv-uav"), paper.DISTANCES):
        team = list(field.robots(pair, distance).values())

        def antenna(robot: dict[str, Any]) -> list[float]:
            x, y, z = robot["waypoints"][0]
            return [x, y, z + robot["antenna"]["height_m"]]

        for other in team[1:]:
            away = math.dist(antenna(team[0]), antenna(other))
            assert away == pytest.approx(distance, abs=0.01)
            assert other["waypoints"][0][0] > field.BUSHES["high"][0]  # behind the bushes
    assert {cell.scenario["physics"]["simulator"] for cell in made} == {"mujoco"}
    assert TABLES.seeds >= 20


def _run(parameters: dict[str, Any], seed: int, **values: float) -> Run:
    parts = {f"{part}_ms": 0.1 for part in DELAY_PARTS}
    told = {"delay_ms": 0.5, "delay_sum_s": 0.5, "loss_percent": 0.0, **parts, **values}
    return Run(parameters, seed, "", told)


def test_each_row_has_a_sentence_from_its_figures(tmp_path: Path) -> None:
    results = Results(tmp_path)
    parameters: dict[str, Any] = {
        **{"robots": "ugv-ugv", "architecture": "master", "sight": "NLOS"},
        **{"transport": "udp", "distance_m": 100},
    }
    about = {"network": "analytic", "cells": [], "runs": 2}
    (tmp_path / "experiment.json").write_text(json.dumps(about))
    assert why(results, parameters) == "not run"
    for seed in (1, 2):
        results.add(_run(parameters, seed, loss_percent=95.0, delay_sum_s=1.2))
    assert why(results, parameters).startswith("More loss: ridge and trees")
    assert "delay as in the paper" in why(results, parameters)
    near = {**parameters, "distance_m": 20}
    results.add(_run(near, 1, loss_percent=12.0, delay_sum_s=9.0, retransmission_ms=8.0))
    assert why(results, near).startswith("Loss as in the paper; longer delay")
    assert "retransmission is 95 % of the delay" in why(results, near)
    other = {**parameters, "robots": "ugv-uav"}
    results.add(_run(other, 1))
    assert why(results, other).startswith("no figure in the paper")


@pytest.mark.skipif(not MUJOCO.exists(), reason="no MuJoCo adapter: make build")
def test_losses_are_graded_and_depend_on_robots_and_transport(
    hyphos_cli: Cli, tmp_path: Path
) -> None:
    """A channel that is a switch has losses of 0 and 100 %, the same in all three cells."""

    def run(robots: str, transport: str) -> dict[str, float]:
        chosen = {
            **{"robots": robots, "transport": transport, "sight": "NLOS", "distance_m": 80},
            "architecture": "masterless",
        }
        cell = next(c for c in cells("analytic") if c.parameters == chosen)
        path, report = tmp_path / "cell.yaml", tmp_path / "run.json"
        path.write_text(cell.text())
        code, _, err = hyphos_cli("cosim", "run", str(path), "--seed", "3", "--json", str(report))
        assert code == 0, err
        return figures(json.loads(report.read_text()), cell.flow)

    ground, air, tcp = run("ugv-ugv", "udp"), run("ugv-uav", "udp"), run("ugv-ugv", "tcp")
    assert 1 < ground["loss_percent"] < 99
    assert air["loss_percent"] < 0.8 * ground["loss_percent"]
    assert tcp["repeats"] > 0 == ground["repeats"]
    assert tcp["delay_ms"] > 2 * ground["delay_ms"]


@pytest.mark.skipif(not MUJOCO.exists(), reason="no MuJoCo adapter: make build")
@pytest.mark.parametrize(
    "network",
    [
        "analytic",
        pytest.param(
            "ns3", marks=pytest.mark.skipif(not NS3.exists(), reason="no ns-3 adapter: make build")
        ),
    ],
)
def test_a_cell_runs_and_its_parts_add_up_to_its_delay(
    hyphos_cli: Cli, tmp_path: Path, network: str
) -> None:
    chosen = {"sight": "NLOS", "transport": "tcp", "distance_m": 40, "architecture": "master"}
    cell = next(c for c in cells(network) if chosen.items() <= dict(c.parameters).items())
    assert "terrain" in cell.scenario["world"]
    assert cell.scenario["radio"]["kind"] == "802.11g"
    path, report = tmp_path / "cell.yaml", tmp_path / "run.json"
    path.write_text(cell.text())
    code, _, err = hyphos_cli("cosim", "run", str(path), "--json", str(report))
    assert code == 0, err
    told = json.loads(report.read_text())
    assert (told["physics"], told["network"]) == ("mujoco", network)
    assert told["troubles"] == []
    found = figures(told, cell.flow)
    assert found["delivered"] > 500
    parts = math.fsum(found[f"{part}_ms"] for part in DELAY_PARTS)
    assert parts == pytest.approx(found["delay_ms"], rel=1e-6)
    plot = delay_parts.of_run(told)
    assert plot is not None
    assert "retransmission" in plot.svg()
