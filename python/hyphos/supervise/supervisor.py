"""Decides the order of starts, the restarts, and the end of all processes.

A state machine over events and time. It has no side effects of its own, so tests need no processes.
`launch.py` passes the events.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hyphos.supervise.events import (
    Crashed,
    Ended,
    Event,
    Healthy,
    IsReady,
    Lost,
    NotStarted,
    Signalled,
    Started,
    Unhealthy,
)
from hyphos.supervise.place import Place

_MINUTE_S = 60.0
_TERM_S = 2.0  # between SIGTERM and SIGKILL
_KILL_S = 10.0  # for the kernel to end a process after SIGKILL
_STEPS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
_ASKED = (-signal.SIGINT, -signal.SIGTERM, 130, 143)  # clean exits after a stop request


class State(StrEnum):
    WAITING = "waiting"  # for the processes in `after`
    STARTING = "starting"
    RUNNING = "running"
    RESTARTING = "restarting"  # ended, will be restarted
    STOPPING = "stopping"
    ENDED = "ended"
    FAILED = "failed"


def how_it_ended(code: int) -> str:
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            return f"killed by signal {-code}"
        return f"crashed ({name})" if -code in _CRASHES else f"killed by {name}"
    return "ended" if code == 0 else f"failed ({code})"


@dataclass
class Managed:
    """One process of the plan over all its runs."""

    plan: dict[str, Any]
    place: Place
    state: State = State.WAITING
    pid: int = 0  # of the latest run
    alive: bool = False  # start requested, end not reported
    restarts: int = 0
    end: str = ""  # end of the latest run, in words
    complaint: str = ""  # reason for "unhealthy"
    was_ready: bool = False
    killed_for: str = ""
    crashed_in: str = ""  # the work of the thread that crashed
    restarts_at: deque[float] = field(default_factory=deque)
    failures_in_row: int = 0
    began: float = 0.0
    ended_at: float = 0.0
    due: float | None = None  # time of the next restart, ready timeout or stronger signal
    step: int = -1  # index in _STEPS of the last signal sent

    @property
    def name(self) -> str:
        return str(self.plan["name"])

    @property
    def is_tool(self) -> bool:
        """True for a process that the robot does not need. It does not keep a run alive."""
        return bool(self.plan["kind"] == "tool")

    @property
    def label(self) -> str:
        """The state in words."""
        if self.state in (State.ENDED, State.FAILED):
            return self.end or str(self.state)
        if self.complaint and self.state == State.RUNNING:
            return "unhealthy"
        return str(self.state)


@dataclass(frozen=True)
class Options:
    keep_going: bool = False
    grace_s: float | None = None  # replaces stop_timeout_ms of each process


Tell = Callable[[str, str], None]  # words, style
Mark = Callable[[str, str], None]  # process, words for its log


class Supervisor:
    """The state machine of one run. Not thread-safe.

    Call begin() once. Then call handle() for every event, and tick() no later than next_due(),
    until `over`. Times are seconds of one monotonic clock.
    """

    def __init__(
        self, processes: Sequence[Managed], options: Options, tell: Tell, mark: Mark
    ) -> None:
        self.processes = list(processes)
        self.stopping = False
        self._by_name = {process.name: process for process in processes}
        self._options = options
        self._tell = tell
        self._mark = mark
        self.cause: Managed | None = None  # the process whose failure ended the run
        self._hurry = 0  # number of further signals during the stop

    # Public functions.

    def begin(self, now: float) -> None:
        self._start_waiting(now)

    @property
    def over(self) -> bool:
        return self.stopping and not any(one.alive for one in self.processes)

    @property
    def failed(self) -> list[Managed]:
        return [one for one in self.processes if one.state == State.FAILED]

    def next_due(self) -> float | None:
        return min((one.due for one in self.processes if one.due is not None), default=None)

    def handle(self, event: Event, now: float) -> None:
        if isinstance(event, Signalled):
            self._signalled(now)
        elif isinstance(event, Lost):
            for one in self.processes:
                if one.place.host == event.host and one.alive:
                    self._gone(one, f"lost: {event.reason}", True, now)
        else:
            one = self._by_name[event.process]
            if isinstance(event, Started):
                one.pid = event.pid
                self._tell(f"started {one.name} (pid {one.pid}{self._where(one)})", "dim")
                if self.stopping:
                    self._signal(one)  # the stop request came before its pid
            elif isinstance(event, NotStarted):
                if one.alive:
                    self._gone(one, f"could not start: {event.reason}", True, now)
            elif event.pid == one.pid and one.alive:
                self._of_a_run(one, event, now)
        self._settle(now)

    def tick(self, now: float) -> None:
        for one in self.processes:
            if one.due is None or now < one.due:
                continue
            one.due = None
            if one.state == State.RESTARTING:
                self._start(one, now)
            elif one.state == State.STARTING:
                limit = one.plan["ready_timeout_ms"] / 1e3
                self._kill(one, f"not ready after {limit:g} s (ready_timeout_ms)")
            elif one.state == State.STOPPING:
                self._escalate(one, now)
        self._settle(now)

    def stop(self, now: float) -> None:
        """Stops all processes in reverse order, each with SIGINT, then SIGTERM and SIGKILL."""
        if self.stopping:
            return
        self.stopping = True
        for one in self.processes:
            if not one.alive:
                one.due = None
                if one.state in (State.WAITING, State.RESTARTING):
                    one.state = State.ENDED
                    one.end = one.end or "not started"
        self._settle(now)

    # Starting.

    def _where(self, one: Managed) -> str:
        return f" on {one.place.host}" if one.place.host else ""

    def _before(self, one: Managed) -> list[Managed]:
        return [self._by_name[name] for name in one.plan["after"] if name in self._by_name]

    def _start_waiting(self, now: float) -> None:
        for one in self.processes:
            if one.state != State.WAITING:
                continue
            before = self._before(one)
            failed = [b for b in before if b.state == State.FAILED and not b.was_ready]
            if failed:
                self._fail(one, f"not started: {failed[0].name}, which it waits for, failed", now)
            elif all(b.was_ready or (b.state == State.ENDED and not b.alive) for b in before):
                self._start(one, now)
            if self.stopping:
                return

    def _start(self, one: Managed, now: float) -> None:
        one.state = State.STARTING
        one.alive = True
        one.pid = 0
        one.began = now
        one.killed_for = one.complaint = one.crashed_in = ""
        limit_ms = one.plan["ready_timeout_ms"]
        one.due = now + limit_ms / 1e3 if limit_ms > 0 else None
        one.place.start(one.name)

    # Events of a run.

    def _of_a_run(self, one: Managed, event: Event, now: float) -> None:
        if isinstance(event, Ended):
            how = one.killed_for or how_it_ended(event.code)
            how += f" in {one.crashed_in}" if one.crashed_in else ""
            asked = one.step >= 0 and event.code in _ASKED
            self._gone(one, how, bool(one.killed_for) or not (event.code == 0 or asked), now)
        elif isinstance(event, Crashed):
            one.crashed_in = event.place
        elif isinstance(event, IsReady):
            if one.state != State.STARTING:
                return
            one.state = State.RUNNING
            one.was_ready = True
            one.due = None
            if one.restarts:
                took = f"{now - one.ended_at:.2f} s"
                self._tell(f"{one.name} is back after {took} (restart {one.restarts})", "green")
        elif isinstance(event, Unhealthy):
            one.complaint = event.reason
            if one.plan["health"]["action"] == "kill" and not self.stopping:
                self._kill(one, event.reason)
            else:
                self._tell(f"{one.name} is unhealthy: {event.reason}", "bold yellow")
        elif isinstance(event, Healthy):
            one.complaint = ""
            self._tell(f"{one.name} works again", "green")

    def _kill(self, one: Managed, reason: str) -> None:
        self._tell(f"{one.name} is unhealthy: {reason}, killing it", "bold red")
        one.killed_for = f"killed: {reason}"
        one.due = None
        one.place.signal(
            one.name, signal.SIGKILL
        )  # a stopped or hung process handles no other signal

    def _gone(self, one: Managed, how: str, failure: bool, now: float) -> None:
        one.alive = False
        one.end = how
        one.ended_at = now
        one.due = None
        policy = one.plan["restart"]
        if self.stopping:
            one.state = State.FAILED if failure else State.ENDED
            if failure:
                self._tell(f"{one.name} {how}", "bold red")
        elif policy == "always" or (policy == "on_failure" and failure):
            self._restart_later(one, failure, now)
        elif failure:
            self._fail(one, how, now)
        else:
            one.state = State.ENDED
            self._tell(f"{one.name} {how}", "dim")

    def _restart_later(self, one: Managed, failure: bool, now: float) -> None:
        most = one.plan["max_restarts_per_minute"]
        while one.restarts_at and now - one.restarts_at[0] >= _MINUTE_S:
            one.restarts_at.popleft()
        if len(one.restarts_at) >= most:
            words = f"{one.end}, giving up after {most} restarts within a minute"
            self._fail(one, f"{words} (max_restarts_per_minute)", now)
            return
        longest_s = one.plan["max_backoff_ms"] / 1e3
        if now - one.began > max(longest_s, 1.0):
            one.failures_in_row = 0  # it worked for a while: a new series of failures
        delay_s = min(one.plan["backoff_ms"] / 1e3 * 2.0 ** min(one.failures_in_row, 60), longest_s)
        one.failures_in_row += 1
        one.restarts += 1
        one.restarts_at.append(now)
        one.state = State.RESTARTING
        one.due = now + delay_s
        style = "bold yellow" if failure else "dim"
        self._tell(f"{one.name} {one.end}, restarting in {delay_s:.3g} s", style)
        self._mark(one.name, f"--- {one.end}, restart {one.restarts} ---")

    def _fail(self, one: Managed, how: str, now: float) -> None:
        one.state = State.FAILED
        one.end = how
        self._tell(f"{one.name} {how}", "bold red")
        self._mark(one.name, f"--- {how} ---")
        if not self._options.keep_going and not self.stopping:
            self.cause = one
            self.stop(now)

    # Ending.

    def _signalled(self, now: float) -> None:
        if not self.stopping:
            self._tell("stopping", "dim")
            self.stop(now)
            return
        self._hurry = min(self._hurry + 1, len(_STEPS) - 1)
        self._tell(f"stopping at once ({_STEPS[self._hurry].name})", "dim")
        for one in self.processes:
            if one.alive and one.step < self._hurry:
                one.step = self._hurry - 1
                self._escalate(one, now)

    def _settle(self, now: float) -> None:
        """Performs all steps that follow from the last change."""
        if not self.stopping:
            self._start_waiting(now)
            # The run is over when no process is alive or will be restarted.
            if not self.stopping and all(
                one.is_tool or one.state in (State.ENDED, State.FAILED) for one in self.processes
            ):
                self.stop(now)
            return
        for one in self.processes:
            if not one.alive or one.step >= 0:
                continue
            if not any(other.alive and one in self._before(other) for other in self.processes):
                self._escalate(one, now)

    def _escalate(self, one: Managed, now: float) -> None:
        one.state = State.STOPPING
        one.step += 1
        if one.step >= len(_STEPS):
            # The process hangs in the kernel, by a broken disk or driver. Report it and go on.
            self._gone(one, f"cannot be killed, pid {one.pid} remains", True, now)
            self._settle(now)
            return
        grace_s = self._options.grace_s
        patience_s = (
            one.plan["stop_timeout_ms"] / 1e3 if grace_s is None else grace_s,
            _TERM_S,
            _KILL_S,
        )
        one.due = now + patience_s[one.step]
        self._signal(one)

    def _signal(self, one: Managed) -> None:
        if one.step >= 0 and one.pid:
            one.place.signal(one.name, _STEPS[one.step])
