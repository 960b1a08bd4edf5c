"""hyphos replay"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import Domain


def replay(
    file: Annotated[
        Path, typer.Argument(help="MCAP file, ROS 1 .bag, ROS 2 .db3/.mcap or folder.")
    ],
    rate: Annotated[
        float,
        typer.Option("--rate", "-r", help="Speed: 2 is twice as fast; 0: without waiting."),
    ] = 1.0,
    loop: Annotated[bool, typer.Option("--loop", help="Start again at the end.")] = False,
    start: Annotated[
        float, typer.Option("--start", "-s", metavar="SECONDS", help="Begin so far in.")
    ] = 0.0,
    end: Annotated[
        float | None, typer.Option("--end", "-e", metavar="SECONDS", help="Stop so far in.")
    ] = None,
    channels: Annotated[
        list[str] | None,
        typer.Option(
            "--channels", "-c", help="Channel or pattern; may be given again. Default: all."
        ),
    ] = None,
    remap: Annotated[
        list[str] | None, typer.Option("--remap", metavar="A:=B", help="Publish channel A as B.")
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="Only print what the file holds.")] = False,
    step: Annotated[
        bool, typer.Option("--step", help="One message for each Enter; space runs on, q ends.")
    ] = False,
    wait: Annotated[
        float,
        typer.Option("--wait", metavar="SECONDS", help="Wait so long for a first subscriber."),
    ] = 0.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    domain: Domain = "0",
) -> None:
    """Publish a recording. ROS messages become the hyphos.msgs of the same name, field by field.

    hyphos replay run.mcap --rate 2 --loop

    hyphos replay robot.bag --list

    hyphos replay robot.bag -c 'tilt_*' --remap tilt_scan:=scan --start 5 --end 15
    """
    from hyphos.recording.player import PlayOptions, play  # noqa: PLC0415

    options = PlayOptions(
        file=file,
        rate=rate,
        loop=loop,
        start_s=start,
        end_s=end,
        patterns=channels or ["*"],
        remap=remap or [],
        show=show,
        wait_s=wait,
        quiet=quiet,
        domain=domain,
        step=step,
    )
    raise typer.Exit(play(options))
