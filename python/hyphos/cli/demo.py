"""hyphos demo"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import Domain
from hyphos.tools.waiting import ctrl_c_kills


def demo(
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds", "-s", metavar="SECONDS", min=1.0, help="Drive for this many seconds."
        ),
    ] = 30.0,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Folder for the map, the recording, the report and the logs.",
            file_okay=False,
        ),
    ] = Path("hyphos-demo"),
    live: Annotated[
        bool | None,
        typer.Option(
            "--live/--no-live",
            show_default="if the output is a terminal",
            help="Show a live table of processes and channels.",
        ),
    ] = None,
    domain: Domain = "patrol3",
) -> None:
    """Let a robot map a simulated building in three processes. Ctrl-C ends it earlier.

    Leaves map.png, patrol.mcap and report.html in the folder. The picture shows the map over the
    true walls. The last line is the verdict: the losses, the size of the map, and the error of the
    pose. Exit code 1 if the robot failed.

    hyphos demo

    hyphos demo --seconds 60 --out /tmp/patrol
    """
    with ctrl_c_kills():
        from hyphos.demo import robot  # noqa: PLC0415

    raise typer.Exit(robot.demo(robot.DemoOptions(seconds, out, live, domain)))
