"""Failed tests run a second time only after a stall of the machine."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from helpers import wait_until

STEADY = Path(__file__).parents[2] / "scripts" / "steady.py"


def run(folder: Path, code: int, *, stall: bool) -> tuple[int, str]:
    """Runs steady.py, which repeats on exit code 1, with a first program that ends with `code`. The
    second program would end with 7.
    """
    running, go_on = folder / "running", folder / "go_on"
    first = f"touch {running}; while [ ! -e {go_on} ]; do sleep 0.01; done; exit {code}"
    words = [sys.executable, str(STEADY), "1", "sh", "-c", first, "--", "sh", "-c", "exit 7"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as program:
        wait_until(running.exists)
        if stall:  # a stopped process sees the same as a process on a stalled machine
            program.send_signal(signal.SIGSTOP)
            time.sleep(1)
            program.send_signal(signal.SIGCONT)
            time.sleep(1)
        go_on.touch()
        out, _ = program.communicate()
    return program.returncode, out


def test_a_failure_during_a_stall_is_run_again(tmp_path: Path) -> None:
    code, out = run(tmp_path, 1, stall=True)
    assert code == 7
    assert "stood still" in out


def test_other_exit_codes_are_final(tmp_path: Path) -> None:
    assert run(tmp_path, 2, stall=True) == (2, "")


def test_a_success_is_final(tmp_path: Path) -> None:
    assert run(tmp_path, 0, stall=True) == (0, "")


def test_a_failure_without_a_stall_is_final(tmp_path: Path) -> None:
    for attempt in range(30):  # this machine may stall by itself
        folder = tmp_path / str(attempt)
        folder.mkdir()
        if run(folder, 1, stall=False) == (1, ""):
            return
    raise AssertionError("there was always a second chance")
