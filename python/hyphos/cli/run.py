"""hyphos run"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import with_domain
from hyphos.tools.waiting import ctrl_c_kills


def run(
    file: Annotated[Path, typer.Argument(help="The plan of the robot.", metavar="ROBOT.YAML")],
    live: Annotated[
        bool, typer.Option("--live", "-l", help="Show a live table of processes and channels.")
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", help="Stop after this many seconds."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a value of the plan, e.g. channels.scan.depth=3. Repeatable.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--process", "-p", help="Start only this process. Repeatable."),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(
            "--host", help="Start the processes of this host on this machine. Repeatable."
        ),
    ] = None,
    logs: Annotated[
        Path | None,
        typer.Option(
            "--logs",
            help="Folder for the logs. Default: a new folder per run, below "
            "~/.local/state/hyphos/log.",
        ),
    ] = None,
    log_mb: Annotated[
        float,
        typer.Option(
            "--log-mb", metavar="MB", min=0.01, help="Largest log of each process, in MB."
        ),
    ] = 50.0,
    record: Annotated[
        bool,
        typer.Option("--record", help="Record the channels of the plan's `record:`, or all."),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", help="Write an HTML page with graph, channels and latencies at the end."
        ),
    ] = None,
    pictures: Annotated[
        list[Path] | None,
        typer.Option("--picture", help="Show this file in the --report page. Repeatable."),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", "-k", help="Continue when a process fails.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Fail if a callback threw, or if a channel was used otherwise than planned.",
        ),
    ] = False,
    events: Annotated[
        Path | None,
        typer.Option(
            "--events", metavar="FILE", help="Write states of processes and findings as JSON lines."
        ),
    ] = None,
    grace: Annotated[
        float | None,
        typer.Option(
            "--grace",
            metavar="SECONDS",
            min=0.0,
            help="Time from SIGINT to SIGTERM, then SIGKILL. Default: the plan's stop_timeout_ms.",
        ),
    ] = None,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Write the output of processes only to the logs."),
    ] = False,
) -> None:
    """Start the processes of a robot.yaml in order and supervise them. Ctrl-C ends them all.

    `after`, `restart` and `health` of the plan define the order of the start and the restarts. Exit
    code 1 if a process failed for good.

    hyphos run robot.yaml --live

    hyphos run robot.yaml --for 60 --record --report run.html

    hyphos run robot.yaml --for 10 --set channels.camera.depth=2

    hyphos run robot.yaml --for 10 --strict

    hyphos run robot.yaml --host laptop (on the laptop, for a plan with several machines)
    """
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"--report writes HTML, but {report} does not end with .html")
    with ctrl_c_kills():
        from hyphos.tools.launch import LaunchOptions, launch  # noqa: PLC0415

    options = LaunchOptions(
        file=file,
        live=live,
        seconds=seconds,
        settings=with_domain(settings),
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
        strict=strict,
        events=events,
    )
    raise typer.Exit(launch(options))
