"""hyphos lab compare: baselines as multiples of Hyphos, results as multiples of earlier ones."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from helpers import Cli
from hyphos.lab.case import Case
from hyphos.lab.compare import quotient
from hyphos.lab.peers import find_peers
from hyphos.lab.results import Results, Row, Run
from hyphos.lab.stats import bootstrap_quotient

PAIR = Case("pair", 1024)


def run_of(case: Case, peer: str, repeat: int, value_us: float) -> Run:
    result = {
        "histogram_ns": [[int(value_us * 1000), 10]],
        "open_histogram_ns": [[int(value_us * 1000), 10]],
        **{"lost": 0, "received": 10, "cpu_us_per_msg": value_us},
    }
    return Run(case, peer, repeat, result)


def folder_of(path: Path, values_us: dict[str, list[float]], case: Case = PAIR) -> Path:
    path.mkdir()
    (path / "experiment.yaml").write_text("lab: 1\nworkload: pair\npeers: [futex]\n")
    results = Results(path)
    for peer, values in values_us.items():
        for repeat, value in enumerate(values):
            results.add(run_of(case, peer, repeat, value))
    return path


def test_a_quotient_interval_has_its_nominal_coverage() -> None:
    random = np.random.default_rng(5)
    hits = 0
    for trial in range(200):
        above = random.normal(200, 10, 20).tolist()
        below = random.normal(100, 10, 15).tolist()
        found = bootstrap_quotient(above, below, fmean, seed=trial)
        hits += found.low <= 2.0 <= found.high
    assert 170 <= hits <= 198


def test_a_quotient_without_enough_runs_has_no_interval() -> None:
    alone = bootstrap_quotient([4.0], [2.0, 2.0], lambda some: some[0])
    assert alone.value == 2.0
    assert math.isnan(alone.low)
    assert math.isnan(bootstrap_quotient([], [1.0], lambda some: some[0]).value)
    assert math.isnan(bootstrap_quotient([1.0, 1.0], [0.0, 0.0], lambda some: some[0]).value)


def test_results_are_shown_as_multiples_of_earlier_ones(hyphos_cli: Cli, tmp_path: Path) -> None:
    before = folder_of(tmp_path / "before", {"futex": [10, 10, 10], "zmq/tcp": [50, 50, 50]})
    after = folder_of(tmp_path / "after", {"futex": [20, 20, 20], "hyphos/shm": [9, 9, 9]})
    code, shown, err = hyphos_cli("lab", "compare", str(before), str(after))
    assert code == 0, err
    [line] = [line for line in shown.splitlines() if "futex" in line]
    assert line.split()[2:4] == ["2.00", "2.00–2.00"] or "2.00" in line
    assert "zmq" not in shown
    assert "2 rows are in only one of the folders" in err
    words = ("lab", "compare", str(before), str(after), "--assert")
    assert hyphos_cli(*words, "futex: p50_us <= 2.1")[0] == 0
    code, shown, _ = hyphos_cli(*words, "p99_us <= 1.1")
    assert code == 1
    assert "missed p99_us <= 1.1" in shown


def test_runs_of_two_folders_are_resampled_independently() -> None:
    """Repeats in one folder were made side by side, those in two folders were not."""
    before = Row(PAIR, "futex", [run_of(PAIR, "futex", i, us) for i, us in enumerate([10, 20])])
    after = Row(PAIR, "futex", [run_of(PAIR, "futex", i, us) for i, us in enumerate([10, 20])])
    assert after.ratio(before, "p50_us").high == pytest.approx(1.0)
    assert quotient(after, before, "p50_us").high == pytest.approx(2.0)


@pytest.mark.parametrize("text", ["lost == 0", "p50_us / futex < 2", "lost_share < 0.1"])
def test_a_criterion_on_an_indivisible_figure_is_refused(
    text: str, hyphos_cli: Cli, tmp_path: Path
) -> None:
    before = folder_of(tmp_path / "before", {"futex": [10]})
    code, _, err = hyphos_cli("lab", "compare", str(before), str(before), "--assert", text)
    assert code == 1
    assert "cannot be divided" not in err or "that can be divided" in err
    assert "hyphos/shm: p99_us <= 1.1" in err


def test_folders_without_a_common_case_are_an_error(hyphos_cli: Cli, tmp_path: Path) -> None:
    before = folder_of(tmp_path / "before", {"futex": [10]})
    after = folder_of(tmp_path / "after", {"futex": [10]}, replace(PAIR, size=64))
    code, _, err = hyphos_cli("lab", "compare", str(before), str(after))
    assert code == 1
    assert "no case of a peer was measured in both folders" in err


def test_baselines_are_shown_as_multiples_of_hyphos(hyphos_cli: Cli, tmp_path: Path) -> None:
    words = ["lab", "compare", "pair", "--with", "futex", "--with", "zmq/ipc", "--size", "2 KB"]
    words += ["--rate", "200", "--seconds", "0.2", "--repeats", "2", "-o", str(tmp_path / "out")]
    # The ring of the floor is short: it loses messages if the machine stalls for 100 ms.
    code, shown, err = hyphos_cli(*words, "--assert", "hyphos/shm: lost == 0")
    assert code == 0, err
    assert "as multiples of hyphos/shm" in shown
    for name in ("hyphos/shm", "futex", "zmq/ipc"):
        assert len([line for line in shown.splitlines() if f" {name} " in line]) >= 1
    runs = Results(tmp_path / "out").runs
    # Side by side: every repeat has all peers before the next repeat begins.
    assert [run.repeat for run in runs] == [0, 0, 0, 1, 1, 1]
    assert {run.peer for run in runs} == {"hyphos/shm", "futex", "zmq/ipc"}
    assert {(run.case.size, run.case.rate_hz) for run in runs} == {(2048, 200.0)}
    assert hyphos_cli("lab", "show", str(tmp_path / "out"))[0] == 0


def test_an_absent_middleware_is_named_with_its_remedy(hyphos_cli: Cli, tmp_path: Path) -> None:
    [floor] = find_peers().choose(["futex"])
    hyphos = find_peers().choose(["hyphos"])[0]
    for program in (floor.program, hyphos.program):
        (tmp_path / program.name).symlink_to(program)
    listing = [{"peer": name, "packages": "-"} for name in ("hyphos", "futex")]
    listing.append({"peer": "zenoh", "packages": "cargo"})
    (tmp_path / "peers.json").write_text(json.dumps(listing))
    words = ["lab", "compare", "pair", "--size", "64", "--seconds", "0.1", "--repeats", "1", "-q"]
    words += ["--programs", str(tmp_path), "-o", str(tmp_path / "out")]
    code, shown, err = hyphos_cli(*words)
    assert code == 0, err
    assert "without zenoh: install cargo, then `make peers`" in err
    assert "futex" in shown


def test_an_impossible_comparison_is_refused(hyphos_cli: Cli) -> None:
    code, _, err = hyphos_cli("lab", "compare", "pair", "--size", "many")
    assert code == 1
    assert "'many' is not a number" in err
    code, _, err = hyphos_cli("lab", "compare", "latency", "--size", "1KB")
    assert code == 1
    assert "--size and --rate apply to a workload only" in err
    assert hyphos_cli("lab", "compare", "latenzy")[0] == 1
