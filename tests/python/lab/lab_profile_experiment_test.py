"""hyphos lab profile --experiment: layers of cases in several runs, and published findings."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import PATIENCE_S, Cli, Start
from hyphos import Error
from hyphos.lab import asserts, experiment, series
from hyphos.lab.case import Case
from hyphos.lab.commands import RunOptions
from hyphos.lab.peers import find_peers
from hyphos.lab.profile import experiment as profiled
from hyphos.lab.profile.events import Collection
from hyphos.lab.profile.experiment import chosen_cases, layer_findings, observed_run
from hyphos.lab.profile.flows import Step, Way
from hyphos.lab.profile.layers import LAYERS, METRICS, Spread, figures_of
from hyphos.lab.profile.profile import PathProfile
from hyphos.lab.profile.runs import CaseProfile, around
from hyphos.lab.profile.show_cases import interval
from hyphos.lab.results import Row, Run
from hyphos.lab.runner import Wish
from mcap.reader import make_reader
from profiles import DISTURBED, case_profile, run_layers

CASES = """
lab: 1
name: small
workload: pipeline
peers: [hyphos/shm]
processes: 3
grid: {size: [1 KB, 64 KB], rate_hz: [20, 100]}
findings:
  - says: All of it is transport.
    holds: "size=1KB: p95_transport_share > 1"
    differs: It is a made-up one.
  - {says: It takes time., holds: p50_layers_us > 0}
  - {says: It takes no time., holds: p50_us < 0}
"""


def test_an_experiment_gives_the_layers_of_each_size(hyphos_cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "small.yaml").write_text(CASES)
    code, out, err = hyphos_cli(
        "lab", "profile", "--experiment", "small.yaml", "--for", "0.5", "--repeats", "3", "--json",
        "--svg", "fig.svg", "--html", "fig.html", "--out", "results",
    )  # fmt: skip
    assert code == 0, err
    assert "[6/6] hyphos/shm, 64 KB, 100 Hz: p50 " in err
    told = json.loads(out)
    assert json.loads((tmp_path / "results" / "profile.json").read_text()) == told
    assert told["machine"]["cores"]
    assert "hyphos " in told["machine"]["peers"]
    assert [one["case"] for one in told["cases"]] == ["1 KB, 100 Hz", "64 KB, 100 Hz"]
    for case in told["cases"]:
        check_case(case, 3)
        assert case["path"].count("→") == 2
    # One of the three findings is not about layers.
    assert [(one["answer"], one["differs"]) for one in told["findings"]] == [
        ("not confirmed", "It is a made-up one."), ("confirmed", ""),
    ]  # fmt: skip
    assert (tmp_path / "fig.svg").read_text().count("64 KB, 100 Hz, p95") == 1
    assert (tmp_path / "fig-flow.svg").exists()
    page = (tmp_path / "fig.html").read_text()
    assert "notification delay" in page
    assert "All of it is transport." in page
    assert page.count("<svg") == 2


def check_case(case: dict[str, Any], repeats: int) -> None:
    """Checks the JSON of every case."""
    assert case["failures"] == []
    assert [run["repeat"] for run in case["runs"]] == list(range(repeats))
    assert case["disturbed"] == sum(run["disturbed"] for run in case["runs"])
    # Also by stamps that the profiler does not use.
    assert abs(case["apart_from_own_stamps"]) < 0.5
    for message in case["messages"].values():
        parts = [sum(step["parts_ns"].values()) for step in message["steps"]]
        assert sum(parts) == pytest.approx(message["total_ns"], rel=0.01)
    for percentile in ("p50", "p95"):
        value, low, high = case["whole_ns"][percentile]
        assert 0 < low <= value <= high
        # The whole of each run is the sum of its layers. The whole of the case is their median.
        wholes = sorted(sum(run["layers_ns"][percentile].values()) for run in case["runs"])
        assert wholes[0] - 1 <= value <= wholes[-1] + 1
        for layer, ns in case["layers_ns"][percentile].items():
            low, high = case["layers_interval_ns"][percentile][layer]
            assert low <= ns <= high
        # Only the shares of one run add up. The share of the case is their median.
        for layer, (share, _low, _high) in case["shares"][percentile].items():
            layers = [run["layers_ns"][percentile] for run in case["runs"]]
            of_runs = [one[layer] / sum(one.values()) for one in layers]
            assert min(of_runs) - 1e-3 <= share <= max(of_runs) + 1e-3
    assert case["whole_ns"]["p50"][0] <= case["end_to_end"]["max_ns"]


def test_all_cases_of_an_experiment_are_in_one_trace(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(CASES)
    code, out, err = hyphos_cli(
        "lab", "profile", "--experiment", "small.yaml", "--for", "0.2", "--repeats", "1", "--all",
        "--path", "pub0 -> hop0", "--perfetto", "trace.json", "--mcap", "events.mcap",
    )  # fmt: skip
    assert code == 0, err
    cases = ["1 KB, 20 Hz", "1 KB, 100 Hz", "64 KB, 20 Hz", "64 KB, 100 Hz"]
    assert all(re.search(rf"^ ?{case} +p95 ", out, re.MULTILINE) for case in cases)
    assert "“All of it is transport.”: not confirmed" in out
    records = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    processes = [r["args"]["name"] for r in records if r["name"] == "process_name"]
    assert len(processes) == 3 * len(cases)
    assert {name.rpartition(":")[0] for name in processes} == set(cases)
    with (tmp_path / "events.mcap").open("rb") as file:
        topics = {channel.topic for _, channel, _ in make_reader(file).iter_messages()}
    assert {topic.split("/")[1] for topic in topics} == {
        "1KB_20Hz", "1KB_100Hz", "64KB_20Hz", "64KB_100Hz",
    }  # fmt: skip


def test_an_unknown_path_ends_the_command_at_its_first_run(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(CASES)
    code, _, err = hyphos_cli(
        "lab", "profile", "--experiment", "small.yaml", "--for", "0.2", "--path", "moon -> mars",
    )  # fmt: skip
    assert code not in (0, 130)
    assert "no path matches 'moon -> mars'" in " ".join(err.split())
    assert "[1/" not in err


GRID = [Case("pipeline", size, rate) for rate in (10.0, 100.0) for size in (500_000, 128)]


@pytest.mark.parametrize(
    ("rates", "every", "wanted"),
    [
        ((), False, [(128, 100), (500_000, 100)]),
        ((10,), False, [(128, 10), (500_000, 10)]),
        ((100, 10), False, [(128, 10), (128, 100), (500_000, 10), (500_000, 100)]),
        ((), True, [(128, 10), (128, 100), (500_000, 10), (500_000, 100)]),
    ],
)
def test_cases_are_chosen_by_rate(
    rates: tuple[float, ...], every: bool, wanted: list[tuple[int, float]]
) -> None:
    cases = [*GRID, *(Case("pipeline", c.size, c.rate_hz, processes=5) for c in GRID)]
    chosen = chosen_cases(cases, 2.0, rates, every=every)
    alike = [one for one in chosen if one.processes == 3]
    assert [(one.size, one.rate_hz) for one in alike] == wanted
    assert len(chosen) == len(wanted) * (2 if every else 1)
    assert {one.seconds for one in chosen} == {2.0}


def test_an_unknown_rate_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Error, match="no case of the experiment has 50 Hz") as caught:
        chosen_cases(GRID, 2.0, (10.0, 50.0))
    assert (
        caught.value.advice
        == "use one of 10, 100, or set all cases to this rate with --set rate_hz=50"
    )


def test_layers_of_a_case_are_medians_of_its_quiet_runs() -> None:
    case = Case("pipeline", size=128)
    told = case_profile(case, (0, 10, 20, 30))
    told.runs.append(run_layers(case, 4, 100_000, DISTURBED))
    found = told.as_dict()
    # The transport takes 28 ns and the wait of the run, all other layers take 102 ns.
    assert found["layers_ns"]["p50"]["transport"] == 43
    low, high = found["layers_interval_ns"]["p50"]["transport"]
    assert 28 <= low < 43 < high <= 58
    assert found["layers_ns"]["p50"]["queue"] == 30
    assert found["layers_interval_ns"]["p50"]["queue"] == [30, 30]
    assert found["whole_ns"]["p50"][0] == 145
    shares = found["shares"]["p50"]
    assert shares["transport"][0] == pytest.approx((38 / 140 + 48 / 150) / 2, abs=1e-5)
    assert found["disturbed"] == 1
    assert [one["disturbed"] for one in found["runs"]] == [False] * 4 + [True]
    assert found["runs"][4]["load"]["foreign"] == 0.5
    assert found["end_to_end"]["count"] == 4
    # The representative run is the median one of the runs that count.
    assert found["shown_repeat"] == 1


def test_disturbed_runs_count_if_most_runs_are_disturbed() -> None:
    case = Case("pipeline")
    runs = [run_layers(case, i, 10 * i, DISTURBED) for i in range(3)]
    told = CaseProfile(case, "hyphos/shm", ["size"], runs)
    assert len(told.used) == 3
    assert told.as_dict()["layers_ns"]["p50"]["transport"] == 38


def test_one_run_has_no_interval() -> None:
    found = case_profile(Case("pipeline"), (0,)).as_dict()
    assert found["layers_interval_ns"]["p50"]["transport"] == [None, None]
    assert found["whole_ns"]["p50"] == [130, None, None]
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_an_interval_shows_its_unit_once() -> None:
    assert interval(1200, 3400) == "1.2–3.4 µs"
    assert interval(900, 3400) == "900 ns–3.4 µs"


def test_layers_add_up_to_their_percentile() -> None:
    steps = [Step(0, 0, 100 + i, (10, 0, 0, 0, 20, 0, 70 + i, 0), False) for i in range(1000)]
    ways_of_path = [Way((step,)) for step in steps]
    path = PathProfile("a", (("c", "b"),), False, Spread.of(np.array([100])), np.zeros((1, 8)),
                       np.zeros((1, 8)), 0.0, ways_of_path)  # fmt: skip
    assert around(path, 0.5).tolist() == [10, 0, 0, 0, 20, 0, 0, 0]
    first = Way((Step(0, 0, 40, (10, 0, 0, 0, 20, 0, 10, 0), False), steps[0]))
    path.ways = [first]
    assert around(path, 0.95).sum() == 40 + 30


# Published findings.


def test_figures_of_layers_compare_the_stack_with_the_transport() -> None:
    layers = dict.fromkeys(LAYERS, 0.0) | {"submit": 10e3, "transport": 60e3, "queue": 20e3}
    found = figures_of(layers | {"callback": 10e3})
    assert found["layers_us"] == 100
    assert (found["transport_us"], found["transport_share"]) == (60, 0.6)
    assert found["stack_us"] == 30
    assert found["stack_share"] == pytest.approx(0.3)
    assert found["transport_queue_share"] == pytest.approx(0.8)
    assert found["stack_overhead"] == 0.5
    assert found["queue_lead"] == 2
    nothing = figures_of(dict.fromkeys(LAYERS, 0.0))
    assert np.isnan([nothing["transport_share"], nothing["stack_overhead"]]).all()


def test_criteria_about_layers_are_judged_on_profiled_runs() -> None:
    rows = [case_profile(Case("pipeline", size=s), (w,)).row for s, w in ((128, 0), (1000, 130))]
    plain = Row(rows[0].case, "zmq/tcp", [Run(rows[0].case, "zmq/tcp", 0, {"received": 1})])
    text = "p95_transport_share from size=128 to 1000 > 2"
    [verdict] = asserts.judge([asserts.parse(text)], [*rows, plain])
    assert verdict.value == pytest.approx((158 / 260) / (28 / 130))
    assert verdict.met
    with pytest.raises(Error, match="no measured row fits"):
        asserts.judge([asserts.parse("p95_queue_us > 0")], [plain])


def test_findings_about_layers_are_judged_on_profiled_cases() -> None:
    wanted = experiment.parse(CASES, "small.yaml")
    cases = [case_profile(Case("pipeline", size=size), (0, 10)) for size in (1024, 65536)]
    found = layer_findings(wanted, cases)
    assert [one.answer() for one in found] == ["not confirmed", "confirmed"]
    # The finding is only about the smaller size: 28 and 38 of 130 and 140 ns.
    assert found[0].figures() == "hyphos/shm 0.24"
    assert found[0].differs() == "It is a made-up one."


def test_the_layers_of_the_paper_are_a_separate_experiment() -> None:
    wanted = experiment.load("paper_003_layers")
    chosen = chosen_cases(wanted.cases, 5.0)
    assert [(one.size, one.rate_hz) for one in chosen] == [(128, 100), (500_000, 100)]
    assert {(one.processes, one.reliability) for one in chosen} == {(3, "best_effort")}
    cases = [case_profile(one, (0, 10)) for one in chosen]
    for one in layer_findings(wanted, cases):
        assert one.verdicts, one.finding.says
        assert one.criterion.metric in METRICS


def test_the_experiments_of_the_paper_include_its_layers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    steps = [step for step in series.of_paper("003") if step[0] is series.profile_layers]
    assert [name for _command, name in steps] == ["paper_003_layers"]
    wanted = RunOptions(output=tmp_path / "out", seconds=0.2, repeats=1)
    assert series.run(steps, "layers", wanted) == 0
    folder = tmp_path / "out" / "paper_003_layers"
    told = (folder / "profile.json").read_text()
    assert [one["case"] for one in json.loads(told)["cases"]] == [
        f"{peer}, {size}, 100 Hz"
        for size in ("128 B", "500 kB")
        for peer in ("hyphos/shm", "hyphos/tcp")
    ]
    assert "Published findings about layers" in (folder / "report.html").read_text()
    capsys.readouterr()
    assert series.run(steps, "layers", replace(wanted, resume=True)) == 0
    assert "left out: paper_003_layers: exists already" in capsys.readouterr().err
    assert (folder / "profile.json").read_text() == told
    alone = replace(wanted, peers=["zmq/tcp"], output=tmp_path / "zmq")
    assert series.run(steps, "layers", alone) == 0
    assert "none of these peers has a recorder" in capsys.readouterr().err


# Runs.


class Watched:
    """Replaces a Collector. Records the looks at a domain."""

    looked: dict[str, threading.Event]

    def __init__(self, domain: str, *, whole: bool) -> None:
        assert whole
        self.domain = domain
        self.looked[domain].set()

    def look(self) -> None:
        """Does nothing."""

    def finish(self) -> Collection:
        return Collection(missed={self.domain: 1})


class Staged:
    """Replaces a Stage."""

    domain = ""


class Making:
    """Replaces a Runner. Makes a run in each of these domains until one is quiet."""

    def __init__(self, stage: Staged, domains: list[str], made: Callable[[Wish], Run]) -> None:
        self._stage, self._domains, self._made = stage, domains, made

    def one(self, wish: Wish) -> Run:
        for domain in self._domains:
            self._stage.domain = domain
            assert Watched.looked[domain].wait(PATIENCE_S)
        return self._made(wish)


def test_only_the_last_attempt_at_a_run_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(profiled, "Collector", Watched)
    monkeypatch.setattr(Watched, "looked", {n: threading.Event() for n in "ab"}, raising=False)
    stage: Any = Staged()
    made = lambda wish: Run(wish.case, wish.peer.name, wish.repeat, {})  # noqa: E731
    runner: Any = Making(stage, ["a", "b"], made)
    [peer] = find_peers().choose(["hyphos/shm"])
    done = observed_run(runner, stage, Wish(Case("pipeline"), peer, 3))
    assert done is not None
    run, found = done
    assert run.repeat == 3
    assert found is not None
    assert found.missed == {"b": 1}


def test_a_run_that_cannot_start_is_an_error() -> None:
    def refuse(_wish: Wish) -> Run:
        raise Error("io", "there is no link")

    runner: Any = Making(Staged(), [], refuse)
    [peer] = find_peers().choose(["hyphos/shm"])
    with pytest.raises(Error, match="there is no link"):
        observed_run(runner, Staged(), Wish(Case("pipeline"), peer, 0))  # type: ignore[arg-type]


def test_ctrl_c_shows_the_finished_runs(hyphos_start: Start, tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(CASES)
    running = hyphos_start(
        "lab", "profile", "--experiment", "small.yaml", "--for", "0.2", "--repeats", "1000",
    )  # fmt: skip
    while not running.error_line().startswith("[3/2000]"):
        pass
    code, out, err = running.stop()
    assert code == 130
    assert "stopped before the end" in err
    assert "1 KB, 100 Hz" in out


def test_a_case_names_its_failed_runs(capsys: pytest.CaptureFixture[str]) -> None:
    from hyphos.lab.profile.show_cases import print_cases  # noqa: PLC0415
    from hyphos.tools.console import console  # noqa: PLC0415

    told = case_profile(Case("pipeline"), (0, 10))
    told.failures.append(Run(told.case, told.peer, 2, None, "ended by SIGKILL"))
    assert told.as_dict()["failures"] == [{"repeat": 2, "why": "ended by SIGKILL"}]
    print_cases(console(), [told], "small")
    out = capsys.readouterr().out
    assert "1 KB, 100 Hz: run 3 failed: ended by SIGKILL" in out
