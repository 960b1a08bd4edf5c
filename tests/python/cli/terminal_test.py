"""The terminal in which tests run a command."""

from __future__ import annotations

import sys
from pathlib import Path

from helpers import OnTerminal

LONG = "import sys; print('begin', flush=True); sys.stdin.readline(); print('é' * 99_999 + 'end')"


def test_a_program_ends_though_no_test_reads_its_output(tmp_path: Path) -> None:
    program = OnTerminal([sys.executable, "-c", LONG], tmp_path)
    program.read_until("begin")
    program.type("\n")
    assert program.end() == 0


def test_a_character_in_two_reads_is_whole(tmp_path: Path) -> None:
    program = OnTerminal([sys.executable, "-c", LONG], tmp_path)
    program.type("\n")
    program.read_until("end")
    assert program.end() == 0
    assert program.shown.count("é") == 99_999
