"""hyphos lab profile"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hyphos._errors import Error
from hyphos._extras import remedy
from hyphos.cli.options import AsJson, Domain

Seconds = Annotated[
    float | None,
    typer.Option(
        "--for",
        metavar="SECONDS",
        min=0.1,
        help="Measurement time. Ctrl-C ends it. Default: 10. A run of --experiment: 5, a block of "
        "--overhead: 0.5.",
    ),
]
PathWords = Annotated[
    str,
    typer.Option(
        "--path",
        metavar="TEXT",
        help="Only paths through these channels in order, e.g. 'scan->map'. With --experiment: "
        "instead of the longest path.",
    ),
]
Hidden = Annotated[
    bool, typer.Option("--hidden", help="Also show the channels of services and parameters.")
]
ExperimentName = Annotated[
    str,
    typer.Option(
        "--experiment",
        metavar="NAME",
        help="Run cases of this experiment instead of observing a running graph. Default: the "
        "fastest case of each size.",
    ),
]
Rates = Annotated[
    list[float] | None,
    typer.Option(
        "--rate",
        metavar="HZ",
        help="With --experiment: run its cases with this rate. Repeatable.",
    ),
]
Every = Annotated[bool, typer.Option("--all", help="With --experiment: run all its cases.")]
Full = Annotated[bool, typer.Option("--full", help="With --experiment: run the paper's grid.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="With --experiment: change a parameter, e.g. size=64KB. Repeatable.",
    ),
]
PeerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--peer",
        "-p",
        help="With --experiment: Hyphos peer to measure, e.g. hyphos/shm. Repeatable.",
    ),
]
Programs = Annotated[
    Path | None,
    typer.Option(
        "--programs", help="With --experiment: folder with the peers' programs.", file_okay=False
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        file_okay=False,
        help="With --experiment: write profile.json to this folder. A report of it shows the data.",
    ),
]
Patience = Annotated[
    float,
    typer.Option(
        "--wait-quiet",
        metavar="SECONDS",
        min=0.0,
        help="With --experiment: longest wait for a quiet machine before each run.",
    ),
]
Retries = Annotated[
    int,
    typer.Option(
        "--retries",
        min=0,
        max=100,
        help="With --experiment: retry a disturbed run up to this many times.",
    ),
]
Awake = Annotated[
    bool,
    typer.Option("--no-cpu-idle", help="With --experiment: keep the CPUs out of idle states."),
]
Overhead = Annotated[
    bool, typer.Option("--overhead", help="Measure the cost of profiling a graph instead.")
]
Repeats = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        min=1,
        max=1000,
        help="Runs of each case of the experiment (default: as in the experiment, or 5). With "
        "--overhead: groups of four blocks, two of them profiled (default: 20).",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


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
            "Write every message as a trace for ui.perfetto.dev. With --experiment: one run of "
            "each case.",
        ),
    ] = None,
    mcap: Annotated[
        Path | None,
        _file(
            "--mcap",
            "Write every message as MCAP, in JSON. With --experiment: one run of each case.",
        ),
    ] = None,
    html: Annotated[
        Path | None, _file("--html", "Write a report with plots. Needs matplotlib.")
    ] = None,
    svg: Annotated[
        Path | None,
        _file(
            "--svg",
            "Write plots to FILE, FILE-paths, FILE-inferred and FILE-flow, as PNG if FILE ends in "
            ".png. Needs matplotlib.",
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
    """Show the time that messages spend in a running graph: by layer, by channel, and by path from
    a source to its end. Reads shared memory only, and needs no preparation of the graph.

    hyphos lab profile --for 5 --perfetto trace.json

    hyphos lab profile --experiment paper_003_layers --html layers.html
    """
    files = _Files(html, svg, perfetto, mcap)
    if experiment and overhead:
        raise typer.BadParameter("give either --experiment or --overhead")
    _only(bool(experiment), "--experiment", {
        "--rate": rates, "--all": every, "--full": full, "--set": changes, "--out": folder,
        "--wait-quiet": patience, "--retries": retries, "--no-cpu-idle": awake, "--peer": peers,
        "--programs": programs,
    })  # fmt: skip
    _only(not experiment and not overhead, "a running graph", {"--hidden": hidden})
    _only(bool(experiment) or overhead, "--experiment and --overhead", {"--repeats": repeats})
    _only(not overhead, "a running graph and for --experiment", {
        "--path": path, "--perfetto": perfetto, "--mcap": mcap, "--html": html, "--svg": svg,
    })  # fmt: skip
    if rates and every:
        raise typer.BadParameter("give either --rate or --all")
    try:
        if experiment:
            from hyphos.lab.busy_cpus import kept_awake  # noqa: PLC0415
            from hyphos.lab.profile.experiment import (  # noqa: PLC0415
                SECONDS,
                ExperimentOptions,
                profile_experiment,
            )
            from hyphos.lab.runner import Rules  # noqa: PLC0415

            of_experiment = ExperimentOptions(
                experiment, peers or (), seconds or SECONDS, repeats, full, changes or (),
                rates or (), every, path, Rules(patience, retries), as_json, quiet, folder=folder,
                programs=programs, **vars(files),
            )  # fmt: skip
            with kept_awake(awake):
                raise typer.Exit(profile_experiment(of_experiment))
        if overhead:
            from hyphos.lab.profile.overhead import BLOCK_S, QUADS, measure  # noqa: PLC0415

            raise typer.Exit(measure(repeats or QUADS, seconds or BLOCK_S, as_json, quiet))
        from hyphos.lab.profile.commands import ProfileOptions, profile_graph  # noqa: PLC0415

        options = ProfileOptions(
            domain, seconds or 10.0, path, hidden, as_json, quiet, **vars(files)
        )
        raise typer.Exit(profile_graph(options))
    except ModuleNotFoundError as problem:
        if problem.name != "matplotlib":
            raise
        raise Error("unsupported", "plots need matplotlib", advice=remedy("matplotlib")) from None


@dataclass
class _Files:
    """The output files, named like the options of both commands."""

    html: Path | None
    svg: Path | None
    perfetto: Path | None
    mcap: Path | None


def _only(there: bool, where: str, options: dict[str, object]) -> None:
    """Refuses options that belong to another use of the command."""
    for name, value in options.items():
        if value and not there:
            raise typer.BadParameter(f"{name} is for {where} only")
