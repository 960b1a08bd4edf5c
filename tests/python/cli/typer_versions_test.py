"""The checks of option values, for the Typer of the distribution and for the pinned one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hyphos.cli.values import problem_of

COMMON = {"name": "count", "default": 3, "nargs": 1}


def with_limits(low: float | None, high: float | None) -> list[Any]:
    """An option as Typer 0.29 has it, and as Typer 0.7 of Debian 12 has it."""
    limits = SimpleNamespace(min=low, max=high)
    return [
        SimpleNamespace(**COMMON, min=low, max=high),
        SimpleNamespace(**COMMON, type=limits),
    ]


@pytest.mark.parametrize("version", [0, 1])
def test_a_number_is_checked_with_the_limits_of_its_option(version: int) -> None:
    assert problem_of(with_limits(None, None)[version], 0) == "0 is too small: give a value above 0"
    assert problem_of(with_limits(0, None)[version], 0) == ""
    assert "too large" in problem_of(with_limits(None, None)[version], 10**19)
    assert problem_of(with_limits(None, 10**20)[version], 10**19) == ""


def test_a_type_without_limits_has_none() -> None:
    assert problem_of(SimpleNamespace(**COMMON, type=SimpleNamespace()), 5) == ""
