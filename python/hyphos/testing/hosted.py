"""Robots in the process of the test: in lock-step, or a few nodes in real time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from hyphos._errors import Error
from hyphos._hyphos import CallbackErrors, EndpointInfo, Plan, Policy
from hyphos.host import load_node
from hyphos.node import Node, Runtime
from hyphos.observe import Look, drops_of, is_hidden, look
from hyphos.stepped import Make, PlanModules, SteppedNodes, close_nodes
from hyphos.testing.inbox import Offer
from hyphos.testing.observed import Observed
from hyphos.testing.stage import RobotError, Trouble
from hyphos.tools.graph import RobotGraph, graph_of
from hyphos.tools.join import raw_type
from hyphos.tools.strict import findings_of, is_fault
from hyphos.tools.totals import Totals

T = TypeVar("T")

TEST = "test"  # the node of the test
START_NS = 1_000_000_000  # of simulated time: a stamp of 0 often means "no stamp"


def _troubles(
    errors: CallbackErrors, loaded: Plan, plan: dict[str, Any], totals: Totals
) -> list[Trouble]:
    found = []
    if errors.count:
        more = f" ({errors.count - 1} more exceptions)" if errors.count > 1 else ""
        found.append(Trouble("exception", errors.first + more))
    named = {process["name"] for process in plan["processes"]}
    for process, end in totals.lives():
        if process in named and (count := drops_of(end)):
            names = ", ".join(f"{n} {c:,}" for n, c in end.counters if n.startswith("drop."))
            text = f"'{end.channel}' at node '{end.node}': {names}"
            found.append(Trouble("drops", text, count, end.channel))
    for one in findings_of(loaded, plan, totals):
        if is_fault(one) and one.what != "exception":
            where = f"{one.where}: " if one.where else ""
            found.append(Trouble(one.what, f"{where}{one.text}"))
    return found


class Stepped:
    """A Stage: nodes of a plan in lock-step, with a simulated time that the test advances."""

    def __init__(
        self,
        plan: Path,
        data: dict[str, Any],
        *,
        settings: Sequence[str],
        only: Sequence[str],
        made_by: dict[str, Make],
        tick_ms: float,
        begin_ns: int,
        allow_exceptions: bool,
    ) -> None:
        self._plan = data
        self._loaded = Plan.load(str(plan), list(settings), False)
        self._allow_exceptions = allow_exceptions
        self._tick_ns = max(1, round(tick_ms * 1e6))
        self.left_out: list[str] = []
        entries = self._choose(data, only, made_by, plan)
        self._process_of = {entry["name"]: entry["process"] for entry in data["nodes"]}
        self._nodes = SteppedNodes(plan, entries, settings=settings, made_by=made_by)
        self.node = self._nodes.runtime.node(TEST)
        self._begin_ns = begin_ns
        self._time = self._nodes.begin_time(self.node, begin_ns)
        clock = data["clock"]["channel"]
        self.own_channels = {clock, f"{clock}/answer", f"{clock}/control"}
        self._seen: list[tuple[str, int]] = []
        self._discover: Callable[[Sequence[Offer]], None] = lambda _offers: None

    def _choose(
        self, data: dict[str, Any], only: Sequence[str], made_by: dict[str, Make], plan: Path
    ) -> list[dict[str, Any]]:
        able = {"plugin", "python"}
        entries = []
        for entry in data["nodes"]:
            name, kind = entry["name"], entry["kind"]
            if only and name not in only:
                continue
            if kind in able or name in made_by:
                entries.append(entry)
                continue
            words = f"{name} does not run in lock-step: it is {_PROGRAMS.get(kind, kind)}"
            if only:
                raise Error("unsupported", words, str(plan), "test it without lockstep=True")
            self.left_out.append(words)
        names = {entry["name"] for entry in data["nodes"]}
        for name in (*only, *made_by):
            if name not in names:
                known = ", ".join(sorted(names)) or "none"
                text = f"the plan has no node '{name}', only {known}"
                raise Error("not_found", text, str(plan))
        if not entries:
            advice = "; ".join(self.left_out) or "add nodes to the plan"
            raise Error(
                "invalid_config", "no node of the plan can run in lock-step", str(plan), advice
            )
        return entries

    def begin(self, discover: Callable[[Sequence[Offer]], None]) -> None:
        self._discover = discover
        self._nodes.start()
        self._look()
        self._refuse_exceptions()

    @property
    def now_ns(self) -> int:
        return self._time.now_ns()

    @property
    def elapsed_s(self) -> float:
        return (self.now_ns - self._begin_ns) / 1e9

    def wait(self, condition: Callable[[], bool], within_s: float) -> bool:
        until_ns = self.now_ns + round(within_s * 1e9)
        while not condition():
            if self.now_ns >= until_ns:
                return False
            self._advance(until_ns)
        return True

    def step(self, seconds: float) -> None:
        self.wait(lambda: False, seconds)

    def step_to(self, time_ns: int) -> None:
        while self.now_ns < time_ns:
            self._advance(time_ns)

    def _advance(self, until_ns: int) -> None:
        """Advances to the next timer, or by a tick, so that each timer runs at its exact time."""
        now_ns = self.now_ns
        span_ns = min(self._tick_ns, until_ns - now_ns)
        due_ns = self._nodes.runtime.next_timer_ns()
        if due_ns is not None and due_ns > now_ns:
            span_ns = min(span_ns, due_ns - now_ns)
        self._nodes.advance(span_ns)
        self._look()
        self._refuse_exceptions()

    def _look(self) -> None:
        """Finds new channels, if there are any."""
        seen = [(info.name, info.publishers) for info in self._nodes.runtime.channels()]
        if seen != self._seen:
            self._seen = seen
            self._discover(self._offers())

    def _refuse_exceptions(self) -> None:
        if not self._allow_exceptions:
            errors = self._nodes.runtime.callback_errors()
            if errors.count:
                raise RobotError(f"at {self.elapsed_s:g} s: {errors.first}")

    def _ends(self) -> list[EndpointInfo]:
        return [end for end in self._nodes.runtime.endpoints() if end.node != TEST]

    def _offers(self) -> list[Offer]:
        return [
            Offer(end.channel, raw_type(end).id, end.policy)
            for end in self._ends()
            if end.is_publisher and end.node in self._process_of and not is_hidden(end.channel)
        ]

    def run(self, work: Callable[[], T]) -> T:
        done = self._nodes.run(work)
        self._look()
        self._refuse_exceptions()
        return done

    def policy_of(self, offer: Offer) -> Policy:
        """The same policy: in one process the first endpoint decides it for the channel."""
        return offer.policy

    def ends(self, channel: str) -> list[EndpointInfo]:
        return [end for end in self._ends() if end.channel == channel]

    def receivers(self, channel: str) -> int:
        return sum(not end.is_publisher for end in self.ends(channel))

    def _now(self) -> Look:
        """The endpoints by processes of the plan, as if each ran."""
        by_process: dict[str, list[EndpointInfo]] = {}
        for end in self._nodes.runtime.endpoints():
            process = self._process_of.get(end.node, TEST)
            by_process.setdefault(process, []).append(end)
        processes: list[Any] = [
            SimpleNamespace(
                name=name, participant=number, pid=0, host="", state="ready", endpoints=ends
            )
            for number, (name, ends) in enumerate(by_process.items(), 1)
        ]
        return Look(self.elapsed_s, processes)

    def graph(self) -> RobotGraph:
        now = self._now()
        now.processes = [process for process in now.processes if process.name != TEST]
        return graph_of("lock-step", now, Look(0.0, []))

    def stop(self) -> list[Trouble]:
        totals = Totals(0.0)
        # Without a transport, the numbers of endpoints are not unique.
        for number, end in enumerate(self._nodes.runtime.endpoints()):
            process: Any = SimpleNamespace(
                name=self._process_of.get(end.node, TEST), participant=number, endpoints=[end]
            )
            totals.add(Look(self.elapsed_s, [process]))
        errors = self._nodes.runtime.callback_errors()
        return _troubles(errors, self._loaded, self._plan, totals)

    def close(self) -> None:
        self._nodes.close()
        self.node.close()
        del self.node  # the runtime ends with the last reference to it


_PROGRAMS = {
    "executable": "a separate program",
    "gateway": "a gateway",
    "external": "started by hand",
}


class Hosted(Observed):
    """A Stage: a few nodes in real time, in the process of the test."""

    def __init__(
        self,
        plan: Path,
        data: dict[str, Any],
        domain: str,
        *,
        settings: Sequence[str],
        made_by: dict[str, Make],
        allow_exceptions: bool,
        changed: threading.Condition,
    ) -> None:
        super().__init__(domain, data, changed)
        self._plan_file = plan
        self._plan = data
        self._loaded = Plan.load(str(plan), list(settings), False)
        self._settings = settings
        self._made_by = made_by
        self._allow_exceptions = allow_exceptions
        self._modules = PlanModules(plan, data["nodes"])
        self._runtime: Runtime | None = None
        self._nodes: list[Node] = []
        self._made: list[object] = []

    def begin(self, discover: Callable[[Sequence[Offer]], None]) -> None:
        self.watch(discover)
        runtime = self._runtime = Runtime.open(
            plan=str(self._plan_file), overrides=self._settings, domain=self.domain
        )
        self._modules.begin()
        try:
            for entry in self._plan["nodes"]:
                make = self._made_by.get(entry["name"]) or load_node(entry, str(self._plan_file))
                node = runtime.node(entry["name"])
                self._nodes.append(node)
                self._made.append(make(node))
        finally:
            self._modules.loaded()
        runtime.ready()
        self.connect(60.0)

    def failure(self) -> str:
        if self._runtime is None or self._allow_exceptions:
            return ""
        errors = self._runtime.callback_errors()
        return errors.first if errors.count else ""

    def stop(self) -> list[Trouble]:
        if self._runtime is None:
            return []
        totals = Totals(0.0)
        with suppress(Error):
            totals.add(look(self.domain))
        found = _troubles(self._runtime.callback_errors(), self._loaded, self._plan, totals)
        return [*found, *self.own_troubles()]

    def close(self) -> None:
        close_nodes(self._nodes, self._made)
        self._nodes, self._made = [], []
        self._modules.end()
        if self._runtime is not None:
            self._runtime.close()
        super().close()
