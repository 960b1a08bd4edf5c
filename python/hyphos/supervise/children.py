"""Processes of this machine: their output, their end, and the end of their descendants."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from hyphos._errors import Error
from hyphos.supervise.guard import Guard, dying_with_parent, end_groups

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_LONGEST_LINE = 65_536  # bytes, longer lines are split
_REST_S = 1.0  # for processes that remain in the group of an ended one
_DRAIN_S = 5.0  # for its last output
_ENDS = (signal.SIGINT, signal.SIGTERM)
_PACKAGES = {  # programs of a `prefix:`
    "gdb": "apt install gdb",
    "gdbserver": "apt install gdbserver",
    "perf": "apt install linux-perf",
    "strace": "apt install strace",
    "valgrind": "apt install valgrind",
}


@dataclass(frozen=True)
class Command:
    """The command for one process of a plan."""

    name: str
    words: Sequence[str]
    env: dict[str, str]
    folder: Path
    # The process starts with SIGINT and SIGTERM blocked, and unblocks them when it can end cleanly.
    # A stop request during its start then takes effect after the start, not in the middle.
    ends_when_ready: bool = False
    debugger: Sequence[str] = ()  # runs the same program under a debugger, by hand

    @property
    def debug_line(self) -> str:
        """The line for a shell that does so, or ""."""
        if not self.debugger:
            return ""
        return f"cd {shlex.quote(str(self.folder))} && {shlex.join(self.debugger)}"


@dataclass(frozen=True)
class Usage:
    """CPU seconds used so far, and resident bytes. Zero when the process is gone."""

    cpu_s: float = 0.0
    resident: int = 0


def usage_of(pid: int) -> Usage:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return Usage()
    return Usage((int(fields[11]) + int(fields[12])) / _TICKS, int(fields[21]) * _PAGE)


@dataclass
class Child:
    """A started process. It leads its own session and process group."""

    command: Command
    popen: subprocess.Popen[bytes]
    lock: threading.Lock = field(default_factory=threading.Lock)
    reaped: bool = False  # under lock: its pid may belong to another process

    @property
    def name(self) -> str:
        return self.command.name

    @property
    def pid(self) -> int:
        return self.popen.pid

    def signal(self, number: int) -> None:
        """Signals the process and its descendants. SIGCONT makes a stopped process handle it."""
        with self.lock:
            if self.reaped:
                return
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
                os.killpg(self.pid, signal.SIGCONT)


def _check(command: Command, env: dict[str, str]) -> None:
    """Raises a clear error for a command that cannot run. setpriv would only give an exit code."""
    program = command.words[0]
    if not command.folder.is_dir():
        raise Error("not_found", "the folder of the process does not exist", str(command.folder))
    if "/" not in program:
        if any(os.access(Path(p, program), os.X_OK) for p in os.get_exec_path(env)):
            return
        raise Error("not_found", "program not found on PATH", program, _PACKAGES.get(program, ""))
    path = command.folder / program
    if not path.exists():
        raise Error("not_found", "program not found", str(path))
    if path.is_dir() or not os.access(path, os.X_OK):
        raise Error(
            "permission", "the program is not executable", str(path), advice=f"chmod +x {path}"
        )


@contextmanager
def _blocked(numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Blocks signals in this thread. A child that is started inside inherits the mask."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


class Children:
    """Starts processes, reads their output, and reports their ends.

    `on_line(name, line)` and `on_end(child, code)` are called in threads of the child. on_end is
    called after the last line, and after all processes in the child's group have ended.
    """

    def __init__(
        self,
        guard: Guard,
        on_line: Callable[[str, bytes], None],
        on_end: Callable[[Child, int], None],
    ) -> None:
        self._guard = guard
        self._on_line = on_line
        self._on_end = on_end

    def start(self, command: Command) -> Child:
        """Starts a process. Call attend() next. Raises an error if the start fails.

        Call it in the main thread: the kernel ends the child together with the thread that started
        it.
        """
        env = {**os.environ, **command.env}
        try:
            _check(command, env)
            with _blocked(_ENDS if command.ends_when_ready else ()):
                popen = subprocess.Popen(
                    dying_with_parent(command.words),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    env=env,
                    cwd=command.folder,
                    start_new_session=True,  # Ctrl-C reaches only the launcher, which forwards it
                )
        except OSError as error:
            raise Error("io", error.strerror or str(error), command.words[0]) from error
        self._guard.add(popen.pid)
        return Child(command, popen)

    def attend(self, child: Child) -> None:
        """Starts to read the output and to wait for the end. No callback runs before."""
        reader = threading.Thread(target=self._read, args=(child,), daemon=True)
        reader.start()
        threading.Thread(target=self._wait, args=(child, reader), daemon=True).start()

    def _read(self, child: Child) -> None:
        assert child.popen.stdout is not None
        with suppress(ValueError, OSError):  # closed by _wait
            while line := child.popen.stdout.readline(_LONGEST_LINE):
                self._on_line(child.name, line if line.endswith(b"\n") else line + b"\n")

    def _wait(self, child: Child, reader: threading.Thread) -> None:
        # Not reaped yet, so its pid, which is also its group id, cannot be reused.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        end_groups({child.pid}, _REST_S)
        with child.lock:
            child.reaped = True
            code = child.popen.wait()
        self._guard.remove(child.pid)
        reader.join(_DRAIN_S)
        self._on_end(child, code)
