"""hyphos replay"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hyphos.cli.options import Domain


def _in_lockstep(file: Path, plan: Path, output: Path | None, **more: Any) -> int:
    from hyphos.recording.lockstep import LockstepOptions, replay_in_lockstep  # noqa: PLC0415

    if output is None:
        raise typer.BadParameter("--lockstep needs -o FILE for what the nodes publish")
    return replay_in_lockstep(LockstepOptions(file, plan, output, **more))


def replay(
    file: Annotated[
        Path, typer.Argument(help="MCAP file, ROS 1 .bag, ROS 2 .db3/.mcap or folder.")
    ],
    rate: Annotated[
        float,
        typer.Option("--rate", "-r", min=0, help="Speed: 2 is twice as fast; 0: without waiting."),
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
    lockstep: Annotated[
        Path | None,
        typer.Option(
            "--lockstep",
            metavar="PLAN",
            help="Run nodes of this plan on the recording: same outputs every time, into -o.",
            dir_okay=False,
            exists=True,
        ),
    ] = None,
    nodes: Annotated[
        list[str] | None,
        typer.Option("--node", "-n", help="With --lockstep: a node to test; may be given again."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="With --lockstep: the .mcap file for the outputs."),
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", min=0, help="With --lockstep: for what runs in parallel.")
    ] = 0,
    tick_ms: Annotated[
        float,
        typer.Option(
            "--tick-ms",
            min=0.001,
            help="With --lockstep: the most by which the nodes' time goes on at once.",
        ),
    ] = 10.0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="With --lockstep: changes the plan."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="With --lockstep: replace an existing file.")
    ] = False,
    step: Annotated[
        bool, typer.Option("--step", help="One message for each Enter; space runs on, q ends.")
    ] = False,
    wait: Annotated[
        float,
        typer.Option("--wait", metavar="SECONDS", help="Wait so long for a first subscriber."),
    ] = 0.0,
    clock: Annotated[
        bool,
        typer.Option(
            "--clock", help="Make the robot's time, too: for processes whose clock is sim."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    domain: Domain = "0",
) -> None:
    """Publish a recording. ROS messages become the hyphos.msgs of the same name, field by field.

    hyphos replay run.mcap --rate 2 --loop

    hyphos replay robot.bag --list

    hyphos replay run.mcap --lockstep robot.yaml --node mapper -o out.mcap

    hyphos replay robot.bag -c 'tilt_*' --remap tilt_scan:=scan --start 5 --end 15
    """
    if lockstep is not None:
        raise typer.Exit(
            _in_lockstep(
                file,
                lockstep,
                output,
                nodes=nodes or [],
                patterns=channels or [],
                remap=remap or [],
                settings=settings or [],
                threads=threads,
                tick_ms=tick_ms,
                start_s=start,
                end_s=end,
                overwrite=overwrite,
                quiet=quiet,
            )
        )
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
        clock=clock,
        domain=domain,
        step=step,
    )
    raise typer.Exit(play(options))
