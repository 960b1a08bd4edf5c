"""hyphos graph: the running robot as a drawing."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import EndpointInfo, ProcessInfo
from hyphos.observe import Delays, Look, drops_of, growth, is_hidden, key_of, look, nobody
from hyphos.tools.draw import PICTURES, drawing_of, svg_of
from hyphos.tools.groups import members

_GROUPS_S = 2.0
FORMATS = ("dot", *PICTURES, "json")


@dataclass
class Edge:
    """One endpoint of a channel, over one time window."""

    channel: str
    node: str
    process: str
    pid: int
    participant: int
    publishes: bool
    transports: str
    rate_hz: float
    drops: int
    latency: Delays = field(default_factory=Delays)

    def as_dict(self) -> dict[str, Any]:
        made: dict[str, Any] = {
            "channel": self.channel,
            "node": self.node,
            "process": self.process,
            "pid": self.pid,
            "publishes": self.publishes,
            "transports": self.transports,
            "rate_hz": self.rate_hz,
            "drops": self.drops,
        }
        if not self.publishes:
            made["latency_ns"] = self.latency.as_dict()
        return made

    @property
    def label(self) -> str:
        lines = [f"{self.rate_hz:.1f} Hz"]
        if self.latency.count:
            lines.append(f"{self.latency.text(0.5)} / {self.latency.text(0.99)}")
        if self.drops:
            lines.append(f"{self.drops:,} dropped")
        return "\n".join(lines)


@dataclass
class RobotGraph:
    domain: str
    seconds: float
    processes: list[ProcessInfo]
    edges: list[Edge]
    types: dict[str, str]
    groups: dict[str, str] = field(default_factory=dict)  # node → its group

    def as_json(self) -> str:
        processes = [
            {
                "name": one.name,
                "host": one.host,
                "pid": one.pid,
                "state": one.state,
                "nodes": sorted(self._nodes(one)),
            }
            for one in self.processes
        ]
        channels = [{"name": name, "type": kind} for name, kind in sorted(self.types.items())]
        edges = [edge.as_dict() for edge in self.edges]
        groups = [
            {"name": group, "nodes": sorted(n for n, its in self.groups.items() if its == group)}
            for group in sorted(set(self.groups.values()))
        ]
        whole = {
            "domain": self.domain,
            "seconds": self.seconds,
            "processes": processes,
            "groups": groups,
            "channels": channels,
            "edges": edges,
        }
        return json.dumps(whole, indent=2) + "\n"

    def _nodes(self, process: ProcessInfo) -> set[str]:
        return {e.node for e in self.edges if e.participant == process.participant}

    def _node_id(self, node: str, participant: int) -> str:
        """A unique id. Nodes of two processes may have the same name."""
        holders = {edge.participant for edge in self.edges if edge.node == node}
        return _quote(f"node {node}" if len(holders) < 2 else f"node {node} {participant:x}")

    def _node(self, name: str, process: ProcessInfo) -> str:
        return (
            f"    {self._node_id(name, process.participant)} [label={_quote(name)}, "
            'shape=circle, style=filled, fillcolor="#e3f2fd", fontsize=11, margin="0.03"];'
        )

    def as_dot(self) -> str:
        """Nodes are circles in the box of their group, in that of their process. Channels are
        boxes, as in `hyphos plan --dot`. Edges have the rate, then p50 / p99 from publish() to
        callback. Red edges have dropped messages."""
        lines = [
            f"digraph {_quote(self.domain)} {{",
            '  rankdir=LR; bgcolor=white; fontname="sans-serif";',
            '  node [fontname="sans-serif"]; edge [fontname="sans-serif", fontsize=9];',
        ]
        for number, process in enumerate(self.processes):
            lines.append(f"  subgraph cluster_{number} {{")
            title = f"process {process.name} ({process.pid})"
            lines.append(f'    label={_quote(title)}; style=rounded; color="#78909c"; fontsize=12;')
            nodes = sorted(self._nodes(process))
            lines += [self._node(one, process) for one in nodes if one not in self.groups]
            for group in sorted({self.groups[one] for one in nodes if one in self.groups}):
                box = _quote(f"cluster group {group} {process.participant:x}")
                lines += [
                    f"    subgraph {box} {{",
                    f"      label={_quote(f'group {group}')}; "
                    'style="rounded,dashed"; color="#6a1b9a"; bgcolor="#f8f4fa"; fontsize=11;',
                    *(self._node(one, process) for one in nodes if self.groups.get(one) == group),
                    "    }",
                ]
            lines.append("  }")
        lines += [
            f"  {_quote('channel ' + name)} [label={_quote(name)}, shape=box, height=0.25, "
            f'style=filled, fillcolor="#fff8e1", fontsize=10, tooltip={_quote(kind)}];'
            for name, kind in sorted(self.types.items())
        ]
        lines += [
            _edge_line(edge, self._node_id(edge.node, edge.participant)) for edge in self.edges
        ]
        return "\n".join([*lines, "}", ""])


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _edge_line(edge: Edge, node: str) -> str:
    channel = _quote(f"channel {edge.channel}")
    ends = (node, channel) if edge.publishes else (channel, node)
    ways = edge.transports.split("+")
    style = "dashed" if "zmq" in ways else "dotted,bold" if "shm" in ways else "solid"
    colour = "#c62828" if edge.drops else "#263238"
    return (
        f"  {ends[0]} -> {ends[1]} [label={_quote(edge.label)}, style={_quote(style)}, "
        f'color="{colour}", fontcolor="{colour}"];'
    )


def _edge(
    process: ProcessInfo, end: EndpointInfo, earlier: EndpointInfo | None, seconds: float
) -> Edge:
    counter = "sent" if end.is_publisher else "received"
    edge = Edge(
        channel=end.channel,
        node=end.node,
        process=process.name,
        pid=process.pid,
        participant=process.participant,
        publishes=end.is_publisher,
        transports=end.transports,
        rate_hz=growth(end, earlier, counter) / seconds,
        drops=drops_of(end),
    )
    if not end.is_publisher:
        edge.latency.add(end.latency.since(earlier.latency) if earlier else end.latency)
    return edge


def graph_of(domain: str, now: Look, before: Look) -> RobotGraph:
    seconds = max(1e-9, now.time_s - before.time_s)
    old = before.by_key()
    edges, types = [], {}
    for process, end in now.ends():
        if is_hidden(end.channel):
            continue
        edges.append(_edge(process, end, old.get(key_of(process, end)), seconds))
        types[end.channel] = end.type_name
    edges.sort(key=lambda edge: (edge.channel, not edge.publishes, edge.node))
    return RobotGraph(domain, seconds, _sorted(now.processes), edges, types)


def _sorted(processes: Iterable[ProcessInfo]) -> list[ProcessInfo]:
    return sorted(processes, key=lambda one: (one.name, one.pid))


def format_of(form: str | None, file: Path | None) -> str:
    """The output format: from --format, else from the suffix of the file.

    Raises an error if the two disagree, or for the suffix of an unsupported picture format.
    """
    if form is not None and form not in FORMATS:
        raise Error(
            "invalid_config", f"unknown --format '{form}': give one of {', '.join(FORMATS)}"
        )
    ending = file.suffix.lower().lstrip(".") if file is not None else ""
    ending = {"gv": "dot"}.get(ending, ending)
    if form is None and ending in FORMATS:
        return ending
    if ending in ("", "txt") or ending == form:
        return form or "dot"
    if ending in FORMATS:
        text = f"--format is {form}, but {file} ends with .{ending}"
        raise Error("invalid_config", text, advice="omit one of them")
    picture = Path(file or "").with_suffix(".svg")
    raise Error(
        "unsupported",
        f"{file} ends with '.{ending}', but the formats are {', '.join(FORMATS)}",
        advice=f"-o {picture}, or: hyphos graph | dot -T{ending} > {file}",
    )


def _drawn(graph: RobotGraph, form: str) -> bytes:
    """The graph in one of FORMATS. A text ends with a line end."""
    if form in ("png", "pdf"):
        return drawing_of(graph.as_dot(), form)
    text = graph.as_json() if form == "json" else graph.as_dot()
    if form == "svg":
        text = svg_of(text)
    return (text if text.endswith("\n") else f"{text}\n").encode()


def draw(domain: str, form: str, window_s: float, file: Path | None) -> int:
    """Observes for `window_s`, then writes the graph to `file` or to standard output."""
    before = look(domain)
    if not before.processes:
        advice = "start one, or give its --domain. hyphos plan FILE --dot draws a plan"
        raise nobody(domain, advice)
    time.sleep(window_s)
    graph = graph_of(domain, look(domain), before)
    with suppress(Error):  # a process that ends or hangs: without boxes
        graph.groups = members(domain, before, _GROUPS_S)
    drawn = _drawn(graph, form)
    if file is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(drawn)
        return 0
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(drawn)
    except OSError as problem:
        raise Error("permission", f"cannot write {file}: {problem.strerror}") from None
    return 0
