"""hyphos teleop"""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.complete import channel_names
from hyphos.cli.options import Domain


def teleop(
    channel: Annotated[
        str,
        typer.Argument(help="Channel of hyphos.msgs.Twist.", autocompletion=channel_names),
    ] = "cmd_vel",
    speed: Annotated[
        float, typer.Option("--speed", metavar="M_S", min=0, help="Full speed in m/s.")
    ] = 0.5,
    turn: Annotated[
        float, typer.Option("--turn", metavar="RAD_S", min=0, help="Full turn in rad/s.")
    ] = 1.0,
    domain: Domain = "0",
) -> None:
    """Drive a robot by the keys of this terminal: arrows or w a s d. The robot stops when no key is
    held, and at Ctrl-C.

    hyphos teleop

    hyphos teleop left/cmd_vel --speed 0.2
    """
    from hyphos.tools.teleop import Speeds  # noqa: PLC0415
    from hyphos.tools.teleop import teleop as run  # noqa: PLC0415

    raise typer.Exit(run(channel, Speeds(speed, turn), domain))
