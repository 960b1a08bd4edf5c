"""A robot in processes of its own: `hyphos run`, in a domain of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.supervise.commands import python_path
from hyphos.supervise.guard import dying_with_parent, end_groups
from hyphos.supervise.watcher import watch_of
from hyphos.testing.inbox import Offer
from hyphos.testing.observed import Observed
from hyphos.testing.stage import RobotError, Trouble, last_lines

_STOP_S = 60.0  # for `hyphos run`, which has limits of its own for each process
_GRACE_S = 2.0
_REPORT_S = 10.0  # for the last events of an ended `hyphos run`
_EXCEPTIONS = "exceptions left callbacks:"  # in the log of a strict process


@dataclass
class LaunchedOptions:
    plan: Path
    data: dict[str, Any]  # the plan's JSON
    settings: Sequence[str]
    domain: str
    folder: Path  # for logs
    only: Sequence[str]
    ready_within_s: float
    strict: bool


@dataclass
class _Process:
    """The last reported state of one process."""

    state: str = ""
    pid: int = 0
    alive: bool = False
    ready: bool = False
    restarts: int = 0
    end: str = ""


@dataclass
class _Report:
    """Everything that `hyphos run` has reported."""

    ready: bool = False
    processes: dict[str, _Process] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)
    drops: list[dict[str, Any]] = field(default_factory=list)
    code: int | None = None
    closed: bool = False


class Launched(Observed):
    """Starts `hyphos run` and reads its events."""

    def __init__(self, options: LaunchedOptions, changed: threading.Condition) -> None:
        super().__init__(options.domain, options.data, changed)
        self._options = options
        self._report = _Report()
        self._popen: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._may_end: set[str] = set()  # processes that the test has killed

    # Start and end.

    def begin(self, discover: Callable[[Sequence[Offer]], None]) -> None:
        self.watch(discover)
        self._start()
        limit_s = self._options.ready_within_s
        if not self.wait(lambda: self._report.ready, limit_s):
            states = ", ".join(f"{n} is {p.state}" for n, p in self._report.processes.items())
            raise RobotError(
                f"the robot is not ready after {limit_s:g} s: {states or 'nothing has started'}"
                f"{self._output()}"
            )
        self.connect(limit_s)

    def _start(self) -> None:
        options = self._options
        reader, writer = os.pipe()
        words = [sys.executable, "-m", "hyphos", "run", str(options.plan.resolve())]
        words += ["--keep-going", "--events", f"/dev/fd/{writer}", "--logs", str(options.folder)]
        words += ["--strict"] if options.strict else []
        for name in options.only:
            words += ["--process", name]
        for setting in [f"domain={options.domain}", *self._ready_settings(), *options.settings]:
            words += ["--set", setting]
        if threading.current_thread() is threading.main_thread():
            words = dying_with_parent(words)
        with (options.folder / "run.log").open("wb") as output:
            self._popen = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": python_path()},
                pass_fds=[writer],
                start_new_session=True,
            )
        os.close(writer)
        self._reader = threading.Thread(target=self._read, args=(reader,), daemon=True)
        self._reader.start()

    def _ready_settings(self) -> list[str]:
        """Executables that use planned channels are ready when these are open."""
        return [
            f"processes.{process['name']}.ready=nodes"
            for process in self._options.data["processes"]
            if process["ready"] == "started" and watch_of(self._options.data, process).ends
        ]

    def stop(self) -> list[Trouble]:
        if self._popen is None:
            return []
        if self._popen.poll() is None:
            self._popen.send_signal(signal.SIGINT)
            try:
                self._popen.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self._end_now()
                return [Trouble("process", f"`hyphos run` did not end within {_STOP_S:g} s")]
        if self._reader is not None:
            self._reader.join(_REPORT_S)
        return [*self._troubles(), *self.own_troubles()]

    def close(self) -> None:
        self._end_now()
        super().close()

    def _end_now(self) -> None:
        if self._popen is None:
            return
        if self._popen.poll() is None:
            self._popen.send_signal(signal.SIGTERM)
            self._popen.send_signal(signal.SIGTERM)  # the second one skips the wait
            end_groups({self._popen.pid}, _GRACE_S)
        self._popen.wait()

    # Faults.

    def kill(self, process: str, number: int = signal.SIGKILL) -> None:
        """Sends a signal to a process and its children. After SIGKILL, waits for its end."""
        one = self._process(process)
        before = one.restarts
        if number == signal.SIGKILL:
            self._may_end.add(process)
        try:
            os.killpg(one.pid, number)
        except ProcessLookupError as error:
            raise Error("not_found", f"process '{process}' has ended: {one.end}") from error
        if number == signal.SIGKILL:
            self.wait(lambda: not one.alive or one.restarts > before, _STOP_S)

    def output(self, process: str) -> str:
        """The output of a process so far, over all its restarts."""
        known = self._report.processes
        if process not in known:
            raise Error("not_found", f"no process '{process}', only {', '.join(known) or 'none'}")
        try:
            return (self._options.folder / f"{process}.log").read_text(errors="replace")
        except FileNotFoundError:  # it has printed nothing, or its log is being replaced
            return ""

    def is_ready(self, process: str) -> bool:
        known = self._report.processes.get(process)
        if known is not None and not known.pid:  # it waits for its restart
            return False
        return self._process(process).state == "running"

    def _process(self, name: str) -> _Process:
        found = self._report.processes.get(name)
        if found is None or not found.pid:
            known = ", ".join(n for n, p in self._report.processes.items() if p.pid) or "none"
            raise Error("not_found", f"no process '{name}' runs, only {known}")
        return found

    # The events.

    def _read(self, pipe: int) -> None:
        with open(pipe, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                event = json.loads(line)
                kind = event.pop("event")
                with self._changed:
                    self._take(kind, event)
                    self._changed.notify_all()
                if kind == "end":
                    break
        with self._changed:
            self._report.closed = True
            self._changed.notify_all()

    def _take(self, kind: str, event: dict[str, Any]) -> None:
        report = self._report
        if kind == "ready":
            report.ready = True
        elif kind == "process":
            one = report.processes.setdefault(event["process"], _Process())
            for key in ("state", "pid", "alive", "ready", "restarts", "end"):
                setattr(one, key, event[key])
        elif kind == "finding":
            report.findings.append(event)
        elif kind == "drops":
            report.drops.append(event)
        elif kind == "end":
            report.code = event["code"]

    def failure(self) -> str:
        report = self._report
        if report.closed and report.code is None:
            return f"`hyphos run` has ended{self._output()}"
        for name, one in report.processes.items():
            if one.state == "failed" and name not in self._may_end:
                return self._failed(name, one)
        return ""

    def _failed(self, name: str, one: _Process) -> str:
        tail = last_lines(self._options.folder / f"{name}.log")
        return f"process '{name}' {one.end}{tail}"

    def _output(self) -> str:
        return last_lines(self._options.folder / "run.log")

    def _troubles(self) -> list[Trouble]:
        found = []
        for name, one in self._report.processes.items():
            if one.state != "failed" or name in self._may_end:
                continue
            thrown = self._thrown(name)
            kind = "exception" if thrown else "process"
            found.append(Trouble(kind, thrown or self._failed(name, one)))
        for one_drop in self._report.drops:
            count = sum(one_drop["counts"].values())
            reasons = ", ".join(f"{name} {n:,}" for name, n in one_drop["counts"].items())
            text = f"'{one_drop['channel']}' at node '{one_drop['node']}': {reasons}"
            found.append(Trouble("drops", text, count, one_drop["channel"]))
        named = {trouble.text for trouble in found if trouble.kind == "exception"}
        for finding in self._report.findings:
            if finding["level"] not in ("error", "warning"):
                continue
            if finding["what"] == "exception" and named:
                continue  # the process has reported its first exception in full
            where = f"{finding['where']}: " if finding["where"] else ""
            found.append(Trouble(finding["what"], f"{where}{finding['text']}"))
        if not self._report.processes and self._report.code != 0:
            found.append(Trouble("process", f"`hyphos run` has failed{self._output()}"))
        return found

    def _thrown(self, process: str) -> str:
        """The line in which a strict process names its first exception, or ""."""
        try:
            text = (self._options.folder / f"{process}.log").read_text(errors="replace")
        except OSError:
            return ""
        lines = [line for line in text.splitlines() if _EXCEPTIONS in line]
        return f"process '{process}': {lines[-1].partition('strict: ')[2]}" if lines else ""
