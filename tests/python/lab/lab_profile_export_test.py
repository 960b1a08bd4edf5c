"""Profiles as traces for Perfetto and as MCAP."""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter
from pathlib import Path

import hyphos
import pytest
from helpers import Inbox
from hyphos.lab.profile.flows import Flows
from hyphos.lab.profile.mcap_file import write_mcap, write_mcap_of_cases
from hyphos.lab.profile.perfetto import trace_records, write_perfetto, write_perfetto_of_cases
from hyphos.msgs import Int64
from mcap.reader import make_reader
from profiles import Gathered, receptions, two_hops


@pytest.fixture
def flows() -> Flows:
    return two_hops()


def test_the_perfetto_trace_follows_its_format(flows: Flows, tmp_path: Path) -> None:
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
    # An arrow ends in a slice, at the start of a callback.
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
            assert end <= begin + 0.001  # µs, the printed resolution


def test_the_mcap_file_has_every_event_with_its_schema(flows: Flows, tmp_path: Path) -> None:
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


def test_cases_are_below_each_other_in_one_trace(tmp_path: Path) -> None:
    # Both have the same pids, which the kernel may reuse.
    path = tmp_path / "cases.json"
    cases = [("128 B, 100 Hz", two_hops()), ("500 kB, 100 Hz", two_hops(1000))]
    count = write_perfetto_of_cases(path, cases)
    records = json.loads(path.read_text())["traceEvents"]
    assert len(records) == count
    processes = {r["pid"]: r["args"]["name"] for r in records if r["name"] == "process_name"}
    assert sorted(processes.values()) == [
        "128 B, 100 Hz: body",
        "128 B, 100 Hz: mind",
        "500 kB, 100 Hz: body",
        "500 kB, 100 Hz: mind",
    ]
    sorts = [r for r in records if r["name"] == "process_sort_index"]
    order = {r["pid"]: r["args"]["sort_index"] for r in sorts}
    by_case = [processes[pid].split(":")[0] for pid in sorted(processes, key=order.__getitem__)]
    assert by_case == ["128 B, 100 Hz"] * 2 + ["500 kB, 100 Hz"] * 2
    labels = {r["args"]["labels"] for r in records if r["name"] == "process_labels"}
    assert labels == {"pid 10", "pid 20"}
    # Each case starts at 0, and an arrow stays within its case.
    for case in ("128 B", "500 kB"):
        own = {pid for pid, name in processes.items() if name.startswith(case)}
        assert min(r["ts"] for r in records if r["pid"] in own and "ts" in r) == 0
    ends: dict[int, list[int]] = {}
    for record in records:
        if record["ph"] in "sf":
            ends.setdefault(record["id"], []).append(record["pid"])
    assert len(ends) == 4
    for pids in ends.values():
        assert len({processes[pid].split(":")[0] for pid in pids}) == 1
        assert len(pids) == 2


def test_cases_have_separate_channels_in_one_mcap_file(tmp_path: Path) -> None:
    path = tmp_path / "cases.mcap"
    cases = [("128 B, 100 Hz", two_hops()), ("500 kB, 2.5 Hz, ×2", two_hops(1000))]
    assert write_mcap_of_cases(path, cases) == 8
    with path.open("rb") as file:
        found = list(make_reader(file).iter_messages())
    told = Counter((channel.topic, json.loads(m.data)["case"]) for _, channel, m in found)
    assert told == {
        ("profile/128B_100Hz/scan", "128 B, 100 Hz"): 2,
        ("profile/128B_100Hz/map", "128 B, 100 Hz"): 2,
        ("profile/500kB_2.5Hz_2/scan", "500 kB, 2.5 Hz, ×2"): 2,
        ("profile/500kB_2.5Hz_2/map", "500 kB, 2.5 Hz, ×2"): 2,
    }
