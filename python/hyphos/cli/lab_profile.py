"""hyphos lab profile"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos._errors import Error
from hyphos.cli.options import AsJson, Domain

Seconds = Annotated[
    float,
    typer.Option("--for", metavar="SECONDS", min=0.1, help="How long to listen; Ctrl-C ends it."),
]


def _file(name: str, text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar="FILE", dir_okay=False, help=text)
    return option


def profile(
    domain: Domain = "0",
    seconds: Seconds = 10.0,
    path: Annotated[
        str,
        typer.Option(
            "--path", metavar="TEXT", help="Only paths through these in order, as 'scan->map'."
        ),
    ] = "",
    hidden: Annotated[
        bool, typer.Option("--hidden", help="Also the channels of services and parameters.")
    ] = False,
    as_json: AsJson = False,
    perfetto: Annotated[
        Path | None, _file("--perfetto", "Every message as a trace for ui.perfetto.dev.")
    ] = None,
    mcap: Annotated[Path | None, _file("--mcap", "Every message as MCAP, in JSON.")] = None,
    html: Annotated[
        Path | None, _file("--html", "A report with pictures; needs matplotlib.")
    ] = None,
    svg: Annotated[
        Path | None, _file("--svg", "The pictures, as FILE and FILE-flow; needs matplotlib.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Where the time of messages goes in a running graph: by layer, by channel, and by path from a
    source to its end. Reads shared memory only; nothing is switched on in the graph.

    hyphos lab profile --for 5 --perfetto trace.json
    """
    from hyphos.profile.commands import ProfileOptions, profile_graph  # noqa: PLC0415

    options = ProfileOptions(
        domain=domain,
        seconds=seconds,
        path=path,
        hidden=hidden,
        as_json=as_json,
        quiet=quiet,
        perfetto=perfetto,
        mcap=mcap,
        html=html,
        svg=svg,
    )
    try:
        raise typer.Exit(profile_graph(options))
    except ModuleNotFoundError as problem:
        if problem.name != "matplotlib":
            raise
        raise Error(
            "unsupported", "pictures need matplotlib", advice="pip install 'hyphos[lab]'"
        ) from None
