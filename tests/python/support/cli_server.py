"""Runs commands in forks of one process that has imported the modules. Each command is a separate
process, as from a shell, but starts at once. An interpreter and its imports take half a second, and
tests call hundreds of commands. Programs of `hyphos_start` start in the normal way.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from helpers import PATIENCE_S

# Modules that the commands import when they run. None of them starts a thread, because a fork would
# lose it.
PARSING = (
    "pydantic.types",
    "pydantic.type_adapter",
)  # typer imports them for values that are not plain
PACKAGES = ("hyphos.cli", "hyphos.tools", "hyphos.recording")
PLOTS = "hyphos.cosim.sweep.plot"  # with matplotlib, whose import takes seconds, if it is there
MODULES = ("hyphos.lab.commands", "hyphos.msgs", "rich.progress", *PARSING)


class CliServer:
    """Runs commands one at a time, for one thread."""

    def __init__(self) -> None:
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdout=subprocess.DEVNULL,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )

    def run(self, words: tuple[str, ...], cwd: Path) -> tuple[int, str, str]:
        """Runs a command. Returns its exit code, its output and its errors."""
        asked = json.dumps({"words": words, "cwd": str(cwd), "env": dict(os.environ)})
        ours, theirs = zip(os.pipe(), os.pipe(), strict=True)
        socket.send_fds(self._door, [asked.encode()], theirs)
        for fd in theirs:
            os.close(fd)
        pid = self._receive()
        try:
            out, err = _read_to_end(ours, Patience(pid))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            for fd in ours:
                os.close(fd)
            code = self._receive()
        return code, out, err

    def close(self) -> None:
        self._door.close()
        patience = Patience(self._server.pid)
        while self._server.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self._server.wait(patience.look_s)
            patience.check("the end of the server")

    def _receive(self) -> int:
        """A number from the server, which may still import its modules."""
        patience = Patience(self._server.pid)
        while not select.select([self._door], [], [], patience.look_s)[0]:
            patience.check("a reply of the server")
        return int(self._door.recv(100))


def _worked_s(pid: int) -> float:
    """The processor time of a process and its descendants."""
    total, open_pids = 0, [pid]
    while open_pids:
        process = Path(f"/proc/{open_pids.pop()}")
        with suppress(OSError):
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15]))  # with that of children that have ended
            for task in (process / "task").iterdir():
                open_pids += map(int, (task / "children").read_text().split())
    return total / os.sysconf("SC_CLK_TCK")


class Patience:
    """A limit for the end of a program. A program that imports a library may take minutes on a busy
    machine. So it limits the processor time of the program, and a time in which it does nothing.
    """

    def __init__(
        self, pid: int, patience_s: float = PATIENCE_S, work_of: Callable[[int], float] = _worked_s
    ) -> None:
        self._pid, self._patience_s, self._work_of = pid, patience_s, work_of
        self._first_s = self._worked_s = work_of(pid)
        self.printed()

    @property
    def look_s(self) -> float:
        """The time to the next check."""
        return min(1.0, self._patience_s)

    def printed(self) -> None:
        self._idle_since = time.monotonic()

    def check(self, what: str) -> None:
        """Raises TimeoutError at a limit."""
        now_s = self._work_of(self._pid)
        idle = now_s == self._worked_s and time.monotonic() - self._idle_since > self._patience_s
        if now_s != self._worked_s:
            self._worked_s = now_s
            self.printed()
        worked_s = self._worked_s - self._first_s
        if worked_s > self._patience_s or idle:
            raise TimeoutError(f"no end after {worked_s} s of work: {what}")


def _read_to_end(fds: tuple[int, ...], patience: Patience) -> list[str]:
    """Reads each descriptor until no process holds its other end."""
    found = dict.fromkeys(fds, b"")
    with selectors.DefaultSelector() as selector:
        for fd in fds:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(patience.look_s):
                got = os.read(key.fd, 1 << 16)
                found[key.fd] += got
                patience.printed()
                if not got:
                    selector.unregister(key.fd)
            patience.check(str(found))
    return [text.decode() for text in found.values()]


def serve(door: socket.socket) -> list[str]:
    """Forks a process for each command and returns the command's words in it. Ends when the client
    closes the socket.
    """
    while True:
        asked, fds, _, _ = socket.recv_fds(door, 1 << 20, 2)
        if not asked:
            sys.exit()
        pid = os.fork()
        if pid == 0:
            door.close()
            told = json.loads(asked)
            for number, fd in enumerate(fds, 1):
                os.dup2(fd, number)
                os.close(fd)
            os.environ.clear()
            os.environ.update(told["env"])
            os.chdir(told["cwd"])
            return list(told["words"])
        for fd in fds:
            os.close(fd)
        door.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        door.send(str(os.waitstatus_to_exitcode(status)).encode())


def preload() -> None:
    for module in map(importlib.import_module, (*PACKAGES, *MODULES)):
        if module.__name__ in PACKAGES:
            for one in pkgutil.iter_modules(module.__path__, f"{module.__name__}."):
                importlib.import_module(one.name)
    with suppress(ModuleNotFoundError):
        importlib.import_module(PLOTS)
    gc.freeze()  # forks neither scan nor copy the objects that exist now


if __name__ == "__main__":
    preload()
    from hyphos.cli.main import main

    sys.argv = ["hyphos", *serve(socket.socket(fileno=int(sys.argv[1])))]
    main()
