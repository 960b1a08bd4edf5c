"""The programs that tests start."""

from __future__ import annotations

import signal
import subprocess

import pytest
from helpers import PATIENCE_S, Start

TWO = "print('one\\ntwo', flush=True); input(); print('three\\nfo', end='')"


def test_the_end_has_all_output_behind_the_last_line(python: Start) -> None:
    """However much of it came with that line."""
    program = python(TWO.replace("input()", "__import__('time').sleep(0.2)"))
    assert program.line() == "one"
    assert program.end() == (0, "two\nthree\nfo", "")
    assert program.end() == (0, "", "")


def test_lines_end_with_the_program(python: Start) -> None:
    program = python(TWO.replace("input()", "pass"))
    assert list(program.lines()) == ["one", "two", "three", "fo"]
    with pytest.raises(AssertionError, match="has ended with 0"):
        program.line()


def test_the_end_closes_the_input(start: Start) -> None:
    program = start("cat", keys=True)
    program.type("a line\n")
    assert program.line() == "a line"
    assert program.end() == (0, "", "")


def test_a_program_that_does_not_end_is_an_error(start: Start) -> None:
    program = start("sleep", f"{2 * PATIENCE_S}")
    with pytest.raises(subprocess.TimeoutExpired):
        program.end(patience_s=0.1)
    program.signal(signal.SIGINT)
    assert program.end()[0] == -signal.SIGINT
