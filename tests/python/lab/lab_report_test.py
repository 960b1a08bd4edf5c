"""Reports: their content in a browser, and their data."""

from __future__ import annotations

import base64
import csv
import gzip
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Page
from helpers import Cli
from hyphos import Error
from hyphos.lab import page, saturation
from hyphos.lab.capacity.calibrate import cores
from hyphos.lab.capacity.fit import Fitted
from hyphos.lab.capacity.model import Costs
from hyphos.lab.capacity.profile import Calibrated, Kind, Profile, save
from hyphos.lab.case import Case, size_label
from hyphos.lab.curves import delivered, plots
from hyphos.lab.export import export
from hyphos.lab.plots import Plot
from hyphos.lab.profile.layers import LAYERS
from hyphos.lab.report import read_profile, save_plots, write_report
from hyphos.lab.results import Results, Row, Run
from hyphos.lab.show import knee_cells
from lab_queues import served
from pages import look_at

PAIR = Case("pair", seconds=1.0)


def run_at(case: Case, peer: str, repeat: int = 0, capacity_hz: float = 5e3) -> Run:
    """A queue that is served at a fixed rate."""
    sent = case.count
    served = min(case.rate_hz, capacity_hz)
    random = np.random.default_rng(repeat)
    plain = (20_000 * random.lognormal(0, 0.5, sent)).astype(int)
    late = plain + [int(1e9 * (i / served - i / case.rate_hz)) for i in range(sent)]
    result = {
        **{"planned": sent, "sent": sent, "received": sent, "lost": 0, "duplicates": 0},
        **{"sources": 1, "flows": 1, "seconds": sent / served, "messages_per_s": served},
        **{"mb_per_s": served * case.size / 1e6, "p50_us": 20.0, "cpu_us_per_msg": 4.0},
        **{"span_s": sent / case.rate_hz, "flow_sent": [sent], "flow_received": [sent]},
        "late_parts_us": [[float(np.median(part)) / 1e3 for part in np.array_split(late, 8)]],
        "least_late_us": [float(min(late)) / 1e3],
        "histogram_ns": [
            [int(v), int(c)] for v, c in zip(*np.unique(plain, return_counts=True), strict=True)
        ],
        "open_histogram_ns": [
            [int(v), int(c)] for v, c in zip(*np.unique(late, return_counts=True), strict=True)
        ],
    }
    return Run(case, peer, repeat, result, at="2026-11-22T08:00:00+00:00")


def folder_of(
    path: Path, text: str = "grid: {size: [64, 65536], rate_hz: [100, 1000]}\n"
) -> Results:
    path.mkdir()
    (path / "experiment.yaml").write_text(
        f"lab: 1\nname: queue\nabout: a <queue> & its rate\nworkload: pair\npeers: [futex]\n{text}"
    )
    (path / "machine.json").write_text('{"cpu": "a <fast> one", "cores": 2}')
    return Results(path)


def grid(path: Path) -> Path:
    results = folder_of(path)
    for size in (64, 65536):
        for rate_hz in (100.0, 1000.0, 10_000.0):
            for peer in ("futex", "hyphos/shm"):
                for repeat in range(2):
                    case = replace(PAIR, size=size, rate_hz=rate_hz)
                    results.add(run_at(case, peer, repeat))
    return path


def titles(plot: Plot) -> list[str]:
    return [title for ax in plot.figure.axes if (title := ax.get_title())]


def test_plots_continue_until_every_case_is_shown() -> None:
    """25 cases at two rates: cases without room in one picture are in the next one."""
    sizes = [64 * 2**i for i in range(13)]
    rows = [
        Row(case, "futex", [run_at(case, "futex")])
        for size in sizes
        for rate_hz in (100.0, 200.0)
        for case in [replace(PAIR, size=size, rate_hz=rate_hz)]
    ]
    made = {plot.name: plot for plot in plots(rows, ["size", "rate_hz"])}
    by_rate = [made["p50_us_by_rate_hz"], made["p50_us_by_rate_hz_2"]]
    assert [title for plot in by_rate for title in titles(plot)] == [*map(size_label, sizes)]
    assert "(1 of 2)" in by_rate[0].caption
    assert "(2 of 2)" in by_rate[1].caption
    for name, fields in (("cdf", 26), ("percentiles", 26), ("goodput_by_rate", 13)):
        shown = [plot for other, plot in made.items() if other.startswith(name)]
        assert sum(len(titles(plot)) for plot in shown) == fields


def test_the_cost_of_reliable_is_relative_to_best_effort() -> None:
    def slower(case: Case, factor: int) -> Row:
        run = run_at(case, "futex")
        assert run.result is not None
        found = [[value * factor, count] for value, count in run.result["histogram_ns"]]
        return Row(case, "futex", [replace(run, result=run.result | {"histogram_ns": found})])

    def both(processes: int, factor: int) -> list[Row]:
        loose = Case("pipeline", processes=processes, seconds=1.0, reliability="best_effort")
        return [slower(loose, 1), slower(replace(loose, reliability="reliable"), factor)]

    rows = both(3, 2) + both(5, 3)
    made = plots(rows, ["processes", "reliability"])
    [picture] = [plot for plot in made if plot.name == "reliable_by_processes"]
    line = picture.figure.axes[0].get_lines()[0]
    assert np.asarray(line.get_xdata()).tolist() == [3, 5]
    assert np.asarray(line.get_ydata()).tolist() == pytest.approx([2, 3], rel=0.01)
    # Without best effort there is no divisor.
    made = plots([row for row in rows if row.case.reliability == "reliable"], ["processes"])
    assert "reliable_by_processes" not in [plot.name for plot in made]


def message(total_ns: int) -> dict[str, Any]:
    parts = {name: total_ns // 2 if name in ("transport", "queue") else 0 for name in LAYERS}
    step = {"channel": "a", "node": "sub", "publish_ns": 0, "parts_ns": parts}
    return {"source": "pub", "total_ns": total_ns, "steps": [step]}


def profiled() -> dict[str, Any]:
    layers = message(40_000)["steps"][0]["parts_ns"]
    ends = {name: [ns * 0.9, ns * 1.1] for name, ns in layers.items()}
    shares = {name: [ns / 40_000, None, None] for name, ns in layers.items()}
    one = {
        **{"case": "64 B, 100 Hz", "path": "pub ─a→ sub", "end_to_end": {"p50_ns": 40_000}},
        **{"runs": [{}], "disturbed": 0, "failures": []},
        "layers_ns": {"p50": layers, "p95": layers},
        "layers_interval_ns": {"p50": ends, "p95": ends},
        "whole_ns": {p: [40_000, 36_000, 44_000] for p in ("p50", "p95")},
        "shares": {"p50": shares, "p95": shares},
        "messages": {"p50": message(40_000), "p95": message(90_000)},
    }
    told = {"experiment": "queue", "peer": "hyphos/shm", "machine": {}, "cases": [one]}
    finding = {"says": "All is queue.", "answer": "not confirmed", "whole": False, "figures": "0.5"}
    return told | {"findings": [finding | {"differs": "Half of it is transport."}]}


def test_a_report_is_readable_and_has_its_data(tab: Page, tmp_path: Path) -> None:
    folder = grid(tmp_path / "out")
    path = write_report(folder, None)
    # By size, by rate, delivery, lateness, percentiles, CDF.
    files = look_at(tab, path, 6, {"figures", "machine"})
    assert files["runs.jsonl.gz"] == (folder / "runs.jsonl").read_text()
    assert json.loads(files["summary.json.gz"]) == json.loads((folder / "summary.json").read_text())
    assert set(files) == {"runs.jsonl.gz", "summary.json.gz", "summary.csv.gz"}
    assert tab.ask("document.querySelectorAll('#figures tr').length") == 1 + 12
    assert "a <queue> & its rate" in tab.ask("document.body.innerText")


def test_a_report_includes_the_layers_of_a_profile(tab: Page, tmp_path: Path) -> None:
    folder = grid(tmp_path / "out")
    (folder / "profile.json").write_text(json.dumps(profiled()))
    tables = {"figures", "layer-findings", "machine"}
    files = look_at(tab, write_report(folder, None), 8, tables)
    assert json.loads(files["profile.json.gz"]) == profiled()
    text = tab.ask("document.body.innerText")
    assert "Where the time goes" in text
    assert "Half of it is transport." in text
    saved = save_plots(folder, "png")
    assert {"layers_by_size.png", "flow.png", "cdf.png"} <= {one.name for one in saved}


def searched(path: Path) -> Path:
    results = folder_of(path)
    knees = []
    for size, capacity_hz in ((64, 3e3), (65536, 600.0)):

        def measure(case: Case, _attempt: int, capacity_hz: float = capacity_hz) -> Run:
            run = run_at(case, "futex", capacity_hz=capacity_hz)
            results.add(run)
            return run

        knee = saturation.find(replace(PAIR, size=size), measure)
        assert knee is not None
        knees.append(replace(knee, peer="futex"))
    saturation.save(path, knees)
    return path


def test_a_search_is_reported_with_its_saturation_points(tab: Page, tmp_path: Path) -> None:
    folder = searched(tmp_path / "out")
    # N·f·S, delivery, lateness, percentiles and CDF at the saturation points.
    files = look_at(tab, write_report(folder, None), 5, {"knees", "figures", "machine"})
    assert files["saturation.json.gz"] == (folder / "saturation.json").read_text()
    first, second = saturation.load(folder, Results(folder).runs)
    assert 3e3 / 1.06 < first.rate_hz < 3e3 * 1.11
    assert first.at_knee is not None
    assert second.volume == pytest.approx(second.rate_hz * 65536)
    rows = tab.ask("[...document.querySelectorAll('#knees tr')].map(r => r.cells[1].innerText)")
    assert rows == ["peer", "futex", "futex"]


def test_a_search_without_a_failure_has_no_failed_rate() -> None:
    def easy(case: Case, _attempt: int) -> Run:
        return Run(case, "futex", 0, served(replace(case, seconds=40 / case.rate_hz), 1e9))

    knee = saturation.find(PAIR, easy)
    assert knee is not None
    assert knee.open
    assert knee.rate_hz == knee.low_hz == max(run.case.rate_hz for run in knee.runs)
    assert knee_cells(knee)[1] == "none"


def test_an_overloaded_server_delivers_at_its_capacity() -> None:
    assert delivered(run_at(replace(PAIR, rate_hz=1000.0), "futex")) == pytest.approx(1.0, abs=0.01)
    behind = delivered(run_at(replace(PAIR, rate_hz=10_000.0), "futex"))
    assert behind == pytest.approx(0.5, abs=0.01)


def verification(path: Path) -> tuple[Path, Path]:
    costs = Costs(**dict.fromkeys(Costs.names("shm"), 2.0))
    points = tuple((Kind("echo", count, 1024), 900.0 / count) for count in (1, 2, 8))
    count = len(Costs.names("shm"))
    fitted = Fitted(costs, 0.1, 0.1, tuple((0.0,) * count for _ in range(count)))
    ways = {"shm": Calibrated("shm", fitted, points, 60.0)}
    profile = path / "capacity.json"
    save(Profile({"cpu": "one"}, cores(), "2026-11-22T08:00:00+00:00", ways), profile)
    compared = [
        {
            **{"graph": f"echo {i}", "way": "shm", "predicted": 100.0 / i, "low": 80.0 / i},
            **{"high": 125.0 / i, "classic": 300.0, "linear": 40.0, "measured": 90.0 / i},
            **{"searches": [(86.0 / i, 91.0 / i), (89.0 / i, 94.0 / i)], "error": 0.1},
            "disturbed": False,
        }
        for i in range(1, 6)
    ]
    told = path / "held.json"
    told.write_text(json.dumps(compared))
    return told, profile


def test_a_verification_becomes_a_page(tab: Page, hyphos_cli: Cli, tmp_path: Path) -> None:
    told, profile = verification(tmp_path)
    words = ("lab", "report", str(told), "--profile", str(profile), "--plots", "svg")
    code, shown, err = hyphos_cli(*words)
    assert code == 0, err
    lines = [Path(line) for line in shown.splitlines()]
    assert [line.name for line in lines[1:]] == [
        "predicted_measured.svg", "errors.svg", "residuals.svg",
    ]  # fmt: skip
    files = look_at(tab, lines[0], 3, {"summary", "confusion", "graphs", "machine"})
    graphs = [one["graph"] for one in json.loads(files["verification.json.gz"])]
    assert graphs == [f"echo {i}" for i in range(1, 6)]
    assert json.loads(files["capacity.json.gz"]) == json.loads(profile.read_text())
    text = tab.ask("document.getElementById('summary').innerText")
    assert "11%" in text  # 100 ÷ √(88·92) − 1


def test_an_invalid_verification_is_refused(hyphos_cli: Cli, tmp_path: Path) -> None:
    _, profile = verification(tmp_path)
    for content in ("{", '[{"graph": 1}]', "3"):
        (tmp_path / "bad.json").write_text(content)
        words = ("lab", "report", str(tmp_path / "bad.json"), "--profile", str(profile))
        code, _, err = hyphos_cli(*words)
        assert code == 1
        assert "not a verification" in err
        assert "--test-set" in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not a profile"),
        ("{}", "neither 'cases'"),
        ('{"paths": []}', "another version"),
        ('{"cases": [{"messages": {}}]}', "another version"),
    ],
)
def test_an_invalid_profile_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "profile.json").write_text(content)
    with pytest.raises(Error, match=message):
        read_profile(tmp_path / "profile.json")
    with pytest.raises(Error, match="cannot read"):
        read_profile(tmp_path / "absent.json")


def test_an_unreadable_search_result_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "saturation.json").write_text('[{"peer": 3}]')
    with pytest.raises(Error, match="not a list of saturation points"):
        saturation.load(tmp_path, [])
    assert saturation.load(tmp_path / "absent", []) == []


# --- export -------------------------------------------------------------------------------------


def test_results_are_exported_as_csv(hyphos_cli: Cli, tmp_path: Path) -> None:
    folder = grid(tmp_path / "out")
    code, shown, err = hyphos_cli("lab", "export", str(folder), "-o", str(tmp_path / "to"))
    assert code == 0, err
    assert shown.split() == [str(tmp_path / "to" / f"{n}.csv") for n in ("runs", "summary")]
    with (tmp_path / "to" / "runs.csv").open() as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == 24
    assert {run["peer"] for run in runs} == {"futex", "hyphos/shm"}
    assert {run["case_size"] for run in runs} == {"64", "65536"}
    with (tmp_path / "to" / "summary.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 12


def test_parquet_without_pyarrow_is_an_error_with_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    folder = grid(tmp_path / "out")
    with pytest.raises(Error, match="Parquet needs pyarrow") as caught:
        export(folder, folder, parquet=True)
    assert "pip install 'hyphos[parquet]'" in caught.value.advice
    assert not list(folder.glob("*.parquet"))


def test_results_are_exported_as_parquet(tmp_path: Path) -> None:
    files = pytest.importorskip("pyarrow.parquet", reason="no pyarrow: pip install pyarrow")
    folder = grid(tmp_path / "out")
    runs, summary = (files.read_table(path) for path in export(folder, folder, parquet=True))
    assert runs.num_rows == 24
    assert summary.num_rows == 12
    first = Results(folder).runs[0].histogram("histogram_ns")
    assert runs["histogram_ns_values"][0].as_py() == first.values.tolist()
    assert runs["histogram_ns_counts"][0].as_py() == first.counts.tolist()
    row = Results(folder).rows()[0]
    assert summary["p99_us"][0].as_py() == row.estimate("p99_us").value


def test_data_of_a_report_unpacks_without_a_browser(tmp_path: Path) -> None:
    folder = grid(tmp_path / "out")
    text = write_report(folder, tmp_path / "other.html").read_text()
    _, _, rest = text.partition('download="runs.jsonl.gz" href="data:application/gzip;base64,')
    data = gzip.decompress(base64.b64decode(rest.partition('"')[0]))
    assert data == (folder / "runs.jsonl").read_bytes()


def test_code_in_sentences_is_marked_up() -> None:
    assert page.paragraph("see `a <b>`") == "<p>see <code>a &lt;b&gt;</code></p>"
    assert "<td>`a`</td>" in page.table(("", ""), [("x", page.Cell("`a`"))])
    assert "<code>a</code>" in page.table(("",), [(page.Cell("`a`", words=True),)])
