"""hyphos time ..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import DOMAIN_VARIABLE, AsJson, Domain
from hyphos.cli.values import ValueCommand

app = typer.Typer(help="The clock of a robot: show, simulate, pause, step.")

Channel = Annotated[
    str,
    typer.Option(
        "--channel", "-c", help="Channel of the simulated time. Default: the robot's channel."
    ),
]


@app.callback(invoke_without_command=True)
def show(
    context: typer.Context,
    domain: Domain = "0",
    as_json: AsJson = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Print again every second, until Ctrl-C.")
    ] = False,
) -> None:
    """Without a command: show the time of each process, and the offset of the clocks of other
    machines with its uncertainty.

    hyphos time

    hyphos time sim --speed 2

    hyphos time pause; hyphos time step 0.1; hyphos time resume
    """
    if context.invoked_subcommand is not None:
        return
    from hyphos.tools import time_tools  # noqa: PLC0415

    raise typer.Exit(time_tools.show(domain, as_json, follow))


@app.command("sim")
def sim(
    speed: Annotated[
        float | None,
        typer.Option(
            "--speed",
            "-s",
            help="Simulated seconds per real second. Default: that of the plan, or 1.",
        ),
    ] = None,
    start: Annotated[
        str, typer.Option("--start", metavar="SECONDS", help="Start as Unix time. Default: now.")
    ] = "",
    tick_ms: Annotated[
        float,
        typer.Option(
            "--tick-ms", min=0.001, help="Simulated time between messages, in milliseconds."
        ),
    ] = 1.0,
    paused: Annotated[bool, typer.Option("--paused", help="Start paused.")] = False,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            exists=True,
            dir_okay=False,
            help="Take domain, channel and speed from this plan.",
        ),
    ] = None,
    channel: Channel = "",
    domain: Annotated[
        str,
        typer.Option(
            "--domain",
            "-d",
            envvar=DOMAIN_VARIABLE,
            help="Domain of the robot on this machine. Default: that of the plan, or 0.",
        ),
    ] = "",
) -> None:
    """Publish simulated time for the processes whose `clock` is `sim`, until Ctrl-C.

    hyphos time sim --speed 2

    hyphos time sim --paused --start 0
    """
    from hyphos.tools import time_tools  # noqa: PLC0415

    options = time_tools.SimOptions(speed, start, tick_ms, paused, plan, channel, domain)
    raise typer.Exit(time_tools.simulate(options))


@app.command("pause")
def pause(channel: Channel = "", domain: Domain = "0") -> None:
    """Pause simulated time."""
    _command(domain, channel, "pause")


@app.command("resume")
def resume(channel: Channel = "", domain: Domain = "0") -> None:
    """Resume simulated time."""
    _command(domain, channel, "resume")


@app.command("step", cls=ValueCommand)
def step(
    seconds: Annotated[str, typer.Argument(help="Step in seconds, e.g. 0.1.")],
    channel: Channel = "",
    domain: Domain = "0",
) -> None:
    """Advance paused simulated time by a step."""
    _command(domain, channel, "step", seconds)


@app.command("speed", cls=ValueCommand)
def speed_command(
    factor: Annotated[float, typer.Argument(help="Simulated seconds per real second.")],
    channel: Channel = "",
    domain: Domain = "0",
) -> None:
    """Change the speed of simulated time."""
    _command(domain, channel, "speed", str(factor))


@app.command("jump", cls=ValueCommand)
def jump(
    seconds: Annotated[str, typer.Argument(help="Unix time, e.g. 0 or 1700000000.5.")],
    channel: Channel = "",
    domain: Domain = "0",
) -> None:
    """Set simulated time. Timers restart, and nodes are notified."""
    _command(domain, channel, "jump", seconds)


def _command(domain: str, channel: str, action: str, value: str = "") -> None:
    from hyphos.tools import time_tools  # noqa: PLC0415

    raise typer.Exit(time_tools.command(domain, channel, action, value))
