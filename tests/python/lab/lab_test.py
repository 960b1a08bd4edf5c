"""The laboratory: experiments, statistics, criteria and the output of runs."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from helpers import Cli
from hyphos import Error
from hyphos.lab import asserts, commands, experiment, machines, series, show
from hyphos.lab.case import Case, size_label
from hyphos.lab.commands import RunOptions
from hyphos.lab.machine import Load
from hyphos.lab.report import write_report
from hyphos.lab.results import Results, Row, Run
from hyphos.lab.stats import Histogram, bootstrap, pooled, wilson
from lab_runs import SMALL
from rich.text import Text

# --- statistics ---------------------------------------------------------------------------------


def test_percentiles_equal_those_of_the_samples() -> None:
    samples = np.random.default_rng(1).integers(1, 2000, 999)
    histogram = Histogram((int(v), 1) for v in samples)
    by_value = pooled([histogram])
    for percent in (1, 50, 95, 99.9, 100):
        rank = math.ceil(percent / 100 * len(samples))
        assert by_value.percentile(percent) == sorted(samples)[rank - 1]


def test_histograms_add_up() -> None:
    one = Histogram([(10, 3), (20, 1)])
    two = Histogram([(20, 2), (5, 1)])
    both = pooled([one, two])
    assert list(zip(both.values, both.counts, strict=True)) == [(5, 1), (10, 3), (20, 3)]
    assert pooled([one, two], [0, 2]).count == 6
    assert math.isnan(pooled([]).percentile(50))


def test_a_bootstrap_interval_has_its_nominal_coverage() -> None:
    random = np.random.default_rng(7)
    hits = 0
    for trial in range(200):
        runs = random.normal(100, 10, 20).tolist()
        found = bootstrap(runs, fmean, seed=trial)
        assert found.low <= found.value <= found.high
        hits += found.low <= 100 <= found.high
    # The percentile bootstrap of 20 values is a little narrow: 92 % instead of 95.
    assert 170 <= hits <= 198


def test_one_run_has_no_interval() -> None:
    found = bootstrap([4.0], lambda some: some[0])
    assert found.value == 4.0
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_a_share_has_an_interval_even_if_nothing_was_lost() -> None:
    none = wilson(0, 1000)
    assert none.value == 0.0
    assert none.low == pytest.approx(0.0, abs=1e-12)
    assert 0.003 < none.high < 0.005  # the rule of three gives 0.003 for a one-sided bound
    some = wilson(10, 1000)
    assert (some.low, some.high) == pytest.approx((0.005442, 0.018311), abs=1e-5)


# --- experiments --------------------------------------------------------------------------------


def test_a_grid_is_every_combination() -> None:
    found = experiment.parse(
        "lab: 1\nworkload: pipeline\ngrid:\n  size: [1 KB, 500000]\n  processes: [3, 23]\n"
        "full: {processes: [3, 5, 7]}\n",
        "x.yaml",
    )
    assert [(c.size, c.processes) for c in found.cases] == [
        *((1024, 3), (1024, 23)),
        *((500_000, 3), (500_000, 23)),
    ]
    assert found.varied() == ["size", "processes"]
    full = experiment.parse(
        "lab: 1\nworkload: pair\nseconds: 1\ngrid: {size: 64}\nfull: {seconds: 60}\n",
        "x.yaml",
        full=True,
    )
    assert [case.seconds for case in full.cases] == [60.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1", "x.yaml: an experiment is a mapping"),
        ("lab: 2", "x.yaml:1: this is not an experiment"),
        ("a: [", "x.yaml:2: invalid YAML"),
        ("lab: 1\nworkload: pear", "x.yaml:2: unknown workload 'pear'"),
        ("lab: 1", "x.yaml:1: the workload is missing"),
        ("lab: 1\nworkload: pair\nsise: 3", "x.yaml:3: an experiment has no 'sise'"),
        ("lab: 1\nworkload: pair\nsize: 1 TB", "x.yaml:3: size: '1 TB' is not a number"),
        ("lab: 1\nworkload: pair\nsize: 5", "x.yaml:3: size: 5 is not from 32"),
        ("lab: 1\nworkload: pair\nrate_hz: 0", "x.yaml:3: rate_hz: 0 is not from 0.01"),
        ("lab: 1\nworkload: pair\nsize: [1, 2]", "lists go below `grid:`"),
        ("lab: 1\nworkload: pair\ngrid: {size: []}", "x.yaml:3: 'size' is an empty list"),
        ("lab: 1\nworkload: pair\ngrid: {pairs: [1]}", "'pairs' applies to the workload echo"),
        ("lab: 1\nworkload: pair\ngrid: {size: 99}\nsize: 99", "'size' is set here and in the"),
        ("lab: 1\nworkload: pair\nreliability: yes", "reliability must be best_effort or reliable"),
        ("lab: 1\nworkload: pair\nrepeats: 0", "x.yaml:3: repeats must be an integer from 1"),
        ("lab: 1\nworkload: pair\nsize: 64\nsize: 65", "x.yaml:4: 'size' is given twice"),
        ("lab: 1\nworkload: echo\npairs: 1.5", "x.yaml:3: pairs: 1.5 is not an integer"),
    ],
)
def test_a_bad_experiment_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        experiment.parse(text + "\n", "x.yaml")
    said = f"{caught.value} {caught.value.advice}"
    assert message in said


def test_every_built_in_experiment_is_valid() -> None:
    names = experiment.built_in()
    assert "latency" in names
    for name in names:
        reduced = experiment.load(name)
        full = experiment.load(name, full=True)
        assert reduced.name == name
        assert reduced.about
        assert len(full.cases) >= len(reduced.cases) >= 1


def test_a_misspelled_experiment_gets_a_suggestion(hyphos_cli: Cli) -> None:
    code, _, err = hyphos_cli("lab", "run", "latenzy")
    assert code == 1
    assert "did you mean 'latency'?" in err


# --- criteria -----------------------------------------------------------------------------------


def row(peer: str, size: int, value_us: float, *, lost: int = 0, unsent: int = 0) -> Row:
    result = {
        "histogram_ns": [[int(value_us * 1000), 10]],
        "open_histogram_ns": [],
        "lost": lost,
        "received": 10,
        "planned": 10 + lost + unsent,
        "sent": 10 + lost,
    }
    case = Case("pair", size)
    return Row(case, peer, [Run(case, peer, i, result) for i in range(3)])


def test_criteria_are_judged_on_the_rows_they_name() -> None:
    rows = [
        row("futex", 1024, 10),
        row("hyphos/shm", 1024, 15),
        row("hyphos/shm", 4096, 40, lost=1),
    ]
    judged = asserts.judge(
        [
            asserts.parse("hyphos/shm size=1KB: p50_us < 20"),
            asserts.parse("hyphos: p99_us <= 30"),
            asserts.parse("hyphos/shm size=1024: p50_us / futex <= 1.5"),
            asserts.parse("lost == 0"),
            asserts.parse("hyphos/shm size=1KB: p50_us - futex <= 4"),
        ],
        rows,
    )
    assert [v.met for v in judged] == [True, True, False, True, True, True, False, False]
    assert judged[3].value == pytest.approx(1.5)
    assert judged[7].value == pytest.approx(5)


def test_unsent_messages_are_shown_and_can_be_judged() -> None:
    """A publisher that stopped after a tenth of its schedule has lost nothing."""
    rows = [row("futex", 1024, 10), row("zmq/ipc", 1024, 10, unsent=90)]
    texts = ("lost == 0", "unsent == 0", "unsent_share < 0.5")
    judged = asserts.judge([asserts.parse(text) for text in texts], rows)
    assert [v.met for v in judged] == [True, True, True, False, True, False]
    assert judged[3].value == 270
    assert judged[5].value == pytest.approx(0.9)
    heads, lines = show.result_lines(rows, [], "")
    at = heads.index("unsent")
    assert heads[at + 1] == "lost"
    assert [line.missing for line in lines] == [[0, 0], [270, 0]]
    assert "unsent" not in show.result_lines(rows[:1], [], "")[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p99_us", "is not a criterion"),
        ("p98_us < 4", "unknown metric 'p98_us'"),
        ("p99_us < 4.4.4", "'4.4.4' is not a number"),
        ("colour=red: p99_us < 4", "unknown parameter 'colour'"),
    ],
)
def test_an_invalid_criterion_is_refused(text: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        asserts.parse(text)


def test_a_verdict_shows_its_uncertainty() -> None:
    """The figure decides. A limit inside the interval and disturbed runs are shown."""
    case = Case("pair")

    def of(values: list[int], disturbed: int) -> Row:
        runs = []
        for i, value in enumerate(values):
            told = {"histogram_ns": [[value * 1000, 10]], "open_histogram_ns": [], "received": 10}
            load = Load(0.9 if i < disturbed else 0.0, 0.0)
            runs.append(Run(case, "futex", i, told, load=load))
        return Row(case, "futex", runs)

    def said(row: Row, text: str) -> str:
        [line] = show.verdict_lines(asserts.judge([asserts.parse(text)], [row]), [])
        return Text.from_markup(line).plain

    wide = of([10, 12, 14, 16, 18], disturbed=0)
    assert said(wide, "p50_us < 15").startswith("met ")
    assert "uncertain" in said(wide, "p50_us < 15")
    assert said(wide, "p50_us < 13").startswith("missed")
    assert "uncertain" not in said(wide, "p50_us < 30")
    assert "disturbed" not in said(wide, "p50_us < 30")
    assert "uncertain" not in said(of([10], disturbed=0), "p50_us < 10.001")  # no interval
    assert said(of([10] * 5, disturbed=5), "p50_us < 30").endswith("5 of 5 runs disturbed")
    assert "disturbed" not in said(
        of([10] * 5, disturbed=1), "p50_us < 30"
    )  # the disturbed run was left out


def test_a_criterion_that_fits_no_row_is_an_error() -> None:
    with pytest.raises(Error, match="no measured row fits"):
        asserts.judge([asserts.parse("zmq: lost == 0")], [row("futex", 1024, 10)])


# --- runs ---------------------------------------------------------------------------------------


def test_an_experiment_is_measured_shown_and_judged(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SMALL + "base: futex\ngrid: {size: [64, 1 MB]}\n")
    out = tmp_path / "out"
    words = ("lab", "run", str(tmp_path / "x.yaml"), "-o", str(out), "--no-cpu-idle")
    code, shown, err = hyphos_cli(
        *words, "--assert", "hyphos/shm: lost == 0", "--assert", "hyphos/shm: p50_us < 6e7"
    )
    assert code == 0, shown + err
    assert shown.count("met ") == 4
    assert "÷" in shown
    assert "[8/8]" in err
    results = Results(out)
    assert len(results.runs) == 8
    for run in results.runs:
        assert run.result is not None
        # The ring of the floor is short: if the machine stalls, it loses messages and counts them.
        arrived = run.result["received"]
        assert run.result["sent"] == arrived + run.result["lost"] == run.case.count
        histogram = run.histogram("histogram_ns")
        assert histogram.count == arrived
        # The program computes the same percentile from the samples themselves.
        assert histogram.percentile(95) / 1e3 == pytest.approx(run.result["p95_us"], rel=1e-3)
        assert run.histogram("open_histogram_ns").percentile(50) >= histogram.percentile(50)
    summary = json.loads((out / "summary.json").read_text())
    assert {entry["peer"] for entry in summary} == {"futex", "hyphos/shm"}
    assert (out / "summary.csv").read_text().count("\n") == 5
    assert f"report: {out / 'report.html'}" in shown.replace("\n", "")
    assert (out / "report.html").stat().st_size > 10_000
    [(name, described)] = machines.load(out).items()
    assert described["processors"] == "kept awake"
    assert "zmq 4" in described["peers"]
    assert {run.machine for run in results.runs} == {name}
    code, _, err = hyphos_cli(*words)
    assert code == 1
    assert "--resume continues" in err
    code, shown, _ = hyphos_cli("lab", "show", str(out), "--base", "hyphos/shm")
    assert code == 0
    assert "÷" in shown


def test_a_missed_criterion_fails(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SMALL + "assert: 'futex: p50_us < 0.001'\n")
    code, shown, _ = hyphos_cli("lab", "run", str(tmp_path / "x.yaml"), "-o", str(tmp_path / "o"))
    assert code == 1
    assert "missed futex: p50_us < 0.001" in shown


def test_existing_runs_are_not_measured_again(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SMALL)
    out = tmp_path / "out"
    words = ("lab", "run", str(tmp_path / "x.yaml"), "-o", str(out))
    assert hyphos_cli(*words)[0] == 0
    lines = (out / "runs.jsonl").read_text().splitlines(keepends=True)
    # The file after a kill: two runs, and a partial third one.
    (out / "runs.jsonl").write_text("".join(lines[:2]) + lines[2][:50])
    code, _, err = hyphos_cli(*words, "--resume")
    assert code == 0
    assert err.count("p50") == 2
    again = (out / "runs.jsonl").read_text().splitlines(keepends=True)
    assert again[:2] == lines[:2]
    assert len(again) == 4


def test_runs_of_two_machines_are_not_mixed(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SMALL)
    out = tmp_path / "out"
    words = ("lab", "run", str(tmp_path / "x.yaml"), "-o", str(out), "--resume", "-p", "futex")
    assert hyphos_cli(*words, "--repeats", "1")[0] == 0
    [described] = machines.load(out).values()
    # The old format with one machine.
    older = {**described, "hyphos": "0.0.9"}
    (out / "machine.json").write_text(json.dumps(older))
    code, _, err = hyphos_cli(*words)
    assert code == 0
    assert "since the earlier runs: hyphos: 0.0.9, now" in err
    assert set(machines.load(out)) == {machines.name_of(older), machines.name_of(described)}
    assert {run.machine for run in Results(out).runs} == {machines.name_of(described)}
    page = write_report(out, None).read_text()
    assert f"{machines.name_of(older)}: 0 runs" in page
    assert f"{machines.name_of(described)}: 2 runs" in page
    (out / "machine.json").write_text(json.dumps({**older, "kernel": "1.0"}))
    code, _, err = hyphos_cli(*words)
    assert code == 1
    assert "of another machine (kernel: 1.0, now" in err


def test_a_series_leaves_a_report_of_each_and_resumes(
    tmp_path: Path,
) -> None:
    names = ["latency", "paper_001_between"]
    steps = [(commands.run, name) for name in names]
    wanted = RunOptions(
        output=tmp_path, seconds=0.1, repeats=1, peers=["futex"], changes=["size=64"], quiet=True
    )
    assert series.run(steps, "two", wanted) == 0
    for name in names:
        assert (tmp_path / name / "report.html").stat().st_size > 10_000
    first = (tmp_path / names[0] / "runs.jsonl").read_text()
    shutil.rmtree(tmp_path / names[1])
    assert series.run(steps, "two", replace(wanted, resume=True)) == 0
    assert (tmp_path / names[0] / "runs.jsonl").read_text() == first
    assert (tmp_path / names[1] / "report.html").exists()


def test_the_papers_are_series_of_all_their_experiments(tmp_path: Path) -> None:
    assert series.papers() == ["000", "001", "003", "004"]
    assert series.of_paper("000") is series.UNITY
    names = [name for _command, name in series.of_paper("004")]
    assert names == [name for name in experiment.built_in() if name.startswith("paper_004_")]
    one = RunOptions(output=tmp_path, seconds=7.0, repeats=3, peers=["futex"])
    # The length of a long experiment is nearly all of its duration.
    expected = len(experiment.load("paper_001_between").cases) * 3 * 7
    assert expected < series.duration_s(commands.run, "paper_001_between", one) < 2 * expected


def test_a_series_omits_experiments_without_a_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [(commands.run, "paper_004_recorded"), (commands.run, "paper_001_between")]
    wanted = RunOptions(
        output=tmp_path, seconds=0.1, repeats=1, peers=["futex"], changes=["size=64"], quiet=True,
        report=False,
    )  # fmt: skip
    assert series.run(steps, "two", wanted) == 0
    said = capsys.readouterr()
    assert "1 experiments, about 1 min" in said.out
    assert "left out: paper_004_recorded" in said.err
    assert not (tmp_path / "paper_004_recorded").exists()
    assert not (tmp_path / "paper_001_between" / "report.html").exists()


def test_the_unity_series_includes_all_of_its_paper() -> None:
    names = [name for name in experiment.built_in() if name.startswith(("paper_000_", "unity_"))]
    assert sorted(name for _command, name in series.UNITY) == names


def test_sizes_are_written_as_in_the_papers() -> None:
    sizes = {1024: "1 KB", 4 << 20: "4 MB", 500_000: "500 kB", 128: "128 B", 1500: "1.5 kB"}
    assert {size: size_label(size) for size in sizes} == sizes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("link: far", "unknown link 'far'"),
        ("links: 3", "x.yaml:3: 'links' must be a mapping"),
        ("links: {far: {delay_ms: 1}}", "x.yaml:3: the link 'far' must be a mapping with a kind"),
        ("links: {'a b': {kind: tun}}", "'a b' is not a valid name"),
        ("links: {far: {kind: tunn}}", "x.yaml:3: unknown medium 'tunn'"),
        ("links: {far: {kind: tun, dely_ms: 1}}", "did you mean 'delay_ms'?"),
    ],
)
def test_a_bad_link_is_refused(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        experiment.parse(f"lab: 1\nworkload: pair\n{text}\n", "x.yaml")
    assert message in str(caught.value)


def test_a_report_needs_no_other_file(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SMALL + "about: a <test> & more\ngrid: {size: [64, 1 MB]}\n")
    out = tmp_path / "out"
    assert hyphos_cli("lab", "run", str(tmp_path / "x.yaml"), "-o", str(out))[0] == 0
    code, shown, err = hyphos_cli("lab", "report", str(out), "--plots", "png")
    assert code == 0, err
    page = (out / "report.html").read_text()
    assert shown.splitlines()[0] == str(out / "report.html")
    assert page.count("<svg") == 3  # latency by size, by percentile, and as shares
    assert "a &lt;test&gt; &amp; more" in page
    # Nothing is loaded from elsewhere. The names of XML namespaces are not addresses.
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    [data] = re.findall(
        r'download="runs.jsonl.gz" href="data:application/gzip;base64,([^"]+)"', page
    )
    assert gzip.decompress(base64.b64decode(data)) == (out / "runs.jsonl").read_bytes()
    assert {path.suffix for path in (out / "plots").iterdir()} == {".png"}
