"""A short run of the fuzzer of `make fuzz`, always with the same inputs."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording_fuzz import exercise, make_input


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_no_input_breaks_a_command(first: int, tmp_path: Path) -> None:
    for number in range(first, first + 20):
        try:
            exercise(number, tmp_path)
        except Exception as error:
            raise AssertionError(f"input {number}") from error


def test_one_number_makes_one_input(tmp_path: Path) -> None:
    for number in range(20):
        path = make_input(number, tmp_path)
        if path.is_file() and path.suffix != ".db3":  # a database holds a counter of its changes
            data = path.read_bytes()
            assert make_input(number, tmp_path).read_bytes() == data
