"""Detects when processes of this machine are ready, and whether they still work.

Reads the counters that every Hyphos process keeps in shared memory. That costs the processes
nothing, and a hung process cannot hide.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import ProcessInfo
from hyphos.supervise.events import Event, Healthy, IsReady, Unhealthy

_START_S = 0.03  # between snapshots until a process is ready
_LEAST_S, _MOST_S = 0.02, 1.0  # between health checks
_LOOKS_PER_LIMIT = 4

End = tuple[str, str, bool]  # node, channel, is a publisher


@dataclass(frozen=True)
class Watch:
    """The conditions to watch for in one process."""

    process: str
    await_nodes: bool = False  # else it is ready as soon as it runs
    ends: frozenset[End] = frozenset()  # ready once all are open, for programs that never spin
    heartbeat_ns: int = 0
    deadlines_ns: dict[str, int] = field(default_factory=dict)  # of its published channels

    @property
    def has_health(self) -> bool:
        return self.heartbeat_ns > 0 or bool(self.deadlines_ns)

    @property
    def shortest_s(self) -> float:
        """The smallest limit."""
        return min(x for x in (self.heartbeat_ns, *self.deadlines_ns.values()) if x > 0) / 1e9


def watch_of(plan: dict[str, Any], process: dict[str, Any]) -> Watch:
    ends: set[End] = set()
    if process["kind"] == "executable":
        here = {node["name"] for node in plan["nodes"] if node["process"] == process["name"]}
        for channel in plan["channels"]:
            for key in ("publishers", "subscribers"):
                named = here & set(channel[key] or ())
                ends |= {(node, channel["name"], key == "publishers") for node in named}
    health = process["health"]
    limits = {c["name"]: c["deadline_ms"] * 1_000_000 for c in plan["channels"]}
    return Watch(
        process["name"],
        process["ready"] == "nodes",
        frozenset(ends),
        health["heartbeat_ms"] * 1_000_000,
        {name: limits[name] for name in health["channels"]},
    )


@dataclass
class _Watched:
    watch: Watch
    pid: int
    ready_ns: int = 0
    seen_ns: int = 0  # last time that the domain listed it
    ill: bool = False


class Watcher:
    """Takes snapshots as often as its strictest watch needs, and none without a watch.

    Emits events from its own thread. Thread-safe.
    """

    def __init__(self, domain: str, emit: Callable[[Event], None]) -> None:
        self._domain = domain
        self._emit = emit
        self._watched: dict[str, _Watched] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, watch: Watch, pid: int) -> None:
        """Starts to watch a process that was just started."""
        one = _Watched(watch, pid)
        if not watch.await_nodes:
            one.ready_ns = one.seen_ns = time.monotonic_ns()
            self._emit(IsReady(watch.process, pid))
        with self._changed:
            self._watched[watch.process] = one
            self._changed.notify()

    def remove(self, process: str) -> None:
        with self._changed:
            self._watched.pop(process, None)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _patience(self) -> float | None:
        """Seconds to the next snapshot, or None if nothing is watched."""
        found: float | None = None
        for one in self._watched.values():
            if one.ready_ns == 0:
                return _START_S
            if one.watch.has_health:
                need = min(max(one.watch.shortest_s / _LOOKS_PER_LIMIT, _LEAST_S), _MOST_S)
                found = need if found is None else min(found, need)
        return found

    def _run(self) -> None:
        before = time.monotonic()
        while True:
            with self._changed:
                patience = self._patience()
                if not self._closed:  # a close() during a snapshot would not wake the wait
                    self._changed.wait(patience)
                if self._closed:
                    return
                watched = list(self._watched.values())
            now = time.monotonic()
            # This thread was stopped or starved itself, as after a suspended virtual machine. Old
            # values may then only appear old, so the next snapshot decides.
            late = patience is None or now - before > 2 * patience + _MOST_S
            before = now
            if watched:
                self._look(watched, late)

    def _look(self, watched: list[_Watched], late: bool) -> None:
        try:
            seen = _hyphos.inspect(self._domain)
        except (Error, RuntimeError):
            seen = []  # no process runs yet
        now = time.monotonic_ns()
        for one in watched:
            info = _find(seen, one)
            if info is not None:
                one.seen_ns = now
            if one.ready_ns == 0:
                if info is not None and _is_ready(one.watch, info):
                    one.ready_ns = one.seen_ns = now
                    self._tell(one, IsReady(one.watch.process, one.pid))
            elif one.watch.has_health and not late:
                self._judge(one, info, now)

    def _judge(self, one: _Watched, info: ProcessInfo | None, now: int) -> None:
        if info is not None and info.state == "stopping":
            return
        reason = _complaint(one, info, now)
        if reason and not one.ill:
            self._tell(one, Unhealthy(one.watch.process, one.pid, reason))
        elif not reason and one.ill:
            self._tell(one, Healthy(one.watch.process, one.pid))
        one.ill = bool(reason)

    def _tell(self, one: _Watched, event: Event) -> None:
        with self._changed:
            if self._watched.get(one.watch.process) is not one:
                return  # the process has ended meanwhile
        self._emit(event)


def _find(seen: list[ProcessInfo], one: _Watched) -> ProcessInfo | None:
    """Finds a process by pid, or by name in its session for a program behind a wrapper.

    A debugger runs the program in a process group of its own.
    """
    for info in seen:
        if info.pid == one.pid:
            return info
    for info in seen:
        if info.name == one.watch.process:
            try:
                if os.getsid(info.pid) == one.pid:
                    return info
            except OSError:
                continue
    return None


def _is_ready(watch: Watch, info: ProcessInfo) -> bool:
    if info.state == "ready":
        return True
    open_ends = {(end.node, end.channel, end.is_publisher) for end in info.endpoints}
    return bool(watch.ends) and watch.ends <= open_ends


def _complaint(one: _Watched, info: ProcessInfo | None, now: int) -> str:
    """The reason why the process counts as unhealthy, or ""."""
    watch = one.watch
    if watch.heartbeat_ns > 0:
        last = max(info.heartbeat_ns if info is not None else one.seen_ns, one.ready_ns)
        if now - last > watch.heartbeat_ns:
            limit = watch.heartbeat_ns // 1_000_000
            return f"no heartbeat for {(now - last) / 1e9:.2f} s (heartbeat_ms {limit})"
    for channel, limit_ns in watch.deadlines_ns.items():
        ends = (
            [e for e in info.endpoints if e.channel == channel and e.is_publisher] if info else []
        )
        last = max([one.ready_ns, *(end.last_ns for end in ends)])
        if now - last > limit_ns:
            limit = limit_ns // 1_000_000
            what = "nothing published on" if ends else "no publisher of"
            return f"{what} '{channel}' for {(now - last) / 1e9:.2f} s (deadline_ms {limit})"
    return ""
