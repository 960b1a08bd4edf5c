"""hyphos log"""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.complete import node_names
from hyphos.cli.options import Domain


def log(
    level: Annotated[
        str,
        typer.Option("--level", "-l", help="From here on: debug, info, warn, error, fatal."),
    ] = "debug",
    node: Annotated[
        list[str] | None,
        typer.Option(
            "--node",
            "-N",
            help="Only of this node or process; may be given again.",
            autocompletion=node_names,
        ),
    ] = None,
    where: Annotated[bool, typer.Option("--where", help="Also file, line and function.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after so many lines.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--for", metavar="SECONDS", help="Stop after so long.")
    ] = None,
    channel: Annotated[str, typer.Option("--channel", help="Where the lines come.")] = "log",
    domain: Domain = "0",
) -> None:
    """Show what the nodes of a running robot log, as it comes, with the lines of Hyphos itself.
    Lines from before are not kept on the channel: `hyphos run` keeps them in its log files.

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
