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
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from helpers import PATIENCE_S

# Modules that the commands import when they run. None of them starts a thread, because a fork would
# lose it.
PARSING = (
    "pydantic.types",
    "pydantic.type_adapter",
)  # typer imports them for values that are not plain
PACKAGES = ("hyphos.cli", "hyphos.tools", "hyphos.recording")
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
        self._door.settimeout(PATIENCE_S)

    def run(self, words: tuple[str, ...], cwd: Path) -> tuple[int, str, str]:
        """Runs a command. Returns its exit code, its output and its errors."""
        asked = json.dumps({"words": words, "cwd": str(cwd), "env": dict(os.environ)})
        ours, theirs = zip(os.pipe(), os.pipe(), strict=True)
        socket.send_fds(self._door, [asked.encode()], theirs)
        for fd in theirs:
            os.close(fd)
        pid = int(self._door.recv(100))
        try:
            out, err = _read_to_end(ours)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            for fd in ours:
                os.close(fd)
            code = int(self._door.recv(100))
        return code, out, err

    def close(self) -> None:
        self._door.close()
        self._server.wait(PATIENCE_S)


def _read_to_end(fds: tuple[int, ...]) -> list[str]:
    """Reads each descriptor until no process holds its other end."""
    found = dict.fromkeys(fds, b"")
    deadline = time.monotonic() + PATIENCE_S
    with selectors.DefaultSelector() as selector:
        for fd in fds:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(deadline - time.monotonic()):
                got = os.read(key.fd, 1 << 16)
                found[key.fd] += got
                if not got:
                    selector.unregister(key.fd)
            if time.monotonic() > deadline:
                raise TimeoutError(f"no end within {PATIENCE_S} s: {found}")
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
    gc.freeze()  # forks neither scan nor copy the objects that exist now


if __name__ == "__main__":
    preload()
    from hyphos.cli.main import main

    sys.argv = ["hyphos", *serve(socket.socket(fileno=int(sys.argv[1])))]
    main()
