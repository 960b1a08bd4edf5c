"""hyphos log"""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.complete import node_names
from hyphos.cli.options import Domain


def log(
    level: Annotated[
        str,
        typer.Option("--level", "-l", help="Lowest level: debug, info, warn, error or fatal."),
    ] = "debug",
    node: Annotated[
        list[str] | None,
        typer.Option(
            "--node",
            "-N",
            help="Only lines of this node or process. Repeatable.",
            autocompletion=node_names,
        ),
    ] = None,
    where: Annotated[
        bool, typer.Option("--where", help="Also print file, line and function.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after this many lines.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", help="Stop after this many seconds."),
    ] = None,
    channel: Annotated[str, typer.Option("--channel", help="Channel of the log lines.")] = "log",
    domain: Domain = "0",
) -> None:
    """Show the log lines of a running robot as they arrive, including those of Hyphos itself.
    Earlier lines are not available: `hyphos run` keeps them in its log files.

    hyphos log --level warn

    hyphos log --node mapper --json | jq .msg
    """
    from hyphos._errors import Error  # noqa: PLC0415
    from hyphos.tools.log import LogOptions, show_log  # noqa: PLC0415

    options = LogOptions(
        level=level,
        nodes=node or [],
        count=count,
        seconds=seconds,
        as_json=as_json,
        where=where,
        channel=channel,
        domain=domain,
    )
    try:
        raise typer.Exit(show_log(options))
    except ValueError as problem:
        raise Error("invalid_config", str(problem)) from None
