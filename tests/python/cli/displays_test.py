"""Displays show the real state: equal names, changing endpoints, channels without encoded bytes."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hyphos
import pytest
from helpers import Cli, Inbox, Start, look_until, wait_until
from hyphos import _hyphos
from hyphos.msgs import Int64
from hyphos.observe import Look, growth, key_of, look, states
from hyphos.tools.graph import Edge, graph_of
from hyphos.tools.tables import nodes_of
from hyphos.tools.top import Shot, channel_rows

# --- Generated robots -----------------------------------------------------------------------------


@dataclass
class FakeHistogram:
    count: int = 0
    max_ns: int = 0
    buckets: list[tuple[int, int]] = field(default_factory=list)

    def since(self, earlier: FakeHistogram) -> FakeHistogram:
        return FakeHistogram(self.count - earlier.count)

    def percentile_ns(self, _fraction: float) -> int:
        return 0


@dataclass
class FakeEnd:
    id: int
    node: str
    channel: str
    is_publisher: bool
    count: int = 0
    bytes: int = 0
    dropped: int = 0
    transports: str = "pointer"
    type_name: str = "hyphos.msgs.Int64"
    encoding: str = "protobuf"
    type_hash: int = 1
    mode: str = "serial"
    latency: FakeHistogram = field(default_factory=FakeHistogram)
    layers: tuple[Any, ...] = ()
    policy: Any = field(default_factory=hyphos.Policy)

    def counter(self, name: str) -> int:
        found = {"sent": self.count, "received": self.count, "bytes": self.bytes}
        return found.get(name, 0)

    @property
    def counters(self) -> list[tuple[str, int]]:
        return [("drop.queue.overflow", self.dropped)]


@dataclass
class FakeProcess:
    participant: int
    name: str
    pid: int
    endpoints: list[FakeEnd]
    host: str = "here"
    state: str = "ready"


class Robot:
    """Processes and nodes that often share a name. Endpoints close, open again and count from 0."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ids = 0
        self.processes = [
            FakeProcess(i + 1, self.random.choice(["main", "main", "body"]), 100 + i, [])
            for i in range(self.random.randint(1, 5))
        ]
        for process in self.processes:
            for _ in range(self.random.randint(0, 6)):
                process.endpoints.append(self.end())

    def end(self) -> FakeEnd:
        self.ids += 1
        chosen = self.random.choice
        made = FakeEnd(
            self.ids, chosen(["talker", "listener"]), chosen(["a", "b"]), chosen([True, False])
        )
        made.count = self.random.randint(0, 1000)
        return made

    def look(self, time_s: float) -> Look:
        frozen = [
            FakeProcess(
                one.participant, one.name, one.pid, [FakeEnd(**vars(end)) for end in one.endpoints]
            )
            for one in self.processes
        ]
        return Look(time_s, frozen)  # type: ignore[arg-type]

    def live(self) -> dict[tuple[int, int], int]:
        """Messages pass, and new endpoints replace some endpoints. Returns the growth of each
        count.
        """
        grown: dict[tuple[int, int], int] = {}
        for process in self.processes:
            for i, end in enumerate(process.endpoints):
                passed = self.random.randint(0, 50)
                if self.random.random() < 0.4:
                    process.endpoints[i] = FakeEnd(
                        self.ids + 1, end.node, end.channel, end.is_publisher, passed
                    )
                    self.ids += 1
                else:
                    end.count += passed
                grown[process.participant, process.endpoints[i].id] = passed
        return grown


@pytest.mark.parametrize("seed", range(60))
def test_generated_robots_are_displayed_correctly(seed: int) -> None:
    robot = Robot(seed)
    before = robot.look(10.0)
    grown = robot.live()
    now = robot.look(12.0)
    told = json.loads(graph_of("0", now, before).as_json())
    assert len(told["processes"]) == len(robot.processes)
    by_pid = {process["pid"]: process for process in told["processes"]}
    for process in robot.processes:
        assert by_pid[process.pid]["nodes"] == sorted({end.node for end in process.endpoints})
    graph = graph_of("0", now, before)
    assert sum(edge.rate_hz for edge in graph.edges) == pytest.approx(sum(grown.values()) / 2.0)
    assert all(edge.rate_hz >= 0 for edge in graph.edges)
    # One entry for each node name and process: in the drawing and in the list.
    places = {(end.node, process.participant) for process, end in now.ends()}
    drawn = {line.split(" [")[0] for line in graph.as_dot().splitlines() if "shape=circle" in line}
    assert len(drawn) == len(places)
    assert len(nodes_of(now)) == len(places)
    found = states(now, before)
    for name, state in found.items():
        sent = sum(
            grown[process.participant, end.id]
            for process, end in now.ends(name)
            if end.is_publisher
        )
        assert state.rate_hz == pytest.approx(sent / 2.0)
        assert (state.megabytes_per_s, state.megabytes_text) == (0.0, "–")
    rows = channel_rows(Shot(now, {}), Shot(before, {}))
    assert all(row.drops_per_s >= 0 and row.state.rate_hz >= 0 for row in rows)


@pytest.mark.parametrize(
    ("transports", "size", "text"),
    [
        ("pointer", 0, "–"), ("", 0, "–"), ("shm", 0, "0.00"), ("pointer+shm", 4e6, "2.00"),
        ("zmq", 4e6, "2.00"), ("pointer", 4e6, "2.00"),
    ],
)  # fmt: skip
def test_megabytes_are_shown_where_bytes_are_counted(transports: str, size: int, text: str) -> None:
    def at(time_s: float, count: int) -> Look:
        end = FakeEnd(1, "talker", "a", True, count, int(size * count), transports=transports)
        return Look(time_s, [FakeProcess(1, "main", 7, [end])])  # type: ignore[list-item]

    assert states(at(2.0, 1), at(0.0, 0))["a"].megabytes_text == text


def test_an_edge_belongs_to_a_process_not_to_a_name() -> None:
    assert {"pid", "participant"} <= set(Edge.__dataclass_fields__)


# --- Real robots ----------------------------------------------------------------------------------

TALKER = """
import sys, hyphos
from hyphos.msgs import Int64
node = hyphos.Node.open(sys.argv[2], domain=sys.argv[1])
count = node.publisher(sys.argv[2] + "_count", Int64)
node.subscribe("count", Int64, lambda _: None)
print("up", flush=True)
node.spin()
"""


def test_programs_with_one_process_name_stay_apart(
    python: Start, hyphos_cli: Cli, domain: str
) -> None:
    """Every program started by hand is process "main". Two of these are also node "talker"."""
    programs = [python(TALKER, domain, name) for name in ("talker", "talker", "listener")]
    for program in programs:
        assert program.line() == "up"
    code, out, err = hyphos_cli("graph", "-f", "json", "-w", "0.1", "-d", domain)
    assert code == 0, err
    told = json.loads(out)["processes"]
    assert sorted((one["name"], *one["nodes"]) for one in told) == [
        ("main", "listener"), ("main", "talker"), ("main", "talker"),
    ]  # fmt: skip
    code, out, err = hyphos_cli("node", "list", "--json", "-d", domain)
    assert code == 0, err
    pids = {one["pid"] for one in json.loads(out) if one["node"] == "talker"}
    assert pids == {programs[0].popen.pid, programs[1].popen.pid}


def test_an_endpoint_that_opens_again_is_another_one(domain: str, inbox: Inbox) -> None:
    with hyphos.Node.open("robot", domain=domain) as node:
        number = node.publisher("number", Int64)
        first = node.subscribe("number", Int64, inbox)
        for _ in range(20):
            number.publish(Int64(data=1))
        inbox.wait(10)
        before = look(domain)
        first.close()
        node.subscribe("number", Int64, inbox)
        number.publish(Int64(data=1))
        now = look(domain)
    old = before.by_key()
    [(process, end)] = [(p, e) for p, e in now.ends("number") if not e.is_publisher]
    assert key_of(process, end) not in old
    assert growth(end, old.get(key_of(process, end)), "received") >= 0
    assert all(edge.rate_hz >= 0 for edge in graph_of(domain, now, before).edges)


def test_bandwidth_reports_channels_without_encoding(hyphos_cli: Cli, domain: str) -> None:
    with hyphos.Node.open("robot", domain=domain) as node:
        number = node.publisher("number", Int64)
        node.every(lambda: number.publish(Int64(data=1)), rate_hz=100)
        code, out, err = hyphos_cli("channel", "bw", "number", "-n", "1", "-d", domain)
        assert code == 0, err
        assert "nothing is encoded" in out
        assert "MB/s" not in out


def test_tools_that_join_as_processes_are_ready(
    hyphos_start: Start, domain: str, tmp_path: Path
) -> None:
    with hyphos.Node.open("robot", domain=domain) as node:
        number = node.publisher("number", Int64)
        node.runtime.ready()
        for words in (["record", "-o", str(tmp_path / "a.mcap")], ["channel", "echo", "number"]):
            hyphos_start(*words, "-d", domain)
        wait_until(lambda: len(_hyphos.inspect(domain)) == 3, "the tools to take part")
        wait_until(
            lambda: all(one.state == "ready" for one in _hyphos.inspect(domain)), "them to be ready"
        )
        assert number.channel == "number"


def test_a_robot_without_channels_is_not_reported_absent(hyphos_cli: Cli, domain: str) -> None:
    with hyphos.Node.open("robot", domain=domain):
        code, _, err = hyphos_cli("channel", "hz", "number", "-d", domain)
        assert code == 1
        assert "no Hyphos process" not in err
        assert "no channel 'number'" in err


ASKER = """
import sys, hyphos
from hyphos.msgs import Int64
with hyphos.Node.open("asker", domain=sys.argv[1]) as node:
    node.client("double", Int64, Int64).call(Int64(data=2))
print("asked", flush=True)
"""


def test_service_list_counts_requests_of_clients_that_ended(
    python: Start, hyphos_cli: Cli, domain: str
) -> None:
    with hyphos.Node.open("server", domain=domain) as node:
        node.service("double", Int64, Int64, lambda one: Int64(data=2 * one.data))
        for _ in range(3):
            asker = python(ASKER, domain)
            assert asker.line() == "asked"
            asker.end()

        def told() -> Any:
            code, out, err = hyphos_cli("service", "list", "--json", "-d", domain)
            assert code == 0, err
            return json.loads(out)

        look_until(lambda found: found[0]["requests"] == 3, told, "three requests")


def test_a_recording_in_progress_is_marked(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    file = tmp_path / "run.mcap"
    with hyphos.Node.open("robot", domain=domain) as node:
        number = node.publisher("number", Int64)
        node.every(lambda: number.publish(Int64(data=1)), rate_hz=100)
        recorder = hyphos_start("record", "-o", str(file), "--chunk-kb", "1", "-d", domain)
        wait_until(lambda: file.exists() and file.stat().st_size > 4000, "some chunks")
        code, out, err = hyphos_cli("bag", "info", str(file))
        assert code == 0, err
        assert "cut off" not in out
        assert f"still being written by process {recorder.popen.pid}" in " ".join(out.split())
        recorder.stop()
    code, out, err = hyphos_cli("bag", "info", str(file))
    assert (code, "written by" in out) == (0, False), err
