"""hyphos validate"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import AsJson, with_domain


def validate(
    file: Annotated[Path, typer.Argument(help="The plan of the robot.", metavar="ROBOT.YAML")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a value of the plan, e.g. channels.scan.depth=3. Repeatable.",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=0.1,
            help="Time limit for each process to create its nodes.",
        ),
    ] = 30.0,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a robot.yaml together with its plug-ins and Python modules. The robot is not started.

    Creates the nodes of every process in a separate process without transports, so their
    constructors run. Then checks for two types on one channel, inputs without a publisher, outputs
    without a subscriber, endpoints that the plan does not connect, cycles of blocking channels and
    missing files. Exit code 1 if there is an error.

    hyphos validate robot.yaml

    hyphos validate robot.yaml --strict --json
    """
    from hyphos.tools import validate as tool  # noqa: PLC0415

    raise typer.Exit(tool.validate(file, with_domain(settings), seconds, strict, as_json))
