"""`hyphos cosim experiment` and `report`: the paper's experiments, their figures and pages."""

from __future__ import annotations

import csv
import itertools
import json
import math
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml
from browser import Page
from helpers import Cli, Start, wait_until
from hyphos import Error
from hyphos.cosim import experiments
from hyphos.cosim.cell import Cell
from hyphos.cosim.experiment import Figure
from hyphos.cosim.experiments import ablation, arms, paper, world
from hyphos.cosim.experiments.say import estimate, shape, spearman
from hyphos.cosim.report import write_report
from hyphos.cosim.results import Results, Row, Run
from hyphos.cosim.runs import figures
from hyphos.lab.paired import compare, of, signed_rank
from hyphos.recording.mcap_file import McapRecording
from hyphos.ros.typebook import TypeBook
from pages import look_at

TREE = Path(__file__).resolve().parents[3]
FLOWS = TREE / "examples/cosim/flows.yaml"


# --- statistics ---------------------------------------------------------------------------------


def brute_force(differences: list[float]) -> float:
    """Tries all sign combinations."""
    sizes = [abs(one) for one in differences if one != 0]
    ranks = [
        sum(other < one for other in sizes) + (sum(other == one for other in sizes) + 1) / 2
        for one in sizes
    ]
    signs = [1 if one > 0 else -1 for one in differences if one != 0]
    seen = abs(sum(r * s for r, s in zip(ranks, signs, strict=True)))
    every = itertools.product((-1, 1), repeat=len(ranks))
    far = [abs(sum(r * s for r, s in zip(ranks, one, strict=True))) >= seen for one in every]
    return sum(far) / len(far)


@pytest.mark.parametrize(
    "differences",
    [[1.0, 2, 3, 4, 5], [1.0, -1, 2, 2, -3], [0.0, 0, 1, 1, 1, -1], [5.0], [3.0, -1, 4, -1, 5, 9]],
)
def test_the_signed_rank_test_agrees_with_brute_force(differences: list[float]) -> None:
    assert signed_rank(differences) == pytest.approx(brute_force(differences))


def test_equal_pairs_and_few_pairs_show_no_effect() -> None:
    same = compare([1.0, 2.0, math.nan], [1.0, 2.0, 3.0])
    assert (same.count, same.different, same.p, same.effect.value) == (2, 0, 1.0, 0.0)
    few = of([1.0] * 5)
    assert few.p == pytest.approx(2 / 32)
    assert few.too_few
    assert few.null
    enough = of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert enough.p == pytest.approx(2 / 64)
    assert not enough.too_few
    assert not enough.null
    assert enough.shift.value == 3.5
    assert enough.shift.low < 3.5 < enough.shift.high
    assert enough.effect.value == 1.0
    assert of([-one for one in (1.0, 2.0, 3.0)]).effect.value == -1.0


def test_shapes_are_compared_by_ranks() -> None:
    assert spearman([1, 2, 3], [10, 200, 3000]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 1, 2], [1, 1, 2]) == pytest.approx(1)
    assert "one series is constant" in shape("x", [5, 5, 5.01], [1, 2, 3])
    assert "too few" in shape("x", [5, math.nan, 3], [1, 2, 3])


# --- the paper ----------------------------------------------------------------------------------


def test_the_papers_tables_are_found_by_cell() -> None:
    def told(robots: str, architecture: str, sight: str, transport: str, metres: int) -> Any:
        cell: dict[str, str | float] = {
            **{"robots": robots, "architecture": architecture, "sight": sight},
            **{"transport": transport, "distance_m": metres},
        }
        return paper.table(cell, "delay_sum_s"), paper.table(cell, "loss_percent")

    assert told("ugv-ugv", "masterless", "LOS", "tcp", 60) == (0.4, 0)
    assert told("ugv-uav", "masterless", "NLOS", "tcp", 100) == (1.6, 90)
    assert told("ugv-ugv", "master", "NLOS", "udp", 80) == (0.96, 60)
    assert told("ugv-ugv", "master", "LOS", "udp", 40) == (0.08, 0)
    assert told("ugv-uav", "master", "LOS", "udp", 40) == (None, None)
    assert told("ugv-ugv", "masterless", "LOS", "udp", 20) == (None, None)


def test_a_cell_places_robots_and_obstacles() -> None:
    for pair, distance in itertools.product(("ugv-ugv", "ugv-uav"), paper.DISTANCES):
        at = [robot["at"] for robot in world.robots(pair, distance).values()]
        assert math.dist(at[0], at[1]) == pytest.approx(distance, abs=0.01)
        assert math.dist(at[0], at[2]) == pytest.approx(distance, abs=0.01)
        low, high = world.OBSTACLE["low"], world.OBSTACLE["high"]
        for place in at[1:]:
            share = (high[0] - at[0][0]) / (place[0] - at[0][0])
            assert at[0][2] + share * (place[2] - at[0][2]) < high[2]
            assert low[0] > at[0][0]


@pytest.mark.parametrize("network", ["analytic", "ns3"])
def test_the_cells_of_an_experiment_have_unique_file_names(network: str) -> None:
    for one in experiments.ALL:
        cells = one.cells(network)
        assert len({cell.key for cell in cells}) == len({cell.name for cell in cells}) == len(cells)
        for cell in cells:
            told = yaml.safe_load(cell.text())
            assert told["radio"]["simulator"] == network
            assert cell.flow in told["traffic"]["flows"]


# --- running ------------------------------------------------------------------------------------


def mesh(hyphos_cli: Cli, folder: Path, *more: str) -> tuple[int, str, str]:
    words = ("paper_mesh", "--network", "analytic", "-o", str(folder), "-q", *more)
    return hyphos_cli("cosim", "experiment", *words)


def test_a_stopped_experiment_continues_with_the_same_results(
    hyphos_cli: Cli, tmp_path: Path
) -> None:
    folder = tmp_path / "mesh"
    code, out, err = mesh(hyphos_cli, folder, "--seeds", "2")
    assert code == 0, err
    assert "near, straight" in out
    assert "5.38" in out  # the paper's
    # The figure beside it is that of a grid.
    assert "the round trip takes a few steps of 1 ms" in " ".join(out.split())
    assert "The programs model TCP" in err
    runs = folder / "runs.jsonl"
    whole = runs.read_text().splitlines(keepends=True)
    assert len(whole) == 12
    # Killed in the middle of a line.
    runs.write_text("".join(whole[:5]) + whole[5][:40])
    assert mesh(hyphos_cli, folder, "--seeds", "2")[0] == 0

    def known(lines: list[str]) -> dict[Any, Any]:
        read = [json.loads(line) for line in lines]
        return {(str(one["parameters"]), one["seed"]): one["trace"] for one in read}

    assert known(runs.read_text().splitlines()) == known(whole)
    with (folder / "runs.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 12
    summary = json.loads((folder / "summary.json").read_text())
    near = summary[0]["metrics"]
    assert near["loss_percent"][0] == 0
    assert near["messages"][0] == 100
    # There and back: two steps at least, each way is read at the next.
    assert near["read_delay_ms"][0] >= 2
    sent, *rest = (near[f"packets_{n}"][0] for n in ("sent", "delivered", "dropped", "in_flight"))
    assert sent == sum(rest) == 200


def test_results_of_another_experiment_are_not_mixed_in(hyphos_cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "mesh"
    assert mesh(hyphos_cli, folder, "--seeds", "1")[0] == 0
    words = ("ablation", "--seeds", "1", "-o", str(folder))
    code, _, err = hyphos_cli("cosim", "experiment", *words)
    assert code == 1
    assert "results of paper_mesh with analytic" in err
    cell = Cell(Results(folder).runs[0].parameters, {"duration_s": 1}, "ping")
    with pytest.raises(Error, match="another version"):
        Results(folder).missing([cell], 1)
    (folder / "runs.jsonl").write_text("{}\n{}\n")
    with pytest.raises(Error, match="not a run of an experiment"):
        Results(folder)


def test_ctrl_c_ends_an_experiment_with_partial_results(
    hyphos_start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "ablation"
    program = hyphos_start("cosim", "experiment", "ablation", "--full", "-o", str(folder))
    runs = folder / "runs.jsonl"
    wait_until(lambda: runs.exists() and len(runs.read_text().splitlines()) > 2, "three runs")
    program.signal(signal.SIGINT)
    code, out, err = program.end()
    assert code == 130
    assert "repeat the command to continue" in err
    assert "Hodges and Lehmann" in out
    assert 3 <= len(Results(folder).runs) < 6000
    assert (folder / "summary.csv").exists()


def test_an_unknown_experiment_is_an_error(hyphos_cli: Cli, tmp_path: Path) -> None:
    code, _, err = hyphos_cli("cosim", "experiment", "paper_tabels")
    assert code == 1
    assert "did you mean 'paper_tables'?" in err
    code, out, _ = hyphos_cli("cosim", "experiment", "list")
    assert code == 0
    assert all(one.name in out for one in experiments.ALL)
    for name, content in (("run.json", "{"), ("run.json", '{"cosim": 2}')):
        (tmp_path / name).write_text(content)
        code, _, err = hyphos_cli("cosim", "report", str(tmp_path / name))
        assert code == 1
        assert "does not contain a run" in err
    code, _, err = hyphos_cli("cosim", "report", str(tmp_path))
    assert code == 1
    assert "no results of an experiment" in err


# --- the ablation -------------------------------------------------------------------------------


def arm_runs(results: Results, rule: str, window: int, late_ms: float, lost: int) -> None:
    """Adds 8 seeds of all arms of a rule. Seeds differ more than rules."""
    for seed, way, difference in itertools.product(range(8), arms.WAYS, arms.DIFFERENCES):
        parameters: dict[str, str | float] = {
            **{"way": way, "difference": difference, "window_ms": window, "rule": rule}
        }
        told = {"read_delay_ms": 10.0 * seed + late_ms * (1 + seed / 100), "loss_percent": 5.0}
        told |= {"network_syncs": 1200.0 / window, "real_ms": 24.0, "bound_power_db": 0.1}
        fates = f"{(0b11111111 << 8) - 1 - sum(1 << i for i in range(lost)):x}"
        results.runs.append(Run(parameters, seed, "", told, fates=fates))


def test_rules_are_compared_by_seed_and_null_results_are_shown(tmp_path: Path) -> None:
    results = Results(tmp_path)
    (tmp_path / "experiment.json").write_text('{"cells": [], "runs": 0}')
    arm_runs(results, arms.IDEAL, arms.STEP_MS, 0, 0)
    for window in arms.WINDOWS_MS:
        arm_runs(results, arms.BASE, window, 2.0 * window, 2)
        arm_runs(results, "velocity_aware_lenient_s", window, 2.0 * window + 1, 2)
        arm_runs(results, "adaptive", window, 0.5 * window, 0)
    trade, windows, differences = ablation.tables(results)
    rows = {(line[0].text, line[1].text): line for line in trade.lines}
    assert rows["ideal", "1"][2].text == "0"
    assert float(rows["sliding_window", "50"][2].text) == pytest.approx(103.5, abs=1)
    assert rows["sliding_window", "5"][4].text == "5"  # loss
    assert rows["sliding_window", "5"][5].text == "20"  # calls a second
    assert rows["lockstep", "5"][2].text == "–"  # not run
    lines = {(line[0].text, line[1].text): line for line in windows.lines}
    more = lines["velocity_aware_lenient_s", "10"]
    assert (more[4].small, more[7].small) == ("more", "none")  # delay, fates
    assert more[3].text == "1"
    less = lines["adaptive", "10"]
    assert (less[4].small, less[7].small, less[10].small) == ("less", "less", "none")
    assert "not run" in lines["lockstep", "10"][2].text
    assert [line[1].text for line in differences.lines[:5]] == ["−10", "−5", "0", "+5", "+10"]
    names = [plot.name for plot in ablation.plots(results)]
    assert names == ["trade_late_ms", "trade_other_fate_percent", "late_by_difference"]


def test_the_arms_of_the_ablation_differ_in_the_rule_alone() -> None:
    cells = ablation.cells("analytic")
    assert {cell.parameters["window_ms"] for cell in cells} == {1, 5, 10, 20, 50}
    for way, difference in itertools.product(arms.WAYS, arms.DIFFERENCES):
        mine = [
            cell.scenario
            for cell in cells
            if (cell.parameters["way"], cell.parameters["difference"]) == (way, difference)
        ]
        rest = [{key: value for key, value in arm.items() if key != "method"} for arm in mine]
        assert all(one == rest[0] for one in rest)
        scout, base = mine[0]["robots"]["scout"], mine[0]["robots"]["base"]
        speeds = [math.hypot(*robot["velocity"]) for robot in (scout, base)]
        assert speeds[0] - speeds[1] == difference
        gaps = [
            abs(base["at"][0] - scout["at"][0] + s * (base["velocity"][0] - scout["velocity"][0]))
            for s in (0, arms.SECONDS)
        ]
        assert min(gaps) >= arms.NEAR_M
        assert max(gaps) <= arms.FAR_M


def run_arm(cli: Cli, folder: Path, rule: str, **where: str | float) -> dict[str, float]:
    """The figures of one arm of the ablation, with fewer seconds."""
    parameters: dict[str, str | float] = {"way": "towards", "window_ms": 10, "rule": rule, **where}
    arm = ablation.scenario(parameters, "analytic") | {"duration_s": 3}
    folder.mkdir()
    (folder / "arm.yaml").write_text(yaml.safe_dump(arm))
    told = folder / "run.json"
    words = ("run", str(folder / "arm.yaml"), "--seed", "4", "--json", str(told))
    code, _, err = cli("cosim", *words)
    assert code == 0, err
    return figures(json.loads(told.read_text()), "imu")


def test_the_papers_rule_has_arms_in_which_it_gains_and_loses(
    hyphos_cli: Cli, tmp_path: Path
) -> None:
    """A slower sender makes windows shorter, and a faster one makes them longer."""
    names = (arms.BASE, "velocity_aware_lenient_s")
    delays = {
        (name, difference): run_arm(
            hyphos_cli, tmp_path / f"{name}{difference}", name, difference=difference
        )["read_delay_ms"]
        for name in names
        for difference in (-5, 5)
    }
    base, rule = names
    assert delays[rule, -5] < 0.9 * delays[base, -5]
    assert delays[rule, 5] > 1.1 * delays[base, 5]


def test_the_adaptive_rule_of_the_ablation_has_a_budget(hyphos_cli: Cli, tmp_path: Path) -> None:
    """Without a budget, it calls the network as often as the ideal run, at each step."""
    calls = {
        rule: run_arm(hyphos_cli, tmp_path / rule, rule, difference=0, window_ms=window)[
            "network_syncs"
        ]
        for rule, window in (("adaptive", 20), (arms.IDEAL, arms.STEP_MS))
    }
    assert calls["adaptive"] < 0.5 * calls[arms.IDEAL]


def test_a_failed_rule_is_marked_in_its_row() -> None:
    parameters: dict[str, str | float] = {"sender": "slower"}
    row = Row(parameters, [Run(parameters, 1, "", None, "velocity_aware: non-positive window: …")])
    assert estimate(row, "loss_percent") == Figure("–", "cannot run")
    assert estimate(None, "loss_percent") == Figure("–", "not run")


# --- one run ------------------------------------------------------------------------------------


def test_a_run_writes_all_data_of_a_report(hyphos_cli: Cli, tmp_path: Path) -> None:
    told, rows = tmp_path / "run.json", tmp_path / "packets.csv"
    words = ("run", str(FLOWS), "--json", str(told), "--csv", str(rows), "--seed", "3")
    code, out, err = hyphos_cli("cosim", *words)
    assert code == 0, err
    run = json.loads(told.read_text())
    assert run["trace"]["hash"] in out
    assert (run["seed"], run["via"], run["whole"]) == (3, "iris", True)
    packets = run["packets"]
    with rows.open() as file:
        fates = [row["fate"] for row in csv.DictReader(file)]
    assert len(fates) == packets["sent"]
    assert fates.count("delivered") == packets["delivered"]
    assert fates.count("dropped") == sum(packets["dropped"].values())
    assert fates.count("in_flight") == packets["in_flight"]
    assert sum(one["delivered"] for one in run["distances"]) == packets["delivered"]
    spans = run["window_series"]
    assert [one[0] for one in spans[1:]] == [one[1] for one in spans[:-1]]
    assert spans[-1][1] == run["end_ns"] == 12_000_000_000
    flows = {one["name"]: one for one in run["flows"]}
    assert flows["bag"]["delivered"] == flows["bag"]["messages"] == 210
    assert flows["bag"]["delivered_bytes"] == 293_797 + 210 * 24
    assert figures(run, "imu")["messages"] == 1000
    with pytest.raises(Error, match="no flow 'x'"):
        figures(run, "x")


def test_a_recording_becomes_a_flow(hyphos_cli: Cli, tmp_path: Path) -> None:
    recording = McapRecording(tmp_path / "x.mcap", TypeBook())
    channel = recording.add_channel("imu", "test.Imu", "bytes", 7, {})
    for number in range(5):
        at = 1_000_000_000 + number * 100_000_000
        recording.write(channel, at, at, number, bytes([number]) * (10 + number))
    recording.close({})
    words = ("recording", str(tmp_path / "x.mcap"), "imu", "-o", str(tmp_path / "imu.csv"))
    code, _, err = hyphos_cli("cosim", *words)
    assert code == 0, err
    lines = (tmp_path / "imu.csv").read_text().splitlines()
    assert lines[1] == "0.000000000," + "00" * 10
    assert lines[5] == "0.400000000," + "04" * 14
    scenario = yaml.safe_load(FLOWS.read_text())
    flow = {"kind": "recording", "from": "husky1", "to": "iris", "recording": "imu.csv"}
    scenario["traffic"] = {"flows": {"imu": flow}}
    (tmp_path / "cosim.yaml").write_text(yaml.safe_dump(scenario))
    told = tmp_path / "run.json"
    code, _, err = hyphos_cli("cosim", "run", str(tmp_path / "cosim.yaml"), "--json", str(told))
    assert code == 0, err
    [one] = json.loads(told.read_text())["flows"]
    assert one["messages"] == one["delivered"] == 5
    assert one["delivered_bytes"] == sum(24 + 10 + number for number in range(5))


# --- pages --------------------------------------------------------------------------------------


def test_a_run_becomes_a_page(tab: Page, hyphos_cli: Cli, tmp_path: Path) -> None:
    told = tmp_path / "run.json"
    assert hyphos_cli("cosim", "run", str(FLOWS), "--json", str(told))[0] == 0
    code, out, err = hyphos_cli("cosim", "report", str(told), "-o", str(tmp_path / "a.html"))
    assert code == 0, err
    assert out.strip() == str(tmp_path / "a.html")
    # By distance, windows, map, profile.
    files = look_at(tab, tmp_path / "a.html", 5, {"flows", "bounds", "ledger", "machine"})
    assert json.loads(files["run.json.gz"]) == json.loads(told.read_text())
    text = tab.ask("document.body.innerText")
    assert "every packet goes through iris" in text
    assert "exceeded" not in text
    assert f"hyphos-cosim run {FLOWS}" in text or f"hyphos cosim run {FLOWS}" in text


def test_a_page_names_the_packets_that_exceed_a_requested_bound(
    hyphos_cli: Cli, tmp_path: Path
) -> None:
    told = tmp_path / "run.json"
    example = FLOWS.with_name("cosim.yaml")
    words = ("--method", "algorithm_1_s", "--set", "duration_s=3", "--json", str(told))
    assert hyphos_cli("cosim", "run", str(example), *words)[0] == 0
    text = write_report(told, None).read_text()
    assert "requested latency exceeded" in text
    assert "instead of 4 ms: first by packet 1 from husky" in text
    assert "decisions of the method" in text
    assert "rounds: " in text


def test_an_experiment_becomes_a_page_with_the_papers_figures(
    tab: Page, hyphos_cli: Cli, tmp_path: Path
) -> None:
    folder = tmp_path / "file"
    words = ("paper_file", "--network", "analytic", "--seeds", "2", "-o", str(folder), "-q")
    assert hyphos_cli("cosim", "experiment", *words)[0] == 0
    # Time and loss by distance, parts of the delay, windows, map, profile.
    path = write_report(folder, None)
    files = look_at(tab, path, 6, {"file", "guarantees", "machine"})
    assert files["runs.jsonl.gz"] == (folder / "runs.jsonl").read_text()
    rows = tab.ask("[...document.querySelectorAll('#file tr')].map(r => r.cells[2].innerText)")
    assert set(rows) == {"paper", "468", "932", "576", "1,035"}
    text = tab.ask("document.body.innerText")
    assert "the bits of 293,797 bytes" in text
    assert "cosim experiment paper_file" in text
