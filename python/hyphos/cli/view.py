"""hyphos view"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import DOMAIN_VARIABLE
from hyphos.cli.values import checked_domain


def _checked_domain(value: str | None) -> str | None:
    return None if value is None else checked_domain(value)


def _checked_size(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[1-9]\d*x[1-9]\d*", value):
        raise typer.BadParameter(f"expected WIDTHxHEIGHT in pixels, as 1600x900, found '{value}'")
    return value


def view(
    what: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ROBOT.yaml|RECORDING.mcap]",
            help="Plan of a running robot, or a recording. Default: the robot of the domain.",
            show_default=False,
        ),
    ] = None,
    layout: Annotated[
        Path | None,
        typer.Option(
            "--layout",
            metavar="FILE",
            help="Panels, displays and camera. Default: from the types of the channels.",
        ),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(
            "--domain",
            "-d",
            help="Domain of the robot on this machine. Default: that of the plan.",
            envvar=DOMAIN_VARIABLE,
            callback=_checked_domain,
        ),
    ] = None,
    at: Annotated[
        float | None,
        typer.Option(
            "--at",
            metavar="SECONDS",
            min=0,
            help="Show this instant of the recording, after its begin.",
        ),
    ] = None,
    png: Annotated[
        Path | None,
        typer.Option("--png", metavar="FILE", help="Write one picture and exit. No display."),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            metavar="FILE",
            help="With --png: fail if the picture differs from this one.",
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="PERCENT",
            min=0,
            max=100,
            help="Pixels that may differ from --compare. Default: 0.5.",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            metavar="WxH",
            callback=_checked_size,
            help="Pixels of the window or picture. Default: 1600x900.",
        ),
    ] = None,
    save_layout: Annotated[
        Path | None,
        typer.Option("--save-layout", metavar="FILE", help="Write the layout at the end."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="MB",
            min=16,
            help="Memory of displayed data, CPU and GPU. Default: 512.",
        ),
    ] = None,
    theme: Annotated[
        str | None, typer.Option("--theme", metavar="dark|light", help="Colours of the window.")
    ] = None,
) -> None:
    """Show a running robot or a recording: in space, as plots, images, tables and log lines, with
    latencies by layer, drops by place, and the graph with its load. The robot runs the same with
    and without it.

    hyphos view

    hyphos view out/patrol/patrol.mcap

    hyphos view run.mcap --layout robot.view.yaml --at 12.5 --png out.png
    """
    from hyphos.tools.view import serve  # noqa: PLC0415

    values = {
        "--layout": layout,
        "--domain": domain,
        "--at": at,
        "--png": png,
        "--compare": compare,
        "--tolerance": tolerance,
        "--size": size,
        "--save-layout": save_layout,
        "--budget": budget,
        "--theme": theme,
    }
    words = [str(what)] if what is not None else []
    for name, value in values.items():
        if value is not None:
            words += [name, str(value)]
    serve(words)
