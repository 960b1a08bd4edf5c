"""hyphos diagnostics: the state of all components of a robot, from their own reports and counters.

A component reports DiagnosticArray messages, as in ROS. The counters of Hyphos give one more status
for each node, so that a node without reports is in the summary as well.
"""

from __future__ import annotations

import json
import queue
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any

from rich.table import Table
from rich.text import Text

from hyphos._hyphos import Policy
from hyphos.msgs import DiagnosticArray, DiagnosticStatus
from hyphos.observe import Look, drops_of, is_hidden, key_of, look, nobody
from hyphos.tools.console import console
from hyphos.tools.join import open_tool
from hyphos.tools.waiting import stoppable

LEVELS = ("ok", "warn", "error", "stale")  # the numbers of DiagnosticStatus
_STYLES = ("green", "yellow", "red", "magenta")
_MOST = 4096  # components, beyond it the one that was silent for longest is dropped
_WAITING = 1024  # messages that wait for the tool
_LOOK_S = 0.5  # between two looks at the counters


@dataclass
class DiagnosticOptions:
    level: str = "ok"
    seconds: float | None = None
    stale_s: float = 5.0
    follow: bool = False
    as_json: bool = False
    channel: str = "diagnostics"
    domain: str = "0"


@dataclass
class Component:
    """The last status of one component."""

    name: str
    level: int
    message: str
    hardware_id: str = ""
    values: dict[str, str] = field(default_factory=dict)
    seen_s: float = 0.0  # monotonic time of the last report

    def as_dict(self, now_s: float) -> dict[str, Any]:
        return {
            "name": self.name,
            "level": LEVELS[self.level],
            "message": self.message,
            "hardware_id": self.hardware_id,
            "values": self.values,
            "age_s": round(now_s - self.seen_s, 3),
        }


class Summary:
    """All components by name. A component without a report for `stale_s` becomes stale."""

    def __init__(self, stale_s: float) -> None:
        self._stale_s = stale_s
        self._components: dict[str, Component] = {}  # the most recent report last
        self.dropped = 0

    def add(self, component: Component) -> bool:
        """Returns True if the level or the message changed."""
        before = self._components.pop(component.name, None)
        if before is None and len(self._components) >= _MOST:
            del self._components[next(iter(self._components))]
            self.dropped += 1
        self._components[component.name] = component
        if before is None:
            return True
        return (before.level, before.message) != (component.level, component.message)

    def age(self, now_s: float) -> list[Component]:
        """Marks silent components as stale and returns those that became stale."""
        found = []
        for component in self._components.values():
            if component.level == DiagnosticStatus.STALE:
                continue
            if now_s - component.seen_s > self._stale_s:
                component.level = DiagnosticStatus.STALE
                component.message = (
                    f"no report for {self._stale_s:g} s, the last one was: {component.message}"
                )
                found.append(component)
        return found

    def components(self, least: int = 0) -> list[Component]:
        """The worst ones first, then by name."""
        chosen = [c for c in self._components.values() if c.level >= least]
        return sorted(chosen, key=lambda c: (-c.level, c.name))

    @property
    def level(self) -> int:
        """Stale only if every component is stale. One stale component is an error of the robot."""
        levels = {c.level for c in self._components.values()}
        if levels == {DiagnosticStatus.STALE}:
            return int(DiagnosticStatus.STALE)
        return min(max(levels, default=0), int(DiagnosticStatus.ERROR))

    def counts(self) -> list[int]:
        """The number of components of each level."""
        levels = [c.level for c in self._components.values()]
        return [levels.count(level) for level in range(len(LEVELS))]


def reports_of(message: DiagnosticArray, now_s: float) -> Iterator[Component]:
    for status in message.status:
        yield Component(
            status.name or "(no name)",
            min(max(int(status.level), 0), len(LEVELS) - 1),
            status.message,
            status.hardware_id,
            {pair.key: pair.value for pair in status.values},
            now_s,
        )


def counters_of(now: Look, before: Look) -> Iterator[Component]:
    """One status for each node: `node NAME`, from the growth of its counters."""
    old = before.by_key()
    nodes: dict[tuple[str, str], dict[str, int]] = {}
    for process, end in now.ends():
        if is_hidden(end.channel) or not end.node:
            continue
        counts = nodes.setdefault((end.node, process.name), dict.fromkeys(_WORDS, 0))
        earlier = old.get(key_of(process, end))
        for name in _WORDS:
            total = drops_of(end) if name == "drops" else end.counter(name)
            if earlier is not None:
                total -= drops_of(earlier) if name == "drops" else earlier.counter(name)
            counts[name] += total
    for (node, process_name), counts in nodes.items():
        yield _node_status(node, process_name, counts, now.time_s)


# The growing counters that are a fault, worst first, with their words.
_WORDS = {
    "callback_error": "exceptions in callbacks",
    "drops": "messages dropped",
    "deadline_missed": "deadlines missed",
}


def _node_status(node: str, process: str, counts: dict[str, int], now_s: float) -> Component:
    level = int(DiagnosticStatus.OK)
    if counts["drops"] or counts["deadline_missed"]:
        level = int(DiagnosticStatus.WARN)
    if counts["callback_error"]:
        level = int(DiagnosticStatus.ERROR)
    faults = [f"{counts[name]:,} {words}" for name, words in _WORDS.items() if counts[name]]
    message = ", ".join(faults) or "no drops or exceptions"
    values = {"process": process, **{name: str(count) for name, count in counts.items()}}
    return Component(f"node {node}", level, message, "", values, now_s)


def _table(summary: Summary, least: int) -> Table:
    table = Table("level", "component", "message", "values", box=None, pad_edge=False)
    for component in summary.components(least):
        values = ", ".join(f"{key}={value}" for key, value in component.values.items())
        table.add_row(
            Text(LEVELS[component.level], _STYLES[component.level]),
            component.name,
            component.message,
            Text(values, "dim"),
        )
    return table


def _total(summary: Summary) -> str:
    counts = summary.counts()
    parts = [f"{count} {word}" for count, word in zip(counts, LEVELS, strict=True) if count]
    more = f", {summary.dropped} more were dropped" if summary.dropped else ""
    return f"{LEVELS[summary.level]}: {', '.join(parts) or 'no components'}{more}"


def _show_change(component: Component, as_json: bool) -> None:
    now_s = monotonic()
    if as_json:
        print(json.dumps(component.as_dict(now_s), ensure_ascii=False), flush=True)
        return
    text = Text(datetime.now().strftime("%H:%M:%S "), "dim")
    text.append(f"{LEVELS[component.level]:<5} ", _STYLES[component.level])
    text.append(f"{component.name}: ", "bold")
    text.append(component.message)
    out = console()
    out.print(text, soft_wrap=True)
    out.file.flush()


class _Nodes:
    """The status of each node, from the growth of its counters since the last look."""

    def __init__(self, domain: str) -> None:
        self._domain = domain
        self._before = look(domain)
        if not self._before.processes:
            raise nobody(domain)
        self._next_s = monotonic() + _LOOK_S

    @property
    def due(self) -> bool:
        return monotonic() >= self._next_s

    def look(self, own: str) -> list[Component]:
        """`own`: the process of this tool, which is left out."""
        now = look(self._domain)
        now.processes = [process for process in now.processes if process.name != own]
        found = list(counters_of(now, self._before))
        self._before, self._next_s = now, monotonic() + _LOOK_S
        return found


def show_diagnostics(options: DiagnosticOptions) -> int:
    """Prints a summary after `seconds`, or each change until then. Returns 1 if the robot has an
    error or a stale component."""
    least = LEVELS.index(options.level)
    inbox: queue.Queue[DiagnosticArray] = queue.Queue(_WAITING)
    skipped = 0

    def arrived(message: DiagnosticArray) -> None:
        nonlocal skipped
        try:
            inbox.put_nowait(message)
        except queue.Full:
            skipped += 1

    nodes = _Nodes(options.domain)
    summary = Summary(options.stale_s)

    def take(reports: list[Component]) -> None:
        changed = [report for report in reports if summary.add(report)]
        for component in changed + summary.age(monotonic()):
            if options.follow and component.level >= least:
                _show_change(component, options.as_json)

    with stoppable() as stop, open_tool("diagnostics", options.domain) as node:
        node.subscribe(options.channel, DiagnosticArray, arrived, policy=Policy(depth=1024))
        # The time begins here, because the node may take long to open.
        stop.end_after(options.seconds if options.seconds or options.follow else 2.0)
        while not stop.now:
            try:
                reports = list(reports_of(inbox.get(timeout=0.1), monotonic()))
            except queue.Empty:
                reports = []
            if options.follow and nodes.due:
                reports += nodes.look(node.name)
            take(reports)
        for _ in range(inbox.qsize()):  # they arrived in time
            take(list(reports_of(inbox.get(), monotonic())))
        if not options.follow:
            for component in nodes.look(node.name):
                summary.add(component)
    if not options.follow:
        _print_summary(summary, least, options.as_json)
    if skipped:
        print(f"# {skipped} reports were skipped: the terminal is too slow", file=sys.stderr)
    return 1 if summary.level >= DiagnosticStatus.ERROR else 0


def _print_summary(summary: Summary, least: int, as_json: bool) -> None:
    if as_json:
        now_s = monotonic()
        made = {
            "level": LEVELS[summary.level],
            "dropped": summary.dropped,
            "components": [c.as_dict(now_s) for c in summary.components(least)],
        }
        print(json.dumps(made, ensure_ascii=False, indent=2))
        return
    console().print(_table(summary, least))
    print(_total(summary))
