"""Nodes of a plan in this process, in lock-step: one callback at a time, on a simulated time.

A message, a timer or a call runs with all its consequences before the next one. So the number of
threads and the load of the machine have no influence. Nodes that start their own threads, or read
another clock than that of their node, are not covered.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from hyphos.clock import SimTime
from hyphos.host import load_node
from hyphos.node import Node, Runtime

T = TypeVar("T")
Make = Callable[[Node], object]


class PlanModules:
    """The modules of a plan's Python nodes, in a process that runs several plans.

    begin() makes the modules beside the plan importable, and end() removes them: another plan may
    have modules of the same names in another folder.
    """

    def __init__(self, plan: Path, entries: Sequence[dict[str, Any]]) -> None:
        self._folder = str(plan.resolve().parent)
        self._files = {str(Path(self._folder, entry["program"])) for entry in entries}
        self._before: dict[str, ModuleType] | None = None
        self._replaced: dict[str, ModuleType | None] = {}

    def begin(self) -> None:
        self._before = dict(sys.modules)
        sys.path.insert(0, self._folder)  # until the end: callbacks import, too

    def loaded(self) -> None:
        """All nodes are constructed. Modules that are imported later stay."""
        before, now = self._before or {}, sys.modules.items()
        self._replaced = {name: before.get(name) for name, m in now if m is not before.get(name)}

    def end(self) -> None:
        """Idempotent."""
        for name, before in self._replaced.items():
            file = getattr(sys.modules.get(name), "__file__", None) or ""
            # A generated module stays: its types are registered in the process.
            if name.endswith("_pb2") or not (file in self._files or self._is_beside(file)):
                continue
            del sys.modules[name]
            if before is not None:
                sys.modules[name] = before
        self._replaced = {}
        if self._before is not None:
            self._before = None
            with suppress(ValueError):
                sys.path.remove(self._folder)

    def _is_beside(self, file: str) -> bool:
        """True for a module that the plan's folder provides, and not a longer path below it, such
        as an environment with installed packages."""
        homes = [path for path in sys.path if path and Path(file).is_relative_to(path)]
        return max(homes, key=len, default="") == self._folder


def close_nodes(nodes: Iterable[Node], made: Iterable[object]) -> None:
    """Closes the nodes, and then their objects, so that no callback finds a closed object."""
    for node in nodes:
        node.close()
    for thing in made:
        if hasattr(thing, "close"):
            thing.close()


class SteppedNodes:
    """Runs nodes in lock-step. Not thread-safe.

    `entries` are nodes in the JSON of the plan. `made_by` has the factories of nodes for which the
    plan has no program.
    """

    def __init__(
        self,
        plan: Path,
        entries: Sequence[dict[str, Any]],
        *,
        settings: Sequence[str] = (),
        threads: int = 0,
        made_by: dict[str, Make] | None = None,
    ) -> None:
        self._plan = plan
        self._entries = entries
        self._made_by = made_by or {}
        self._nodes: list[Node] = []
        self._made: list[object] = []
        self._time: SimTime | None = None
        self._modules = PlanModules(plan, entries)
        affinity = os.sched_getaffinity(0)
        # Plug-ins of replaced nodes are not loaded.
        own = [one["name"] for one in entries if one["name"] not in self._made_by]
        self._has_plugins = bool(own)
        self.runtime = Runtime.open(
            plan=str(plan),
            overrides=settings,
            threads=threads,
            lockstep=True,
            lockstep_nodes=own,
            clock="sim",
        )
        os.sched_setaffinity(0, affinity)  # the plan's affinity is for the pool, not for the caller

    def begin_time(self, node: Node, start_ns: int, *, replayed: bool = False) -> SimTime:
        """The source of the time, as a part of `node`. Call it before start()."""
        self._time = SimTime(node, start_ns=start_ns, manual=True, replayed=replayed)
        return self._time

    def start(self) -> None:
        """Constructs the nodes in the order of the plan, then the plug-ins."""
        self._modules.begin()
        try:
            for entry in self._entries:
                make = self._made_by.get(entry["name"])
                if make is None and entry["kind"] == "python":
                    make = load_node(entry, str(self._plan))
                if make is not None:
                    self._construct(entry["name"], make)
            if self._has_plugins:
                self.run(self.runtime.load_plugins)
        finally:
            self._modules.loaded()
        self.runtime.ready()
        self.runtime.settle()

    def _construct(self, name: str, make: Make) -> None:
        node = self.runtime.node(name)
        self._nodes.append(node)
        # In the pool, so that messages from a node's constructor are in order, too.
        self._made.append(self.run(lambda: make(node)))

    def run(self, work: Callable[[], T]) -> T:
        """Runs `work` and all its consequences. Raises the exception that leaves `work`."""
        done: list[T] = []
        failed: list[Exception] = []

        def call() -> None:
            try:
                done.append(work())
            except Exception as error:  # noqa: BLE001 - raised in the thread of the caller
                failed.append(error)

        self.runtime.settle(call)
        if failed:
            raise failed[0]
        return done[0]

    def advance(self, span_ns: int) -> None:
        """Advances the time, and runs the timers that become due."""
        source = self._time
        assert source is not None, "begin_time() comes first"
        self.run(lambda: source._core.advance_ns(span_ns, None))

    def close(self) -> None:
        """Closes nodes and their objects. Idempotent."""
        if self._time is not None:
            self._time.close()
        close_nodes(self._nodes, self._made)
        self._nodes, self._made = [], []
        self._modules.end()
        self.runtime.close()
