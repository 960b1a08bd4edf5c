"""hyphos top"""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.options import Domain


def top(
    sort: Annotated[
        str,
        typer.Option(
            "--sort",
            "-s",
            help="Sort by name, rate, bandwidth, latency, queue, drops, cpu or memory, largest "
            "first.",
        ),
    ] = "name",
    interval: Annotated[
        float,
        typer.Option("--interval", "-i", metavar="SECONDS", min=0.05, help="Time between updates."),
    ] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Print one table and exit.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and exit.")
    ] = False,
    domain: Domain = "0",
) -> None:
    """Watch processes (state, CPU, memory) and channels (rate, MB/s, latency, waiting, drops) of a
    running robot. q or Ctrl-C ends it. Keys n r b l u d c m sort. Does not disturb the robot.

    hyphos top --sort drops

    hyphos top --json | jq '.channels[] | select(.drops > 0)'
    """
    from hyphos.tools.top import top as show  # noqa: PLC0415

    raise typer.Exit(show(domain, sort, interval, once=once, json=as_json))
