"""hyphos lab profile: what it finds in graphs of which one knows what is to be found."""

from __future__ import annotations

import itertools
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from browser import Page
from helpers import Cli, Inbox, Program, Start, wait_until
from hyphos import _hyphos
from hyphos.lab.case import Case
from hyphos.msgs import Int64
from hyphos.profile.events import EVENT, Collection, Collector, End
from hyphos.profile.experiment import CaseProfile, around
from hyphos.profile.flows import Flows, Step, Way
from hyphos.profile.layers import LAYERS, Spread, layers_of
from hyphos.profile.mcap_file import write_mcap
from hyphos.profile.overhead import TURNS, Block, Quad, ratio_of
from hyphos.profile.perfetto import trace_records, write_perfetto
from hyphos.profile.profile import PathProfile, Profile, profile
from mcap.reader import make_reader
from pages import look_at

# camera → filter → sink, a process each. What travels is when the camera published, by its own
# clock; the sink prints how long ago that is when its callback begins.
PIPELINE = """
import sys, time, hyphos
from hyphos.msgs import Int64
role, domain, work_s = sys.argv[1], sys.argv[2], float(sys.argv[3])
node = hyphos.Node.open(role, domain=domain, process=role)
if role == "camera":
    image = node.publisher("image", Int64)
    node.every(lambda: image.publish(Int64(data=time.monotonic_ns())), rate_hz=10)
elif role == "filter":
    edges = node.publisher("edges", Int64)
    def work(message):
        time.sleep(work_s)
        edges.publish(message)
    node.subscribe("image", Int64, work)
else:
    def hear(message, info):
        print(info.sequence, info.stamps["callback"] - message.data, flush=True)
    node.subscribe("edges", Int64, hear)
print("up", flush=True)
node.spin()
"""


class Gathered:
    """Collects the events of a domain from when it is made."""

    def __init__(self, domain: str) -> None:
        self._collector = Collector(domain)

    def until(self, count: int, what: Callable[[Flows], int]) -> Profile:
        """Looks until there are so many of something."""

        def enough() -> bool:
            self._collector.look()
            return what(Flows(self._collector.finish())) >= count

        wait_until(enough, "events")
        return profile(Flows(self._collector.finish()))


def ways(flows: Flows) -> int:
    return len(flows.ways()[0])


def receptions(flows: Flows) -> int:
    return len(flows.receptions)


def by_channels(told: Profile) -> dict[str, PathProfile]:
    return {"→".join(channel for channel, _ in path.hops): path for path in told.paths}


@pytest.fixture
def pipeline(python: Start, domain: str) -> Callable[[float], Program]:
    """pipeline(seconds of work) starts it; returns the sink."""

    def begin(work_s: float) -> Program:
        programs = [python(PIPELINE, r, domain, str(work_s)) for r in ("sink", "filter", "camera")]
        for program in programs:
            assert program.line() == "up"
        programs[0].line()  # messages come
        return programs[0]

    return begin


def test_the_layers_of_three_processes_add_up_to_what_the_message_itself_measured(
    pipeline: Callable[[float], Program], domain: str
) -> None:
    sink = pipeline(0.02)
    told = Gathered(domain).until(20, ways)
    [path] = told.paths
    assert path.name == "camera ─image→ filter ─edges→ sink"
    assert told.worst_sum_error < 0.01
    measured: dict[int, int] = {}
    wanted = {told.flows.message(way.steps[-1].row)[1] for way in path.ways}
    while not wanted <= measured.keys():
        sequence, age_ns = sink.line().split()
        measured[int(sequence)] = int(age_ns)
    off = []
    for way in path.ways:
        parts = np.array([step.parts for step in way.steps])
        to_callback = int(parts.sum()) - way.steps[-1].parts[LAYERS.index("callback")]
        seen = measured[told.flows.message(way.steps[-1].row)[1]]
        off.append(abs(to_callback - seen) / seen)
    # Of most messages: the camera may be interrupted between its look at the clock and publish().
    assert np.median(off) < 0.01
    assert path.critical
    assert path.parts[0][LAYERS.index("callback")] >= 20e6
    # The fastest message, since other programs may hold up the slower ones anywhere.
    parts = np.array([step.parts for step in path.at(0.0).steps])
    hop, layer = np.unravel_index(int(parts.argmax()), parts.shape)
    assert (path.hops[int(hop)], LAYERS[int(layer)]) == (("image", "filter"), "callback")


def test_each_of_two_subscribers_ends_a_path_of_its_own(node: hyphos.Node, domain: str) -> None:
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


def test_what_a_timer_publishes_follows_the_last_message_and_says_that_it_is_inferred(
    node: hyphos.Node, domain: str
) -> None:
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
        command.publish(Int64(data=2))  # in this thread: outside of any callback
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


def test_messages_that_a_queue_dropped_are_unheard_and_break_no_join(
    node: hyphos.Node, domain: str
) -> None:
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
        busy.publish(Int64(data=number))  # the queue keeps the last one
    gate.set()
    heard.wait(2)
    told = gathered.until(2, receptions)
    assert len(told.flows.publishes) == 5
    assert told.flows.unheard == 3
    [path] = told.paths
    assert path.total.count == 2
    assert told.worst_sum_error < 0.01


def test_a_recorder_that_ran_over_tells_how_much_is_missed(node: hyphos.Node, domain: str) -> None:
    gathered = Gathered(domain)
    count = node.publisher("count", Int64)
    for number in range(5000):
        count.publish(Int64(data=number))
    told = gathered.until(4096, lambda flows: len(flows.publishes))
    assert len(told.flows.publishes) + told.flows.found.missed_in_all == 5000
    assert told.flows.found.missed_in_all > 0


# Events made by hand: two machines, and a way that began before.


def made_up(*rows: dict[str, int], uncertainty_ns: dict[int, int] | None = None) -> Flows:
    events = np.zeros(len(rows), EVENT)
    owner = np.zeros(len(rows), np.uint64)
    for i, row in enumerate(rows):
        for name, value in row.items():
            if name == "owner":
                owner[i] = value
            else:
                events[name][i] = value
    ends = {
        (1, 1): End(1, "body", 10, "driver", "scan", True),
        (2, 1): End(2, "mind", 20, "mapper", "scan", False),
        (2, 2): End(2, "mind", 20, "mapper", "map", True),
        (2, 3): End(2, "mind", 20, "keeper", "map", False),
    }
    return Flows(Collection(events, owner, ends, {}, uncertainty_ns or {}, 1.0))


def reception(owner: int, endpoint: int, sender: int, at: int) -> dict[str, int]:
    return {
        **{"owner": owner, "endpoint": endpoint, "sender": sender, "sequence": 1, "received": 1},
        **{"publish": at, "encoded": at + 5, "handed": at + 6, "arrived": at + 20},
        **{"scheduled": at + 25, "dequeued": at + 40, "decoded": at + 49, "callback": at + 50},
        "end": at + 100,
    }


def published(owner: int, endpoint: int, sender: int, at: int, cause: int = 0) -> dict[str, int]:
    row = {"owner": owner, "endpoint": endpoint, "sender": sender, "sequence": 1, "publish": at}
    if cause:
        row |= {"cause_sender": cause, "cause_sequence": 1, "cause_endpoint": 1}
    return row


def test_every_layer_is_the_time_between_its_stamps() -> None:
    flows = made_up(reception(2, 1, 7, 1000))
    assert flows.layers.tolist() == [[5, 1, 14, 5, 15, 10, 50]]


def test_a_layer_that_was_not_crossed_takes_no_time() -> None:
    events = np.zeros(1, EVENT)
    for name, ns in (("publish", 100), ("scheduled", 130), ("dequeued", 150), ("callback", 150)):
        events[name] = ns
    events["end"] = 190
    assert layers_of(events).tolist() == [[0, 0, 0, 30, 20, 0, 40]]


def test_a_message_of_another_machine_begins_a_path_and_its_uncertainty_is_told() -> None:
    rows = (reception(2, 1, 7, 1000), published(2, 2, 8, 1080, 7), reception(2, 3, 8, 1080))
    told = profile(made_up(*rows, uncertainty_ns={2: 12_000}))
    [path] = told.paths
    assert path.name == "another machine ─scan→ mind/mapper ─map→ mind/keeper"
    assert path.uncertainty_ns == 12_000
    assert [(c.channel, c.uncertainty_ns) for c in told.channels] == [("map", 0), ("scan", 12_000)]
    assert path.total.mean == 180


def test_a_way_whose_beginning_is_not_known_is_counted_and_left_out() -> None:
    rows = (reception(2, 1, 7, 1000), published(2, 2, 8, 1080, 7), reception(2, 3, 8, 1080))
    told = profile(made_up(*rows))
    assert (told.paths, told.cut) == ([], 1)


def test_a_path_is_chosen_by_names_in_their_order() -> None:
    rows = (published(1, 1, 7, 1000), reception(2, 1, 7, 1000), published(2, 2, 8, 1080, 7))
    flows = made_up(*rows, reception(2, 3, 8, 1080))
    assert len(profile(flows, "scan->map").paths) == 1
    assert len(profile(flows, "body/driver → map").paths) == 1
    with pytest.raises(hyphos.Error, match="no path goes 'map->scan'") as problem:
        profile(flows, "map->scan")
    assert "─scan→ mind/mapper" in problem.value.advice


def test_the_critical_path_is_the_slowest_between_its_ends_and_names_what_costs_most() -> None:
    def row(kind: dict[str, int], i: int) -> dict[str, int]:
        moved = {"publish", "encoded", "handed", "arrived", "scheduled", "dequeued", "decoded"}
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


def test_a_loop_of_the_graph_ends_where_it_began() -> None:
    ping = [published(2, 2, 8, 100 * i) | {"sequence": i} for i in range(1, 4)]
    back = [reception(2, 3, 8, 100 * i) | {"sequence": i} for i in range(1, 4)]
    for i in (1, 2):  # each is published in the callback of the one before
        ping[i] |= {"cause_sender": 8, "cause_sequence": i, "cause_endpoint": 3}
        ping[i]["publish"] = back[i]["publish"] = back[i - 1]["callback"] + 10
    told = profile(made_up(*ping, *back))
    assert sum(path.total.count for path in told.paths) == 1
    assert told.worst_sum_error == 0


# Exports.


@pytest.fixture
def flows() -> Flows:
    return made_up(
        published(1, 1, 7, 1000), reception(2, 1, 7, 1000), published(2, 2, 8, 1080, 7),
        reception(2, 3, 8, 1080),
    )  # fmt: skip


def test_the_trace_for_perfetto_keeps_the_rules_of_its_format(flows: Flows, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    count = write_perfetto(path, flows)
    records = json.loads(path.read_text())["traceEvents"]
    assert len(records) == count
    required = {
        "X": {"name", "cat", "ts", "dur", "pid", "tid"},
        "i": {"name", "ts", "pid", "tid", "s"},
        "s": {"name", "cat", "id", "ts", "pid", "tid"},
        "f": {"name", "cat", "id", "ts", "pid", "tid", "bp"},
        "M": {"name", "pid", "tid", "args"},
    }
    for record in records:
        assert required[record["ph"]] <= record.keys()
        assert record.get("ts", 0) >= 0
        assert record.get("dur", 0) >= 0
    names = {(r["pid"], r["tid"]): r["args"]["name"] for r in records if r["name"] == "thread_name"}
    for record in records:
        assert record["ph"] == "M" or (record["pid"], record["tid"]) in names
    starts = {r["id"]: r for r in records if r["ph"] == "s"}
    ends = {r["id"]: r for r in records if r["ph"] == "f"}
    assert starts.keys() == ends.keys()
    assert len(starts) == 2
    assert all(starts[i]["ts"] <= ends[i]["ts"] for i in starts)
    # An arrow ends in a slice: at the start of a callback.
    begins = {(r["pid"], r["tid"], r["ts"]) for r in records if r["ph"] == "X"}
    assert all((r["pid"], r["tid"], r["ts"]) in begins for r in ends.values())


def test_slices_of_one_track_never_overlap(node: hyphos.Node, domain: str) -> None:
    gathered = Gathered(domain)
    inbox = Inbox()
    policy = hyphos.Policy(depth=20)

    def work(message: Int64) -> None:
        time.sleep(0.002)
        inbox(message)

    node.subscribe("a", Int64, work, mode="concurrent", policy=policy)
    a = node.publisher("a", Int64, policy=policy)
    for number in range(20):
        a.publish(Int64(data=number))
    inbox.wait(20)
    told = gathered.until(20, receptions)
    tracks: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for record in trace_records(told.flows):
        if record["ph"] == "X":
            begin, length = record["ts"], record["dur"]
            tracks.setdefault((record["pid"], record["tid"]), []).append((begin, begin + length))
    assert tracks
    for slices in tracks.values():
        slices.sort()
        for (_, end), (begin, _) in itertools.pairwise(slices):
            assert end <= begin + 0.001  # µs, as far as they are printed


def test_the_mcap_file_holds_every_event_with_its_schema(flows: Flows, tmp_path: Path) -> None:
    path = tmp_path / "events.mcap"
    assert write_mcap(path, flows) == 4
    with path.open("rb") as file:
        found = list(make_reader(file).iter_messages())
    assert Counter(channel.topic for _, channel, _ in found) == {
        "profile/scan": 2,
        "profile/map": 2,
    }
    for schema, channel, message in found:
        assert schema is not None
        assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
        told = json.loads(message.data)
        assert set(json.loads(schema.data)["required"]) <= told.keys()
        assert told.keys() <= json.loads(schema.data)["properties"].keys()
    events = [json.loads(message.data) for _, _, message in found]
    [caused] = [e for e in events if e["event"] == "publish" and e["channel"] == "map"]
    assert caused["cause"] == [
        {"sender": f"{7:016x}", "sequence": 1, "channel": "scan", "inferred": False}
    ]
    heard = [e for e in events if e["event"] == "callback"]
    for event in heard:
        layers = {name: ns for name, ns in event["layers_ns"].items() if name != "callback"}
        assert sum(layers.values()) == event["latency_ns"]


# Pages and pictures.


def test_the_page_of_a_graph_is_readable_in_a_browser_and_gives_its_data_back(
    tab: Page, flows: Flows, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    from hyphos.profile.report import write_report  # noqa: PLC0415

    told = profile(flows).as_dict()
    path = write_report(tmp_path / "page.html", told)
    # Bars of channels and of paths, and the message flow.
    files = look_at(tab, path, 3, {"channels", "paths", "machine"})
    assert json.loads(files["profile.json.gz"]) == json.loads(json.dumps(told))
    text = tab.ask("document.body.innerText")
    assert "body/driver ─scan→ mind/mapper ─map→ mind/keeper; its slowest messages spend" in text


def test_the_page_of_an_experiment_has_the_flow_and_the_critical_path_of_its_sizes(
    tab: Page, flows: Flows, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    from hyphos.profile.report import write_report  # noqa: PLC0415

    told = profile(flows)
    rows = {part: around(told.paths[0], part) for part in (0.5, 0.95)}
    cases = [
        CaseProfile(Case("pipeline", size=size), told, told.paths[0], rows).as_dict()
        for size in (128, 500_000)
    ]
    page = {"experiment": "small", "peer": "hyphos/shm", "machine": {"cores": 2}, "cases": cases}
    path = write_report(tmp_path / "page.html", page)
    files = look_at(tab, path, 2, {"layers", "machine"})
    assert json.loads(files["profile.json.gz"])["cases"][1]["size"] == 500_000
    text = tab.ask("document.body.innerText")
    for size in ("128 B", "500 kB"):
        assert f"{size}: body/driver ─scan→ mind/mapper ─map→ mind/keeper; its slowest" in text


def test_pictures_are_png_where_the_file_is_named_so(flows: Flows, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from hyphos.profile.draw import write_pictures  # noqa: PLC0415

    written = write_pictures(tmp_path / "layers.png", profile(flows).as_dict())
    assert [one.name for one in written] == ["layers.png", "layers-paths.png", "layers-flow.png"]
    assert all(one.read_bytes().startswith(b"\x89PNG") for one in written)


# The command.


def test_the_command_prints_and_writes_everything(
    pipeline: Callable[[float], Program], hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    pipeline(0.01)
    files = {kind: tmp_path / f"out.{kind}" for kind in ("html", "svg", "mcap", "json")}
    code, out, err = hyphos_cli(
        "lab", "profile", "-d", domain, "--for", "5", "--path", "image->edges",
        "--html", str(files["html"]), "--svg", str(files["svg"]), "--mcap", str(files["mcap"]),
        "--perfetto", str(files["json"]),
    )  # fmt: skip
    assert code == 0, err
    assert "critical: camera ─image→ filter ─edges→ sink" in out
    assert re.search(r"slowest messages spend \d+% \(.*\) in \w+ ", out)
    assert "p95:" in out
    page = files["html"].read_text()
    assert page.count("<svg") == 3
    assert not re.search(r"""\b(src|href)=["']http""", page)  # it needs no network
    assert "camera ─image→ filter ─edges→ sink; its slowest messages spend" in page
    assert files["svg"].read_text().startswith("<svg")
    assert (tmp_path / "out-flow.svg").exists()
    assert json.loads(files["json"].read_text())["traceEvents"]


def test_figures_for_programs_hold_the_sum_of_the_layers(
    pipeline: Callable[[float], Program], hyphos_cli: Cli, domain: str
) -> None:
    pipeline(0.0)
    code, out, err = hyphos_cli("lab", "profile", "-d", domain, "--for", "5", "--json")
    assert code == 0, err
    told = json.loads(out)
    [path] = told["paths"]
    summed = sum(sum(hop["mean_ns"].values()) for hop in path["hops"])
    assert summed == pytest.approx(path["end_to_end"]["mean_ns"], rel=0.01)
    for channel in told["channels"]:
        layers = {n: s["mean_ns"] for n, s in channel["layers"].items() if n != "callback"}
        assert sum(layers.values()) == pytest.approx(channel["latency"]["mean_ns"], rel=0.01)


CASES = """
lab: 1
name: small
workload: pipeline
peers: [hyphos/shm]
processes: 3
grid: {size: [1 KB, 64 KB], rate_hz: [10, 100]}
"""


def test_an_experiment_gives_the_layers_of_each_size(hyphos_cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "small.yaml").write_text(CASES)
    code, out, err = hyphos_cli(
        "lab", "profile", "--experiment", "small.yaml", "--for", "1", "--json", "-q",
        "--svg", "fig.svg", "--html", "fig.html", "--out", "results",
    )  # fmt: skip
    assert code == 0, err
    told = json.loads(out)
    assert json.loads((tmp_path / "results" / "profile.json").read_text()) == told
    assert [(case["size"], case["rate_hz"]) for case in told["cases"]] == [
        (1024, 100),
        (65536, 100),
    ]
    for case in told["cases"]:
        assert case["path"].count("→") == 2
        assert case["worst_sum_error"] < 0.01
        for message in case["messages"].values():
            parts = [sum(step["parts_ns"].values()) for step in message["steps"]]
            assert sum(parts) == pytest.approx(message["total_ns"], rel=0.01)
        median = sum(case["layers_ns"]["p50"].values())
        assert 0 < median <= case["end_to_end"]["max_ns"]
        assert sum(case["layers_ns"]["p95"].values()) >= median
    assert (tmp_path / "fig.svg").read_text().count("64 KB, p95") == 1
    assert (tmp_path / "fig-flow.svg").exists()
    page = (tmp_path / "fig.html").read_text()
    assert "notification delay" in page
    assert page.count("<svg") == 2


def test_the_layers_around_a_percentile_add_up_to_it_without_the_last_callback() -> None:
    steps = [Step(0, 0, 100 + i, (10, 0, 0, 0, 20, 0, 70 + i, 0), False) for i in range(1000)]
    ways_of_path = [Way((step,)) for step in steps]
    path = PathProfile("a", (("c", "b"),), False, Spread.of(np.array([100])), np.zeros((1, 8)),
                       np.zeros((1, 8)), 0.0, ways_of_path)  # fmt: skip
    assert around(path, 0.5).tolist() == [10, 0, 0, 0, 20, 0, 0, 0]
    first = Way((Step(0, 0, 40, (10, 0, 0, 0, 20, 0, 10, 0), False), steps[0]))
    path.ways = [first]
    assert around(path, 0.95).sum() == 40 + 30


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--experiment", "latency", "-p", "zmq/ipc"), "keeps no flight recorder"),
        (("--experiment", "paper_001_throughput"), "a flood has no rate"),
        (("--experiment", "latency", "--overhead"), "either --experiment or --overhead"),
        (("--overhead", "--mcap", "x.mcap"), "for a running graph only"),
        (("--overhead", "--svg", "x.svg"), "draws no pictures"),
        (("--out", "x"), "--out is for --experiment"),
        (("--full",), "--full is for --experiment"),
    ],
)
def test_what_does_not_go_together_is_refused(
    hyphos_cli: Cli, words: tuple[str, ...], problem: str
) -> None:
    code, _, err = hyphos_cli("lab", "profile", *words)
    assert code != 0
    assert problem in " ".join(err.split())


def quad(alone_us: float, profiled_us: float) -> Quad:
    costs = {False: alone_us, True: profiled_us}
    return Quad(tuple(Block(on, round(1e6 * costs[on]), 1000, 0.0, 0.1) for on in TURNS[0]))


def test_the_overhead_is_a_ratio_of_blocks_beside_each_other_with_its_interval(
    hyphos_cli: Cli,
) -> None:
    # Of four blocks, two of each kind: a drift, the same for both, leaves no trace.
    drift = Quad(tuple(Block(on, 1000 + 100 * i, 10, 0.0, 0.1) for i, on in enumerate(TURNS[0])))
    assert drift.ratio == 1.0
    ratio = ratio_of([quad(10.0, 10.1), quad(10.0, 10.3)])
    assert ratio.value == pytest.approx(1.02)
    assert ratio.low == pytest.approx(1.01)
    assert ratio.high == pytest.approx(1.03)

    code, out, err = hyphos_cli(
        "lab", "profile", "--overhead", "--repeats", "2", "--for", "0.3", "--json", "-q"
    )
    assert code in (0, 1), (
        err
    )  # 1: surely more than is promised, as two turns on a busy machine may
    told: dict[str, Any] = json.loads(out)
    assert told["quads"] == 2
    assert told["alone_us_per_msg"] > 0
    assert told["profiled_us_per_msg"] > 0
    assert told["profiler_cores"] > 0
    # Two turns of two profiled blocks: each message is an event at both of its ends.
    sent = 2 * 2 * 0.3 * told["rate_hz"]
    assert told["events"] + told["missed"] > sent / 2


def test_a_domain_without_processes_is_an_error_with_advice(hyphos_cli: Cli, domain: str) -> None:
    code, _, err = hyphos_cli("lab", "profile", "-d", domain, "--for", "0.2")
    assert code != 0
    assert f"no Hyphos process runs in domain '{domain}'" in err


def test_the_events_of_the_library_have_the_size_that_python_reads(
    node: hyphos.Node, domain: str
) -> None:
    node.publisher("once", Int64).publish(Int64(data=1))
    [batch] = _hyphos.recorded_events(domain)
    assert len(batch.events) == EVENT.itemsize * batch.next
