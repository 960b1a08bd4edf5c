"""hyphos lab profile"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos._errors import Error
from hyphos.cli.options import AsJson, Domain

Seconds = Annotated[
    float | None,
    typer.Option(
        "--for",
        metavar="SECONDS",
        min=0.1,
        help="How long to listen; Ctrl-C ends it. Default: 10; of a run of an experiment 5, of a "
        "block of --overhead 0.5.",
    ),
]


def _file(name: str, text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar="FILE", dir_okay=False, help=text)
    return option


def profile(
    domain: Domain = "0",
    seconds: Seconds = None,
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
        Path | None,
        _file(
            "--svg",
            "Pictures: FILE, and beside it FILE-paths, FILE-inferred, FILE-flow; PNG if FILE ends "
            "in .png; needs matplotlib.",
        ),
    ] = None,
    experiment: Annotated[
        str,
        typer.Option(
            "--experiment",
            metavar="NAME",
            help="Instead of a running graph: run the fastest case of each size of an experiment.",
        ),
    ] = "",
    full: Annotated[
        bool, typer.Option("--full", help="Of the experiment: all sizes of the paper.")
    ] = False,
    peer: Annotated[
        str, typer.Option("--peer", "-p", help="Of the experiment: which way of Hyphos.")
    ] = "hyphos/shm",
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            file_okay=False,
            help="With --experiment: leave profile.json there; a report of that folder shows it.",
        ),
    ] = None,
    overhead: Annotated[
        bool, typer.Option("--overhead", help="Instead: measure what profiling costs a graph.")
    ] = False,
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats",
            min=1,
            max=1000,
            help="Of --overhead: so many times four blocks, two of them profiled. Default: 20.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Where the time of messages goes in a running graph: by layer, by channel, and by path from a
    source to its end. Reads shared memory only; nothing is switched on in the graph.

    hyphos lab profile --for 5 --perfetto trace.json

    hyphos lab profile --experiment paper_003_frequency --html layers.html
    """
    if experiment and overhead:
        raise typer.BadParameter("either --experiment or --overhead")
    if (experiment or overhead) and (path or hidden or perfetto or mcap):
        raise typer.BadParameter(
            "--path, --hidden, --perfetto and --mcap are for a running graph only"
        )
    if full and not experiment:
        raise typer.BadParameter("--full is for --experiment")
    if folder and not experiment:
        raise typer.BadParameter("--out is for --experiment")
    if overhead and (html or svg):
        raise typer.BadParameter("--overhead draws no pictures")
    try:
        if experiment:
            from hyphos.profile.experiment import (  # noqa: PLC0415
                ExperimentOptions,
                profile_experiment,
            )

            of_experiment = ExperimentOptions(
                experiment, peer, seconds or 5.0, full, as_json, quiet, html, svg, folder
            )
            raise typer.Exit(profile_experiment(of_experiment))
        if overhead:
            from hyphos.profile.overhead import BLOCK_S, QUADS, measure  # noqa: PLC0415

            raise typer.Exit(measure(repeats or QUADS, seconds or BLOCK_S, as_json, quiet))
        from hyphos.profile.commands import ProfileOptions, profile_graph  # noqa: PLC0415

        options = ProfileOptions(
            domain=domain,
            seconds=seconds or 10.0,
            path=path,
            hidden=hidden,
            as_json=as_json,
            quiet=quiet,
            perfetto=perfetto,
            mcap=mcap,
            html=html,
            svg=svg,
        )
        raise typer.Exit(profile_graph(options))
    except ModuleNotFoundError as problem:
        if problem.name != "matplotlib":
            raise
        raise Error(
            "unsupported", "pictures need matplotlib", advice="pip install 'hyphos[lab]'"
        ) from None
