"""What tests share: waiting for callbacks, for other processes, and for programs."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_S = 60.0  # for things that take milliseconds, on a machine that is busy


class Inbox:
    """A callback that keeps what it gets and lets a test wait for it."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._changed = threading.Condition()

    def __call__(self, item: Any) -> None:
        with self._changed:
            self.items.append(item)
            self._changed.notify_all()

    def wait(self, count: int) -> list[Any]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.items) >= count, PATIENCE_S), (
                f"{len(self.items)} of {count} came"
            )
            return list(self.items)


def wait_until(condition: Callable[[], bool], what: str = "the condition") -> None:
    """Waits for something in another process, which nothing here can signal."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.005)


@contextmanager
def repeating(action: Callable[[], object]) -> Iterator[None]:
    """A thread that does it every 20 ms, and ends with the block."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(0.02):
            action()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def until(fine: Callable[[T], bool], measure: Callable[[], T], most: int = 6) -> list[T]:
    """What was measured, again and again until it is fine, `most` times at most: of things that a
    machine which is called away for a while makes worse, and never better."""
    found = [measure()]
    while not fine(found[-1]) and len(found) < most:
        found.append(measure())
    return found


def write_program(path: Path, text: str) -> Path:
    """A script that can be run; `text` begins with its `#!`."""
    path.write_text(text)
    path.chmod(0o755)
    return path


class Program:
    """A started process whose output can be waited for."""

    def __init__(self, words: list[str], cwd: Path | None = None, *, keys: bool = False) -> None:
        self.popen = subprocess.Popen(
            words,
            stdin=subprocess.PIPE if keys else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
        )

    def type(self, text: str) -> None:
        """Input of a program that was started with `keys`."""
        assert self.popen.stdin is not None
        self.popen.stdin.write(text)
        self.popen.stdin.flush()

    def line(self) -> str:
        """The next line. A program that has ended has none: the test would wait for ever."""
        assert self.popen.stdout is not None
        line = self.popen.stdout.readline()
        if not line:
            code, _, err = self.end()
            raise AssertionError(f"the program has ended with {code}: {err}")
        return line.rstrip("\n")

    def signal(self, number: int) -> None:
        self.popen.send_signal(number)

    def end(self) -> tuple[int, str, str]:
        """Exit code, rest of the output, errors."""
        out, err = self.popen.communicate(timeout=PATIENCE_S)
        return self.popen.returncode, out, err

    def stop(self) -> tuple[int, str, str]:
        self.signal(signal.SIGINT)
        return self.end()


class OnTerminal:
    """A started process that has a terminal of its own, so that Ctrl-C becomes a signal."""

    def __init__(self, words: list[str], cwd: Path | None = None) -> None:
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160", "LINES": "40"}
        self.popen = subprocess.Popen(
            words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=cwd,
            start_new_session=True, preexec_fn=_own_terminal,  # noqa: PLW1509
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""

    def read_until(self, text: str) -> None:
        """Until the terminal has been sent this, since the start."""
        while text not in self.shown:
            ready, _, _ = select.select([self._ours], [], [], PATIENCE_S)
            assert ready, self.shown[-500:]
            self.shown += os.read(self._ours, 65536).decode(errors="replace")

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def end(self) -> int:
        """The exit code, once it has ended."""
        code = self.popen.wait(PATIENCE_S)
        os.close(self._ours)
        return code


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


Start = Callable[..., Program]
OnTerminalStart = Callable[..., OnTerminal]
Cli = Callable[..., tuple[int, str, str]]
