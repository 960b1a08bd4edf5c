"""hyphos tf monitor"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import Policy
from hyphos.msgs import TfMessage
from hyphos.node import Node
from hyphos.observe import duration
from hyphos.tools.console import console, table
from hyphos.tools.join import open_tool
from hyphos.tools.tf import awaited, nothing_came
from hyphos.tools.waiting import stoppable
from hyphos.tools.waits import reporting
from hyphos.transforms import Transforms

# Names of hyphos.Transforms.counters() that stay 0 in a healthy robot.
_WARNINGS = ("stale", "refused", "replaced", "reparented", "clock_jumps")


@dataclass
class MonitorOptions:
    target: str
    source: str
    window_s: float
    count: int | None
    as_json: bool
    prefix: str
    domain: str


@dataclass
class Edge:
    """The transforms of one frame since the last table."""

    parent: str
    child: str
    static: bool = False
    count: int = 0
    gap_ns: int = 0  # longest time between two arrivals
    delay_sum_ns: int = 0
    delay_max_ns: int = 0
    last_arrival_ns: int = 0

    def arrived(self, stamp_ns: int, wall_ns: int, monotonic_ns: int) -> None:
        self.count += 1
        if self.last_arrival_ns:
            self.gap_ns = max(self.gap_ns, monotonic_ns - self.last_arrival_ns)
        self.last_arrival_ns = monotonic_ns
        delay = wall_ns - stamp_ns
        self.delay_sum_ns += delay
        self.delay_max_ns = delay if self.count == 1 else max(self.delay_max_ns, delay)

    @property
    def delay_ns(self) -> float:
        return self.delay_sum_ns / self.count if self.count else 0.0


class Arrivals:
    """Counts the moving transforms by frame. Thread-safe."""

    def __init__(self, node: Node, channel: str) -> None:
        self._lock = threading.Lock()
        self._edges: dict[str, Edge] = {}
        node.subscribe(channel, TfMessage, self._add, policy=Policy(depth=1000))

    def _add(self, message: TfMessage) -> None:
        wall_ns, monotonic_ns = time.time_ns(), time.monotonic_ns()
        with self._lock:
            for stamped in message.transforms:
                child = stamped.child_frame_id.removeprefix("/")
                parent = stamped.header.frame_id.removeprefix("/")
                edge = self._edges.get(child)
                if edge is None or edge.parent != parent:
                    edge = self._edges[child] = Edge(parent, child)
                edge.arrived(stamped.header.stamp_ns, wall_ns, monotonic_ns)

    def take(self) -> list[Edge]:
        """The arrivals since the last call."""
        with self._lock:
            taken = list(self._edges.values())
            for edge in taken:
                self._edges[edge.child] = Edge(
                    edge.parent, edge.child, last_arrival_ns=edge.last_arrival_ns
                )
        return taken


def _between(transforms: Transforms, options: MonitorOptions) -> set[str]:
    """The frames whose edges are on the path between the two frames."""
    frames, ancestor = transforms.chain(options.target, options.source)
    return set(frames) - {frames[ancestor]}


def _row(edge: Edge, window_s: float) -> list[str]:
    if edge.static:
        return [edge.child, edge.parent, "static", "-", "-", "-"]
    if not edge.count:
        return [edge.child, edge.parent, "0.0", "-", "-", "-"]
    return [
        edge.child,
        edge.parent,
        f"{edge.count / window_s:.1f}",
        duration(edge.gap_ns) if edge.gap_ns else "-",
        duration(edge.delay_ns),
        duration(edge.delay_max_ns),
    ]


def _as_dict(edge: Edge, window_s: float) -> dict[str, Any]:
    return {
        "parent": edge.parent,
        "child": edge.child,
        "static": edge.static,
        "rate_hz": edge.count / window_s,
        "longest_gap_ms": edge.gap_ns / 1e6,
        "mean_delay_ms": edge.delay_ns / 1e6,
        "max_delay_ms": edge.delay_max_ns / 1e6,
    }


def _show(edges: Sequence[Edge], counters: dict[str, int], options: MonitorOptions) -> None:
    if options.as_json:
        rows = [_as_dict(edge, options.window_s) for edge in edges]
        print(json.dumps({"frames": rows, "counters": counters}), flush=True)
        return
    columns = ["FRAME", "IN", "HZ", "LONGEST GAP", "MEAN DELAY", "MAX DELAY"]
    shown = table("", columns, right=columns[2:])
    for edge in sorted(edges, key=lambda e: e.child):
        shown.add_row(*_row(edge, options.window_s))
    console().print(shown)
    told = [f"{counters[name]:,} {name}" for name in _WARNINGS if counters[name]]
    if told:
        print("since the start: " + ", ".join(told), flush=True)


def monitor(options: MonitorOptions) -> int:
    """Prints a table per window until Ctrl-C or `count`. Raises an error if the first is empty."""
    done = 0
    with stoppable() as stop, open_tool("tf", options.domain) as node:
        transforms = node.transforms(options.prefix)
        arrivals = Arrivals(node, transforms.channel)
        head = f"measuring transforms for {options.window_s:g} s"
        while options.count is None or done < options.count:
            text = partial(awaited, transforms, head, options.domain)
            with reporting(text, limit_s=options.window_s):
                ended = stop.wait(options.window_s)
            if ended:
                break
            edges = arrivals.take()
            edges += [Edge(e.parent, e.child, True) for e in transforms.edges() if e.is_static]
            if not edges:
                raise nothing_came(transforms, options.window_s, options.domain)
            if options.target:
                wanted = _between(transforms, options)
                edges = [edge for edge in edges if edge.child in wanted]
                if not edges:
                    raise Error(
                        "not_found", f"'{options.target}' and '{options.source}' are the same frame"
                    )
            _show(edges, transforms.counters(), options)
            done += 1
    return 0
