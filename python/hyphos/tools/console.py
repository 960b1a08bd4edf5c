"""Output for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from rich.progress import Progress

_PIPE_WIDTH = 240  # columns where there is no terminal to fit


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


def plain(text: str) -> str:
    """Text of a file or its name, for people: one line, without control characters."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text)


def cell(text: str) -> str:
    """The same for a table, which would take [words] for styles."""
    return escape(plain(text))


def say(out: Console, text: str) -> None:
    """A line with text of a file in it, as it is."""
    out.print(plain(text), markup=False, soft_wrap=True)


def progress(out: Console, quiet: bool) -> Progress:
    """How many of some runs are done, on a terminal."""
    from rich import progress as parts  # noqa: PLC0415  most commands have no use for it

    return parts.Progress(
        parts.TextColumn("{task.description}"),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TimeRemainingColumn(),
        console=out,
        disable=quiet or not out.is_terminal,
    )


def print_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=2)
    print()
