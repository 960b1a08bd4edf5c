"""Runs the cases of an experiment: every peer next to the others, again and again."""

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
    """One run that is to be made."""

    case: Case
    peer: Peer
    repeat: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.case.key(), self.peer.name, self.repeat


@dataclass(frozen=True)
class Rules:
    """How disturbances of the machine are met."""

    patience_s: float = 0.0  # waits so long for a quiet machine before each run
    retries: int = 0  # makes a disturbed run again so often


def wishes(experiment: Experiment, peers: list[Peer]) -> list[Wish]:
    """Repeats × cases × peers, or those of the case's part."""

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
    """One run of each peer that can take part, next to each other, in an order that rotates from
    repeat to repeat: drift of the machine falls on all of them alike."""
    able = [peer for peer in peers if not peer.cannot(case)]
    shift = repeat % len(able) if able else 0
    return [Wish(case, peer, repeat) for peer in able[shift:] + able[:shift]]


class Runner:
    """Makes runs, one after the other. stop() may be called from any thread."""

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
        """Ends the run that is under way, which is then not counted, and makes no other."""
        self._programs.stop()

    def measure(
        self, todo: list[Wish], told: Callable[[Run, int, int], None] = lambda *_: None
    ) -> None:
        """Makes the runs that the results lack, and adds them. After each one, `told(run, done,
        all)`. A peer that failed a case is not tried again at it, but by the next runner."""
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
        """That run: as the results have it, or made now and added; None if it was stopped. The
        stage stays as it is; leave it to a `with` around all of them."""
        for known in self._results.runs:
            if known.key == wish.key and (not known.failure or known.key[:2] in self._failed):
                return known
        run = None if self.stopped else self._attempt(wish)
        if run is not None:
            self._results.add(run)
        return run

    def _attempt(self, wish: Wish) -> Run | None:
        """One run; again while the machine disturbs it, as the rules allow. Whether a run counts
        depends on the load beside it, never on its result. None if it was stopped."""
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
    """A program that is still there after so long has hung: by itself it gives up earlier, and
    says what took so long (lab/common/parent.hpp)."""
    length_s = 3 * case.length_s + (200.0 if case.floods else 3 * case.warmup / case.rate_hz)
    return 350.0 + 2 * case.most_processes + length_s
