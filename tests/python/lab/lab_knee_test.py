"""The definition of the saturation point, which every search shares."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hyphos import Error
from hyphos.lab import knee, saturation
from hyphos.lab.capacity import families
from hyphos.lab.capacity.bench import Bench, Trial
from hyphos.lab.capacity.graph import SHM, Graph
from hyphos.lab.case import Case
from hyphos.lab.machine import Load
from hyphos.lab.results import Run
from lab_queues import as_graph, served

LAB = Path(knee.__file__).parent
SEED = 20261127
# Loads as shares of the capacity: clearly below and clearly above the limit of 4 %.
LOADS = (0.3, 0.9, 1.0, 1.02, 1.07, 1.2, 1.5, 3.0)


def cases() -> list[tuple[float, float, float, int]]:
    """Capacity, load, transit and flows, over the whole range of robots and links."""
    chance = Random(SEED)
    every = product((0.7, 5.26, 38.6, 283.0, 4100.0), LOADS, (1e-5, 0.028, 0.5), (1, 8))
    return chance.sample(list(every), 120)


@pytest.mark.parametrize(("capacity", "load", "transit", "flows"), cases())
def test_a_load_is_carried_up_to_the_capacity(
    capacity: float, load: float, transit: float, flows: int
) -> None:
    case = saturation.at_rate(Case("pair"), capacity * load)
    told = served(case, capacity, transit_s=transit, flows=flows)
    offered = knee.of_result(told)
    assert offered.carried is (load <= 1 + knee.MAX_GROWTH), offered.too_much
    # The definition is shared, so graphs have the same verdict.
    assert knee.of_graph(as_graph(told), told["span_s"]).too_much == offered.too_much
    assert offered.delivered == pytest.approx(min(1.0, 1 / load), rel=0.01)


def at(begin: float, end: float, late_s: float) -> object:
    return lambda share: late_s if begin <= share < end else 0.0


@pytest.mark.parametrize("seed", range(12))
def test_a_hiccup_does_not_count_as_growth(seed: int) -> None:
    chance = Random(seed)
    begin = chance.uniform(0.0, 0.8)
    case = saturation.at_rate(Case("pair"), 400.0)
    late = at(begin, begin + 0.2, chance.uniform(0.05, 0.2))
    told = served(case, 1000.0, hiccup_s=late)  # type: ignore[arg-type]
    assert knee.of_result(told).carried
    both = served(case, 300.0, hiccup_s=late)  # type: ignore[arg-type]
    assert not knee.of_result(both).carried


@pytest.mark.parametrize(("lost", "carried"), [(0, True), (4, True), (5, False), (400, False)])
def test_a_flow_with_more_than_1_percent_loss_is_not_carried(lost: int, carried: bool) -> None:
    told = served(saturation.at_rate(Case("pair"), 400.0), 1000.0, lost=lost)
    assert knee.of_result(told).carried is carried


def test_one_flow_in_many_decides() -> None:
    good = served(saturation.at_rate(Case("echo", pairs=8), 400.0), 1000.0, flows=8)
    bad = served(saturation.at_rate(Case("echo", pairs=8), 400.0), 320.0, flows=8)
    good["late_parts_us"][5] = bad["late_parts_us"][5]
    assert "grows" in knee.of_result(good).too_much
    good = served(saturation.at_rate(Case("echo", pairs=8), 400.0), 1000.0, flows=8)
    good["flow_received"] = [400] * 7 + [390]  # 0.3 % of all
    assert "lost" in knee.of_result(good).too_much


def test_a_load_with_unsent_messages_is_not_carried() -> None:
    told = served(saturation.at_rate(Case("pair"), 400.0), 1000.0) | {"sent": 399}
    assert knee.of_result(told).too_much == "publishers sent 399 of 400"
    graph = as_graph(served(saturation.at_rate(Case("pair"), 400.0), 1000.0))
    graph["sources"][0] |= {"sent": 399, "refused": 1}
    assert not knee.of_graph(graph, 1.0).carried


@pytest.mark.parametrize("capacity", [0.5, 5.26, 37.0, 1234.0, 25_000.0])
def test_both_searches_find_the_same_saturation_point(capacity: float) -> None:
    def measure(case: Case, _attempt: int) -> Run:
        return Run(case, "fake", 0, served(case, capacity))

    class Served(Bench):
        def run(self, graph: Graph, scale: float = 1.0, seconds: float = 1.0) -> Trial | None:
            rate = graph.channels[0].rate_hz * scale
            case = saturation.at_rate(Case("pair"), rate)
            return Trial(scale, seconds, as_graph(served(case, capacity)), Load(0.0, 0.0))

    graph = families.fanout(1, 64, SHM)
    found = saturation.find(Case("pair", 4096), measure)
    other = Served().knee(graph, capacity / graph.channels[0].rate_hz * 0.3)
    assert found is not None
    assert other is not None
    limit = capacity * (1 + knee.MAX_GROWTH)
    for low, high in (
        (found.low_hz, found.high_hz),
        (other.low * graph.channels[0].rate_hz, other.high * graph.channels[0].rate_hz),
    ):
        assert low <= limit * 1.001
        assert high >= capacity
        assert high / low <= knee.RESOLUTION
        # The accepted rate was carried, within the allowed growth of 4 %.
        assert capacity / knee.RESOLUTION <= math.sqrt(low * high) <= limit * knee.RESOLUTION


def test_runs_of_an_earlier_version_are_refused() -> None:
    told = served(saturation.at_rate(Case("pair"), 400.0), 1000.0)
    del told["late_parts_us"]
    with pytest.raises(Error, match="no lateness over time") as caught:
        saturation.holds(Run(Case("pair"), "fake", 0, told))
    assert "--overwrite" in caught.value.advice


def test_only_one_module_defines_a_carried_load() -> None:
    """The limits of a load are in one file."""
    for path in LAB.rglob("*.py"):
        if path.name == "knee.py":
            continue
        for word in ("MAX_LOST =", "MAX_GROWTH =", "MAX_WAITING =", "MAX_BEHIND =", "RESOLUTION ="):
            assert word not in path.read_text(), path
