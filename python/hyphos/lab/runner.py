"""Runs the cases of an experiment, all peers side by side, in several repeats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from hyphos._errors import Error
from hyphos.lab.case import Case
from hyphos.lab.experiment import Experiment
from hyphos.lab.machine import LoadWatch, wait_until_quiet
from hyphos.lab.peers import Peer, named
from hyphos.lab.programs import Programs
from hyphos.lab.results import Results, Run
from hyphos.lab.stage import Stage


@dataclass(frozen=True)
class Wish:
    """One run to be made."""

    case: Case
    peer: Peer
    repeat: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.case.key(), self.peer.name, self.repeat


@dataclass(frozen=True)
class Rules:
    """The reaction to disturbances of the machine."""

    patience_s: float = 0.0  # time limit of the wait for a quiet machine before each run
    retries: int = 0  # repetitions of a disturbed run


def wishes(experiment: Experiment, peers: list[Peer]) -> list[Wish]:
    """Repeats × cases × peers, or the peers of the case's part."""

    def of(case: Case) -> list[Peer]:
        names = experiment.peers_of(case)
        if names is None:
            return peers
        asked = {peer for name in names for peer in named(peers, name)}
        return [peer for peer in peers if peer in asked]

    return [
        wish
        for repeat in range(experiment.repeats)
        for case in experiment.cases
        for wish in side_by_side(case, of(case), repeat)
    ]


def side_by_side(case: Case, peers: list[Peer], repeat: int) -> list[Wish]:
    """One run of each capable peer, next to each other, in an order that rotates from repeat to
    repeat. So a drift of the machine affects all peers equally."""
    able = [peer for peer in peers if not peer.cannot(case)]
    shift = repeat % len(able) if able else 0
    return [Wish(case, peer, repeat) for peer in able[shift:] + able[:shift]]


class Runner:
    """Makes runs, one after the other. Call stop() from any thread."""

    def __init__(
        self, results: Results, rules: Rules | None = None, stage: Stage | None = None
    ) -> None:
        self._results = results
        self._stage = stage or Stage()
        self._rules = rules or Rules()
        self._programs = Programs()
        self._failed: set[tuple[str, str]] = set()

    @property
    def stopped(self) -> bool:
        return self._programs.stopped

    def stop(self) -> None:
        """Ends the current run, which then does not count, and starts no other."""
        self._programs.stop()

    def measure(
        self, todo: list[Wish], told: Callable[[Run, int, int], None] = lambda *_: None
    ) -> None:
        """Makes the runs missing from the results, and adds them. Calls `told(run, done, all)`
        after each one. After a failure, this runner does not try the same peer and case again."""
        with self._stage:
            self._measure(todo, told)

    def _measure(self, todo: list[Wish], told: Callable[[Run, int, int], None]) -> None:
        known = {run.key for run in self._results.runs if not run.failure}
        for number, wish in enumerate(todo, 1):
            if wish.key in known or wish.key[:2] in self._failed:
                continue
            run = self._attempt(wish)
            if run is None:
                return
            self._results.add(run)
            told(run, number, len(todo))

    def one(self, wish: Wish) -> Run | None:
        """The run from the results, or made now and added. None if stopped. Needs a `with` of the
        stage around all calls."""
        for known in self._results.runs:
            if known.key == wish.key and (not known.failure or known.key[:2] in self._failed):
                return known
        run = None if self.stopped else self._attempt(wish)
        if run is not None:
            self._results.add(run)
        return run

    def _attempt(self, wish: Wish) -> Run | None:
        """Makes one run, and repeats it while the machine disturbs it, as the rules allow. Whether
        a run counts depends on the load beside it, never on its result. None if stopped."""
        words = wish.peer.command(wish.case)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        for _attempt in range(1 + self._rules.retries):
            wait_until_quiet(self._rules.patience_s, lambda: self.stopped)
            command = self._stage.command(wish.case, words)
            watch = LoadWatch()
            result, failure = None, ""
            try:
                name = wish.peer.program.name
                result = self._programs.run(name, command, limit_s(wish.case))
            except Error as error:
                failure = error.message
            finally:
                self._stage.done()
            load = watch.finish()
            if result is None or not load.disturbed:
                break
        if self.stopped:
            return None
        if failure:
            self._failed.add(wish.key[:2])
        machine = self._results.machine
        return Run(wish.case, wish.peer.name, wish.repeat, result, failure, load, at, machine)


def limit_s(case: Case) -> float:
    """After this time a program counts as hung. A program itself stops earlier, and reports the
    slow part (lab/common/parent.hpp)."""
    length_s = 3 * case.length_s + (200.0 if case.floods else 3 * case.warmup / case.rate_hz)
    return 350.0 + 2 * case.most_processes + length_s
