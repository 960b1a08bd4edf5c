"""Waiting for Ctrl-C, SIGTERM, a time limit, or an event: whichever is first."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Set by a signal, by a deadline, or by set(). Waiting on it needs no polling."""

    def __init__(self, seconds: float | None = None) -> None:
        self._event = threading.Event()
        self._deadline: float | None = None
        self.end_after(seconds)

    def set(self) -> None:
        self._event.set()

    def end_after(self, seconds: float | None) -> None:
        """The deadline, from now on; None: there is none."""
        self._deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def now(self) -> bool:
        return self._event.is_set() or self._left() == 0.0

    def _left(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def wait(self, seconds: float | None = None) -> bool:
        """Waits so long at most. True if it is time to stop."""
        left = self._left()
        if left is not None:
            seconds = left if seconds is None else min(seconds, left)
        self._event.wait(seconds)
        return self.now


@contextmanager
def on_signals(action: Callable[[int], None]) -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP call `action(number)` in a thread, instead of raising, as long as
    this lasts. From the main thread. SIGHUP is left alone where it is ignored (nohup). Those that a
    launcher has blocked until now are let through."""

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)

    def pass_on(pipe: int) -> None:
        with open(pipe, "rb", buffering=0) as arrived:
            while data := arrived.read(64):
                for number in data:
                    if number in numbers:
                        action(number)

    # A Python handler runs when the main thread comes to it: not while it waits for a lock, if the
    # signal came just before, or to another thread. What the interpreter writes into the pipe wakes
    # a thread at once.
    reader, writer = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(writer, False)
    thread = threading.Thread(target=pass_on, args=(reader,), name="signals", daemon=True)
    thread.start()
    outer = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    old = {number: signal.signal(number, _noted) for number in numbers}
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    try:
        yield
    finally:
        for number, previous in old.items():
            signal.signal(number, previous)
        signal.set_wakeup_fd(outer)
        os.close(writer)
        thread.join()


def _noted(_number: int, _frame: FrameType | None) -> None:
    """A signal with this handler neither ends the process nor raises; the pipe tells of it."""


@contextmanager
def ctrl_c_kills() -> Iterator[None]:
    """Ctrl-C ends the process on the spot, as the kernel does it. For imports: CPython throws a
    KeyboardInterrupt away that meets a callback of its import machinery. From the main thread."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def stoppable(seconds: float | None = None) -> Iterator[Stop]:
    """A Stop that Ctrl-C and SIGTERM set."""
    stop = Stop(seconds)
    with on_signals(lambda _number: stop.set()):
        yield stop


def until(condition: Callable[[], bool], seconds: float, stop: Stop | None = None) -> bool:
    """Waits for something that only looking can tell, such as a first subscriber."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline or (stop is not None and stop.now):
            return False
        time.sleep(0.01)
    return True
