"""What becomes of a robot whose launcher is killed with SIGKILL: its processes end, too.

Two layers, because each alone leaves a hole. Every process asks the kernel for SIGTERM when the
launcher dies (`setpriv --pdeathsig`), but that does not reach its own children, and can be ignored.
So a guard, a fork of the launcher that shares its memory and waits for the end of a pipe, ends the
whole process groups a moment later.
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
    """The command, so wrapped that the kernel sends it SIGTERM when the thread that started it
    (our main thread) ends. As it is on systems without setpriv: the guard is left."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM", "--", *words] if setpriv else list(words)


def members(group: int) -> list[int]:
    """Processes of a group that have not ended."""
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
    """SIGTERM, and SIGKILL for what is left after so long."""
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
    """Make it before any thread. The groups named to it end with this process, whatever ends it,
    and `folder`, for what only the processes of this run share, is gone then."""

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
        with suppress(OSError):  # somebody has killed it: the first layer is left
            os.write(self._writer, _WORD.pack(word))

    def close(self) -> None:
        os.close(self._writer)
        os.waitpid(self._pid, 0)


def _stand_by(reader: int, folder: str) -> NoReturn:
    """The guard's whole life. Nothing of the launcher may be touched but memory."""
    try:
        os.setsid()  # Ctrl-C is not meant for it
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        # It must not hold the launcher's pipes and files open.
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
