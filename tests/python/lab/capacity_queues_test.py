"""Predictions of the capacity model for short queues."""

from __future__ import annotations

from dataclasses import replace

import pytest
from capacity_samples import HOST, TRUTH, calibrated
from hyphos.lab.capacity import families
from hyphos.lab.capacity.check import spread
from hyphos.lab.capacity.graph import LINK, POINTER, SHM, TCP, Graph
from hyphos.lab.capacity.model import demand
from hyphos.lab.capacity.queues import LATE_US, UNSURE, queues


def _first(graph: Graph) -> tuple[str, float]:
    found = demand(graph, dict.fromkeys((POINTER, SHM, TCP, LINK), TRUTH), HOST)
    return found.first.resource, found.knee


def test_a_short_queue_breaks_before_a_processor_is_full() -> None:
    graph = families.fanout(1, 64, POINTER)  # at 100 Hz
    resource, deep = _first(graph)
    assert not resource.startswith("queue")
    short = families.with_short_queues(graph, 2)  # 20 ms, at 100 Hz
    resource, scale = _first(short)
    assert resource == "queue of out at s0"
    assert scale == pytest.approx(20_000 / LATE_US[POINTER], rel=0.05)
    assert scale < deep / 10
    assert _first(families.with_short_queues(graph, 8))[1] == pytest.approx(4 * scale, rel=0.05)
    # A blocked publisher loses nothing.
    waits = replace(short, channels=tuple(replace(one, reliable=True) for one in short.channels))
    assert _first(waits)[1] == pytest.approx(deep, rel=0.01)


@pytest.mark.parametrize(("way", "passed"), [(POINTER, 1), (SHM, 2), (TCP, 3), (LINK, 3)])
def test_a_queue_serves_all_publishers(way: str, passed: int) -> None:
    # The subscriber's queue serves all publishers, the queues before it serve one sender each.
    graph = families.with_short_queues(families.fanin(4, 64, way), 2)
    for queue in queues(graph, 2.0):
        assert queue.covers_us == pytest.approx(2 * (2_500 + (passed - 1) * 10_000))


def test_the_transport_with_the_shortest_queue_decides() -> None:
    graph = families.with_short_queues(families.fanin(2, 64, SHM), 1)
    near = [replace(one, process="s") if one.name == "p1" else one for one in graph.nodes]
    both = replace(graph, nodes=tuple(near), processes={"p0": "here", "s": "here"})
    shares = [one.share for one in queues(both, 2.0)]
    assert len(shares) == 2  # by shared memory, and by pointer with one queue fewer
    resource, scale = _first(both)
    assert resource == "queue of in at s"
    assert scale == pytest.approx(1 / max(shares), rel=0.05)
    assert max(shares) > 1.1 * min(shares)


def test_a_callback_waits_while_others_use_all_threads() -> None:
    graph = families.with_short_queues(families.fanout(4, 64, POINTER), 2)
    work = {"s0": 0.0, "s1": 700.0, "s2": 300.0, "s3": 100.0}
    nodes = [replace(node, work_us=work.get(node.name, 0.0)) for node in graph.nodes]
    graph = replace(graph, nodes=tuple(nodes))

    def waits(graph: Graph, node: str, cores: float = 2.0) -> float:
        (late,) = (one.late_us for one in queues(graph, cores) if one.node == node)
        return late - LATE_US[POINTER]

    assert (
        waits(graph, "s0") == 300.0
    )  # two at once: until the shorter one of the two longest is done
    assert waits(graph, "s1") == 100.0
    assert waits(replace(graph, threads={"main": 1}), "s0") == 700.0
    assert waits(replace(graph, threads={"main": 8}), "s0") == 300.0  # there are two processors
    assert waits(graph, "s0", cores=8.0) == 0.0


def test_a_short_queue_makes_the_prediction_uncertain() -> None:
    made = {SHM: calibrated(SHM)}
    graph = families.echo(4, 64, SHM)
    assert spread(families.with_short_queues(graph, 1), made, HOST) > 0.9 * UNSURE
    deep = families.with_short_queues(graph, 10_000)
    assert spread(deep, made, HOST) == pytest.approx(spread(graph, made, HOST), rel=0.02)
