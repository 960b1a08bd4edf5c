"""Runs of an experiment or a sweep: several at once, with the time that is left."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from hyphos._errors import Error
from hyphos.cosim.runs import Native
from hyphos.tools.console import console
from hyphos.tools.waiting import on_signals

T = TypeVar("T")
R = TypeVar("R")

LOCK = ".lock"
_SCRATCH = "current"
_APART_S = 5.0  # between two lines of progress without a terminal


def half_of_cores() -> int:
    """The default number of runs at once. A run may use a second core for its simulators."""
    return max(1, len(os.sched_getaffinity(0)) // 2)


@contextmanager
def owned(folder: Path) -> Iterator[Path]:
    """Keeps other processes out of a folder of results, and yields an empty folder for the files of
    current runs. The lock ends with this process in any case.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        opened = (folder / LOCK).open("w")
    except OSError as error:
        raise Error(
            "io",
            f"the folder of results cannot be used: {error.strerror}",
            str(folder),
            "choose another folder with -o",
        ) from None
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Error(
                "already_exists",
                "another process writes to this folder",
                str(folder),
                "wait for its end, or choose another folder with -o",
            ) from None
        scratch = folder / _SCRATCH
        shutil.rmtree(scratch, ignore_errors=True)  # of a process that was killed
        scratch.mkdir()
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


@dataclass
class TimeLeft:
    """Estimates the time of the runs to come. A run takes as long as others of its cell, or as the
    mean of all cells if its cell has no run yet.
    """

    jobs: int
    _runs: Counter[str] = field(default_factory=Counter)
    _seconds: dict[str, float] = field(default_factory=dict)  # sums by cell

    def add(self, cell: str, seconds: float) -> None:
        if seconds > 0:
            self._runs[cell] += 1
            self._seconds[cell] = self._seconds.get(cell, 0.0) + seconds

    def of(self, cells: Counter[str]) -> float | None:
        """The seconds for so many runs of each cell. None without any run so far."""
        if not self._runs:
            return None
        mean = sum(self._seconds.values()) / self._runs.total()
        return (
            sum(
                count * (self._seconds[cell] / self._runs[cell] if self._runs[cell] else mean)
                for cell, count in cells.items()
            )
            / self.jobs
        )


def time_text(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 100:
        return f"about {max(1, round(seconds))} s left"
    if seconds < 6000:
        return f"about {round(seconds / 60)} min left"
    return f"about {seconds / 3600:.1f} h left"


@dataclass(frozen=True)
class Task(Generic[T]):
    """One run to come."""

    item: T
    cell: str
    text: str  # for the display


class _Display:
    """A bar on a terminal, a line from time to time otherwise."""

    def __init__(self, total: int, quiet: bool) -> None:
        from rich import progress as parts  # noqa: PLC0415  most commands do not need it

        self._out = console(stderr=True)
        self._lines = not quiet and not self._out.is_terminal
        self._total = total
        self._last_s = time.monotonic()
        self.bar = parts.Progress(
            parts.TextColumn("{task.description}", markup=False),
            parts.BarColumn(),
            parts.MofNCompleteColumn(),
            parts.TextColumn("{task.fields[left]}"),
            console=self._out,
            disable=quiet or not self._out.is_terminal,
        )
        self._task = self.bar.add_task("running", total=total, left="")

    def show(self, done: int, text: str, left: float | None) -> None:
        told = time_text(left) if done < self._total else ""
        self.bar.update(self._task, completed=done, description=text, left=told)
        now = time.monotonic()
        if self._lines and (done == self._total or now - self._last_s >= _APART_S):
            self._last_s = now
            more = f", {told}" if told else ""
            self._out.print(f"[{done}/{self._total}] {text}{more}", markup=False)


def measure(
    tasks: Sequence[Task[T]],
    native: Native,
    work: Callable[[T], R | None],
    done: Callable[[T, R], float],
    left: TimeLeft,
    quiet: bool,
) -> bool:
    """Calls `work` in threads, as many at once as `left` has jobs, and `done` in this thread with
    each result. `done` returns the seconds of the run. A `work` that returns None was stopped.
    Returns False after Ctrl-C. Raises the first exception after the end of the other runs.
    """
    rest = deque(tasks)
    open_cells = Counter(task.cell for task in tasks)
    display = _Display(len(tasks), quiet)
    running: dict[Future[R | None], Task[T]] = {}
    finished = 0
    whole = True
    with (
        on_signals(lambda _number: native.stop()),
        display.bar,
        ThreadPoolExecutor(left.jobs, "run") as pool,
    ):
        try:
            while rest or running:
                while rest and len(running) < left.jobs and not native.stopped:
                    task = rest.popleft()
                    running[pool.submit(work, task.item)] = task
                if not running:
                    return False
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task = running.pop(future)
                    result = future.result()
                    if result is None:
                        whole = False
                        continue
                    left.add(task.cell, done(task.item, result))
                    finished += 1
                    open_cells[task.cell] -= 1
                    display.show(finished, task.text, left.of(open_cells))
        except BaseException:
            native.stop()
            raise
    return whole
