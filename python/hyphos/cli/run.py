"""hyphos run"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.tools.waiting import ctrl_c_kills


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
            "--logs",
            help="Folder for the logs. Default: a new one for every run, below "
            "~/.local/state/hyphos/log.",
        ),
    ] = None,
    log_mb: Annotated[
        float,
        typer.Option(
            "--log-mb", metavar="MB", min=0.01, help="Most that is kept of each process's output."
        ),
    ] = 50.0,
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
        float | None,
        typer.Option(
            "--grace",
            metavar="SECONDS",
            min=0.0,
            help="How long to wait before SIGTERM, then SIGKILL. Default: the plan's "
            "stop_timeout_ms.",
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Output of the processes goes to the logs only.")
    ] = False,
) -> None:
    """Start the processes of a robot.yaml, in order, and watch over them. Ctrl-C ends them all.

    `after`, `restart` and `health` of the plan say what starts when, and what is started again.
    Exit code 1 if a process failed for good.

    hyphos run robot.yaml --live

    hyphos run robot.yaml --for 60 --record --report run.html

    hyphos run robot.yaml --for 10 --set channels.camera.depth=2

    hyphos run robot.yaml --host laptop (on the laptop, for a plan with several machines)
    """
    with ctrl_c_kills():
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
        log_mb=log_mb,
    )
    raise typer.Exit(launch(options))
