"""hyphos diagnostics"""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.options import AsJson, Domain


def diagnostics(
    level: Annotated[
        str,
        typer.Option("--level", "-l", help="Lowest level shown: ok, warn, error or stale."),
    ] = "ok",
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Print each change until Ctrl-C.")
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--for",
            metavar="SECONDS",
            min=0.1,
            help="Collect for this many seconds. Default: 2, with --follow no limit.",
        ),
    ] = None,
    stale_ms: Annotated[
        float,
        typer.Option(
            "--stale-ms", min=100, help="Time without a report until a component is stale."
        ),
    ] = 5000,
    channel: Annotated[
        str, typer.Option("--channel", help="Channel of the reports (DiagnosticArray).")
    ] = "diagnostics",
    as_json: AsJson = False,
    domain: Domain = "0",
) -> None:
    """Summarize the state of all components: their reports, and drops and exceptions of all nodes.
    Exits with 1 if a component has an error or is stale.

    hyphos diagnostics

    hyphos diagnostics --follow --level warn
    """
    from hyphos._errors import Error  # noqa: PLC0415
    from hyphos.tools.diagnostics import (  # noqa: PLC0415
        LEVELS,
        DiagnosticOptions,
        show_diagnostics,
    )

    if level not in LEVELS:
        raise Error("invalid_config", f"--level: '{level}' is none of {', '.join(LEVELS)}")
    options = DiagnosticOptions(
        level=level,
        seconds=seconds,
        stale_s=stale_ms / 1e3,
        follow=follow,
        as_json=as_json,
        channel=channel,
        domain=domain,
    )
    raise typer.Exit(show_diagnostics(options))
