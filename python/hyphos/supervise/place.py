"""Hosts of processes: this machine here, others in remote.py. The supervisor treats both alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hyphos._errors import Error
from hyphos.supervise.children import Child, Children, Command, Usage, usage_of
from hyphos.supervise.crash import Reports, explain
from hyphos.supervise.events import Crashed, Ended, Event, NotStarted, Started
from hyphos.supervise.guard import Guard
from hyphos.supervise.watcher import Watch, Watcher


class Place(Protocol):
    """Executes commands of the supervisor and reports the results as events."""

    @property
    def host(self) -> str:
        """The host of the plan, or "" for this machine if the plan has no other host."""

    def start(self, process: str) -> None:
        """Starts a process. Reports Started or NotStarted, and Ended once after Started."""

    def signal(self, process: str, number: int) -> None:
        """Signals the process and its descendants. Does nothing if the process has ended."""

    def usage(self, process: str) -> Usage: ...

    def close(self) -> None:
        """Call it after all processes have ended, or cannot be ended."""


class LocalPlace:
    """Processes of this machine. Call start() in the main thread (see Children)."""

    host = ""

    def __init__(
        self,
        domain: str,
        commands: dict[str, Command],
        watches: dict[str, Watch],
        guard: Guard,
        on_line: Callable[[str, bytes], None],
        emit: Callable[[Event], None],
    ) -> None:
        self._commands = commands
        self._watches = watches
        self._emit = emit
        self._on_line = on_line
        self._crashes = Reports()
        self._children = Children(guard, self._line, self._ended)
        self._running: dict[str, Child] = {}
        self._watcher = Watcher(domain, emit)

    def start(self, process: str) -> None:
        try:
            child = self._children.start(self._commands[process])
        except Error as error:
            advice = f" ({error.advice})" if error.advice else ""
            self._emit(NotStarted(process, f"{error}{advice}"))
            return
        self._running[process] = child
        self._emit(Started(process, child.pid))
        self._watcher.add(self._watches.get(process, Watch(process)), child.pid)
        self._children.attend(child)

    def signal(self, process: str, number: int) -> None:
        child = self._running.get(process)
        if child is not None:
            child.signal(number)

    def _line(self, process: str, line: bytes) -> None:
        self._crashes.line(process, line)
        self._on_line(process, line)

    def _ended(self, child: Child, code: int) -> None:
        """Runs in the thread of the child, so looking up a stack delays no other process."""
        self._watcher.remove(child.name)
        report = self._crashes.take(child.name)
        if report is not None and code != 0:
            for line in explain(child.name, report, child.command.folder):
                self._on_line(child.name, line.encode() + b"\n")
            self._emit(Crashed(child.name, child.pid, report.place))
        self._emit(Ended(child.name, child.pid, code))

    def usage(self, process: str) -> Usage:
        child = self._running.get(process)
        return usage_of(child.pid) if child is not None and not child.reaped else Usage()

    def close(self) -> None:
        self._watcher.close()
