"""Terminal output."""

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

_PIPE_WIDTH = 240  # columns without a terminal


def console(*, stderr: bool = False) -> Console:
    """Standard output or standard error. A file or a pipe gets a width that fits tables."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(highlight=False, width=width, stderr=stderr)


def table(title: str, columns: Sequence[str], right: Sequence[str] = ()) -> Table:
    """A plain table. The columns in `right` are numbers."""
    made = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(
            column, justify="right" if column in right else "left", no_wrap=column in right
        )
    return made


def plain(text: str) -> str:
    """Text or a name from a file as one line, without control characters."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text)


def cell(text: str) -> str:
    """Text or a name from a file for a table cell, where rich would read [words] as styles."""
    return escape(plain(text))


def say(out: Console, text: str) -> None:
    """Prints a line that contains text of a file, without rich's markup."""
    out.print(plain(text), markup=False, soft_wrap=True)


def progress(out: Console, quiet: bool) -> Progress:
    """A progress bar of runs, on a terminal only."""
    from rich import progress as parts  # noqa: PLC0415  most commands do not need it

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
