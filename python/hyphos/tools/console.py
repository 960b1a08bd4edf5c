"""Output for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

_PIPE_WIDTH = 160  # columns where there is no terminal to fit


def console(*, stderr: bool = False) -> Console:
    """Standard output or standard error; wide enough for tables when it is a file or a pipe."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(highlight=False, width=width, stderr=stderr)


def table(title: str, columns: Sequence[str], right: Sequence[str] = ()) -> Table:
    """A plain table; the columns in `right` are numbers."""
    made = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(
            column, justify="right" if column in right else "left", no_wrap=column in right
        )
    return made


def print_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=2)
    print()
