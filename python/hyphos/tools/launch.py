"""hyphos run: starts the processes of a plan, shows their state, and ends them in order."""

from __future__ import annotations

import json
import os
import queue
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from hyphos._errors import Error
from hyphos._hyphos import Plan
from hyphos.observe import Look, drops_of, look
from hyphos.supervise.commands import (
    Choice,
    check_names,
    choose,
    command_of,
    hosts_here,
    recorder,
    recorder_process,
)
from hyphos.supervise.events import Ended, Event, Signalled
from hyphos.supervise.guard import Guard
from hyphos.supervise.link import digest_of
from hyphos.supervise.locks import Locks
from hyphos.supervise.logs import Logs
from hyphos.supervise.place import LocalPlace
from hyphos.supervise.plan_types import plan_types, store
from hyphos.supervise.printer import Printer
from hyphos.supervise.programs import notes_of, python_problems
from hyphos.supervise.remote import RemotePlace, remote_of
from hyphos.supervise.supervisor import Managed, Options, State, Supervisor
from hyphos.supervise.watcher import watch_of
from hyphos.tools.live import LiveView
from hyphos.tools.report import Report, check_picture
from hyphos.tools.run_events import RunEvents
from hyphos.tools.strict import findings_of, is_fault
from hyphos.tools.totals import Totals
from hyphos.tools.waiting import on_signals

_REFRESH_S = 0.5
_LOOK_EVERY_S = 5.0  # for the drops in the summary at the end
_PRINT_EVERY_S = 5.0  # without a terminal to redraw
_LONGEST_START_S = 30.0


@dataclass(frozen=True)
class Ending:
    """The contribution of `at_end` to the report."""

    notes: Sequence[str] = ()
    pictures: Sequence[Path] = ()


@dataclass
class LaunchOptions:
    file: Path
    live: bool
    seconds: float | None
    settings: Sequence[str]
    only: Sequence[str]
    hosts: Sequence[str]
    logs: Path | None
    record: bool
    keep_going: bool
    grace_s: float | None
    quiet: bool
    report: Path | None = None
    pictures: Sequence[Path] = ()
    log_mb: float = 50.0
    strict: bool = False
    events: Path | None = None
    tables: bool = False  # the tables of the whole run, which `live` includes
    # `seconds` begin when it returns True, or _LONGEST_START_S after every process is ready.
    has_begun: Callable[[Look], bool] | None = None
    at_end: Callable[[Totals], Ending] | None = None  # called when all processes have ended


class _Run:
    """One run of a plan, from the first process to the last."""

    def __init__(
        self,
        loaded: Plan,
        plan: dict[str, Any],
        choice: Choice,
        options: LaunchOptions,
        types: bytes,
    ) -> None:
        self._plan = plan
        self._options = options
        self._base_ns = time.time_ns()
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._totals = Totals(time.monotonic())
        self._loaded: Plan | None = loaded  # until the end: threads may outlive the run
        self._said = RunEvents(options.events)
        self._sheet: Report | None = None
        if options.report is not None:
            title = f"{plan['robot']}: {options.file.stem}"
            self._sheet = Report(title, loaded.dot(), 0.0, self._totals, options.pictures)
        self._stopping = False
        self._stack = ExitStack()
        self._stack.callback(self._said.close)
        # Before any thread starts: a fork of a process with threads may copy locked mutexes.
        locks = Locks(plan["domain"], [process["name"] for process in choice.here])
        self._stack.callback(locks.close)
        guard = Guard()
        self._stack.callback(guard.close)
        store(types, guard.folder)
        commands = self._commands = {
            process["name"]: command_of(
                loaded,
                plan,
                process,
                options.file,
                options.settings,
                guard.folder,
                self._base_ns,
                options.strict,
            )
            for process in choice.here
        }
        watches = {process["name"]: watch_of(plan, process) for process in choice.here}
        processes = list(choice.all)
        if options.record:
            # Starts before the others and ends after them, so it records every message.
            tool = recorder_process()
            commands["record"] = recorder(plan, options.file)
            processes = [tool, *({**p, "after": [*p["after"], "record"]} for p in processes)]

        self._console = Console(highlight=False)
        names = [process["name"] for process in processes]
        self._printer = Printer(self._console, names, options.quiet)
        self._stack.callback(self._printer.close)
        self._logs = Logs.open(
            options.logs,
            plan["robot"],
            str(options.file.resolve()),
            options.log_mb,
            lambda words: self._printer.tell(words, "yellow"),
        )
        self._stack.callback(self._logs.close)
        local = LocalPlace(
            plan["domain"], commands, watches, guard, self._on_line, self._events.put
        )
        self._stack.callback(local.close)
        self._remotes = self._reach(choice, guard)
        self.supervisor = Supervisor(
            [Managed(p, self._remotes.get(p["host"], local)) for p in processes],
            Options(options.keep_going, options.grace_s),
            self._printer.tell,
            self._mark,
        )
        self._view = self._make_view() if options.live or options.tables else None
        # On time.monotonic(), once known.
        self._ready_at: float | None = None
        self._end_at: float | None = None

    def _reach(self, choice: Choice, guard: Guard) -> dict[str, RemotePlace]:
        """Connects to the other machines, to all of them before a process starts on one."""
        places: dict[str, RemotePlace] = {}
        if not choice.by_ssh:
            return places
        digest = digest_of(self._plan)
        file = str(self._options.file.resolve())
        for host in self._plan["hosts"]:
            if host["name"] in choice.by_ssh:
                remote = remote_of(
                    host, file, self._options.settings, digest, self._options.live, self._base_ns
                )
                place = RemotePlace(remote, guard, self._on_line, self._events.put)
                places[host["name"]] = place
                self._stack.callback(place.close)
        try:
            for place in places.values():
                place.connect()
            for place in places.values():
                place.wait_for_hello()
        except BaseException:
            self._stack.close()
            raise
        return places

    def _make_view(self) -> LiveView:
        return LiveView(
            self._plan["domain"],
            self._console,
            self.supervisor.processes,
            self._remotes,
            self._totals,
            draws=self._options.live,
        )

    def _on_line(self, process: str, line: bytes) -> None:
        log = self._logs.of(process)
        if log is not None:
            log.write(line)
        self._printer.line(process, line, self._stopping)

    def _mark(self, process: str, words: str) -> None:
        log = self._logs.of(process)
        if log is not None:
            log.write(words.encode() + b"\n")

    def __call__(self) -> int:
        began = time.monotonic()
        with self._stack, on_signals(lambda number: self._events.put(Signalled(number))):
            if self._logs.folder is not None:
                self._printer.tell(f"logs in {self._logs.folder}")
            self.supervisor.begin(began)
            self._said.states(self.supervisor.processes)
            with self._view or ExitStack():
                self._until(began)
            seconds = time.monotonic() - began
            if self._view is not None:
                self._printer.show(self._view.render_run(seconds))
            for line in self._totals.drops():
                self._printer.tell(line, "yellow")
            self._write_report(seconds)
            code = self._result()
            self._said.write("end", code=code)
            return code

    def _until(self, began: float) -> None:
        """Handles events, timers and views until the last process has ended."""
        supervisor = self.supervisor
        printed = looked = began
        self._set_end(began, began)
        while not supervisor.over:
            event = self._next_event()
            now = time.monotonic()
            if event is not None:
                if isinstance(event, (Signalled, Ended)) and not supervisor.stopping:
                    self._look()  # counters end with their processes
                if isinstance(event, Ended):
                    self._printer.ended(event.process)
                self._stopping |= isinstance(event, Signalled)
                supervisor.handle(event, now)
            supervisor.tick(now)
            self._said.states(supervisor.processes)
            self._stopping = supervisor.stopping
            self._set_end(began, now)
            if self._end_at is not None and now >= self._end_at and not supervisor.stopping:
                self._look()
                supervisor.stop(now)
            if self._view is not None:
                self._view.refresh(adds_up=not supervisor.stopping)
                if self._prints(now - printed, now):
                    self._printer.show(self._view.render())
                    printed = now
            elif now - looked >= self._look_every_s and not supervisor.stopping:
                self._look()
                looked = now

    def _set_end(self, began: float, now: float) -> None:
        """Sets the time of the end as soon as the start of the counted time is known."""
        if self._options.seconds is None or self._end_at is not None:
            return
        has_begun = self._options.has_begun
        if has_begun is None:
            self._end_at = began + self._options.seconds
        elif self._ready_at is None:
            if all(one.was_ready for one in self.supervisor.processes):
                self._ready_at = now
        else:
            late = now - self._ready_at > _LONGEST_START_S
            with suppress(Error):  # all processes have just ended
                if late or has_begun(look(self._plan["domain"])):
                    self._end_at = now + self._options.seconds

    def _prints(self, since_s: float, now: float) -> bool:
        """True if a table is due without a terminal to redraw. At the end of the run another table
        covers the whole run."""
        silent = self._console.is_terminal or not self._options.live
        if silent or since_s < _PRINT_EVERY_S or self.supervisor.stopping:
            return False
        return self._end_at is None or now < self._end_at - _PRINT_EVERY_S / 2

    @property
    def _look_every_s(self) -> float:
        often = self._sheet is not None or self._options.strict or self._options.events is not None
        return _REFRESH_S if often else _LOOK_EVERY_S

    def _next_event(self) -> Event | None:
        now = time.monotonic()
        waits = [_REFRESH_S if self._view is not None else self._look_every_s]
        due = self.supervisor.next_due()
        if due is not None:
            waits.append(due - now)
        if self._end_at is not None and not self.supervisor.stopping:
            waits.append(self._end_at - now)
        try:
            return self._events.get(timeout=max(0.0, min(waits)))
        except queue.Empty:
            return None

    def _look(self) -> None:
        with suppress(Error):  # no process runs yet, or any more
            self._totals.add(look(self._plan["domain"]))

    def _write_report(self, seconds: float) -> None:
        ending = self._options.at_end(self._totals) if self._options.at_end else Ending()
        if self._sheet is None or self._options.report is None:
            return
        self._sheet.seconds = seconds
        self._sheet.notes += ending.notes
        self._sheet.pictures = [*self._sheet.pictures, *ending.pictures]
        self._sheet.write(self._options.report)
        self._printer.tell(f"report: {self._options.report}")

    def _see(self, one: Managed) -> str:
        """The log of a process, if it exists."""
        path = self._logs.path(one.name) if self._logs.folder is not None else None
        return f", see {path}" if path is not None and path.exists() else ""

    def _tell_cause(self) -> None:
        """The reason why the whole robot ended, and the key that keeps it running next time."""
        cause = self.supervisor.cause
        if cause is None:
            return
        words = f"the robot ended because process '{cause.name}' {cause.end}"
        if cause.plan["restart"] == "never" and not cause.is_tool:
            words += (
                f". To restart the process instead: processes.{cause.name}.restart: on_failure "
                f"in {self._options.file}"
            )
        self._printer.tell(words, "bold red")

    def _result(self) -> int:
        for one in self.supervisor.failed:
            self._printer.tell(f"{one.name}: {one.end}{self._see(one)}", "bold red")
            command = self._commands.get(one.name)
            if command is not None and command.debug_line and "crashed" in one.end:
                self._printer.tell(f"  in a debugger: {command.debug_line}", "bold red")
        self._tell_cause()
        restarted = [one for one in self.supervisor.processes if one.restarts]
        for one in restarted:
            if one.state != State.FAILED:
                self._printer.tell(f"{one.name}: restarted {one.restarts} times", "yellow")
        faults = self._has_faults()
        return 1 if self.supervisor.failed or faults else 0

    def _has_faults(self) -> bool:
        """Compares the run with the plan, for --strict and --events. True if --strict fails."""
        loaded, self._loaded = self._loaded, None
        if loaded is None or not (self._options.strict or self._options.events):
            return False
        findings = findings_of(loaded, self._plan, self._totals)
        named = {process["name"] for process in self._plan["processes"]}
        for process, end in self._totals.lives():
            if process in named and drops_of(end):
                counts = {name: n for name, n in end.counters if name.startswith("drop.")}
                self._said.write("drops", channel=end.channel, node=end.node, counts=counts)
        for one in findings:
            self._said.write("finding", **asdict(one))
        if not self._options.strict:
            return False
        faults = [one for one in findings if is_fault(one)]
        for one in faults:
            where = f"{one.where}: " if one.where else ""
            self._printer.tell(f"strict: {where}{one.text}", "bold red")
        return bool(faults)


def launch(options: LaunchOptions) -> int:
    """Runs the plan. Returns 0 if no process failed."""
    loaded = Plan.load(str(options.file), list(options.settings), False)
    plan = json.loads(loaded.json())
    check_names(plan, options.file, options.only, options.hosts)
    here = list(options.hosts) or hosts_here(plan)
    # Files are checked only for the hosts that this command starts.
    loaded = Plan.load(str(options.file), list(options.settings), True, here or ["-"])
    for warning in loaded.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    choice = choose(plan, options.file, options.only, options.hosts)
    for note in choice.elsewhere:
        print(note, file=sys.stderr)
    if not choice.all and not options.record:
        raise Error("invalid_config", "the plan has no process to start here", str(options.file))
    if options.pictures and options.report is None:
        raise Error(
            "invalid_config", "--picture has no effect without --report", "", "--report run.html"
        )
    for picture in options.pictures:
        check_picture(picture)
    problems = python_problems(plan, choice.here)
    if problems:
        lines = [
            f"{node['source']}: nodes.{node['name']}.python: {text}" for node, text in problems
        ]
        raise Error("invalid_config", "\n".join(lines))
    for note in notes_of(plan, choice.here):
        print(f"note: {note}", file=sys.stderr)
    _warn_about_others(plan, choice)
    types = plan_types(plan) if choice.here else b""
    return _Run(loaded, plan, choice, options, types)()


def _warn_about_others(plan: dict[str, Any], choice: Choice) -> None:
    """Warns of processes that were started by hand, or by a launcher in another PID namespace."""
    names = {process["name"] for process in choice.here}
    try:
        there = [p for p in look(plan["domain"]).processes if p.name in names]
    except Error:
        return
    for process in there:
        if process.pid != os.getpid():
            print(
                f"warning: a process '{process.name}' (pid {process.pid}) is already in domain "
                f"'{plan['domain']}': is this robot running?",
                file=sys.stderr,
            )
