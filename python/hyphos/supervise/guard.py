"""Ends the processes of a robot when its launcher is killed with SIGKILL.

Two layers, because each alone has a gap. Every process asks the kernel for SIGTERM when the
launcher dies (`setpriv --pdeathsig`). But that signal does not reach its children, and a process
can ignore it. So a guard ends the whole process groups shortly after. The guard is a fork of the
launcher. It shares the launcher's memory pages and waits for the end of a pipe.
"""

from __future__ import annotations

import os
import shutil
import signal
import struct
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

_GRACE_S = 2.0  # between SIGTERM and SIGKILL
_KILL_S = 10.0  # for the kernel to end them after SIGKILL
_WORD = struct.Struct("=i")


def dying_with_parent(words: Sequence[str]) -> list[str]:
    """Wraps a command so that the kernel sends it SIGTERM when the starting thread ends.

    That thread is our main thread. Without setpriv the command is unchanged, and only the guard
    remains.
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM", "--", *words] if setpriv else list(words)


def members(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] not in "ZX":
                found.append(int(entry.name))
    return found


def end_groups(groups: set[int], grace_s: float) -> None:
    """Sends SIGTERM to the groups, and SIGKILL to those left after `grace_s` seconds."""
    for number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, _KILL_S)):
        left = {group for group in groups if members(group)}
        for group in left:
            with suppress(OSError):
                os.killpg(group, number)
                os.killpg(group, signal.SIGCONT)
        deadline = time.monotonic() + patience_s
        while any(members(group) for group in left) and time.monotonic() < deadline:
            time.sleep(0.02)


class Guard:
    """Ends the registered process groups with this process, however it ends.

    Create it before any thread. `folder` holds state that only the processes of this run share, and
    is removed at the end.
    """

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="hyphos-state-")
        reader, self._writer = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._writer)
            _stand_by(reader, self.folder)
        os.close(reader)

    @property
    def pid(self) -> int:
        return self._pid

    def add(self, group: int) -> None:
        self._tell(group)

    def remove(self, group: int) -> None:
        self._tell(-group)

    def _tell(self, word: int) -> None:
        with suppress(OSError):  # the guard was killed: the first layer remains
            os.write(self._writer, _WORD.pack(word))

    def close(self) -> None:
        os.close(self._writer)
        os.waitpid(self._pid, 0)


def _stand_by(reader: int, folder: str) -> NoReturn:
    """The main function of the guard. It may use nothing of the launcher except memory."""
    try:
        os.setsid()  # Ctrl-C must not reach the guard
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        # The guard must not keep pipes and files of the launcher open.
        os.closerange(3, reader)
        os.closerange(reader + 1, os.sysconf("SC_OPEN_MAX"))
        with suppress(OSError):
            Path("/proc/self/comm").write_text("hyphos-guard")
        groups: set[int] = set()
        while word := os.read(reader, _WORD.size):
            (group,) = _WORD.unpack(word)
            if group > 0:
                groups.add(group)
            else:
                groups.discard(-group)
        end_groups(groups, _GRACE_S)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os._exit(0)
