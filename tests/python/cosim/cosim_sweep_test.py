"""`hyphos cosim sweep`: values, runs, kills, results and pages."""

from __future__ import annotations

import csv
import json
import math
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from browser import Page
from helpers import Cli, Start, alive, look_until, wait_until
from hyphos import Error
from hyphos.cosim.measure import TimeLeft, owned, time_text
from hyphos.cosim.results import Results, Run
from hyphos.cosim.runs import Native, different_fates, fates_of
from hyphos.cosim.sweep import axes, command, metrics
from hyphos.cosim.sweep.command import Options
from pages import look_at

TREE = Path(__file__).resolve().parents[3]
EXAMPLE = TREE / "examples/cosim/cosim.yaml"
FLOWS = TREE / "examples/cosim/flows.yaml"


# --- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("robots=2..5", ["2", "3", "4", "5"]),
        ("x=2..10..4", ["2", "6", "10"]),
        ("x=0.1..0.5..0.1", ["0.1", "0.2", "0.3", "0.4", "0.5"]),
        ("x=3..1", ["3", "2", "1"]),
        ("x=-4..4..4", ["-4", "0", "4"]),
        ("x=1,5..6,20", ["1", "5", "6", "20"]),
        ("method.name=lockstep,adaptive", ["lockstep", "adaptive"]),
        ("robots.a.at=[0, 0, 1],[5, 0, 1]", ["[0, 0, 1]", "[5, 0, 1]"]),
        ("x='a,b',c", ["'a,b'", "c"]),
        ("x=1e3..3e3..1e3", ["1000", "2000", "3000"]),
    ],
)
def test_values_are_lists_and_ranges(text: str, values: list[str]) -> None:
    [axis] = axes.read([text])
    assert list(axis.values) == values


@pytest.mark.parametrize(
    ("texts", "part", "remedy"),
    [
        ([], "nothing is varied", "--vary robots=2..10"),
        (["robots"], "expected KEY=VALUES", "2..10"),
        (["=1"], "expected KEY=VALUES", "2..10"),
        (["x="], "a value is missing", "lists"),
        (["x=1,,2"], "a value is missing", "lists"),
        (["x=[1,2"], "has no end", "lists"),
        (["x=1..a"], "is not a range", "FIRST..LAST..STEP"),
        (["x=1..nan"], "is not a range", "FIRST..LAST"),
        (["x=1..2..3..4"], "is not a range", "FIRST..LAST"),
        (["x=1..5..0"], "does not lead", "1..5"),
        (["x=1..5..-1"], "does not lead", "1..5..1"),
        (["x=0..1..0.3"], "does not reach 1", "0..0.9..0.3"),
        (["x=0.5..3"], "does not reach 3", "0.5..2.5..1"),
        (["x=1..1e9"], "1,000,000,000 values", "larger step"),
        (["x=1..1e300"], "values", "larger step"),
        (["x=1,1"], "occurs twice", "remove"),
        (["x=1,1.0"], "occurs twice", "remove"),
        (["x=1..2", "x=3"], "x is varied twice", "once"),
        (["seed=1..5"], "seeds", "--seeds"),
        (["x=1..500", "y=1..500"], "250,000 combinations", "10,000"),
    ],
)
def test_wrong_values_are_errors_with_a_remedy(texts: list[str], part: str, remedy: str) -> None:
    with pytest.raises(Error) as error:
        axes.read(texts)
    assert part in str(error.value)
    assert remedy in error.value.advice


def test_every_combination_occurs_once() -> None:
    found = list(axes.combinations(axes.read(["a=1..3", "b=x,y"])))
    assert len(found) == 6
    assert found[:3] == [{"a": "1", "b": "x"}, {"a": "1", "b": "y"}, {"a": "2", "b": "x"}]


def test_metrics_are_those_of_the_run_and_of_its_flows() -> None:
    assert metrics.choose([], []) == ["loss_percent", "delay_ms"]
    assert metrics.choose([], ["imu"]) == ["imu.loss_percent", "imu.delay_ms"]
    assert metrics.choose([], ["a", "b", "c", "d"]) == ["loss_percent", "delay_ms"]
    assert metrics.choose(["imu.took_ms", "windows"], ["imu"]) == ["imu.took_ms", "windows"]
    with pytest.raises(Error, match=r"did you mean 'imu.loss_percent'"):
        metrics.choose(["imu.loss"], ["imu"])
    assert all(metrics.title(name) for name in (*metrics.RUN_METRICS, "imu.delay_ms"))


# --- time and fates -----------------------------------------------------------------------------


def test_the_time_left_uses_the_runs_of_the_same_cell() -> None:
    left = TimeLeft(2)
    assert left.of(Counter(a=1)) is None
    left.add("a", 10)
    left.add("b", 2)
    assert left.of(Counter(a=4)) == pytest.approx(20)
    assert left.of(Counter(b=4)) == pytest.approx(4)
    assert left.of(Counter(c=4)) == pytest.approx(12)  # an unknown cell takes the mean
    assert [time_text(x) for x in (None, 0.2, 40, 600, 9000)] == [
        *("", "about 1 s left", "about 40 s left", "about 10 min left", "about 2.5 h left")
    ]


def test_fates_are_compared_copy_by_copy() -> None:
    head = "packet,from,to,bytes,sent_ns,distance_m,obstacles_db,fate,reason,fate_ns\n"
    rows = ["1,0,1,9,0,1,0,delivered,,5", "1,0,2,9,0,1,0,dropped,other,5"]
    rows.append("2,1,0,9,0,1,0,dropped,other,5")
    one = fates_of(head + "\n".join(rows))
    assert one == f"{0b1100:x}"
    assert fates_of(head + "\n".join(reversed(rows))) == one
    rows[1] = rows[1].replace("dropped,other", "delivered,")
    assert different_fates(one, fates_of(head + "\n".join(rows))) == pytest.approx(1 / 3)
    assert different_fates(one, one) == 0
    assert math.isnan(different_fates(one, fates_of(head + rows[0])))
    assert math.isnan(different_fates("", ""))


# --- running ------------------------------------------------------------------------------------


def sweep(cli: Cli, folder: Path, *words: str, scenario: Path = EXAMPLE) -> tuple[int, str, str]:
    more = ("-o", str(folder), "-q", "--set", "duration_s=1")
    return cli("cosim", "sweep", str(scenario), *words, *more)


VARY = ("--vary", "robots=2..4", "--vary", "radio.tx_power_dbm=0,16")


def hashes(folder: Path) -> dict[Any, str]:
    return {run.key: run.trace for run in Results(folder).runs}


def test_a_sweep_gives_a_table_plots_csv_and_json(hyphos_cli: Cli, tmp_path: Path) -> None:
    code, out, err = sweep(hyphos_cli, tmp_path, *VARY, "--seeds", "3", "--jobs", "2")
    assert code == 0, err
    assert "loss (%)" in out
    assert " to " in out  # an interval
    with (tmp_path / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["robots"] for row in rows] == ["2", "2", "3", "3", "4", "4"]
    assert all(row["runs"] == "3" for row in rows)
    for row in rows:
        low, value, high = (float(row[f"loss_percent{x}"]) for x in ("_low", "", "_high"))
        assert low <= value <= high
        robots = int(row["robots"])
        assert float(row["sent"]) == 20 * robots * (robots - 1)
    assert float(rows[4]["loss_percent"]) > float(rows[5]["loss_percent"])  # weaker: more loss
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary[0]["parameters"] == {"robots": 2, "radio.tx_power_dbm": 0}
    with (tmp_path / "runs.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 18
    for name in ("loss_percent_by_robots.svg", "delay_ms_by_robots.svg"):
        assert "radio.tx_power_dbm 16" in (tmp_path / name).read_text()


def test_the_number_of_jobs_changes_no_result(hyphos_cli: Cli, tmp_path: Path) -> None:
    for jobs in ("1", "3"):
        words = (*VARY, "--seeds", "2", "--jobs", jobs)
        assert sweep(hyphos_cli, tmp_path / jobs, *words)[0] == 0
    assert hashes(tmp_path / "1") == hashes(tmp_path / "3")
    assert len(set(hashes(tmp_path / "1").values())) == 12


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--vary", "radio.power_dbm=10,20"), "--vary: radio.power_dbm: unknown key"),
        (("--vary", "radio.tx_power_db=10"), "did you mean 'tx_power_dbm'?"),
        (("--vary", "radio.tx_power_dbm=10,loud"), "expected a number from"),
        (("--vary", "robots=1..3"), "expected the number of robots from 2"),
        (("--vary", "robots.husky3.speed=1"), "did you mean 'husky1'?"),
        (("--vary", "method.name=adaptive,magic"), "magic"),
        (("--vary", "method.window_ms=1..2..0.5"), "is not a whole number of steps"),
        (("--vary", "robots=2", "--metric", "los_percent"), "did you mean 'loss_percent'?"),
        (("--vary", "robots=2", "--set", "duration=3"), "did you mean 'duration_s'?"),
    ],
)
def test_every_mistake_is_named_before_any_run(
    hyphos_cli: Cli, tmp_path: Path, words: tuple[str, ...], part: str
) -> None:
    code, _, err = sweep(hyphos_cli, tmp_path / "x", *words)
    assert code == 1
    assert part in err
    assert not (tmp_path / "x").exists()


def test_a_sweep_grows_by_seeds_and_values(hyphos_cli: Cli, tmp_path: Path) -> None:
    assert sweep(hyphos_cli, tmp_path, "--vary", "robots=2,3", "--seeds", "1")[0] == 0
    before = hashes(tmp_path)
    assert sweep(hyphos_cli, tmp_path, "--vary", "robots=2..4", "--seeds", "2")[0] == 0
    after = hashes(tmp_path)
    assert len(after) == 6
    assert before.items() < after.items()
    # Another value in all runs is another sweep.
    words = ("--vary", "robots=2", "--set", "radio.rate_mbit=12")
    code, _, err = sweep(hyphos_cli, tmp_path, *words)
    assert code == 1
    assert "another version" in err
    assert sweep(hyphos_cli, tmp_path, *words, "--overwrite", "--seeds", "1")[0] == 0
    assert len(hashes(tmp_path)) == 1
    other = tmp_path / "other.yaml"
    other.write_text(EXAMPLE.read_text())
    code, _, err = sweep(hyphos_cli, tmp_path, "--vary", "robots=2", scenario=other)
    assert code == 1
    assert "the folder has results of" in err


def test_a_method_that_cannot_run_is_a_result(hyphos_cli: Cli, tmp_path: Path) -> None:
    words = ("--vary", "method.name=lockstep,velocity_aware_s", "--seeds", "2")
    code, out, err = sweep(hyphos_cli, tmp_path, *words)
    assert code == 0, err
    assert "cannot run" in out
    assert "idle deadlock" in out


def test_paths_in_the_scenario_stay_relative_to_it(
    hyphos_start: Start, hyphos_cli: Cli, tmp_path: Path
) -> None:
    scenario = EXAMPLE.with_name("replay.yaml")
    code, out, err = hyphos_start("cosim", "check", str(scenario)).end()
    assert code == 0, err
    first = json.loads(out)["robots"][0]
    words = ("--vary", f"robots.{first}.kind=ugv,uav", "--seeds", "1")
    code, _, err = sweep(hyphos_cli, tmp_path, *words, scenario=scenario)
    assert code == 0, err


def long_sweep(start: Start, folder: Path) -> Any:
    words = ("--vary", "robots=2..4", "--vary", "radio.tx_power_dbm=0,16", "--seeds", "200")
    more = ("-o", str(folder), "--set", "duration_s=5", "--jobs", "2")
    return start("cosim", "sweep", str(EXAMPLE), *words, *more)


def test_ctrl_c_ends_a_sweep_with_partial_results(hyphos_start: Start, tmp_path: Path) -> None:
    program = long_sweep(hyphos_start, tmp_path)
    runs = tmp_path / "runs.jsonl"
    wait_until(lambda: runs.exists() and len(runs.read_text().splitlines()) > 5, "five runs")
    program.signal(signal.SIGINT)
    code, out, err = program.end()
    assert code == 130
    assert "repeat the command to continue" in err
    assert "loss (%)" in out
    assert "Traceback" not in err
    assert (tmp_path / "summary.csv").exists()
    assert not (tmp_path / "current").exists()
    assert 5 < len(Results(tmp_path).runs) < 1200


def children_of(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # the thread has ended
            found += [int(word) for word in (task / "children").read_text().split()]
    return found


def test_a_killed_sweep_leaves_no_process_and_continues(
    hyphos_start: Start, hyphos_cli: Cli, tmp_path: Path
) -> None:
    program = long_sweep(hyphos_start, tmp_path)
    runs = tmp_path / "runs.jsonl"
    wait_until(lambda: runs.exists() and len(runs.read_text().splitlines()) > 5, "five runs")
    children = look_until(bool, lambda: children_of(program.popen.pid), "a current run")
    program.signal(signal.SIGKILL)
    program.end()
    wait_until(lambda: not any(alive(child) for child in children), "the end of its runs")
    before = hashes(tmp_path)
    words = (*VARY, "--seeds", "2", "-o", str(tmp_path), "-q", "--set", "duration_s=5")
    code, _, err = hyphos_cli("cosim", "sweep", str(EXAMPLE), *words)
    assert code == 0, err
    after = hashes(tmp_path)
    assert before.items() <= after.items()
    assert {key for key in after if key[1] <= 2} >= {(cell, s) for cell, _ in after for s in (1, 2)}
    assert not (tmp_path / "current").exists()


def test_a_line_of_results_cut_anywhere_is_repeated(hyphos_cli: Cli, tmp_path: Path) -> None:
    words = ("--vary", "robots=2,3", "--seeds", "2")
    code, _, err = sweep(hyphos_cli, tmp_path, *words)
    assert code == 0, err
    runs = tmp_path / "runs.jsonl"
    text, whole = runs.read_bytes(), hashes(tmp_path)
    last = text.rstrip(b"\n").rfind(b"\n") + 1
    # Cuts inside of the last line, also the one before its line end, which is valid JSON.
    for cut in (last, last + 1, last + 40, len(text) - 2, len(text) - 1):
        runs.write_bytes(text[:cut])
        assert len(Results(tmp_path).runs) == 3
        code, _, err = sweep(hyphos_cli, tmp_path, *words)
        assert code == 0, (cut - last, err)
        assert hashes(tmp_path) == whole


def test_a_kill_before_the_first_run_leaves_a_usable_folder(
    hyphos_cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "current").mkdir()
    (tmp_path / "current" / "x").write_text("of a killed sweep")
    (tmp_path / "experiment.json.part").write_text("{")
    assert sweep(hyphos_cli, tmp_path, "--vary", "robots=2", "--seeds", "1")[0] == 0
    assert not (tmp_path / "current").exists()


def test_two_sweeps_do_not_write_to_one_folder(hyphos_cli: Cli, tmp_path: Path) -> None:
    with owned(tmp_path):
        code, _, err = sweep(hyphos_cli, tmp_path, "--vary", "robots=2")
    assert code == 1
    assert "another process writes to this folder" in err


def test_a_folder_that_is_a_file_is_an_error(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = sweep(hyphos_cli, tmp_path / "file", "--vary", "robots=2")
    assert code == 1
    assert "the folder of results cannot be used" in err
    assert "Traceback" not in err


def test_a_run_that_fails_is_named_and_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = Options(("robots=2,3",), ("duration_s=1",), (), 2, 1, tmp_path, quiet=True)
    whole = Native.run

    def fails(self: Native, scenario: Path, seed: int, **more: Any) -> Any:
        if "robots=3" in more["settings"] and seed == 2:
            raise Error("internal", "a run failed: the disk is full [io]")
        return whole(self, scenario, seed, **more)

    monkeypatch.setattr(Native, "run", fails)
    assert command.sweep(EXAMPLE, options) == 1
    err = capsys.readouterr().err
    assert "failed: robots 3, seed 2: a run failed: the disk is full [io]" in err
    assert "repeat the command" in err
    assert len(Results(tmp_path).runs) == 3
    monkeypatch.setattr(Native, "run", whole)
    assert command.sweep(EXAMPLE, options) == 0
    assert len(Results(tmp_path).runs) == 4


def test_a_sweep_of_which_every_run_fails_ends_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = []

    def fails(_self: Native, _scenario: Path, seed: int, **_more: Any) -> Any:
        calls.append(seed)
        raise Error("internal", "no memory")

    monkeypatch.setattr(Native, "run", fails)
    options = Options(("robots=2..50",), (), (), 20, 1, tmp_path, quiet=True)
    assert command.sweep(EXAMPLE, options) == 1
    assert len(calls) == 3
    assert "failed: robots 2, seed 1: no memory" in capsys.readouterr().err


def test_progress_shows_the_time_left(hyphos_start: Start, tmp_path: Path) -> None:
    words = ("--vary", "robots=2,3", "--seeds", "2", "-o", str(tmp_path), "--set", "duration_s=1")
    code, _, err = hyphos_start("cosim", "sweep", str(EXAMPLE), *words).end()
    assert code == 0
    assert "[4/4] robots" in err


# --- pages --------------------------------------------------------------------------------------


def test_a_sweep_becomes_a_page(tab: Page, hyphos_cli: Cli, tmp_path: Path) -> None:
    assert sweep(hyphos_cli, tmp_path, *VARY, "--seeds", "2")[0] == 0
    code, out, err = hyphos_cli("cosim", "report", str(tmp_path))
    assert code == 0, err
    files = look_at(tab, Path(out.strip()), 2, {"sweep", "machine"})
    assert files["runs.jsonl.gz"] == (tmp_path / "runs.jsonl").read_text()
    text = tab.ask("document.body.innerText")
    assert "cosim sweep" in text
    assert "husky1" in text


def test_old_runs_without_new_fields_are_read(tmp_path: Path) -> None:
    old = {"parameters": {"a": 1}, "seed": 1, "digest": "x", "figures": None}
    (tmp_path / "runs.jsonl").write_text(json.dumps(old) + "\n")
    [run] = Results(tmp_path).runs
    assert run == Run({"a": 1}, 1, "x", None)
