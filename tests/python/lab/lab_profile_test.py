"""The profiler's layers and paths, in graphs with known results."""

from __future__ import annotations

import threading
import time

import hyphos
import numpy as np
import pytest
from helpers import Inbox, Start, wait_until
from hyphos import _hyphos
from hyphos.lab.profile.events import EVENT, Collector
from hyphos.lab.profile.layers import LAYERS, layers_of
from hyphos.lab.profile.profile import profile
from hyphos.lab.profile.show import cost_line
from hyphos.msgs import Int64
from profiles import (
    CALLBACK,
    Gathered,
    ages_of,
    by_channels,
    made_up,
    published,
    reception,
    receptions,
    start_pipeline,
    to_the_last_callback,
    two_hops,
    ways,
)


def test_layers_of_three_processes_add_up_to_the_latency(start: Start, domain: str) -> None:
    sink = start_pipeline(start, domain, 0.02)
    told = Gathered(domain).until(20, ways)
    [path] = told.paths
    assert path.name == "camera ─image→ filter ─edges→ sink"
    assert told.worst_sum_error < 0.01
    sequences = {told.flows.message(way.steps[-1].row)[1] for way in path.ways}
    measured = ages_of(sink, sequences)
    off = []
    for way in path.ways:
        seen = measured[told.flows.message(way.steps[-1].row)[1]]
        off.append(abs(to_the_last_callback(way) - seen) / seen)
    # For most messages: the camera may be interrupted between its clock reading and publish().
    assert np.median(off) < 0.01
    assert path.critical
    assert path.parts[0][CALLBACK] >= 20e6
    # The fastest message, because other programs may delay slower ones anywhere.
    parts = np.array([step.parts for step in path.at(0.0).steps])
    hop, layer = np.unravel_index(int(parts.argmax()), parts.shape)
    assert (path.hops[int(hop)], LAYERS[int(layer)]) == (("image", "filter"), "callback")


def test_each_of_two_subscribers_ends_a_separate_path(node: hyphos.Node, domain: str) -> None:
    gathered = Gathered(domain)
    first, second = Inbox(), Inbox()
    with (
        hyphos.Node.open("left", domain=domain, process="left") as left,
        hyphos.Node.open("right", domain=domain, process="right") as right,
    ):
        left.subscribe("scan", Int64, first)
        right.subscribe("scan", Int64, second)
        scan = node.publisher("scan", Int64)
        wait_until(lambda: scan.listeners == 2)
        for number in range(5):
            scan.publish(Int64(data=number))
        first.wait(5)
        second.wait(5)
        told = gathered.until(10, receptions)
    assert {path.name: path.total.count for path in told.paths} == {
        "main/tester ─scan→ left": 5,
        "main/tester ─scan→ right": 5,
    }
    assert told.flows.unheard == 0
    assert [len(told.flows.receptions_of(row)) for row in told.flows.publishes.tolist()] == [2] * 5


def test_two_sources_of_one_node_give_two_paths(node: hyphos.Node, domain: str) -> None:
    gathered = Gathered(domain)
    done = Inbox()
    out = node.publisher("fused", Int64)
    node.subscribe("scan", Int64, out.publish)
    node.subscribe("pose", Int64, out.publish)
    with (
        hyphos.Node.open("source", domain=domain, process="source") as source,
        hyphos.Node.open("sink", domain=domain, process="sink") as sink,
    ):
        sink.subscribe("fused", Int64, done)
        senders = {name: source.publisher(name, Int64) for name in ("scan", "pose")}
        wait_until(lambda: out.listeners * all(s.listeners for s in senders.values()) == 1)
        for name in ("scan", "pose", "scan"):
            senders[name].publish(Int64(data=1))
        done.wait(3)
        told = gathered.until(3, ways)
    counts = {name: path.total.count for name, path in by_channels(told).items()}
    assert counts == {"scan→fused": 2, "pose→fused": 1}
    assert not any(path.inferred for path in told.paths)


def test_a_timer_publish_follows_the_last_message_inferred(node: hyphos.Node, domain: str) -> None:
    gathered = Gathered(domain)
    heard, done = Inbox(), Inbox()
    node.subscribe("command", Int64, done)
    scan = node.publisher("scan", Int64)
    with hyphos.Node.open("driver", domain=domain, process="driver") as driver:
        driver.subscribe("scan", Int64, heard)
        command = driver.publisher("command", Int64)
        wait_until(lambda: scan.listeners * command.listeners == 1)
        scan.publish(Int64(data=1))
        heard.wait(1)
        gathered.until(1, receptions)  # the callback has ended
        time.sleep(0.03)
        command.publish(Int64(data=2))  # in this thread, outside any callback
        done.wait(1)
        told = gathered.until(3, ways)
    names = [(path.name, path.inferred) for path in told.paths]
    assert set(names[:2]) == {
        ("main/tester ─scan→ driver", False), ("driver ─command→ main/tester", False)
    }  # fmt: skip
    assert names[2:] == [("main/tester ─scan→ driver ─command→ main/tester", True)]
    path = told.paths[2]
    assert path.parts[0][LAYERS.index("hold")] >= 29e6
    assert told.worst_sum_error < 0.01


def test_dropped_messages_have_no_reception(node: hyphos.Node, domain: str) -> None:
    gathered = Gathered(domain)
    gate, entered, heard = threading.Event(), threading.Event(), Inbox()

    def slow(message: Int64) -> None:
        entered.set()
        gate.wait(60)
        heard(message)

    policy = hyphos.Policy(depth=1)
    node.subscribe("busy", Int64, slow, policy=policy)
    busy = node.publisher("busy", Int64, policy=policy)
    busy.publish(Int64(data=0))
    assert entered.wait(60)
    for number in range(1, 5):
        busy.publish(Int64(data=number))  # the queue keeps the last message
    gate.set()
    heard.wait(2)
    told = gathered.until(2, receptions)
    assert len(told.flows.publishes) == 5
    assert told.flows.unheard == 3
    [path] = told.paths
    assert path.total.count == 2
    assert told.worst_sum_error < 0.01


def test_an_overrun_recorder_counts_missed_events(node: hyphos.Node, domain: str) -> None:
    gathered = Gathered(domain)
    count = node.publisher("count", Int64)
    for number in range(5000):
        count.publish(Int64(data=number))
    told = gathered.until(4096, lambda flows: len(flows.publishes))
    assert len(told.flows.publishes) + told.flows.found.missed_in_all == 5000
    assert told.flows.found.missed_in_all > 0


def test_the_cost_counts_messages_once_and_missed_events() -> None:
    found = two_hops().found
    found.missed, found.seconds, found.cpu_s = {"mind": 3, "body": 1}, 0.5, 0.01
    assert found.cost() == {
        "cpu_s": 0.01, "cores": 0.02, "messages_per_s": 4.0, "events": 4, "missed": 4,
    }  # fmt: skip
    assert cost_line(found.cost()) == (
        "the profiler itself: 0.01 s of CPU, 2.00% of a core while it read 4 messages/s, "
        "4 of 8 events missed"
    )


# Synthetic events: two machines, and a path that began before.


def test_every_layer_is_the_time_between_its_stamps() -> None:
    flows = made_up(reception(2, 1, 7, 1000))
    assert flows.layers.tolist() == [[5, 1, 14, 5, 15, 10, 50]]


def test_a_skipped_layer_takes_no_time() -> None:
    events = np.zeros(1, EVENT)
    for name, ns in (("publish", 100), ("scheduled", 130), ("dequeued", 150), ("callback", 150)):
        events[name] = ns
    events["end"] = 190
    assert layers_of(events).tolist() == [[0, 0, 0, 30, 20, 0, 40]]


def test_a_message_of_another_machine_begins_a_path() -> None:
    rows = (reception(2, 1, 7, 1000), published(2, 2, 8, 1080, 7), reception(2, 3, 8, 1080))
    told = profile(made_up(*rows, uncertainty_ns={2: 12_000}))
    [path] = told.paths
    assert path.name == "another machine ─scan→ mind/mapper ─map→ mind/keeper"
    assert path.uncertainty_ns == 12_000
    assert [(c.channel, c.uncertainty_ns) for c in told.channels] == [("map", 0), ("scan", 12_000)]
    assert path.total.mean == 180


def test_a_path_with_unknown_beginning_is_counted_only() -> None:
    rows = (reception(2, 1, 7, 1000), published(2, 2, 8, 1080, 7), reception(2, 3, 8, 1080))
    told = profile(made_up(*rows))
    assert (told.paths, told.cut) == ([], 1)


def test_a_path_ends_before_a_publish_without_reception() -> None:
    rows = (published(1, 1, 7, 1000), reception(2, 1, 7, 1000), published(2, 2, 8, 1080, 7))
    [path] = profile(made_up(*rows)).paths
    assert path.name == "body/driver ─scan→ mind/mapper"
    assert path.total.mean == 100  # to the end of its callback
    assert path.worst_sum_error == 0


def test_stamps_of_two_clocks_are_not_subtracted() -> None:
    # The shared memory of both is here, as that of a container may be. Another clock, a second
    # ahead of the clock of the reception's stamps, stamped the publish().
    ahead = 10**9
    rows = (published(1, 1, 7, 1000 + ahead), reception(2, 1, 7, 1000))
    told = profile(made_up(*rows, uncertainty_ns={2: 12_000}))
    [path] = told.paths
    assert path.name == "another machine ─scan→ mind/mapper"
    assert (path.total.mean, path.uncertainty_ns) == (100, 12_000)
    assert path.worst_sum_error == 0
    assert [one.publishers for one in told.channels] == [["another machine"]]


def test_a_path_is_chosen_by_names_in_order() -> None:
    rows = (published(1, 1, 7, 1000), reception(2, 1, 7, 1000), published(2, 2, 8, 1080, 7))
    flows = made_up(*rows, reception(2, 3, 8, 1080))
    assert len(profile(flows, "scan->map").paths) == 1
    assert len(profile(flows, "body/driver → map").paths) == 1
    with pytest.raises(hyphos.Error, match="no path matches 'map->scan'") as problem:
        profile(flows, "map->scan")
    assert "─scan→ mind/mapper" in problem.value.advice


def test_the_critical_path_is_the_slowest_between_its_ends() -> None:
    def row(kind: dict[str, int], i: int) -> dict[str, int]:
        moved = {"publish", "encoded", "submitted", "arrived", "scheduled", "dequeued", "decoded"}
        moved |= {"callback", "end"}
        later = {name: ns + 10_000 * i if name in moved else ns for name, ns in kind.items()}
        return later | {"sequence": i} | ({"cause_sequence": i} if "cause_sender" in kind else {})

    rows = []
    for i in range(1, 21):
        slow = 5000 if i == 20 else 0  # one message of twenty waits in a queue of `map`
        last = reception(2, 3, 8, 1080)
        for stamp in ("dequeued", "decoded", "callback", "end"):
            last[stamp] += slow
        whole = (published(1, 1, 7, 1000), reception(2, 1, 7, 1000), published(2, 2, 8, 1080, 7))
        rows += [row(one, i) for one in (*whole, last)]
    [path] = profile(made_up(*rows)).paths
    hop, layer, share = path.costliest()
    assert (path.critical, path.hops[hop], layer) == (True, ("map", "mind/keeper"), "queue")
    assert share == pytest.approx(5015 / 5180)
    assert (path.at(0.5).total_ns, path.at(0.99).total_ns) == (180, 5180)


def test_a_loop_of_the_graph_is_followed_once() -> None:
    ping = [published(2, 2, 8, 100 * i) | {"sequence": i} for i in range(1, 4)]
    back = [reception(2, 3, 8, 100 * i) | {"sequence": i} for i in range(1, 4)]
    for i in (1, 2):  # each is published in the callback of the previous one
        ping[i] |= {"cause_sender": 8, "cause_sequence": i, "cause_endpoint": 3}
        ping[i]["publish"] = back[i]["publish"] = back[i - 1]["callback"] + 10
    told = profile(made_up(*ping, *back))
    assert sum(path.total.count for path in told.paths) == 1
    assert told.worst_sum_error == 0


def test_a_collector_may_include_earlier_events(node: hyphos.Node, domain: str) -> None:
    early = node.publisher("early", Int64)
    early.publish(Int64(data=1))
    found = {whole: Collector(domain, whole=whole).finish() for whole in (False, True)}
    assert [len(found[whole].events) for whole in (False, True)] == [0, 1]
    assert found[True].end_of(0) is not None


def test_library_events_have_the_size_of_the_python_type(node: hyphos.Node, domain: str) -> None:
    node.publisher("once", Int64).publish(Int64(data=1))
    [batch] = _hyphos.recorded_events(domain)
    assert len(batch.events) == EVENT.itemsize * batch.next
