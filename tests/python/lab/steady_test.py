"""scripts/steady.py reports stalls, and repeats failed tests only where it may."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from helpers import wait_until

STEADY = Path(__file__).parents[3] / "scripts" / "steady.py"
STALL = "This machine stood still 2 times, for up to 1.5 s."

Run = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def steady() -> ModuleType:
    spec = importlib.util.spec_from_file_location("steady", STEADY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(
    steady: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Run:
    """Runs steady.py for a program whose failed tests end it with 1. The second program ends with
    7. Returns the exit code and the lines of the output.
    """
    failed = tmp_path / "failed"

    def run_it(
        code: int, away: list[float], names: list[str], *, rerun: bool = True, again: int = 7
    ) -> tuple[int, list[str]]:
        class Watch:
            def end(self) -> list[float]:
                return away

        monkeypatch.setattr(steady, "Watch", Watch)
        failed.write_text("".join(f"{place}:{name}\n" for place, name in enumerate(names, 1)))
        words = ["--rerun", str(tmp_path / "repeated")] if rerun else []
        words += ["1", str(failed), "sh", "-c", f"exit {code}", "--", "sh", "-c", f"exit {again}"]
        code = steady.main(words)
        return code, [line for line in capfd.readouterr().out.splitlines() if line]

    return run_it


def test_a_failure_is_final_unless_reruns_are_allowed(run: Run) -> None:
    assert run(1, [1.5, 0.6], ["a"], rerun=False) == (1, [STALL])


def test_a_failure_without_a_stall_is_final(run: Run, tmp_path: Path) -> None:
    assert run(1, [], ["a"]) == (1, [])
    assert not (tmp_path / "repeated").exists()


def test_a_failure_during_a_stall_is_repeated_once(run: Run, tmp_path: Path) -> None:
    code, out = run(1, [1.5, 0.6], ["Suite.a", "Suite.b"])
    assert code == 7
    assert out == [
        STALL,
        "The failed tests run once more, alone.",
        "repeated after a stall: Suite.a (the repetition ended with 7)",
        "repeated after a stall: Suite.b (the repetition ended with 7)",
    ]
    assert (tmp_path / "repeated").read_text() == "Suite.a\nSuite.b\n"


def test_a_repeated_test_that_passes_is_reported(run: Run) -> None:
    code, out = run(1, [1.5, 0.6], ["a"], again=0)
    assert code == 0
    assert out[-1] == "repeated after a stall: a (passed)"


def test_more_than_two_tests_are_not_repeated(run: Run, tmp_path: Path) -> None:
    code, out = run(1, [1.5, 0.6], ["a", "b", "c"])
    assert code == 1
    assert out[-1] == "3 tests failed. A run repeats at most 2, so none of them."
    assert not (tmp_path / "repeated").exists()


def test_the_repeated_tests_of_all_programs_are_counted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "repeated").write_text("earlier\n")
    assert run(1, [1.0], ["a"], again=0)[0] == 0
    assert (tmp_path / "repeated").read_text() == "earlier\na\n"
    assert run(1, [1.0], ["b"], again=0)[0] == 1
    assert (tmp_path / "repeated").read_text() == "earlier\na\n"


@pytest.mark.parametrize("code", [0, 2])
def test_other_exit_codes_are_final(run: Run, code: int) -> None:
    assert run(code, [1.5, 0.6], ["a"]) == (code, [STALL])
    assert run(code, [], ["a"]) == (code, [])


def test_the_failed_tests_of_pytest_are_read(steady: ModuleType, tmp_path: Path) -> None:
    failed = tmp_path / "lastfailed"
    failed.write_text(json.dumps({"b_test.py::b": True, "a_test.py::a[1]": True}, indent=2))
    assert steady.failed_tests(failed) == ["a_test.py::a[1]", "b_test.py::b"]


def test_a_stall_of_the_machine_is_seen(tmp_path: Path) -> None:
    running, go_on = tmp_path / "running", tmp_path / "go_on"
    first = f"touch {running}; while [ ! -e {go_on} ]; do sleep 0.01; done"
    words = [sys.executable, str(STEADY), "1", "-", "sh", "-c", first, "--", "sh", "-c", "exit 7"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as program:
        wait_until(running.exists)
        program.send_signal(signal.SIGSTOP)  # it sees the same as a process on a stalled machine
        time.sleep(1)  # the length of the stall
        program.send_signal(signal.SIGCONT)
        go_on.touch()
        out, _ = program.communicate()
    assert program.returncode == 0
    assert "This machine stood still" in out
