"""hyphos replay"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hyphos.cli.options import Domain


def _in_lockstep(file: Path, plan: Path, output: Path | None, **more: Any) -> int:
    from hyphos.recording.lockstep import LockstepOptions, replay_in_lockstep  # noqa: PLC0415

    if output is None:
        raise typer.BadParameter("--lockstep needs -o FILE for the outputs of the nodes")
    return replay_in_lockstep(LockstepOptions(file, plan, output, **more))


def replay(
    file: Annotated[
        Path, typer.Argument(help="MCAP file, ROS 1 .bag, ROS 2 .db3/.mcap or folder.")
    ],
    rate: Annotated[
        float,
        typer.Option("--rate", "-r", min=0, help="Speed. 2 is twice as fast, 0 does not wait."),
    ] = 1.0,
    loop: Annotated[bool, typer.Option("--loop", help="Restart at the end.")] = False,
    start: Annotated[
        float, typer.Option("--start", "-s", metavar="SECONDS", help="Start offset in seconds.")
    ] = 0.0,
    end: Annotated[
        float | None, typer.Option("--end", "-e", metavar="SECONDS", help="End offset in seconds.")
    ] = None,
    channels: Annotated[
        list[str] | None,
        typer.Option("--channels", "-c", help="Channel or pattern. Repeatable. Default: all."),
    ] = None,
    remap: Annotated[
        list[str] | None,
        typer.Option("--remap", metavar="A:=B", help="Publish channel A as B. Repeatable."),
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="Print the contents and exit.")] = False,
    lockstep: Annotated[
        Path | None,
        typer.Option(
            "--lockstep",
            metavar="PLAN",
            help="Run nodes of this plan on the recording. Identical outputs on each run, into -o.",
            dir_okay=False,
            exists=True,
        ),
    ] = None,
    nodes: Annotated[
        list[str] | None,
        typer.Option("--node", "-n", help="With --lockstep: node to test. Repeatable."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="With --lockstep: the .mcap file for the outputs."),
    ] = None,
    threads: Annotated[
        int,
        typer.Option(
            "--threads",
            min=0,
            help="With --lockstep: threads for parallel work. 0: as in the plan.",
        ),
    ] = 0,
    tick_ms: Annotated[
        float,
        typer.Option(
            "--tick-ms",
            min=0.001,
            help="With --lockstep: largest step of the nodes' time, in milliseconds.",
        ),
    ] = 10.0,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="With --lockstep: change a value of the plan."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="With --lockstep: replace an existing file.")
    ] = False,
    step: Annotated[
        bool,
        typer.Option("--step", help="One message per Enter. Space plays on, q ends."),
    ] = False,
    wait: Annotated[
        float,
        typer.Option("--wait", metavar="SECONDS", help="Longest wait for a first subscriber."),
    ] = 0.0,
    clock: Annotated[
        bool,
        typer.Option(
            "--clock", help="Also publish simulated time for processes whose clock is sim."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")] = False,
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
