"""hyphos lab profile"""

from __future__ import annotations

from dataclasses import dataclass
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
PathWords = Annotated[
    str,
    typer.Option(
        "--path",
        metavar="TEXT",
        help="Only paths through these in order, as 'scan->map'. Of an experiment: instead of the "
        "longest.",
    ),
]
Hidden = Annotated[
    bool, typer.Option("--hidden", help="Also the channels of services and parameters.")
]
ExperimentName = Annotated[
    str,
    typer.Option(
        "--experiment",
        metavar="NAME",
        help="Instead of a running graph: run cases of an experiment, by default the fastest of "
        "each size.",
    ),
]
Rates = Annotated[
    list[float] | None,
    typer.Option(
        "--rate",
        metavar="HZ",
        help="Of the experiment: its cases with this rate instead; may be given again.",
    ),
]
Every = Annotated[bool, typer.Option("--all", help="Of the experiment: all its cases.")]
Full = Annotated[bool, typer.Option("--full", help="Of the experiment: the grid of the paper.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Of the experiment: a parameter, such as size=64KB; may be given again.",
    ),
]
PeerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--peer",
        "-p",
        help="Of the experiment: which way of Hyphos, instead of its own; may be given again.",
    ),
]
Programs = Annotated[
    Path | None,
    typer.Option(
        "--programs", help="Of the experiment: folder with the peers' programs.", file_okay=False
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        file_okay=False,
        help="With --experiment: leave profile.json there; a report of that folder shows it.",
    ),
]
Patience = Annotated[
    float,
    typer.Option(
        "--patience",
        metavar="SECONDS",
        min=0.0,
        help="Of the experiment: wait so long for a quiet machine before each run.",
    ),
]
Retries = Annotated[
    int,
    typer.Option(
        "--retries",
        min=0,
        max=100,
        help="Of the experiment: make a run that was disturbed again so often.",
    ),
]
Awake = Annotated[
    bool,
    typer.Option("--awake", help="Of the experiment: keep the processors from sleeping meanwhile."),
]
Overhead = Annotated[
    bool, typer.Option("--overhead", help="Instead: measure what profiling costs a graph.")
]
Repeats = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        min=1,
        max=1000,
        help="Runs of each case of the experiment (default: as it says, or 5); of --overhead so "
        "many times four blocks, two of them profiled (default: 20).",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def _file(name: str, text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar="FILE", dir_okay=False, help=text)
    return option


def profile(
    domain: Domain = "0",
    seconds: Seconds = None,
    path: PathWords = "",
    hidden: Hidden = False,
    as_json: AsJson = False,
    perfetto: Annotated[
        Path | None,
        _file(
            "--perfetto",
            "Every message as a trace for ui.perfetto.dev; of an experiment one run of each case.",
        ),
    ] = None,
    mcap: Annotated[
        Path | None, _file("--mcap", "Every message as MCAP, in JSON; the same.")
    ] = None,
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
    experiment: ExperimentName = "",
    rates: Rates = None,
    every: Every = False,
    full: Full = False,
    changes: Changes = None,
    peers: PeerNames = None,
    programs: Programs = None,
    folder: Folder = None,
    patience: Patience = 0.0,
    retries: Retries = 0,
    awake: Awake = False,
    overhead: Overhead = False,
    repeats: Repeats = None,
    quiet: Quiet = False,
) -> None:
    """Where the time of messages goes in a running graph: by layer, by channel, and by path from a
    source to its end. Reads shared memory only; nothing is switched on in the graph.

    hyphos lab profile --for 5 --perfetto trace.json

    hyphos lab profile --experiment paper_003_layers --html layers.html
    """
    files = _Files(html, svg, perfetto, mcap)
    if experiment and overhead:
        raise typer.BadParameter("either --experiment or --overhead")
    _only(bool(experiment), "--experiment", {
        "--rate": rates, "--all": every, "--full": full, "--set": changes, "--out": folder,
        "--patience": patience, "--retries": retries, "--awake": awake, "--peer": peers,
        "--programs": programs,
    })  # fmt: skip
    _only(not experiment and not overhead, "a running graph", {"--hidden": hidden})
    _only(bool(experiment) or overhead, "--experiment and --overhead", {"--repeats": repeats})
    _only(not overhead, "a running graph and for --experiment", {
        "--path": path, "--perfetto": perfetto, "--mcap": mcap, "--html": html, "--svg": svg,
    })  # fmt: skip
    if rates and every:
        raise typer.BadParameter("either --rate or --all")
    try:
        if experiment:
            from hyphos.lab.awake import kept_awake  # noqa: PLC0415
            from hyphos.lab.runner import Rules  # noqa: PLC0415
            from hyphos.profile.experiment import (  # noqa: PLC0415
                SECONDS,
                ExperimentOptions,
                profile_experiment,
            )

            of_experiment = ExperimentOptions(
                experiment, peers or (), seconds or SECONDS, repeats, full, changes or (),
                rates or (), every, path, Rules(patience, retries), as_json, quiet, folder=folder,
                programs=programs, **vars(files),
            )  # fmt: skip
            with kept_awake(awake):
                raise typer.Exit(profile_experiment(of_experiment))
        if overhead:
            from hyphos.profile.overhead import BLOCK_S, QUADS, measure  # noqa: PLC0415

            raise typer.Exit(measure(repeats or QUADS, seconds or BLOCK_S, as_json, quiet))
        from hyphos.profile.commands import ProfileOptions, profile_graph  # noqa: PLC0415

        options = ProfileOptions(
            domain, seconds or 10.0, path, hidden, as_json, quiet, **vars(files)
        )
        raise typer.Exit(profile_graph(options))
    except ModuleNotFoundError as problem:
        if problem.name != "matplotlib":
            raise
        raise Error(
            "unsupported", "pictures need matplotlib", advice="pip install 'hyphos[lab]'"
        ) from None


@dataclass
class _Files:
    """What is written, by the names that the options of both commands have."""

    html: Path | None
    svg: Path | None
    perfetto: Path | None
    mcap: Path | None


def _only(there: bool, where: str, options: dict[str, object]) -> None:
    """Refuses options that are for something else than what is asked for."""
    for name, value in options.items():
        if value and not there:
            raise typer.BadParameter(f"{name} is for {where} only")
