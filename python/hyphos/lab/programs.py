"""Runs laboratory programs: one at a time, to the end, for one result each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hyphos._errors import Error


class Programs:
    """Runs one program after the other. Call stop() from any thread, everything else from one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: subprocess.Popen[str] | None = None
        self._stopped = False

    @property
    def stopped(self) -> bool:
        return self._stopped

    def stop(self) -> None:
        """Ends the running program, and starts no other."""
        with self._lock:
            self._stopped = True
            if self._current is not None:
                _kill(self._current)

    def run(self, name: str, words: Sequence[str], limit_s: float) -> dict[str, Any] | None:
        """Returns the JSON object in the last output line of `words`, or None if stopped. Raises
        Error with `name` as its context if the program hung, died, failed, or printed another
        last line."""
        with self._lock:
            if self._stopped:
                return None
            process = self._current = subprocess.Popen(
                words,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        try:
            out, told = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise Error(
                "timeout",
                f"no result within {limit_s:.0f} s",
                name,
                "the program hung. Run it again, with less load if the machine is busy",
            ) from None
        finally:
            with self._lock:
                self._current = None
            _kill(process)
            process.communicate()
        if self.stopped:
            return None
        _check_end(name, process.returncode, told)
        return _result(name, out)


def _kill(process: subprocess.Popen[str]) -> None:
    """Kills the program and its processes."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _check_end(name: str, code: int, told: str) -> None:
    lines = told.strip().splitlines()
    last = lines[-1] if lines else ""
    if last.startswith("process ") and last.endswith(" died") and len(lines) > 1:
        last += f" (previous line: {lines[-2]})"
    if code < 0:
        message = f"ended by {_signal(-code)}" + (f": {last}" if last else "")
        advice = "run `ulimit -c unlimited` and then the program again, for a core dump"
        if code == -signal.SIGKILL:
            advice = "it was killed, or memory ran out: see `dmesg`"
        raise Error("disconnected", message, name, advice)
    if code > 0:
        raise Error("io", last or f"exit status {code}", name, "fix the reported cause")


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _result(name: str, out: str) -> dict[str, Any]:
    line = (out.strip().splitlines() or [""])[-1]
    try:
        told = json.loads(line)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise Error(
            "corrupt",
            f"its last line is not a JSON result: '{line[:80]}'",
            name,
            "its version differs from that of this package: run `make build`",
        )
    return told
