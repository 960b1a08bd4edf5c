"""hyphos metrics"""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.options import Domain


def metrics(
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="TCP port. 0: any free port.")
    ] = 9464,
    host: Annotated[
        str,
        typer.Option("--host", help="Listening address. Default: only this machine."),
    ] = "127.0.0.1",
    once: Annotated[bool, typer.Option("--once", help="Print the metrics once and exit.")] = False,
    domain: Domain = "0",
) -> None:
    """Serve rates, drops, latencies and clocks to Prometheus, at http://127.0.0.1:9464/metrics.
    Reads shared memory, so it does not disturb the robot.

    hyphos metrics --port 9464

    hyphos metrics --once
    """
    from hyphos.tools.metrics import render, serve  # noqa: PLC0415

    if once:
        print(render(domain), end="")
        return
    raise typer.Exit(serve(domain, host, port))
