"""Waiting for Ctrl-C, SIGTERM, a time limit or an event, until the first of them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """A stop request, set by a signal, a deadline or set(). Waiting does not poll."""

    def __init__(self, seconds: float | None = None) -> None:
        self._event = threading.Event()
        self._deadline: float | None = None
        self.end_after(seconds)

    def set(self) -> None:
        self._event.set()

    def end_after(self, seconds: float | None) -> None:
        """Sets the deadline to `seconds` from now. None removes it."""
        self._deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    @property
    def now(self) -> bool:
        return self._event.is_set() or self._left() == 0.0

    def _left(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def wait(self, seconds: float | None = None) -> bool:
        """Waits at most `seconds`. Returns True on a stop request."""
        left = self._left()
        if left is not None:
            seconds = left if seconds is None else min(seconds, left)
        self._event.wait(seconds)
        return self.now


@contextmanager
def on_signals(action: Callable[[int], None]) -> Iterator[None]:
    """Calls `action(number)` in a thread on SIGINT, SIGTERM and SIGHUP, which then do not raise.

    Lasts as long as the `with` block, and must be called in the main thread. An ignored SIGHUP
    (nohup) stays ignored. Signals that a launcher has blocked are unblocked.
    """

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)

    def pass_on(pipe: int) -> None:
        with open(pipe, "rb", buffering=0) as arrived:
            while data := arrived.read(64):
                for number in data:
                    if number in numbers:
                        action(number)

    # A Python handler runs only when the main thread returns to the interpreter. It does not run
    # during a wait for a lock if the signal came just before, or in another thread. The wake-up
    # pipe of the interpreter wakes a thread at once.
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
    """A signal with this handler neither ends the process nor raises. The pipe delivers it."""


@contextmanager
def ctrl_c_kills() -> Iterator[None]:
    """Lets Ctrl-C end the process at once, by the kernel's default action. For imports: CPython
    discards a KeyboardInterrupt that is raised inside a callback of its import machinery. Must be
    called in the main thread."""
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
    """Polls a condition, such as a first subscriber, every 10 ms. Returns False after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline or (stop is not None and stop.now):
            return False
        time.sleep(0.01)
    return True
