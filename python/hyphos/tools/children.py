"""Processes that `hyphos run` has started: their output, and how they end or are ended."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hyphos._errors import Error

_TERM_S = 2.0  # between SIGTERM and SIGKILL
_KILL_S = 2.0  # for the kernel to end a process after SIGKILL
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Command:
    """What to start for one process of a plan."""

    name: str
    words: Sequence[str]
    env: dict[str, str]
    folder: Path


@dataclass
class Usage:
    """CPU seconds used so far and resident bytes; zero when the process is gone."""

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
    """One started process."""

    command: Command
    popen: subprocess.Popen[bytes]
    log: IO[bytes]
    threads: list[threading.Thread] = field(default_factory=list)
    stop_sent: bool = False

    @property
    def name(self) -> str:
        return self.command.name

    @property
    def pid(self) -> int:
        return self.popen.pid

    @property
    def running(self) -> bool:
        return self.popen.returncode is None

    @property
    def failed(self) -> bool:
        """Ended in another way than it should: by itself with an error, or not when asked to."""
        code = self.popen.returncode
        if code in (None, 0):
            return False
        return not (self.stop_sent and code in (-signal.SIGINT, -signal.SIGTERM, 130, 143))

    @property
    def state(self) -> str:
        code = self.popen.returncode
        if code is None:
            return "stopping" if self.stop_sent else "running"
        if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        return "ended" if code == 0 else f"failed ({code})"

    def signal(self, number: int) -> None:
        """To the process and its descendants: each child leads a group of its own."""
        if self.running:
            self.stop_sent = True
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                return


Line = Callable[[str, bytes], None]


class Children:
    """Starts processes, tells of their ends through a queue, and ends them all."""

    def __init__(self, logs: Path, on_line: Line) -> None:
        self.all: list[Child] = []
        self.events: queue.SimpleQueue[Child | int] = queue.SimpleQueue()
        self._logs = logs
        self._on_line = on_line

    def start(self, command: Command) -> Child:
        """Error if the program cannot be started."""
        log = (self._logs / f"{command.name}.log").open("wb")
        try:
            popen = subprocess.Popen(
                command.words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, **command.env},
                cwd=command.folder,
                start_new_session=True,  # Ctrl-C in the terminal reaches us alone; we pass it on
            )
        except OSError as error:
            log.close()
            raise Error(
                "not_found",
                f"process '{command.name}' cannot be started: {error.strerror}",
                command.words[0],
            ) from error
        child = Child(command, popen, log)
        for target in (self._read, self._wait):
            thread = threading.Thread(target=target, args=(child,), daemon=True)
            child.threads.append(thread)
            thread.start()
        self.all.append(child)
        return child

    def _read(self, child: Child) -> None:
        assert child.popen.stdout is not None
        for line in child.popen.stdout:
            child.log.write(line)
            child.log.flush()
            self._on_line(child.name, line.rstrip(b"\r\n"))
        child.log.close()

    def _wait(self, child: Child) -> None:
        child.popen.wait()
        self.events.put(child)

    @property
    def running(self) -> list[Child]:
        return [child for child in self.all if child.running]

    def stop(self, grace_s: float) -> None:
        """SIGINT, then SIGTERM, then SIGKILL to whatever still runs."""
        steps = ((signal.SIGINT, grace_s), (signal.SIGTERM, _TERM_S), (signal.SIGKILL, _KILL_S))
        for number, patience_s in steps:
            for child in self.running:
                child.signal(number)
            self._until_ended(patience_s)
        for child in self.all:
            child.threads[0].join(1.0)  # what was written last is still to be shown

    def _until_ended(self, patience_s: float) -> None:
        deadline = time.monotonic() + patience_s
        while self.running:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            try:
                event = self.events.get(timeout=left)
            except queue.Empty:
                return
            if isinstance(event, int):  # Ctrl-C again: no more patience
                return
