"""The capacity model: predictions for graphs, fit, profile and queries."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from capacity_samples import HOST, TRUTH, calibrated, graph_at, profile_of_all, robot_in
from hyphos import _hyphos
from hyphos._errors import Error
from hyphos.lab.capacity import families, profile
from hyphos.lab.capacity import pace as pace_of
from hyphos.lab.capacity.bench import Bench, Knee, Measured
from hyphos.lab.capacity.calibrate import Plan, calibrate, calibrate_among, points_for, priors_for
from hyphos.lab.capacity.check import End, Verdict, check, spread
from hyphos.lab.capacity.fit import MEASURED, Point, classic, fit, linear
from hyphos.lab.capacity.graph import LINK, POINTER, SHM, TCP, Graph, join, silent
from hyphos.lab.capacity.model import Costs, Host, demand, knee, volume
from hyphos.lab.capacity.profile import NINE_OF_TEN, Calibrated, Kind
from hyphos.lab.capacity.verify import held_out
from hyphos.lab.media import Veth, Wifi

# Only sockets wake a process for each large message.
OF_MEMORY = replace(TRUTH, send_us=1e-9, room_kb=1e9)


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    return robot_in(tmp_path)


# Graphs.


def test_a_plan_gives_its_rates_sizes_and_transports(robot: Path) -> None:
    graph = graph_at(robot)
    found = {(d.channel.name, d.way): d.rate_hz for d in graph.deliveries()}
    assert found == {("image", SHM): 30.0, ("map", POINTER): 10.0}
    assert graph.node("mapper").work_for("image") == 2000
    told = json.loads(_hyphos.Plan.load(str(robot), [], False).json())
    assert silent(told) == ["debug"]


def test_a_plan_without_loads_is_an_error_with_remedy(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text("hyphos: 1\nchannels: {scan: {}}\n")
    with pytest.raises(Error, match="no channel has a load") as error:
        graph_at(path)
    assert "rate_hz" in error.value.advice


def test_a_graph_equals_the_graph_of_its_plan(robot: Path, tmp_path: Path) -> None:
    graph = graph_at(robot)
    again = tmp_path / "again.yaml"
    again.write_text(graph.robot_yaml())
    back = graph_at(again)
    assert list(back.deliveries()) == list(graph.deliveries())


@pytest.mark.parametrize("way", [POINTER, SHM])
def test_each_publisher_of_a_channel_has_its_own_cost(way: str) -> None:
    costs = {way: Costs(100.0, 1e-9, 1e-9, wake_us=1e-9, batch_us=1e-9, serial=1e-9)}

    def holds(publishers: int) -> float:
        graph = families.fanin(publishers, 64, way)
        if way == SHM:  # all in one process, and the subscriber in another
            nodes = [
                replace(node, process="s" if node.name == "s" else "p0") for node in graph.nodes
            ]
            graph = replace(graph, nodes=tuple(nodes), processes={"p0": "here", "s": "here"})
        return knee(graph, costs, HOST)

    assert holds(4) == pytest.approx(holds(1) / 4, rel=1e-3)


def test_copies_multiply_the_robot(robot: Path) -> None:
    graph = graph_at(robot)
    three = graph.copies(3)
    assert len(three.nodes) == 3 * len(graph.nodes)
    assert sum(d.rate_hz for d in three.deliveries()) == 3 * sum(
        d.rate_hz for d in graph.deliveries()
    )


# The model.


@pytest.mark.parametrize("way", [POINTER, SHM, TCP, LINK])
def test_a_graph_saturates_at_the_limit_of_its_shares(way: str) -> None:
    graph = families.echo(8, 4096, way)
    costs = {way: TRUTH}
    found = demand(graph, costs, HOST)
    at_knee = demand(graph.with_rates(found.knee), costs, HOST)
    assert at_knee.knee == pytest.approx(1.0, rel=1e-4)
    assert at_knee.total == pytest.approx(1.0, rel=1e-4)


def test_more_load_lowers_the_saturation_point() -> None:
    costs = {TCP: TRUTH}
    base = knee(families.echo(4, 4096, TCP), costs, HOST)
    assert knee(families.echo(8, 4096, TCP), costs, HOST) < base
    assert knee(families.echo(4, 65536, TCP), costs, HOST) < base
    assert knee(families.echo(4, 4096, TCP, work_us=100), costs, HOST) < base


def test_a_saturated_callback_is_named() -> None:
    graph = families.fanout(1, 64, SHM, work_us=20_000)  # at 100 Hz
    found = demand(graph, {SHM: TRUTH}, HOST)
    assert found.first.resource == "callback of s0 on out"
    assert found.knee == pytest.approx(0.5, rel=0.05)


def test_the_computing_time_of_a_source_counts() -> None:
    graph = families.fanout(1, 64, SHM)  # at 100 Hz
    channel = replace(graph.channels[0], work_us=20_000)
    found = demand(replace(graph, channels=(channel,)), {SHM: TRUTH}, HOST)
    assert found.first.resource == "callback of p on out, at its source"
    assert found.knee == pytest.approx(0.5, rel=0.05)


def test_a_full_link_is_named_and_shared_media_add_up() -> None:
    costs = {LINK: replace(TRUTH, wire_us=10, wire_byte_ns=80)}  # 100 Mbit/s
    graph = families.echo(1, 65536, LINK)
    cable = demand(graph, costs, Host(2.0))
    air = demand(graph, costs, Host(2.0, half_duplex=True))
    assert cable.first.resource in ("link near → far", "link far → near")
    assert air.first.resource == "the air"
    assert air.knee == pytest.approx(cable.knee / 2, rel=0.15)


def test_the_cost_of_a_pointer_is_independent_of_size() -> None:
    costs = {POINTER: Costs()}  # a profile has no cost per byte for this transport
    small = knee(families.pipeline(5, 64, POINTER), costs, HOST)
    large = knee(families.pipeline(5, 1 << 20, POINTER), costs, HOST)
    assert large == pytest.approx(small, rel=1e-4)


def test_pointers_cost_less_with_one_processor() -> None:
    costs = {POINTER: Costs(2.0, 4.0, wake_us=1e-9, batch_us=1e-9, serial=1e-9, local=0.5)}
    alone = families.pipeline(5, 64, POINTER)
    two = families.apart(2, 64, POINTER)
    assert set(two.processes) == {"p0_main", "p1_main"}
    assert knee(two, costs, HOST) == pytest.approx(knee(alone, costs, HOST), rel=1e-3)
    assert knee(two, costs, Host(4.0)) == pytest.approx(
        0.6 * knee(alone, costs, Host(4.0)), rel=1e-3
    )
    # On one processor, the calibration has no other case.
    assert knee(two, costs, Host(1.0)) == pytest.approx(knee(alone, costs, Host(1.0)) / 2, rel=1e-3)


def test_separate_hosts_have_separate_processors() -> None:
    costs = {LINK: replace(TRUTH, wire_us=0.001, wire_byte_ns=0.001)}
    graph = families.echo(16, 64, LINK)
    assert knee(graph, costs, Host(2.0, shared=False)) > 1.5 * knee(graph, costs, Host(2.0))


def test_sockets_batch_small_messages() -> None:
    # ZeroMQ's system calls per message, counted by strace: 0.13, 0.51, 0.98, 2.00 and 2.00.
    calls = {TCP: Costs(1e-9, 1e-9, 1e-9, wake_us=1e-9, send_us=2e6)}
    counted = {1024: 0.13, 4096: 0.51, 8000: 0.98, 16_384: 2.0, 262_144: 2.0}
    knees = {size: knee(families.fanout(1, size, TCP), calls, HOST) for size in counted}
    for size, each in counted.items():
        assert knees[262_144] / knees[size] == pytest.approx(each / 2.0, rel=0.05)


def test_a_message_without_room_in_a_socket_wakes_alone() -> None:
    batched = Costs(0.1, 1.0, 1e-9, wake_us=40.0, batch_us=1e6, send_us=1e-9, room_kb=32.0)
    small, large = (knee(families.echo(8, size, TCP), {TCP: batched}, HOST) for size in (64, 64000))
    assert small > 10 * large
    roomy = {TCP: replace(batched, room_kb=1e9)}
    assert knee(families.echo(8, 64_000, TCP), roomy, HOST) == pytest.approx(small, rel=0.2)


def test_a_wake_up_costs_more_among_many_processes() -> None:
    costs = {SHM: Costs(1e-6, 1e-6, 1e-9, wake_us=40.0, batch_us=1e-9, serial=1e-9)}
    few, many = (count * knee(families.echo(count, 64, SHM), costs, HOST) for count in (2, 32))
    assert few / many == pytest.approx(16**0.35, rel=0.02)


# The fit.


@pytest.mark.parametrize("way", [SHM, TCP])
def test_a_fit_finds_the_costs_behind_the_points(way: str) -> None:
    costs = {way: TRUTH if way == TCP else OF_MEMORY}
    graphs = [kind.graph(way) for kind in points_for(way)]
    points = [Point(graph, knee(graph, costs, HOST)) for graph in graphs]
    found = fit(way, points, HOST, priors_for(way, None))
    for graph in held_out(way):
        assert knee(graph, {way: found.costs}, HOST) == pytest.approx(
            knee(graph, costs, HOST), rel=0.25
        )
    assert found.error < 0.4


@pytest.mark.parametrize("seed", [1, 2])
def test_the_band_covers_the_effect_of_noise(seed: int) -> None:
    random = np.random.default_rng(seed)
    kinds = points_for(SHM)
    points = [
        (kind, knee(kind.graph(SHM), {SHM: TRUTH}, HOST) * math.exp(random.normal(0, 0.15)))
        for kind in kinds
    ]
    graphs = [Point(kind.graph(SHM), scale) for kind, scale in points]
    made = Calibrated(SHM, fit(SHM, graphs, HOST, priors_for(SHM, None)), tuple(points), 60.0)
    off = [
        abs(math.log(knee(graph, {SHM: made.costs}, HOST) / knee(graph, {SHM: TRUTH}, HOST)))
        / spread(graph, {SHM: made}, HOST)
        for graph in held_out(SHM)
    ]
    assert sum(one < NINE_OF_TEN for one in off) >= 0.8 * len(off)
    assert max(off) > 0.2  # the band is not trivially wide


def test_the_rivals_are_right_where_their_laws_hold() -> None:
    graphs = [families.echo(n, 4096, SHM) for n in (1, 2, 4)]
    constant = [Point(graph, 1e9 / volume(graph)) for graph in graphs]
    assert classic(constant)(families.echo(8, 4096, SHM)) == pytest.approx(
        1e9 / volume(families.echo(8, 4096, SHM))
    )
    sizes = [families.echo(1, size, SHM) for size in (64, 4096, 65536)]
    law = [Point(g, 1 / ((5e-6 + 1e-9 * g.channels[0].size) * 200)) for g in sizes]
    wanted = families.echo(1, 16384, SHM)
    assert linear(law)(wanted) == pytest.approx(1 / ((5e-6 + 1e-9 * 16384) * 200), rel=1e-6)


# Calibration without a machine.


class _Known(Bench):
    """A bench with known costs, at the resolution of a search."""

    def knee(self, graph: Graph, guess: float = 1.0, close_s: float = 0.0) -> Knee | None:
        del guess, close_s
        if self.stopped:
            return None
        scale = knee(graph, {SHM: TRUTH}, HOST)
        return Knee(scale / 1.03, scale * 1.03)


def test_a_calibration_measures_at_most_nine_graphs_and_fits_them() -> None:
    asked: list[Kind] = []
    found = calibrate(Plan(SHM), _Known(), lambda _d, _a, kind, _k: asked.append(kind))
    assert found is not None
    assert list(dict.fromkeys(asked)) == points_for(SHM)
    for way in (POINTER, SHM, TCP, LINK):
        assert len(points_for(way)) <= 9
    assert found.nodes == 64
    assert found.sizes == (64, 8 << 20)


def test_a_point_lowered_by_a_hiccup_is_measured_again() -> None:
    class Hiccup(_Known):
        def __init__(self) -> None:
            super().__init__()
            self.asked: list[Graph] = []

        def knee(self, graph: Graph, guess: float = 1.0, close_s: float = 0.0) -> Knee | None:
            self.asked.append(graph)
            found = super().knee(graph, guess, close_s)
            first = graph == points_for(SHM)[2].graph(SHM) and self.asked.count(graph) == 1
            return Knee(found.low / 2, found.high / 2) if found and first else found

    found = calibrate(Plan(SHM), Hiccup())
    assert found is not None
    for kind, scale in found.points:
        assert scale == pytest.approx(knee(kind.graph(SHM), {SHM: TRUTH}, HOST), rel=0.01)


def test_a_stopped_calibration_gives_nothing() -> None:
    bench = _Known()
    bench.stop()
    assert calibrate(Plan(SHM), bench) is None
    assert calibrate_among(Plan(SHM), [families.echo(3, 64, SHM)], bench) is None


class _Drifting(Bench):
    """A machine that is faster by half from its twentieth search on."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Graph] = []

    def knee(self, graph: Graph, guess: float = 1.0, close_s: float = 0.0) -> Knee | None:
        del guess, close_s
        self.asked.append(graph)
        faster = 1.5 if len(self.asked) > 20 else 1.0
        scale = faster * knee(graph, {SHM: OF_MEMORY}, HOST)
        return Knee(scale / 1.03, scale * 1.03)


def _off(made: Calibrated, measured: Sequence[Measured], graphs: Sequence[Graph]) -> list[float]:
    """The factor by which each prediction misses, as an absolute logarithm."""
    costs = {SHM: made.costs}
    return [
        abs(math.log(knee(graph, costs, HOST) / one.scale))
        for graph, one in zip(graphs, measured, strict=True)
    ]


def test_a_drift_affects_points_and_test_set_equally() -> None:
    graphs = held_out(SHM)
    apart = _Drifting()
    before = calibrate(Plan(SHM), apart)
    measured = [apart.measure(graph) for graph in graphs]
    assert before is not None
    together = _Drifting()
    found = calibrate_among(Plan(SHM), graphs, together)
    assert found is not None
    assert all(together.asked.count(graph) >= 2 for graph in graphs)
    points = [kind.graph(SHM) for kind in points_for(SHM)]
    assert together.asked[: len(points)] != points  # not in their order
    known = [one for one in measured if one is not None]
    assert median(_off(*found, graphs=graphs)) < 0.7 * median(_off(before, known, graphs))


def test_the_test_set_does_not_change_the_costs() -> None:
    class Odd(_Known):
        def knee(self, graph: Graph, guess: float = 1.0, close_s: float = 0.0) -> Knee | None:
            found = super().knee(graph, guess, close_s)
            return found and (Knee(found.low * 9, found.high * 9) if graph == odd else found)

    odd = families.echo(3, 64, SHM)
    without, beside = (calibrate_among(Plan(SHM), [odd], bench) for bench in (_Known(), Odd()))
    assert without is not None
    assert beside is not None
    assert beside[0].costs == without[0].costs
    assert beside[1][0].scale == pytest.approx(9 * without[1][0].scale)


@pytest.mark.parametrize("way", [SHM, TCP, LINK])
def test_a_calibration_includes_a_camera_image(way: str) -> None:
    full_hd = 1920 * 1080 * 3
    medium = Veth(rate_mbit=1000) if way == LINK else None
    assert max(kind.size for kind in points_for(way, None, medium)) > full_hd


def test_a_small_shm_is_calibrated_with_smaller_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    there = os.statvfs("/dev/shm")
    fields = list(there)
    fields[1], fields[2] = 4096, 16384  # 64 MB, as in a container
    monkeypatch.setattr(os, "statvfs", lambda _path: os.statvfs_result(fields))
    assert max(kind.size for kind in points_for(SHM)) == 1 << 20
    assert max(kind.size for kind in points_for(TCP)) == 8 << 20


def test_the_duration_is_estimated_from_the_graphs() -> None:
    """On a machine with a long overhead per run, each graph is searched at least once."""
    quick, slow = (Plan(SHM).expected_s(around) for around in (0.2, 6.0))
    assert 240 <= quick <= 300
    assert slow == pytest.approx(
        sum(7 * (1.0 + 6.0 + 0.1 * len(kind.graph(SHM).processes)) for kind in Plan(SHM).kinds)
    )
    assert Plan(SHM, max_size=64).expected_s(6.0) < slow  # some kinds are equal at this size


def test_a_slow_link_is_calibrated_with_small_messages() -> None:
    assert max(kind.size for kind in points_for(LINK, None, Wifi(rate_mbit=54))) == 32 << 10
    assert max(kind.size for kind in points_for(LINK, None, Veth(rate_mbit=300))) == 1 << 20
    assert max(kind.size for kind in points_for(LINK, 8192, Wifi(rate_mbit=54))) == 8192


# The profile.


def test_a_profile_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    made = profile_of_all(link=Veth(rate_mbit=100))
    profile.save(made, tmp_path / "p/capacity.json")
    back = profile.load(tmp_path / "p/capacity.json")
    assert back.links["cable"].medium == Veth(rate_mbit=100)
    assert back.ways[SHM].points == made.ways[SHM].points
    names = Costs.names(TCP)
    assert [getattr(back.ways[TCP].costs, name) for name in names] == [
        getattr(TRUTH, name) for name in names
    ]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"hyphos_capacity": 99}', '{"hyphos_capacity": 1, "cores": "x"}', "\x00\xff"],
)
def test_an_invalid_profile_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "capacity.json"
    path.write_text(text)
    with pytest.raises(Error, match="not a capacity profile") as error:
        profile.load(path)
    assert "calibrate" in error.value.advice


def test_an_absent_profile_is_an_error_with_remedy(tmp_path: Path) -> None:
    with pytest.raises(Error, match="the profile does not exist") as error:
        profile.load(tmp_path / "capacity.json")
    assert "hyphos lab calibrate" in error.value.advice


# Queries.


def test_the_verdict_follows_the_band() -> None:
    made = profile_of_all()
    graph = families.echo(4, 4096, SHM)
    scale = check(graph, made).knee
    assert check(graph.with_rates(scale / 2), made).verdict is Verdict.FITS
    assert check(graph.with_rates(scale), made).verdict is Verdict.MARGINAL
    assert check(graph.with_rates(scale * 2), made).verdict is Verdict.DOES_NOT_FIT


def test_a_transport_with_little_load_adds_little_band() -> None:
    sure, unsure = calibrated(SHM), calibrated(TCP, error=1.0)
    alone = families.echo(8, 4096, SHM)
    beside = families.echo(1, 64, TCP).renamed("slow_").with_rates(1e-3)
    both = join("both", [alone, beside])
    ways = {SHM: sure, TCP: unsure}
    assert spread(both, ways, HOST) == pytest.approx(spread(alone, {SHM: sure}, HOST), rel=0.02)
    assert spread(beside, ways, HOST) > 5 * spread(alone, {SHM: sure}, HOST)


def test_the_band_is_narrow_if_computing_decides() -> None:
    made = {SHM: calibrated(SHM, error=0.5)}
    busy = families.echo(4, 64, SHM, work_us=20_000.0)
    assert spread(busy, made, HOST) == pytest.approx(MEASURED, rel=0.2)
    assert spread(families.echo(4, 64, SHM), made, HOST) > 0.4


def test_there_is_no_prediction_beyond_the_calibration() -> None:
    made = profile_of_all()
    with pytest.raises(Error, match=r"outside the calibrated range.*bytes on 'out'"):
        check(families.fanout(2, 16 << 20, SHM), made)
    with pytest.raises(Error, match=r"outside the calibrated range.*nodes"):
        check(families.echo(60, 64, SHM), made)
    with pytest.raises(Error, match="has no costs of messages by link"):
        check(families.echo(1, 64, LINK), made)


def test_each_transport_has_its_calibrated_range() -> None:
    made = profile_of_all(link=Veth(rate_mbit=100))
    pointer = families.echo(1, 64, POINTER).renamed("p_")
    link = families.echo(16, 64, LINK)
    check(join("as many as by link", [link]), made)
    # Pointers were calibrated with 64 nodes, which does not apply to a link.
    with pytest.raises(Error, match="34 nodes by link: calibrated up to 32") as error:
        check(join("both", [families.echo(17, 64, LINK), pointer]), made)
    assert "by pointer" not in error.value.message
    # Many nodes that pass pointers do not extend the range of the link.
    check(join("few by link", [families.echo(2, 64, LINK), families.echo(28, 64, POINTER)
                               .renamed("p_")]), made)  # fmt: skip


def test_a_link_is_limited_to_the_calibrated_hosts() -> None:
    made = profile_of_all(link=Wifi(rate_mbit=54))
    two = families.fanin(2, 64, LINK)
    check(two, made)
    third = replace(two, processes={**two.processes, "p1": "elsewhere"})
    with pytest.raises(Error, match="3 hosts on the link: calibrated between 2"):
        check(third, made)


@pytest.mark.parametrize("way", [POINTER, SHM, TCP, LINK])
def test_receivers_are_limited_to_the_measured_number(way: str) -> None:
    made = profile_of_all(link=Veth(rate_mbit=1000))
    most = profile.MOST_EARS[way]
    names = [graph.name for graph in held_out(way)]
    names += [kind.graph(way).name for kind in points_for(way)]
    assert max(int(n.split()[1]) for n in names if n.startswith("fan-out")) == most
    check(families.fanout(most, 64, way), made)
    with pytest.raises(Error, match=f"{most + 1} .* receive 'out' by {way}: verified up to {most}"):
        check(families.fanout(most + 1, 64, way), made)


def test_limits_in_size_and_robots_match_the_model(robot: Path) -> None:
    made = profile_of_all()
    graph = graph_at(robot)
    answer = check(graph, made)
    costs = dict.fromkeys((POINTER, SHM), TRUTH)
    robots = int(answer.robots.factor)
    assert knee(graph.copies(robots), costs, HOST) >= 1.0
    assert answer.robots.open or knee(graph.copies(robots + 1), costs, HOST) < 1.0
    assert answer.size.open
    assert 200 * 1024 * answer.size.factor <= 8 << 20


def test_the_end_of_a_search_is_not_a_limit(robot: Path) -> None:
    made = profile_of_all()
    slow = families.echo(1, 64, SHM).with_rates(0.01)
    size = check(slow, made).size
    assert (size.factor, size.end, size.open) == (64.0, End.SEARCH, True)
    # Messages over 1 MB were not calibrated. These have 200 KB.
    assert check(graph_at(robot), made).size.end is End.CALIBRATION
    busy = families.echo(4, 16384, TCP)
    busy = busy.with_rates(0.9 * check(busy, made).knee)
    size = check(busy, made).size
    assert size.end is End.BREAKS and not size.open
    assert knee(busy.with_sizes(size.factor), {TCP: TRUTH}, HOST) >= 1.0
    assert knee(busy.with_sizes(size.factor * 1.02), {TCP: TRUTH}, HOST) < 1.0


def test_a_calibration_prints_its_duration_and_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr("hyphos.lab.capacity.pace.time.monotonic", lambda: now[0])
    pace = pace_of.Pace()
    plans = [Plan(SHM), Plan(TCP)]
    first = pace.begin(plans, 2.0)
    whole = sum(plan.expected_s(2.0) for plan in plans)
    assert f"2 transports to calibrate, 18 graphs: about {pace_of.minutes(whole)}" in first
    assert pace.left() == f"about {pace_of.minutes(whole)} left"
    now[0] += 10.0
    pace.measured(9)
    assert pace.left() == f"about {pace_of.minutes(whole - 10.0)} left"
    # Slower than expected, so the remaining graphs count as equally slow.
    now[0] += 190.0
    pace.measured(9)
    rest = plans[1].expected_s(2.0)
    assert pace.left() == f"about {pace_of.minutes(200.0 * 9 / 2 - 200.0 + rest)} left"
    now[0] += 2000.0
    for _ in range(9):
        pace.measured(9)
    pace.way_done()
    assert pace.left() == f"about {pace_of.minutes(rest)} left"
    assert pace_of.minutes(45.0) == "45 s"
    assert pace_of.minutes(700.0) == "12 min"
