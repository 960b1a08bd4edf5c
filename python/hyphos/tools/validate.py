"""hyphos validate: checks a plan against the endpoints that its nodes really open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import Plan
from hyphos.observe import INTERNAL, is_hidden
from hyphos.supervise.commands import hosts_here, python_path
from hyphos.supervise.programs import python_problems
from hyphos.supervise.supervisor import how_it_ended
from hyphos.tools.console import print_json
from hyphos.tools.waits import names_text, reporting

_AT_ONCE = 4  # number of processes inspected in parallel


@dataclass(frozen=True)
class Finding:
    """One result of the checks: `what` is an identifier for programs, `where` a plan location."""

    level: str  # error, warning or note
    what: str
    text: str
    where: str = ""


@dataclass(frozen=True)
class End:
    channel: str
    node: str
    process: str
    publishes: bool
    type: str
    encoding: str
    type_hash: str


_TRANSFORMS = "hyphos.msgs.TfMessage"


@dataclass
class Graph:
    """The endpoints of a plan's nodes, as far as the nodes can be inspected."""

    loaded: Plan
    plan: dict[str, Any]
    ends: list[End] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)  # nodes that could not be inspected
    fed: set[str] = field(default_factory=set)  # channels with publishers outside of the plan
    when: str = "at its start"  # the time at which the endpoints were seen
    findings: list[Finding] = field(default_factory=list)

    def add(self, level: str, what: str, text: str, where: str = "") -> None:
        self.findings.append(Finding(level, what, text, where))

    def channels(self) -> dict[str, dict[str, Any]]:
        """The planned channels by name. {} for channels that only nodes name."""
        found: dict[str, dict[str, Any]] = {end.channel: {} for end in self.ends}
        found.update({channel["name"]: channel for channel in self.plan["channels"]})
        mine = (name for name in sorted(found) if not name.startswith(INTERNAL))
        return {name: found[name] for name in mine if not is_hidden(name)}

    def of(self, channel: str, *, publishes: bool) -> list[End]:
        return [e for e in self.ends if e.channel == channel and e.publishes == publishes]


def _probe(
    plan: dict[str, Any],
    process: dict[str, Any],
    file: Path,
    settings: Sequence[str],
    limit_s: float,
) -> dict[str, Any]:
    """The endpoints of one process's nodes, or {"error": ...} if the nodes cannot be created."""
    words = [sys.executable, "-m", "hyphos.tools.probe", "--hyphos-plan", str(file.resolve())]
    words += ["--hyphos-process", process["name"]]
    for setting in settings:
        words += ["--hyphos-set", setting]
    env = {**os.environ, **process["env"]}
    env.setdefault("PYTHONPATH", "")
    env["PYTHONPATH"] = os.pathsep.join(p for p in (env["PYTHONPATH"], python_path()) if p)
    folder = Path(plan["directory"] or ".").resolve()
    try:
        done = subprocess.run(
            words, capture_output=True, timeout=limit_s, env=env, cwd=folder, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"its nodes were not created within {limit_s:g} s", "advice": "--timeout"}
    try:
        found: dict[str, Any] = json.loads(done.stdout.decode().splitlines()[-1])
    except (ValueError, IndexError):
        last = done.stderr.decode(errors="replace").strip().splitlines()
        how = how_it_ended(done.returncode)
        return {
            "error": f"its nodes were not created: {how}" + (f": {last[-1]}" if last else ""),
            "advice": "",
        }
    return found


def _look_into(graph: Graph, file: Path, settings: Sequence[str], limit_s: float) -> None:
    here = hosts_here(graph.plan)
    by_process: dict[str, dict[str, Any]] = {}
    for process in graph.plan["processes"]:
        nodes = [n for n in graph.plan["nodes"] if n["process"] == process["name"]]
        closed = [n["name"] for n in nodes if n["kind"] not in ("plugin", "python")]
        graph.unknown.update(closed)
        if process["host"] not in here:
            graph.unknown.update(n["name"] for n in nodes)
            text = f"process '{process['name']}' belongs to host '{process['host']}': not inspected"
            graph.add("note", "elsewhere", text, process["source"])
        elif problems := python_problems(graph.plan, [process]):
            # Importing a program instead of a module of classes would run it.
            for node, text in problems:
                where = node["source"]
                graph.add("error", "nodes", f"nodes.{node['name']}.python: {text}", where)
            graph.unknown.update(n["name"] for n in nodes)
        elif len(closed) < len(nodes):
            by_process[process["name"]] = process
    head = f"creating the nodes of {names_text(list(by_process))}, each for at most {limit_s:g} s"
    with reporting(lambda: head), ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(
            lambda p: _probe(graph.plan, p, file, settings, limit_s), by_process.values()
        )
        for process, answer in zip(by_process.values(), found, strict=True):
            _take(graph, process, answer)


def _take(graph: Graph, process: dict[str, Any], answer: dict[str, Any]) -> None:
    name = process["name"]
    if "error" in answer:
        advice = f" ({answer['advice']})" if answer["advice"] else ""
        graph.add(
            "error", "nodes", f"process '{name}': {answer['error']}{advice}", process["source"]
        )
        graph.unknown.update(n["name"] for n in graph.plan["nodes"] if n["process"] == name)
        return
    for end in answer["ends"]:
        graph.ends.append(
            End(
                end["channel"],
                end["node"],
                name,
                end["publishes"],
                end["type"],
                end["encoding"],
                end["type_hash"],
            )
        )


def check_types(graph: Graph) -> None:
    for name, planned in graph.channels().items():
        ends = [end for end in graph.ends if end.channel == name]
        kinds: dict[tuple[str, str, str], list[str]] = {}
        for end in ends:
            kinds.setdefault((end.type, end.encoding, end.type_hash), []).append(end.node)
        if len(kinds) > 1:
            sides = ", ".join(
                f"{kind} ({encoding}) in {' and '.join(sorted(set(nodes)))}"
                for (kind, encoding, _), nodes in kinds.items()
            )
            alike = len({(kind, encoding) for kind, encoding, _ in kinds}) < len(kinds)
            more = ". They were built with different definitions of the type" if alike else ""
            text = f"channel '{name}' has two types: {sides}{more}"
            graph.add("error", "type", text, planned.get("source", ""))
        wrong = [end for end in ends if planned.get("type") and end.type != planned["type"]]
        for end in wrong[:1]:
            text = (
                f"channel '{name}' is {planned['type']} in the plan, but {end.type} in node "
                f"'{end.node}'"
            )
            graph.add("error", "type", text, planned["source"])


def check_declared(graph: Graph) -> None:
    """Compares `publishers` and `subscribers` of the plan with the endpoints of the nodes."""
    for name, planned in graph.channels().items():
        for key, verb, publishes in (
            ("publishers", "publishes", True),
            ("subscribers", "subscribes to", False),
        ):
            declared = planned.get(key)
            if declared is None:
                continue
            real = {end.node for end in graph.of(name, publishes=publishes)}
            for node in sorted(real - set(declared)):
                text = (
                    f"node '{node}' {verb} '{name}', but is not in the plan's {key}, so it is not "
                    "connected to other processes"
                )
                graph.add("error", "undeclared", text, planned["source"])
            # The nodes of a process share one tree of transforms, whose publishers open late.
            shared = planned.get("type") == _TRANSFORMS
            for node in declared:
                if node not in real and node not in graph.unknown and not shared:
                    text = f"in the plan node '{node}' {verb} '{name}', but the node does not"
                    graph.add("warning", "unused", f"{text} ({graph.when})", planned["source"])


def check_connected(graph: Graph) -> None:
    links = graph.plan["network"]
    outside_in = {c for link in links["subscribers"] for c in link["channels"]}
    outside_out = {c for link in links["publishers"] for c in link["channels"]}
    discovered = bool(links["discovery"]["multicast"])
    for name, planned in graph.channels().items():
        publishers = graph.of(name, publishes=True)
        subscribers = graph.of(name, publishes=False)
        where = planned.get("source", "")
        told = planned.get("publishers") == []  # the plan declares that no node publishes
        fed = told or discovered or name in outside_in or name in graph.fed
        if subscribers and not publishers and not fed:
            maybe = _maybe(graph, planned.get("publishers"))
            nodes = _nodes(subscribers)
            text = f"'{name}' has no publisher, but {nodes} subscribe{_s(subscribers)} to it"
            level = "note" if maybe or _opens_late(subscribers) else "error"
            if _opens_late(subscribers):
                # The publisher of a transform tree opens with the first transform that is set.
                maybe += ". node.transforms() opens it when a node sets the first transform"
            elif not maybe:
                maybe = (
                    ": correct the name, add the node that publishes it, or name it in network. "
                    "'publishers: []' declares that a replay or a tool publishes it"
                )
            graph.add(level, "no_publisher", text + maybe, where)
        meant = planned.get("subscribers") == []  # the plan declares that no node subscribes
        outside = meant or name in outside_out or discovered
        if publishers and not subscribers and not outside:
            maybe = _maybe(graph, planned.get("subscribers"))
            verb = f"publish{_es(publishers)}"
            text = f"'{name}' has no subscriber, but {_nodes(publishers)} {verb} it"
            graph.add("note" if maybe else "warning", "no_subscriber", text + maybe, where)
        for sender in publishers:
            for receiver in subscribers:
                way = graph.loaded.route(name, sender.process, receiver.process)
                if way == "none":
                    text = (
                        f"'{name}' has no route from node '{sender.node}' (process "
                        f"'{sender.process}') to '{receiver.node}' ('{receiver.process}'): its "
                        "scope or transport excludes it, or the plan does not name the channel"
                    )
                    graph.add("error", "no_route", text, where)


def _opens_late(ends: list[End]) -> bool:
    return all(end.type == _TRANSFORMS for end in ends)


def _maybe(graph: Graph, declared: list[str] | None) -> str:
    """The nodes that could not be inspected and may have the missing endpoint."""
    candidates = graph.unknown if declared is None else graph.unknown & set(declared)
    if not candidates:
        return ""
    return f", unless {', '.join(sorted(candidates))} (not inspected) do"


def _nodes(ends: list[End]) -> str:
    return ", ".join(sorted({end.node for end in ends}))


def _s(ends: list[End]) -> str:
    return "s" if len({end.node for end in ends}) == 1 else ""


def _es(ends: list[End]) -> str:
    return "es" if len({end.node for end in ends}) == 1 else ""


def check_blocking(graph: Graph) -> None:
    """Finds nodes that wait for each other in a cycle of blocking channels.

    The mapping from callbacks to published channels is unknown, so the check covers nodes: a cycle
    can deadlock, but need not.
    """
    edges: dict[str, dict[str, str]] = {}  # publisher → subscriber → channel
    for name, planned in graph.channels().items():
        if planned.get("overflow") != "block":
            continue
        for sender in graph.of(name, publishes=True):
            for receiver in graph.of(name, publishes=False):
                edges.setdefault(sender.node, {}).setdefault(receiver.node, name)
    limits = {name: c.get("block_timeout_ms", 0) for name, c in graph.channels().items()}
    for ring in _rings(edges):
        channels = [edges[a][b] for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]
        way = " → ".join(f"{n} ({c})" for n, c in zip(ring, channels, strict=True))
        text = f"blocking channels form a cycle: {way} → {ring[0]}"
        if any(limits[channel] > 0 for channel in channels):
            graph.add("warning", "ring", f"{text}. It can stall for block_timeout_ms")
        else:
            text += (
                ". When every queue is full, all wait forever: give one of them block_timeout_ms "
                "or another overflow rule"
            )
            graph.add("error", "ring", text)


def _rings(edges: dict[str, dict[str, str]]) -> Iterator[list[str]]:
    """One cycle for every edge that closes one in a depth-first search. Empty without a cycle."""
    done: set[str] = set()
    for start in sorted(edges):
        path: list[str] = []
        stack: list[tuple[str, Iterator[str]]] = []
        if start in done:
            continue
        path.append(start)
        stack.append((start, iter(sorted(edges.get(start, {})))))
        while stack:
            node, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                done.add(node)
                stack.pop()
                path.pop()
            elif step in path:
                yield path[path.index(step) :]
            elif step not in done:
                path.append(step)
                stack.append((step, iter(sorted(edges.get(step, {})))))


def examine(file: Path, settings: Sequence[str], limit_s: float = 30.0) -> Graph:
    """All faults of a plan that can be found without running it.

    Raises an error with file and line if the plan itself is not valid.
    """
    plan = json.loads(Plan.load(str(file), list(settings), False).json())
    loaded = Plan.load(str(file), list(settings), True, hosts_here(plan) or ["-"])
    graph = Graph(loaded, json.loads(loaded.json()))
    for warning in loaded.warnings:
        graph.add("warning", "plan", warning)
    _look_into(graph, file, settings, limit_s)
    for check in (check_types, check_declared, check_connected, check_blocking):
        check(graph)
    return graph


_ORDER = {"error": 0, "warning": 1, "note": 2}


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def validate(
    file: Path, settings: Sequence[str], limit_s: float, strict: bool, as_json: bool
) -> int:
    """Returns 0 without an error. With `strict` also warnings count."""
    try:
        graph = examine(file, settings, limit_s)
    except Error as error:
        if not as_json:
            raise
        print_json({"ok": False, "findings": [asdict(Finding("error", "plan", str(error)))]})
        return 1
    findings = sorted(graph.findings, key=lambda one: _ORDER[one.level])
    count = {level: sum(one.level == level for one in findings) for level in _ORDER}
    failed = bool(count["error"] or (strict and count["warning"]))
    if as_json:
        ends = [asdict(end) for end in graph.ends]
        print_json({"ok": not failed, "findings": [asdict(f) for f in findings], "ends": ends})
        return int(failed)
    for one in findings:
        print(f"{one.where + ': ' if one.where else ''}{one.level}: {one.text}")
    looked = len({end.node for end in graph.ends})
    channels = len({end.channel for end in graph.ends if end.channel in graph.channels()})
    found = ", ".join(_counted(number, level) for level, number in count.items())
    print(f"{_counted(looked, 'node')} on {_counted(channels, 'channel')} inspected: {found}")
    return int(failed)
