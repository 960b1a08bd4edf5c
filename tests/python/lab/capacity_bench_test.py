"""The capacity model on a machine: running graphs, and the accuracy of predictions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from capacity_samples import (
    HOST,
    ROBOT,
    TRUTH,
    calibrated,
    graph_at,
    most_found,
    profile_of_all,
    robot_in,
)
from helpers import Start
from hyphos._errors import Error
from hyphos.lab.capacity import families, profile
from hyphos.lab.capacity.bench import Bench, Knee, Measured, Trial
from hyphos.lab.capacity.calibrate import points_for
from hyphos.lab.capacity.check import Verdict, check
from hyphos.lab.capacity.commands import _held_out_jobs
from hyphos.lab.capacity.graph import LINK, POINTER, SHM, TCP, Graph
from hyphos.lab.capacity.mixed import held_out_mixed
from hyphos.lab.capacity.model import knee
from hyphos.lab.capacity.verify import confusion, held_out, summary
from hyphos.lab.machine import Load
from hyphos.lab.media import Veth, Wifi


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    return robot_in(tmp_path)


# Measurement.


def _trial(
    scale: float = 1.0, late: float = 50.0, later: float = 50.0, least: float = 20.0, **flow: float
) -> Trial:
    """Half of the messages are this late, in µs, at the beginning and at the end of the run."""
    parts = [late + (later - late) * place / 7 for place in range(8)]
    told = {
        **{"expected": 100, "received": 100, "late_parts_us": parts, "least_late_us": least},
        **flow,
    }
    source = {"planned": 100, "sent": 100, "refused": 0}
    result = {"sources": [source], "flows": [told], "seconds": 1.0, "cores_used": 1.0}
    return Trial(scale, 1.0, result, Load(0.0, 0.0))


def test_a_graph_is_carried_unless_it_loses_or_lags() -> None:
    assert _trial().holds
    assert not _trial(received=98).holds
    assert _trial(later=30_000).holds  # over seven eighths of a second
    assert not _trial(later=40_000).holds
    assert not _trial(received=0, late=0).holds


def test_a_callback_that_needs_150_per_cent_falls_behind_by_half() -> None:
    # The lateness grows by half a second per second. Each part of the run is an eighth of a second.
    trial = _trial(late=31_250, later=31_250 + 7 * 62_500)
    assert trial.behind() == pytest.approx(0.5)
    assert not trial.holds


def test_the_flow_that_falls_behind_most_decides() -> None:
    steady, growing = _trial().result["flows"], _trial(later=210_000).result["flows"]
    trial = _trial()
    mixed = replace(trial, result={**trial.result, "flows": [*steady, *growing]})
    assert mixed.behind() == _trial(later=210_000).behind() > 0.2
    assert not mixed.holds


def test_a_stall_in_one_part_of_a_run_is_no_growth() -> None:
    trial = _trial()
    [flow] = trial.result["flows"]
    stalled = [50.0, 50.0, 50.0, 300_000.0, 50.0, None, 50.0, 50.0]
    result = {**trial.result, "flows": [{**flow, "late_parts_us": stalled}]}
    assert replace(trial, result=result).holds


def test_a_graph_with_a_starved_flow_is_not_carried() -> None:
    assert not _trial(late=400_000, later=390_000).holds
    assert _trial(late=400_000, later=390_000, least=380_000).holds  # a slow link is allowed
    assert _trial(late=200_000, later=210_000).holds  # a permanent hiccup


class _Cliff(Bench):
    """Is carried up to a scale."""

    def __init__(self, edge: float) -> None:
        super().__init__()
        self.edge = edge
        self.runs = 0

    def run(self, graph: Graph, scale: float = 1.0, seconds: float = 1.0) -> Trial | None:
        del graph, seconds
        self.runs += 1
        return _trial(scale, received=100 if scale <= self.edge else 100 * self.edge / scale)


@pytest.mark.parametrize("edge", [0.003, 0.9, 17.0, 4000.0])
def test_a_search_ends_within_six_per_cent(edge: float) -> None:
    bench = _Cliff(edge)
    found = bench.knee(families.echo(1, 64, SHM))
    assert found is not None
    assert found.low <= edge <= found.high
    assert found.high / found.low <= 1.06
    assert bench.runs < 40


class _Hiccup(_Cliff):
    """Its first search finds half of the capacity."""

    def knee(self, graph: Graph, guess: float = 1.0, close_s: float = 0.0) -> Knee | None:
        found = super().knee(graph, guess, close_s)
        self.guesses.append(guess)
        if found is None or len(self.guesses) > 1:
            return found
        return Knee(found.low / 2, found.high / 2, found.trials)

    guesses: list[float]


def test_two_different_searches_need_a_third_one() -> None:
    graph = families.echo(1, 64, SHM)
    quiet = _Cliff(17.0).measure(graph)
    assert quiet is not None
    assert len(quiet.searches) == 2
    assert quiet.scale == pytest.approx(17.0, rel=0.06)
    bench = _Hiccup(17.0)
    bench.guesses = []
    found = bench.measure(graph)
    assert found is not None
    assert len(found.searches) == 3
    assert found.scale == pytest.approx(17.0, rel=0.06)
    assert bench.guesses[1] == pytest.approx(8.5, rel=0.1)  # near the first result


class _Neighbour(_Cliff):
    """A neighbour disturbs some runs, in which every load fails."""

    def __init__(self, edge: float, visits: range, patience_s: float) -> None:
        super().__init__(edge)
        self._patience_s = patience_s
        self.visits = visits

    def run(self, graph: Graph, scale: float = 1.0, seconds: float = 1.0) -> Trial | None:
        here = self.runs in self.visits
        trial = super().run(graph, scale, seconds)
        if trial is None or not here:
            return trial
        return replace(_trial(scale, received=50), load=Load(foreign=0.5, steal=0.0))


@pytest.mark.parametrize(
    ("visits", "patience_s", "found"),
    [
        (range(1), 0.0, True),  # tried once more
        (range(2), 0.0, False),
        (range(4), 5.0, True),  # until the neighbour has gone
        (range(30), 5.0, False),  # the neighbour stays
    ],
)
def test_a_failure_beside_a_neighbour_is_tried_again(
    visits: range, patience_s: float, found: bool
) -> None:
    bench = _Neighbour(17.0, visits, patience_s)
    knee = bench.knee(families.echo(1, 64, SHM), 10.0)
    assert knee is not None
    assert (knee.low <= 17.0 <= knee.high) == found
    assert bench.runs < 60


class _Apart(_Cliff):
    """In some runs the processors are on different L3 caches, and carry half as much."""

    def __init__(self, edge: float, apart: range) -> None:
        super().__init__(edge)
        self.apart = apart

    def run(self, graph: Graph, scale: float = 1.0, seconds: float = 1.0) -> Trial | None:
        if self.runs not in self.apart:
            return super().run(graph, scale, seconds)
        self.edge, edge = self.edge / 2, self.edge
        trial = super().run(graph, scale, seconds)
        self.edge = edge
        return trial and replace(trial, load=Load(0.0, 0.0, handover=6.0))


@pytest.mark.parametrize(
    ("apart", "close_s", "found"),
    [
        (range(1), 60.0, True),
        (range(12), 60.0, True),
        (range(12), 0.0, False),  # without a wait
        (range(500), 60.0, False),  # the wait is used up
    ],
)
def test_a_failure_on_distant_processors_is_tried_again(
    apart: range, close_s: float, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def come_close(most_s: float, _stopped: Callable[[], bool]) -> bool:
        asked.append(most_s)
        return True

    monkeypatch.setattr("hyphos.lab.capacity.bench.wait_until_close", come_close)
    bench = _Apart(17.0, apart)
    knee = bench.knee(families.echo(1, 64, SHM), 12.0, close_s)
    assert knee is not None
    assert (knee.low <= 17.0 <= knee.high) == found
    assert knee.apart == (not found)
    assert bool(asked) == (close_s > 0)
    assert all(most > 0 for most in asked)


def test_a_lower_result_on_distant_processors_is_ignored() -> None:
    far = replace(_trial(9.0, received=50), load=Load(0.0, 0.0, handover=6.0))
    apart, close = Knee(8.0, 9.0, [_trial(8.0), far]), Knee(16.0, 18.0, [_trial(16.0)])
    both = Measured((apart, close))
    assert both.scale == pytest.approx(close.scale)
    assert both.doubtful
    assert not both.and_also(close).doubtful
    assert Measured((apart, apart)).scale == pytest.approx(apart.scale)
    assert not Measured((close, close)).doubtful


def test_a_higher_result_on_distant_processors_counts() -> None:
    far = replace(_trial(90.0, received=0), load=Load(0.0, 0.0, handover=6.0))
    called_away = Knee(16.0, 18.0, [_trial(16.0)])
    more = Knee(80.0, 90.0, [_trial(80.0), far])
    assert more.apart
    middle = math.sqrt(called_away.scale * more.scale)
    assert Measured((called_away, more)).scale == pytest.approx(middle)
    assert Measured((called_away, more, more)).scale == pytest.approx(more.scale)


def test_a_failure_on_a_quiet_machine_is_final() -> None:
    patient = _Neighbour(17.0, range(0), 5.0)
    hasty = _Neighbour(17.0, range(0), 0.0)
    graph = families.echo(1, 64, SHM)
    assert patient.knee(graph) == hasty.knee(graph)
    assert patient.runs == hasty.runs


def test_a_stopped_measurement_gives_nothing() -> None:
    class Stopped(_Cliff):
        def knee(self, graph: Graph, guess: float = 1.0, close_s: float = 0.0) -> Knee | None:
            return super().knee(graph, guess, close_s) if self.runs == 0 else None

    assert Stopped(17.0).measure(families.echo(1, 64, SHM)) is None


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Bench() as made:
        yield made


def _second(bench: Bench, graph: Graph) -> Trial:
    """Runs a graph for a second. The load that a machine carries is no subject of these tests."""
    trial = bench.run(graph, 1.0, 1.0)
    assert trial is not None
    return trial


def test_a_graph_runs_with_synthetic_nodes(bench: Bench, robot: Path) -> None:
    trial = _second(bench, graph_at(robot))
    flows = {(flow["channel"], flow["node"]): flow for flow in trial.result["flows"]}
    assert set(flows) == {("image", "mapper"), ("map", "planner")}
    assert all(0 < flow["received"] <= flow["expected"] for flow in flows.values())
    assert flows["image", "mapper"]["expected"] <= 30
    # The map starts with its causing image, whose callback computes for 2 ms.
    late = [part for part in flows["map", "planner"]["late_parts_us"] if part is not None]
    assert min(late) > 2000


def test_a_graph_that_computes_too_long_is_not_carried(bench: Bench) -> None:
    busy = families.fanout(1, 64, SHM, work_us=15_000)  # 150 % of a core
    assert not _second(bench, busy).holds


def test_an_impossible_plan_is_an_error_with_its_reason(bench: Bench) -> None:
    with pytest.raises(Error, match="no link joins the 2 hosts"):
        bench.run(families.echo(1, 64, LINK))


def test_verify_measures_a_plan(hyphos_start: Start, robot: Path) -> None:
    # A callback of 2 ms limits it to 500 Hz, four times its rate, on every machine.
    robot.write_text(ROBOT.replace("rate_hz: 30", "rate_hz: 125"))

    words = ("lab", "verify", str(robot), "--measure-only", "--json")
    program = hyphos_start(*words).popen
    out, err = program.communicate(timeout=600)  # each of its trials takes more than a second
    measured = float(json.loads(out)["knee"])
    assert program.returncode in (0, 1), err  # 1: this machine does not hold the plan
    assert program.returncode == 1 or measured >= 1
    assert 0 < measured < most_found(4)


# Comparison.


def test_the_confusion_matrix_counts_every_graph_at_every_load() -> None:
    from hyphos.lab.capacity.verify import Comparison  # noqa: PLC0415

    right = Comparison("g", SHM, 1.0, 0.8, 1.25, 1, 1, Measured((Knee(0.98, 1.02),)))
    wrong = replace(right, predicted=4.0, low=3.2, high=5.0)
    counts = confusion([right, wrong])
    assert sum(held + broke for held, broke in counts.values()) == 12
    assert counts[Verdict.FITS][1] == 3  # not carried, but predicted to fit
    assert counts[Verdict.DOES_NOT_FIT][0] == 0
    assert summary([one.error for one in (right, wrong)]).worst == pytest.approx(3.0, rel=0.01)


def test_the_test_set_has_no_calibrated_graph() -> None:
    total = 0
    for way in (POINTER, SHM, TCP, LINK):
        known = {(kind.family, kind.count, kind.size) for kind in points_for(way)}
        made = calibrated(way)
        for graph in held_out(way):
            total += 1
            assert not profile.beyond(graph, {way: made}), graph.name
            assert math.isfinite(knee(graph, {way: TRUTH}, HOST))
        assert ("echo", 4, 108 << 10) not in known
    assert total + len(held_out(LINK, 32 << 10)) >= 30


@pytest.mark.parametrize("largest", [0, 32 << 10, 1 << 20])
def test_mixed_graphs_are_within_the_calibration(largest: int) -> None:
    graphs = held_out_mixed(largest)
    made = profile_of_all(link=Wifi(rate_mbit=54) if largest == 32 << 10 else Veth(rate_mbit=1000))
    taken: set[str] = set()
    for graph in graphs:
        ways = {delivery.way for delivery in graph.deliveries()}
        assert len(ways) > 1, graph.name
        assert (LINK in ways) == (largest > 0), graph.name
        assert {node.process for node in graph.nodes} == set(graph.processes)
        assert math.isfinite(check(graph, made, shared=True).knee), graph.name
        taken |= ways
    assert taken == ({POINTER, SHM, LINK} if largest else {POINTER, SHM, TCP})
    assert len({graph.name for graph in graphs}) == len(graphs)


def test_mixed_graphs_need_all_transports_calibrated() -> None:
    made = profile_of_all(link=Veth(rate_mbit=1000))
    jobs = {name: [g.name for g in graphs] for name, _, graphs in _held_out_jobs(made, [])}
    assert list(jobs) == [POINTER, SHM, TCP, "cable", "short", "mixed", "mixed, cable"]
    assert len(jobs["mixed"]) + len(jobs["mixed, cable"]) == 9
    few = replace(made, ways={way: made.ways[way] for way in (POINTER, SHM)}, links={})
    ((name, _, graphs),) = _held_out_jobs(few, ["mixed"])
    assert name == "mixed"
    assert all(TCP not in {d.way for d in g.deliveries()} for g in graphs)
    assert len(graphs) == 4
    assert [name for name, _, _ in _held_out_jobs(made, ["shm"])] == ["shm"]
