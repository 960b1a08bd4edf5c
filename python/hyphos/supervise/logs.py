"""Log files of a run: their folder, their size limit, and errors such as a full disk."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from hyphos._errors import Error

RUNS_KEPT = 20  # of one robot, in the default folder
_INFO = "run.json"


def default_root(robot: str) -> Path:
    """$XDG_STATE_HOME/hyphos/log/ROBOT, or below ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return base / "hyphos" / "log" / robot


def _is_running(run: Path) -> bool:
    try:
        pid = int(json.loads((run / _INFO).read_text())["pid"])
        os.kill(pid, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def _forget_old(root: Path, keep: int) -> None:
    """Removes all but the newest runs. Names start with the time, so they sort by age."""
    runs = sorted(p for p in root.iterdir() if p.is_dir() and not p.is_symlink())
    for run in runs[: max(0, len(runs) - keep)]:
        # Only folders of Hyphos: a wrong XDG_STATE_HOME must not delete other folders.
        if (run / _INFO).is_file() and not _is_running(run):
            shutil.rmtree(run, ignore_errors=True)


def make_default_folder(robot: str, plan: str) -> Path:
    """Creates the folder of this run, points `latest` to it, and removes old runs."""
    root = default_root(robot)
    run = root / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    run.mkdir(parents=True, exist_ok=True)
    info = {"plan": plan, "pid": os.getpid(), "started": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
    (run / _INFO).write_text(json.dumps(info) + "\n")
    link = root / f".latest-{os.getpid()}"
    with suppress(OSError):
        link.unlink(missing_ok=True)
        link.symlink_to(run.name)
        link.replace(root / "latest")
    with suppress(OSError):
        _forget_old(root, RUNS_KEPT)
    return run


class ProcessLog:
    """The output of one process over all its restarts. Used by one thread at a time.

    NAME.log has the latest output, NAME.1.log the output before. Both together stay below `limit`
    bytes. A write error loses lines, which are counted and reported. It never affects the process.
    """

    def __init__(self, path: Path, limit: int, tell: Callable[[str], None]) -> None:
        self._path = path
        self._half = max(limit // 2, 4096)
        self._tell = tell
        self._file: IO[bytes] | None = None
        self._size = 0
        self._broken = False
        self.lost = 0  # lines
        try:
            self._open()
        except OSError as error:
            raise Error("io", f"cannot create the log: {error.strerror}", str(path)) from error

    def _open(self) -> None:
        # Unbuffered: a full disk shows at the line that does not fit.
        self._file = self._path.open("wb", buffering=0)
        self._size = 0

    def write(self, line: bytes) -> None:
        try:
            if self._size + len(line) > self._half and self._size > 0:
                self._rotate()
            if self._broken:
                self._put(f"--- {self.lost} lines could not be written ---\n".encode())
                self._broken = False
            self._put(line)
        except OSError as error:
            self.lost += 1
            if not self._broken:
                self._tell(f"{self._path}: {error.strerror}. Its lines are shown, but not saved")
            self._broken = True

    def _put(self, line: bytes) -> None:
        if self._file is None:
            self._open()
        assert self._file is not None
        written = self._file.write(line)
        self._size += written
        if written < len(line):
            raise OSError(28, "No space left on device")

    def _rotate(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._path.replace(self._path.with_suffix(".1.log"))
        self._open()

    def close(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None


class Logs:
    """The log folder of a run. Thread-safe if each process has one reader."""

    def __init__(self, folder: Path | None, limit_mb: float, tell: Callable[[str], None]) -> None:
        self.folder = folder
        self._limit = int(limit_mb * 1e6)
        self._tell = tell
        self._logs: dict[str, ProcessLog] = {}

    @classmethod
    def open(
        cls, asked: Path | None, robot: str, plan: str, limit_mb: float, tell: Callable[[str], None]
    ) -> Logs:
        """Opens the log folder. Raises an error if a requested folder is not available.

        If the default folder is not available, the robot still runs, and a message reports that no
        log is kept.
        """
        try:
            if asked is not None:
                asked.mkdir(parents=True, exist_ok=True)
                return cls(asked, limit_mb, tell)
            return cls(make_default_folder(robot, plan), limit_mb, tell)
        except OSError as error:
            where = str(asked or default_root(robot))
            if asked is not None:
                raise Error("io", f"cannot write logs here: {error.strerror}", where) from error
            tell(f"{where}: {error.strerror}. Output is shown, but not saved (--logs FOLDER)")
            return cls(None, limit_mb, tell)

    def of(self, process: str) -> ProcessLog | None:
        if self.folder is None:
            return None
        if process not in self._logs:
            path = self.path(process)
            try:
                self._logs[process] = ProcessLog(path, self._limit, self._tell)
            except Error as error:
                self._tell(f"{error}. Output is shown, but not saved")
                self.folder = None
                return None
        return self._logs[process]

    def path(self, process: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{process}.log"

    def close(self) -> None:
        for log in self._logs.values():
            log.close()
