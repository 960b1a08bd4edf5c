"""The report of a crash of a process that a launcher started: its stacks of C++ and of Python."""

from __future__ import annotations

import faulthandler
from collections.abc import Sequence
from contextlib import suppress

from hyphos import _hyphos

_OPTION = "--hyphos-process"


def report_crashes(argv: Sequence[str]) -> None:
    """Enables both reports if `argv` has the arguments of a launcher. The C++ stack comes first."""
    if _OPTION not in argv[:-1]:
        return
    with suppress(AttributeError, OSError, ValueError):  # stderr is closed, or is not a file
        if not faulthandler.is_enabled():
            faulthandler.enable()
    _hyphos.report_crashes(argv[list(argv).index(_OPTION) + 1])
