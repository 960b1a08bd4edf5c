"""A profile as Chrome trace events, for Perfetto (ui.perfetto.dev) and chrome://tracing.

A process is a Hyphos process, a thread is a node; on it lie its callbacks and publishes. The layers
of what is on its way to a node lie on tracks of their own, a channel each. Arrows lead from each
publish to the callbacks that it reached. Times are microseconds since the first event.
Format: "Trace Event Format" of the Chromium project.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.profile.events import End
from hyphos.profile.flows import Flows
from hyphos.profile.layers import LAYERS

Record = dict[str, Any]


def write_perfetto(path: Path, flows: Flows) -> int:
    """Returns how many records it wrote."""
    records = list(trace_records(flows))
    try:
        with path.open("w") as file:
            json.dump({"displayTimeUnit": "ns", "traceEvents": records}, file)
    except OSError as error:
        raise Error("io", f"cannot be written: {error.strerror}", str(path)) from None
    return len(records)


class _Tracks:
    """Threads of the trace: nodes, and the lanes of what lasts longer than one callback. Slices of
    one track must not overlap but inside each other, so a lane is given only while it is free."""

    def __init__(self) -> None:
        self._ids: dict[tuple[int, str], int] = {}
        self._free_at: dict[tuple[int, str], list[int]] = {}
        self._processes: dict[int, str] = {}

    def of(self, end: End, name: str) -> int:
        self._processes[end.pid] = end.process
        return self._ids.setdefault((end.pid, name), len(self._ids) + 1)

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
        for pid, process in self._processes.items():
            yield _meta("process_name", pid, 0, {"name": process})
        for (pid, name), tid in self._ids.items():
            yield _meta("thread_name", pid, tid, {"name": name})
            yield _meta("thread_sort_index", pid, tid, {"sort_index": tid})


def _meta(name: str, pid: int, tid: int, args: Record) -> Record:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "args": args}


def trace_records(flows: Flows) -> Iterator[Record]:
    rows = flows.receptions.tolist()
    publishes = flows.publishes.tolist()
    if not rows and not publishes:
        return
    first = min(flows.column("publish", row) for row in [*rows, *publishes])
    tracks = _Tracks()

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
            "pid": end.pid,
            "tid": tracks.of(end, end.node),
            "args": _message(flows, row),
        }
    for row in sorted(rows, key=lambda row: flows.column("callback", row)):
        yield from _reception(flows, row, tracks, us)
    yield from tracks.names()


def _reception(flows: Flows, row: int, tracks: _Tracks, us: Any) -> Iterator[Record]:
    end = flows.end(row)
    begun, ended = flows.column("callback", row), flows.column("end", row)
    # Concurrent callbacks of one node lie on lanes beside each other.
    tid = tracks.lane(end, end.node, begun, ended)
    args = _message(flows, row)
    yield {
        "ph": "X",
        "name": end.channel,
        "cat": "callback",
        "ts": us(begun),
        "dur": (ended - begun) / 1e3,
        "pid": end.pid,
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
                "pid": end.pid,
                "tid": way,
                "args": args,
            }
        at += ns
    publish = flows.publish_of(row)
    if publish is None:
        return
    source = flows.end(publish)
    # One arrow for each receiver: an id has one start and one end.
    arrow = {"cat": "message", "name": end.channel, "id": row + 1}
    yield {
        **arrow,
        "ph": "s",
        "ts": us(flows.column("publish", publish)),
        "pid": source.pid,
        "tid": tracks.of(source, source.node),
    }
    yield {**arrow, "ph": "f", "bp": "e", "ts": us(begun), "pid": end.pid, "tid": tid}


def _message(flows: Flows, row: int) -> Record:
    sender, sequence = flows.message(row)
    return {
        "sender": f"{sender:016x}",
        "sequence": sequence,
        "bytes": int(flows.found.events["bytes"][row]),
    }
