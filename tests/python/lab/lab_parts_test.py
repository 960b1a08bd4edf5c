"""Experiments in parts, the figures of Allspaw et al., and the performance bars of the gateways."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from helpers import Cli
from hyphos import Error
from hyphos.lab import asserts, commands, experiment, findings, show
from hyphos.lab.case import Case
from hyphos.lab.commands import RunOptions
from hyphos.lab.peers import Peer, find_peers
from hyphos.lab.report import write_report
from hyphos.lab.results import Results, Row, Run
from hyphos.lab.runner import Runner, Wish, wishes

PARTS = (
    "lab: 1\nname: two\nbase: futex\nrate_hz: 60\nrepeats: 2\nseconds: 0.5\nfull: {repeats: 7}\n"
    "parts:\n"
    "  - {workload: pair, peers: [futex, hyphos/shm], grid: {size: [64, 4096]},\n"
    "     full: {seconds: 3}}\n"
    "  - {workload: pair, peers: [zmq/ipc, futex], grid: {size: 4096}, full: {seconds: 3}}\n"
    "  - {workload: uncapped, peers: [hyphos/shm], seconds: 0.2, size: 4096}\n"
)


def parsed(text: str = PARTS, **how: Any) -> experiment.Experiment:
    return experiment.parse(text, "x.yaml", **how)


def test_parts_are_one_experiment_with_separate_peers() -> None:
    found = parsed()
    told = [(c.workload, c.size, c.seconds, c.rate_hz, found.peers_of(c)) for c in found.cases]
    assert told == [
        ("pair", 64, 0.5, 60.0, ["futex", "hyphos/shm"]),
        ("pair", 4096, 0.5, 60.0, ["futex", "hyphos/shm", "zmq/ipc"]),
        ("uncapped", 4096, 0.2, 100.0, ["hyphos/shm"]),  # the rate has no effect here
    ]
    assert found.peers == ["futex", "hyphos/shm", "zmq/ipc"]
    assert (found.base, found.repeats) == ("futex", 2)
    full = parsed(full=True)
    assert full.repeats == 7
    assert [case.seconds for case in full.cases] == [3.0, 3.0, 0.2]
    assert parsed(changes=["rate_hz=9"]).cases[0].rate_hz == 9.0


def test_each_part_keeps_its_peers_at_any_length() -> None:
    peers = find_peers().choose(["futex", "hyphos/shm", "zmq/ipc"])
    wanted = commands.change(parsed(), RunOptions(seconds=0.1, repeats=1))
    made = [(w.case.workload, w.case.size, w.peer.name) for w in wishes(wanted, peers)]
    assert made == [
        *(("pair", 64, name) for name in ("futex", "hyphos/shm")),
        *(("pair", 4096, name) for name in ("futex", "hyphos/shm", "zmq/ipc")),
        ("uncapped", 4096, "hyphos/shm"),
    ]
    some = wishes(wanted, find_peers().choose(["zmq/ipc"]))
    assert [(w.case.size, w.peer.name) for w in some] == [(4096, "zmq/ipc")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("parts: {}", "x.yaml:2: 'parts' must be a list"),
        ("parts: []", "x.yaml:2: 'parts' must be a list"),
        ("parts: [pair]", "x.yaml:2: a part must be a mapping"),
        (
            "parts:\n  - {workload: pair}\n  - {workload: pair,\n     base: a}",
            "x.yaml:5: 'base' applies to the whole",
        ),
        ("parts:\n  - {workload: pear}", "x.yaml:3: unknown workload 'pear'"),
        ("parts:\n  - {workload: pair, sise: 4}", "x.yaml:3: an experiment has no 'sise'"),
        ("parts:\n  - {size: 64}", "x.yaml:3: the workload is missing"),
        (
            "parts:\n  - {workload: pair, seconds: 1}\n  - {workload: pair, seconds: 2}",
            "x.yaml:3: two parts have the same case",
        ),
    ],
)
def test_a_bad_part_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        parsed(f"lab: 1\n{text}\n")
    assert message in str(caught.value)


def test_parts_need_the_same_repeats() -> None:
    text = "lab: 1\nparts:\n  - {workload: pair, full: {repeats: 3}}\n  - {workload: flood}\n"
    assert len(parsed(text).cases) == 2
    with pytest.raises(Error, match="need the same `repeats`"):
        parsed(text, full=True)


# --- figures ------------------------------------------------------------------------------------


def run_of(peer: Peer, case: Case, folder: Path) -> Run:
    folder.mkdir()
    Runner(Results(folder)).measure([Wish(case, peer, 0)])
    [run] = Results(folder).runs
    assert run.result is not None, run.failure
    return run


def test_delays_are_averaged_over_ten_messages(tmp_path: Path) -> None:
    [peer] = find_peers().choose(["hyphos/shm"])
    run = run_of(peer, Case("pair", 4096, 200, seconds=0.3, warmup=3), tmp_path / "out")
    means = run.histogram("average_delay_histogram_ns")
    each = run.histogram("histogram_ns")
    assert run.result is not None
    assert run.result["lost"] == 0
    assert (each.count, means.count) == (60, 6)
    total, count = each.sum_and_count()
    mean_total, mean_count = means.sum_and_count()
    assert mean_total / mean_count == pytest.approx(total / count, rel=2e-3)
    row = Row(run.case, run.peer, [run])
    low, middle, high = (
        row.estimate(f"average_delay_{name}_us").value for name in ("p5", "p50", "p95")
    )
    assert each.values[0] / 1e3 <= low <= middle <= high <= each.values[-1] / 1e3
    assert run.result["cpu_utilization"] > 0
    assert run.result["daemon_cpu_utilization"] is None


@pytest.mark.parametrize("name", ["hyphos/shm", "hyphos_py", "zmq/ipc"])
def test_an_uncapped_run_ends_by_the_clock(name: str, tmp_path: Path) -> None:
    """With more messages than slots."""
    [peer] = find_peers().choose([name])
    case = Case("uncapped", 256, seconds=1.0, messages=20, warmup=3)
    told = run_of(peer, case, tmp_path / "out").result
    assert told is not None
    [rate] = told["publishing_rates_hz"]
    assert told["sent"] == told["planned"] > 20
    assert told["received"] + told["lost"] == told["sent"]
    assert told["duplicates"] == told["corrupt"] == 0
    assert 0 < rate * case.seconds <= told["received"]
    assert told["samples"] == 20


def test_the_cpu_time_of_a_gateway_is_measured(tmp_path: Path) -> None:
    [peer] = find_peers().choose(["gateway/ros_tcp"])
    case = Case("uncapped", 10_240, seconds=0.5, warmup=5)
    told = run_of(peer, case, tmp_path / "out").result
    assert told is not None
    assert 0 < told["daemon_cpu_utilization"] < told["cpu_utilization"]


def row_of(rates: list[list[float]], **more: Any) -> Row:
    case = Case("uncapped")
    told = [{"publishing_rates_hz": one, "received": 5, "lost": 0, **more} for one in rates]
    return Row(case, "futex", [Run(case, "futex", i, one) for i, one in enumerate(told)])


def test_a_rate_uses_the_windows_of_all_runs() -> None:
    row = row_of([[10, 30], [20, 50], [40]])
    assert row.estimate("publishing_rate_hz").value == 30
    assert row.estimate("publishing_rate_low_hz").value == 10
    assert row.estimate("publishing_rate_high_hz").value == 50
    other = row_of([[5, 15], [10, 25], [20]])
    assert row.ratio(other, "publishing_rate_hz").value == pytest.approx(2)
    assert math.isnan(row_of([[], []]).estimate("publishing_rate_hz").value)
    heads, [line] = show.result_lines([row], [], "")
    assert heads[2:5] == ["publishing rate Hz", "slowest window", "fastest window"]
    assert [figure.value for figure in line.figures[:3]] == [30, 10, 50]


def test_an_experiment_may_choose_its_figures() -> None:
    found = parsed("lab: 1\nworkload: pair\nfigures: [average_delay_p50_us, mean_us]\n")
    assert found.figures == ["average_delay_p50_us", "mean_us"]
    heads, _ = show.result_lines([], [], "", found.figures)
    assert heads[2:4] == ["average delay µs (10 messages)", "mean µs"]
    with pytest.raises(Error, match="unknown metric 'p51_us'") as caught:
        parsed("lab: 1\nworkload: pair\nfigures: [p51_us]\n")
    assert "x.yaml:3" in str(caught.value)


# --- criteria -----------------------------------------------------------------------------------


def test_workloads_have_separate_tables_plots_and_criteria(hyphos_cli: Cli, tmp_path: Path) -> None:
    file, out = tmp_path / "x.yaml", tmp_path / "out"
    file.write_text(
        PARTS.replace("seconds: 0.5", "seconds: 0.3\nwarmup: 3")
        + "assert:\n"
        + "  - 'hyphos/shm workload=uncapped: publishing_rate_hz > 1'\n"
        + "  - 'hyphos/shm workload=pair: average_delay_p50_us < 0.001'\n"
    )
    code, shown, err = hyphos_cli("lab", "run", str(file), "-o", str(out))
    assert code == 1
    plain = " ".join(shown.split())
    assert "met hyphos/shm workload=uncapped: publishing_rate_hz > 1" in plain
    assert plain.count("missed hyphos/shm workload=pair: average_delay_p50_us < 0.001") == 2
    assert "1 met, 2 missed" in plain
    assert "report: " in plain, err
    verdicts = json.loads((out / "verdicts.json").read_text())
    assert [one["met"] for one in verdicts] == [True, False, False]
    assert verdicts[0]["figure"] > 1
    assert verdicts[0]["case"]["workload"] == "uncapped"
    page = (out / "report.html").read_text()
    assert '<table id="criteria">' in page
    assert '<table id="figures-pair">' in page
    assert '<table id="figures-uncapped">' in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert write_report(out, None).read_text() == page


def test_every_gateway_bar_fits_a_measured_row() -> None:
    for full in (False, True):
        wanted = experiment.load("gateway_bars", full=full)
        rows = [
            Row(case, peer, [Run(case, peer, 0, told)])
            for case in wanted.cases
            for peer in wanted.peers_of(case) or []
            if (told := result_of(case))
        ]
        criteria = [asserts.parse(text) for text in wanted.asserts]
        for criterion, verdicts in asserts.judge_each(criteria, rows):
            assert verdicts, criterion.text
            for one in verdicts:
                assert not math.isnan(one.value), (criterion.text, one.row.peer, one.row.case.size)
        for criterion in findings.parse(wanted.findings):
            assert asserts.judge([criterion], rows)


def result_of(case: Case) -> dict[str, Any]:
    return {
        **{"planned": 9, "sent": 9, "received": 9, "lost": 0, "daemon_cpu_utilization": 4.0},
        "publishing_rates_hz": [100.0] if case.uncapped else [],
        "histogram_ns": [] if case.uncapped else [[1000, 9]],
    }
