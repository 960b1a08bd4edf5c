"""hyphos cosim sweep"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def sweep(
    scenario: Annotated[
        Path, typer.Argument(help="A cosim.yaml.", metavar="SCENARIO", exists=True, dir_okay=False)
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=VALUES",
            help="Key of the scenario and its values: 2..10, 0..1..0.25 (with a step), 1,2,5. "
            "Repeatable: runs every combination.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Replace a value of the scenario in all runs. Repeatable.",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, max=10_000, help="Runs of each combination.")
    ] = 5,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, max=256, help="Runs at once. Default: half of the CPU cores."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Number in the table and the plots, such as times_real or FLOW.delay_p95_ms. "
            "Repeatable. Default: loss and delay.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for the results. Default: out/cosim/sweep-NAME."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start over instead of resuming.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Run a scenario with every combination of values, or resume a sweep that was stopped.

    Every key and value is checked before the first run. The folder gets tables as CSV and JSON,
    and a plot of each metric.
    """
    from hyphos.cosim.measure import half_of_cores  # noqa: PLC0415
    from hyphos.cosim.sweep.command import Options  # noqa: PLC0415
    from hyphos.cosim.sweep.command import sweep as run_it  # noqa: PLC0415

    options = Options(
        tuple(vary or ()),
        tuple(settings or ()),
        tuple(metric or ()),
        seeds,
        jobs or half_of_cores(),
        output,
        overwrite,
        quiet,
    )
    raise typer.Exit(run_it(scenario, options))
