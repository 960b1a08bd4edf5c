"""hyphos run"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    file: Annotated[Path, typer.Argument(help="robot.yaml", metavar="ROBOT.YAML")],
    live: Annotated[
        bool, typer.Option("--live", "-l", help="Live table of processes and channels.")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option("--for", metavar="SECONDS", help="Stop after so long.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change the plan, e.g. channels.scan.depth=3."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--process", "-p", help="Only this process; may be given again."),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option("--host", help="Start the processes of this host, whatever its address."),
    ] = None,
    logs: Annotated[
        Path | None,
        typer.Option(
            "--logs", help="Folder for the logs. Default: a new one below the temp folder."
        ),
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Record what the plan's `record:` names; else all.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", help="Write an HTML page with the graph, channels and latencies at the end."
        ),
    ] = None,
    pictures: Annotated[
        list[Path] | None,
        typer.Option("--picture", help="With --report: show this file, too; may be given again."),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", "-k", help="Go on when a process fails.")
    ] = False,
    grace: Annotated[
        float,
        typer.Option(
            "--grace", metavar="SECONDS", help="How long to wait before SIGTERM, then SIGKILL."
        ),
    ] = 5.0,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Output of the processes goes to the logs only.")
    ] = False,
) -> None:
    """Start the processes of a robot.yaml and wait for them. Ctrl-C stops them all.

    Exit code 1 if a process failed.

    hyphos run robot.yaml --live

    hyphos run robot.yaml --for 60 --record --report run.html

    hyphos run robot.yaml --for 10 --set channels.camera.depth=2

    hyphos run robot.yaml --host laptop (on the laptop, for a plan with several machines)
    """
    from hyphos.tools.launch import LaunchOptions, launch  # noqa: PLC0415

    options = LaunchOptions(
        file=file,
        live=live,
        seconds=seconds,
        settings=settings or [],
        only=only or [],
        hosts=host or [],
        logs=logs,
        record=record,
        keep_going=keep_going,
        grace_s=grace,
        quiet=quiet,
        report=report,
        pictures=pictures or [],
    )
    raise typer.Exit(launch(options))
