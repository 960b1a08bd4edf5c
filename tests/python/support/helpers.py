"""Shared helpers of tests: they wait for callbacks, for other processes and for programs."""

from __future__ import annotations

import codecs
import fcntl
import io
import os
import pty
import select
import signal
import subprocess
import termios
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_S = 60.0  # for actions of milliseconds on a busy machine


class Inbox:
    """A callback that keeps its arguments, so that a test can wait for them."""

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


def alive(pid: int) -> bool:
    """False for a zombie, too: process 1 of a container may not reap."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], what: str = "the condition") -> None:
    """Polls for a condition in another process, because that process cannot signal this one."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"timed out waiting for {what}"
        time.sleep(0.005)


def look_until(fine: Callable[[T], bool], look: Callable[[], T], what: str = "the state") -> T:
    """Looks at another process until its state is fine, and returns what was seen then."""
    seen: list[T] = []

    def there() -> bool:
        seen.append(look())
        return fine(seen[-1])

    wait_until(there, what)
    return seen[-1]


@contextmanager
def repeating(action: Callable[[], object]) -> Iterator[None]:
    """Runs the action every 20 ms in a thread that ends with the block."""
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


def write_program(path: Path, text: str) -> Path:
    """Writes an executable script. `text` begins with its `#!`."""
    path.write_text(text)
    path.chmod(0o755)
    return path


class Program:
    """A started process with output that a test can wait for. Its errors go to a file, because a
    pipe that no test reads would block a process with a long log.
    """

    def __init__(self, words: list[str], cwd: Path | None = None, *, keys: bool = False) -> None:
        self._errors = os.memfd_create("errors")
        weakref.finalize(self, os.close, self._errors)
        self._seen = 0  # characters of the errors that error_line() has returned
        # Read here, because communicate() loses the output that readline() has read too far.
        self._output = ""
        self._decoder = io.IncrementalNewlineDecoder(
            codecs.getincrementaldecoder("utf-8")(errors="replace"), translate=True
        )
        self.popen = subprocess.Popen(
            words,
            stdin=subprocess.PIPE if keys else None,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=cwd,
        )

    def type(self, text: str) -> None:
        """Writes to the input of a program that was started with `keys`."""
        assert self.popen.stdin is not None
        self.popen.stdin.write(text)
        self.popen.stdin.flush()

    def line(self) -> str:
        """The next line of output. Fails if the program has ended, instead of waiting for ever."""
        for line in self.lines():
            return line
        code, _, err = self.end()
        raise AssertionError(f"the program has ended with {code}: {err}")

    def lines(self) -> Iterator[str]:
        """The further lines of output, until the program ends."""
        while True:
            while "\n" not in self._output and self._read():
                pass
            line, newline, self._output = self._output.partition("\n")
            if not line and not newline:
                return
            yield line

    def _read(self, within_s: float | None = None) -> bool:
        """Reads some output. False at its end. Raises TimeoutExpired if none comes."""
        assert self.popen.stdout is not None
        if self.popen.stdout.closed:
            return False
        if within_s is not None and not select.select([self.popen.stdout], [], [], within_s)[0]:
            raise subprocess.TimeoutExpired(self.popen.args, within_s, self._output)
        read = os.read(self.popen.stdout.fileno(), 65536)
        self._output += self._decoder.decode(read, final=not read)
        return bool(read)

    def errors(self) -> str:
        """The errors so far, without the lines that error_line() has returned."""
        size = os.fstat(self._errors).st_size
        return os.pread(self._errors, size, 0).decode(errors="replace")[self._seen :]

    def error_line(self) -> str:
        """The next line of errors. Fails if the program has ended."""
        ended = False

        def there() -> bool:
            nonlocal ended
            ended = self.popen.poll() is not None  # before the last look
            return "\n" in self.errors() or ended

        wait_until(there, "a line of errors")
        line, newline, _ = self.errors().partition("\n")
        assert newline, f"the program has ended with {self.popen.returncode}: {line}"
        self._seen += len(line) + 1
        return line

    def signal(self, number: int) -> None:
        self.popen.send_signal(number)

    def end(self, patience_s: float = PATIENCE_S) -> tuple[int, str, str]:
        """Waits for the end. Returns the exit code, the rest of the output, and the errors."""
        if self.popen.stdin is not None:
            with suppress(BrokenPipeError):
                self.popen.stdin.close()
            self.popen.stdin = None  # communicate() would flush it
        deadline = time.monotonic() + patience_s
        while self._read(max(0.0, deadline - time.monotonic())):
            pass
        self.popen.communicate(timeout=max(0.1, deadline - time.monotonic()))
        out, self._output = self._output, ""
        return self.popen.returncode, out, self.errors()

    def stop(self) -> tuple[int, str, str]:
        self.signal(signal.SIGINT)
        return self.end()


class OnTerminal:
    """A started process with a separate terminal, so that Ctrl-C becomes a signal."""

    def __init__(self, words: list[str], cwd: Path | None = None) -> None:
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160", "LINES": "40"}
        self.popen = subprocess.Popen(
            words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=cwd,
            start_new_session=True, preexec_fn=_own_terminal,  # noqa: PLW1509
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""
        # A read may end inside a character.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def read_until(self, text: str) -> None:
        """Reads until the text has appeared in the terminal's output since the start."""
        while text not in self.shown:
            assert self._read(PATIENCE_S), self.shown[-500:]

    def _read(self, seconds: float) -> bool:
        """Reads some output. False if none comes, or OSError after the end of the program."""
        ready, _, _ = select.select([self._ours], [], [], seconds)
        if ready:
            self.shown += self._decoder.decode(os.read(self._ours, 65536))
        return bool(ready)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._ours)[3] & termios.ECHO)

    def end(self) -> int:
        """Waits for the end and returns the exit code."""
        deadline = time.monotonic() + PATIENCE_S
        with suppress(OSError):  # no process has the terminal any more
            # A terminal that no one reads keeps few bytes, and its program waits at the next one.
            while self.popen.poll() is None and time.monotonic() < deadline:
                self._read(0.05)
        code = self.popen.wait(max(0.1, deadline - time.monotonic()))
        os.close(self._ours)
        return code


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


Start = Callable[..., Program]
OnTerminalStart = Callable[..., OnTerminal]
Cli = Callable[..., tuple[int, str, str]]
