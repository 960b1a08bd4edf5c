"""A folder of results: its parts in memory, and its statistics."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hyphos import Error
from hyphos.lab import show
from hyphos.lab.case import Case
from hyphos.lab.results import Results, Run, statistic
from hyphos.lab.stats import Histogram, bootstrap, percentile_intervals, pooled
from rich.console import Console

PAIR = Case("pair")


def made_run(repeat: int, values: list[int]) -> Run:
    buckets = [[value, 1 + value % 3] for value in sorted(set(values))]
    result = {"histogram_ns": buckets, "open_histogram_ns": [], "received": 7, "lost": 0}
    return Run(PAIR, "futex", repeat, result)


def folder_of(path: Path, runs: int) -> Results:
    results = Results(path)
    random = np.random.default_rng(3)
    for repeat in range(runs):
        results.add(made_run(repeat, random.integers(1000, 9000, 400).tolist()))
    return results


def test_all_percentiles_at_once_are_those_of_the_bootstrap() -> None:
    random = np.random.default_rng(11)
    some = [Histogram((int(v), 2) for v in random.integers(1, 900, 300)) for _ in range(6)]
    some.append(Histogram())  # a run that received nothing
    percents = (50.0, 99.0, 100.0)
    for percent, found in zip(percents, percentile_intervals(some, percents), strict=True):
        one = bootstrap(some, lambda h, p=percent: pooled(h).percentile(p))  # type: ignore[misc]
        assert (found.value, found.low, found.high) == (one.value, one.low, one.high)


def test_histograms_are_read_from_the_file_on_demand(tmp_path: Path) -> None:
    made = folder_of(tmp_path, 3)
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    for results in (made, Results(tmp_path)):
        for run, line in zip(results.runs, lines, strict=True):
            assert run.result is not None
            assert "histogram_ns" not in run.result
            assert run.result["received"] == 7
            buckets = json.loads(line)["result"]["histogram_ns"]
            found = run.histogram("histogram_ns")
            assert [list(pair) for pair in zip(found.values, found.counts, strict=True)] == buckets
            assert run.histogram("open_histogram_ns").count == 0
        [row] = results.rows()
        expected = bootstrap(row.used, lambda runs: statistic(runs, "p99_us"))
        assert row.estimate("p99_us").to_json() == pytest.approx(expected.to_json())


def test_the_mean_covers_all_messages_of_all_runs(tmp_path: Path) -> None:
    results = Results(tmp_path)
    samples: list[int] = []
    for repeat, values in enumerate(([1000, 3000], [9000], [2000, 2000, 5000])):
        buckets = [[value, 2] for value in sorted(set(values))]
        told = {"histogram_ns": buckets, "open_histogram_ns": [[7000, 1]], "received": 1}
        results.add(Run(PAIR, "futex", repeat, told))
        samples += [value for value, count in buckets for _ in range(count)]
    [row] = Results(tmp_path).rows()
    found = row.estimate("mean_us")
    assert found.value == pytest.approx(np.mean(samples) / 1e3)
    assert 2.0 <= found.low < found.value < found.high <= 9.0
    expected = bootstrap(row.used, lambda runs: statistic(runs, "mean_us"))
    assert found.to_json() == pytest.approx(expected.to_json())
    assert row.estimate("open_mean_us").to_json() == [7.0, 7.0, 7.0]
    assert row.ratio(row, "mean_us").value == 1.0
    results.write_summary()
    assert "open_mean_us" in (tmp_path / "summary.csv").read_text()


def test_the_throughput_by_latency_is_size_by_mean(tmp_path: Path) -> None:
    results = Results(tmp_path)
    case = Case("inproc", size=1_000_000)
    for repeat, value in enumerate((100_000, 300_000)):
        told = {"histogram_ns": [[value, 10]], "open_histogram_ns": [], "received": 10}
        results.add(Run(case, "tbb", repeat, told))
    results.add(Run(case, "futex", 0, {"histogram_ns": [], "open_histogram_ns": []}))
    [row, nothing] = Results(tmp_path).rows()
    found = row.estimate("latency_mb_per_s")
    assert found.value == pytest.approx(1_000_000 / 200)  # a byte in a microsecond is 1 MB/s
    assert found.low < found.value < found.high
    expected = bootstrap(row.used, lambda runs: statistic(runs, "latency_mb_per_s"))
    assert found.to_json() == pytest.approx(expected.to_json())
    assert row.ratio(row, "latency_mb_per_s").value == 1.0
    assert np.isnan(nothing.estimate("latency_mb_per_s").value)


def test_lines_of_another_json_writer_are_read(tmp_path: Path) -> None:
    folder_of(tmp_path, 1)
    path = tmp_path / "runs.jsonl"
    [expected] = [run.histogram("histogram_ns").values.tolist() for run in Results(tmp_path).runs]
    path.write_text(json.dumps(json.loads(path.read_text()), separators=(",", ":")) + "\n")
    [run] = Results(tmp_path).runs
    assert run.histogram("histogram_ns").values.tolist() == expected


def test_a_truncated_line_is_replaced_by_the_next_run(tmp_path: Path) -> None:
    folder_of(tmp_path, 3)
    path = tmp_path / "runs.jsonl"
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(whole[0] + whole[1] + whole[2][:100])
    results = Results(tmp_path)
    assert [run.repeat for run in results.runs] == [0, 1]
    results.add(made_run(2, [1000, 2000]))
    assert path.read_bytes().startswith(whole[0] + whole[1])
    last = Results(tmp_path).runs[-1]
    assert last.histogram("histogram_ns").values.tolist() == [1000, 2000]


def test_an_invalid_line_is_an_error_with_its_number(tmp_path: Path) -> None:
    folder_of(tmp_path, 1)
    with (tmp_path / "runs.jsonl").open("a") as file:
        file.write('{"case": {}}\n')
    with pytest.raises(Error, match="not a run of an experiment") as caught:
        Results(tmp_path)
    assert caught.value.where.endswith("runs.jsonl:2")
    assert "--resume" in caught.value.advice


def test_a_file_changed_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    results = folder_of(tmp_path, 1)
    (tmp_path / "runs.jsonl").write_text("")
    with pytest.raises(Error, match="changed while they were read"):
        results.runs[0].histogram("histogram_ns")


def test_a_row_includes_runs_added_later(tmp_path: Path) -> None:
    results = folder_of(tmp_path, 1)
    [before] = results.rows()
    assert results.rows()[0] is before
    first = before.estimate("p50_us").value
    results.add(made_run(1, [100_000 + i for i in range(4000)]))
    [after] = results.rows()
    assert after.estimate("p50_us").value > first


@pytest.mark.parametrize(("width", "whole"), [(240, True), (70, False)])
def test_a_narrow_table_truncates_no_figure(tmp_path: Path, width: int, whole: bool) -> None:
    rows = folder_of(tmp_path, 5).rows()
    figures = [row.estimate(metric) for row in rows for metric in ("p50_us", "p95_us", "p99_us")]
    out = Console(width=width, file=StringIO(), color_system=None)
    out.print(show.result_table(out, rows, ["size"], "", ["p50_us", "p95_us", "p99_us"] * 2))
    assert isinstance(out.file, StringIO)
    shown = out.file.getvalue()
    assert "futex" in shown
    assert "…" not in shown
    for figure in figures:
        assert show.number(figure.value) in shown
        assert (f"{show.number(figure.low)}–{show.number(figure.high)}" in shown) == whole
