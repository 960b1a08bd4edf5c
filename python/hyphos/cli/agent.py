"""hyphos agent"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def agent(
    file: Annotated[
        Path, typer.Argument(help="The robot.yaml on this machine.", metavar="ROBOT.YAML")
    ],
    host: Annotated[str, typer.Option("--host", help="Name of this machine in the plan.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the plan. Repeatable."),
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Also report the channels here.")] = False,
    base_ns: Annotated[
        int, typer.Option("--base-ns", help="Start time of the robot, in Unix nanoseconds.")
    ] = 0,
) -> None:
    """Run the processes of one machine for `hyphos run`, which starts this command by ssh.

    Not for interactive use. The agent reads and writes JSON on its standard input and output. It
    ends its processes when either is closed.
    """
    from hyphos.supervise.agent import serve  # noqa: PLC0415

    raise typer.Exit(serve(file, host, settings or [], live, base_ns))
