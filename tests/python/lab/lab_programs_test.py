"""Laboratory programs: each gives one result, or an error with the reason."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from helpers import PATIENCE_S, wait_until
from hyphos import Error
from hyphos.lab.domain import domains
from hyphos.lab.programs import Programs


def shell(script: str, limit_s: float = PATIENCE_S) -> dict[str, object] | None:
    return Programs().run("thing", ["sh", "-c", script], limit_s)


def test_the_result_is_the_last_line() -> None:
    assert shell("""echo warming up; echo '{"a": 1}'""") == {"a": 1}


def test_a_hung_program_is_an_error_and_ends_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(Error, match=r"thing: no result within 5 s") as caught:
        shell(f"sleep 1000 & echo $$ $! > {pids}; wait", limit_s=5)
    assert caught.value.code == "timeout"
    assert caught.value.advice
    for pid in pids.read_text().split():
        wait_until(partial(has_ended, pid), "its processes to end")


def has_ended(pid: str) -> bool:
    """True also for a zombie that no process waits for."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        ("kill -SEGV $$", "disconnected", "thing: ended by SIGSEGV"),
        ("echo why >&2; kill -ABRT $$", "disconnected", "thing: ended by SIGABRT: why"),
        ("kill -KILL $$", "disconnected", "thing: ended by SIGKILL"),
        ("echo first >&2; echo last >&2; exit 3", "io", "thing: last"),
        (
            "echo why >&2; echo 'process daemon died' >&2; exit 1",
            "io",
            "thing: process daemon died (previous line: why)",
        ),
        ("exit 3", "io", "thing: exit status 3"),
        ("true", "corrupt", "thing: its last line is not a JSON result: ''"),
        ("echo '{\"a\":'", "corrupt", "thing: its last line is not a JSON result: '{\"a\":'"),
        ("echo 3", "corrupt", "thing: its last line is not a JSON result: '3'"),
        ("printf '\\377'", "corrupt", "thing: its last line is not a JSON result: '\ufffd'"),
    ],
)
def test_a_program_without_a_result_is_an_error(script: str, code: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        shell(script)
    assert (caught.value.code, str(caught.value)) == (code, message)
    assert caught.value.advice


def test_a_stopped_program_has_no_result_and_no_successor(tmp_path: Path) -> None:
    programs = Programs()
    begun = tmp_path / "begun"
    results: list[object] = []
    words = ["sh", "-c", f"touch {begun}; sleep 1000"]
    runner = threading.Thread(target=lambda: results.append(programs.run("x", words, 1000)))
    runner.start()
    wait_until(begun.exists, "it to begin")
    programs.stop()
    runner.join(PATIENCE_S)
    assert results == [None]
    assert programs.run("x", [sys.executable, "-c", "print('{}')"], PATIENCE_S) is None


def test_every_run_has_a_separate_domain() -> None:
    made = domains()
    names = [next(made).name for _ in range(3)]
    assert len(set(names)) == 3
    assert next(made).folder.parent == Path(f"/dev/shm/hyphos-{os.getuid()}")
