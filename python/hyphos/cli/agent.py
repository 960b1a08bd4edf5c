"""hyphos agent"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def agent(
    file: Annotated[Path, typer.Argument(help="robot.yaml on this machine.", metavar="ROBOT.YAML")],
    host: Annotated[str, typer.Option("--host", help="Which host of the plan this machine is.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change the plan.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Also tell of the channels here.")] = False,
    base_ns: Annotated[
        int, typer.Option("--base-ns", help="When the time of the robot began, Unix time.")
    ] = 0,
) -> None:
    """What `hyphos run` starts by ssh on the other machines of a plan; not for people.

    It speaks JSON through its standard input and output, and ends its processes when they close.
    """
    from hyphos.supervise.agent import serve  # noqa: PLC0415

    raise typer.Exit(serve(file, host, settings or [], live, base_ns))
