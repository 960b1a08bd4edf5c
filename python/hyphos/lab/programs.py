"""Runs the programs of the laboratory: one at a time, to its end, for the one result it tells."""

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
    """One program after the other. stop() may be called from any thread; all else belongs to
    one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: subprocess.Popen[str] | None = None
        self._stopped = False

    @property
    def stopped(self) -> bool:
        return self._stopped

    def stop(self) -> None:
        """Ends the program that runs, and starts no other."""
        with self._lock:
            self._stopped = True
            if self._current is not None:
                _kill(self._current)

    def run(self, name: str, words: Sequence[str], limit_s: float) -> dict[str, Any] | None:
        """The JSON object in the last line that `words` print; None if it was stopped. Error if
        there is none, with `name` for its place: it hung, died, failed, or told something else."""
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
                "it has hung: run it again, with less to do if the machine is busy",
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
    """Its processes die with it."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _check_end(name: str, code: int, told: str) -> None:
    lines = told.strip().splitlines()
    last = lines[-1] if lines else ""
    if last.startswith("process ") and last.endswith(" died") and len(lines) > 1:
        last += f"; the line before: {lines[-2]}"
    if code < 0:
        message = f"it was ended by {_signal(-code)}" + (f": {last}" if last else "")
        advice = "`ulimit -c unlimited`, and run it again: its core shows where"
        if code == -signal.SIGKILL:
            advice = "somebody killed it, or memory ran out: `dmesg` tells"
        raise Error("disconnected", message, name, advice)
    if code > 0:
        raise Error("io", last or f"exit status {code}", name, "mend what it complains of")


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
            f"its last line is no result in JSON: '{line[:80]}'",
            name,
            "it is of another version than this package: make build",
        )
    return told
