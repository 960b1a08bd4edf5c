"""A profile as Chrome trace events, for Perfetto (ui.perfetto.dev) and chrome://tracing.

A process of the trace is a Hyphos process, and a thread is a node with its callbacks and publishes.
The layers of a message on its path to a node are on separate tracks, one for each channel. Arrows
lead from each publish to the callbacks that received it. Times are microseconds since the first
event. With several cases, each has its own processes with its name, one case below the other, and
each starts at time 0 for comparison.
Format: "Trace Event Format" of the Chromium project.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.lab.profile.events import End
from hyphos.lab.profile.flows import Flows
from hyphos.lab.profile.layers import LAYERS

Record = dict[str, Any]


def write_perfetto(path: Path, flows: Flows) -> int:
    """Writes one graph. Returns the number of records."""
    return _write(path, list(trace_records(flows)))


def write_perfetto_of_cases(path: Path, cases: Sequence[tuple[str, Flows]]) -> int:
    """Writes several graphs with the names of their cases. Returns the number of records."""
    numbers = _Numbers()
    return _write(path, [r for name, flows in cases for r in trace_records(flows, name, numbers)])


def _write(path: Path, records: list[Record]) -> int:
    try:
        with path.open("w") as file:
            json.dump({"displayTimeUnit": "ns", "traceEvents": records}, file)
    except OSError as error:
        raise Error("io", f"cannot write: {error.strerror}", str(path)) from None
    return len(records)


class _Numbers:
    """Unique numbers within one trace. The kernel may give a process of a later case the pid of a
    process of an earlier case."""

    def __init__(self) -> None:
        self.arrows = itertools.count(1)
        self.processes = itertools.count(1)


class _Tracks:
    """Threads of the trace: nodes, and lanes for intervals longer than one callback. Slices of one
    track may only nest, not overlap otherwise, so a lane is used only while it is free."""

    def __init__(self, case: str, numbers: _Numbers) -> None:
        self._case = case
        self._numbers = numbers
        self._ids: dict[tuple[int, str], int] = {}
        self._free_at: dict[tuple[int, str], list[int]] = {}
        self._processes: dict[int, str] = {}
        self._pids: dict[int, int] = {}

    def arrow(self) -> int:
        return next(self._numbers.arrows)

    def pid(self, end: End) -> int:
        """The number of a process in the trace: its own pid, if there is only one graph."""
        if not self._case:
            return end.pid
        if end.pid not in self._pids:
            self._pids[end.pid] = next(self._numbers.processes)
        return self._pids[end.pid]

    def of(self, end: End, name: str) -> int:
        self._processes[end.pid] = end.process
        return self._ids.setdefault((self.pid(end), name), len(self._ids) + 1)

    def lane(self, end: End, name: str, begin: int, ended: int) -> int:
        free_at = self._free_at.setdefault((end.pid, name), [])
        for i, free in enumerate(free_at):
            if free <= begin:
                free_at[i] = ended
                return self.of(end, name if i == 0 else f"{name} ({i + 1})")
        free_at.append(ended)
        number = len(free_at)
        return self.of(end, name if number == 1 else f"{name} ({number})")

    def names(self) -> Iterator[Record]:
        for own, process in self._processes.items():
            if not self._case:
                yield _meta("process_name", own, 0, {"name": process})
                continue
            pid = self._pids[own]
            yield _meta("process_name", pid, 0, {"name": f"{self._case}: {process}"})
            yield _meta("process_labels", pid, 0, {"labels": f"pid {own}"})
            yield _meta("process_sort_index", pid, 0, {"sort_index": pid})
        for (pid, name), tid in self._ids.items():
            yield _meta("thread_name", pid, tid, {"name": name})
            yield _meta("thread_sort_index", pid, tid, {"sort_index": tid})


def _meta(name: str, pid: int, tid: int, args: Record) -> Record:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "args": args}


def trace_records(
    flows: Flows, case: str = "", numbers: _Numbers | None = None
) -> Iterator[Record]:
    rows = flows.receptions.tolist()
    publishes = flows.publishes.tolist()
    if not rows and not publishes:
        return
    first = min(flows.column("publish", row) for row in [*rows, *publishes])
    tracks = _Tracks(case, numbers or _Numbers())

    def us(ns: int) -> float:
        return (ns - first) / 1e3

    for row in sorted(publishes, key=lambda row: flows.column("publish", row)):
        end = flows.end(row)
        at = flows.column("publish", row)
        yield {
            "ph": "i",
            "s": "t",
            "name": f"publish {end.channel}",
            "cat": "publish",
            "ts": us(at),
            "pid": tracks.pid(end),
            "tid": tracks.of(end, end.node),
            "args": _message(flows, row),
        }
    for row in sorted(rows, key=lambda row: flows.column("callback", row)):
        yield from _reception(flows, row, tracks, us)
    yield from tracks.names()


def _reception(flows: Flows, row: int, tracks: _Tracks, us: Any) -> Iterator[Record]:
    end = flows.end(row)
    begun, ended = flows.column("callback", row), flows.column("end", row)
    # Concurrent callbacks of one node are on separate lanes.
    tid = tracks.lane(end, end.node, begun, ended)
    args = _message(flows, row)
    yield {
        "ph": "X",
        "name": end.channel,
        "cat": "callback",
        "ts": us(begun),
        "dur": (ended - begun) / 1e3,
        "pid": tracks.pid(end),
        "tid": tid,
        "args": args,
    }
    at = flows.column("publish", row)
    way = tracks.lane(end, f"{end.channel} → {end.node}", at, begun)
    parts = flows.layers[row].tolist()[:6]
    for name, ns in zip(LAYERS, parts, strict=False):
        if ns > 0:
            yield {
                "ph": "X",
                "name": name,
                "cat": name,
                "ts": us(at),
                "dur": ns / 1e3,
                "pid": tracks.pid(end),
                "tid": way,
                "args": args,
            }
        at += ns
    publish = flows.publish_of(row)
    if publish is None:
        return
    source = flows.end(publish)
    # One arrow for each receiver, because an id has one start and one end.
    arrow = {"cat": "message", "name": end.channel, "id": tracks.arrow()}
    yield {
        **arrow,
        "ph": "s",
        "ts": us(flows.column("publish", publish)),
        "pid": tracks.pid(source),
        "tid": tracks.of(source, source.node),
    }
    yield {**arrow, "ph": "f", "bp": "e", "ts": us(begun), "pid": tracks.pid(end), "tid": tid}


def _message(flows: Flows, row: int) -> Record:
    sender, sequence = flows.message(row)
    return {
        "sender": f"{sender:016x}",
        "sequence": sequence,
        "bytes": int(flows.found.events["bytes"][row]),
    }
