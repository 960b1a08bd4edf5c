"""hyphos graph"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import Domain


def graph(
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="dot, json, or a drawing by Graphviz: svg, png or pdf. Default: by the suffix of "
            "FILE, else dot.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", dir_okay=False, help="File instead of the terminal."
        ),
    ] = None,
    window: Annotated[
        float,
        typer.Option(
            "--window",
            "-w",
            metavar="SECONDS",
            min=0.05,
            help="Time over which rates and latencies are measured.",
        ),
    ] = 1.0,
    domain: Domain = "0",
) -> None:
    """Draw the running robot: nodes and channels, with rate, p50 / p99 latency and drops (red) on
    the edges. `hyphos plan --svg` draws a plan.

    hyphos graph -o robot.svg

    hyphos graph -o robot.png
    """
    from hyphos.tools.graph import draw, format_of  # noqa: PLC0415

    raise typer.Exit(draw(domain, format_of(form, file), window, file))
