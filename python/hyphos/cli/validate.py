"""hyphos validate"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import AsJson


def validate(
    file: Annotated[Path, typer.Argument(help="robot.yaml", metavar="ROBOT.YAML")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change the plan, e.g. channels.scan.depth=3."
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--timeout", metavar="SECONDS", min=0.1, help="For each process, to make its nodes."
        ),
    ] = 30.0,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a robot.yaml together with its plug-ins and Python modules. The robot is not started.

    The nodes of every process are made in a process of their own, without any connection: their
    constructors run. Then: two types on one channel, inputs that nobody publishes, outputs that
    nobody hears, ends that the plan does not connect, rings of blocking channels, missing files.
    Exit code 1 if there is an error.

    hyphos validate robot.yaml

    hyphos validate robot.yaml --strict --json
    """
    from hyphos.tools import validate as tool  # noqa: PLC0415

    raise typer.Exit(tool.validate(file, settings or [], seconds, strict, as_json))
