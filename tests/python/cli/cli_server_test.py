"""The process that runs commands for tests: its limits are the work of a command, not its time."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest
from cli_server import Patience, _read_to_end, _worked_s
from helpers import Start, wait_until


def test_a_command_that_works_may_take_longer_than_the_limit() -> None:
    reader, writer = os.pipe()
    looks = itertools.count()

    def work(_pid: int) -> float:
        look = next(looks)
        if look == 20:
            os.write(writer, b"done")
            os.close(writer)
        return (look + 1) * 1e-6

    # Each look takes the whole patience, because nothing is printed.
    assert _read_to_end((reader,), Patience(0, 0.02, work)) == ["done"]
    os.close(reader)


def test_errors_that_no_test_reads_do_not_block_a_program(python: Start) -> None:
    text = "import sys; sys.stderr.write('first\\n' + 'x' * 1_000_000 + '\\n'); print('done')"
    program = python(text)
    wait_until(lambda: program.popen.poll() is not None, "its end")
    assert program.line() == "done"
    assert program.error_line() == "first"
    assert program.end() == (0, "", "x" * 1_000_000 + "\n")


@pytest.mark.parametrize("step_s", [0.0, 0.01])
def test_a_command_that_works_never_or_for_ever_is_an_error(step_s: float) -> None:
    reader, writer = os.pipe()
    looks = itertools.count()
    with pytest.raises(TimeoutError, match="no end after"):
        _read_to_end((reader,), Patience(0, 0.02, lambda _pid: next(looks) * step_s))
    os.close(reader)
    os.close(writer)


def test_the_work_of_a_command_includes_its_children() -> None:
    parent = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    with subprocess.Popen([sys.executable, "-c", parent], process_group=0) as program:
        try:
            wait_until(lambda: _worked_s(program.pid) > 1, "a second of work")
        finally:
            os.killpg(program.pid, 9)
    assert _worked_s(program.pid) == 0
