"""hyphos lab report, hyphos lab export"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos._errors import Error
from hyphos._extras import remedy


def needs_matplotlib(problem: ModuleNotFoundError) -> None:
    if problem.name == "matplotlib":
        raise Error("unsupported", "reports need matplotlib", advice=remedy("matplotlib")) from None


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of `hyphos lab run` or `saturate`, or JSON of `verify --test-set`.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write. Default: FOLDER/report.html."),
    ] = None,
    plots: Annotated[
        str, typer.Option("--plots", metavar="png|svg|pdf", help="Also write each plot to a file.")
    ] = "",
    profile: Annotated[
        Path | None,
        typer.Option(
            "--profile",
            metavar="FILE",
            help="Also show these layers: output of `hyphos lab profile --json`. Default: "
            "FOLDER/profile.json if it exists. For a verification: the capacity profile.",
        ),
    ] = None,
) -> None:
    """Write one HTML file with plots, tables, method, machine and data. Needs matplotlib."""
    if plots not in ("", "png", "svg", "pdf"):
        raise typer.BadParameter("give png, svg or pdf", param_hint="--plots")
    try:
        if folder.is_file():
            from hyphos.lab.capacity.report import report_of_file  # noqa: PLC0415

            known = profile or Path("capacity.json")
            written = report_of_file(folder, known, output, plots)
        else:
            from hyphos.lab.report import save_plots, write_report  # noqa: PLC0415

            written = [write_report(folder, output, profile)]
            written += save_plots(folder, plots, profile) if plots else []
    except ModuleNotFoundError as problem:
        needs_matplotlib(problem)
        raise
    for path in written:
        typer.echo(path)


def export(
    folder: Annotated[Path, typer.Argument(help="Folder of `hyphos lab run`.", show_default=False)],
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write Parquet instead of CSV. Needs pyarrow.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the files. Default: FOLDER.")
    ] = None,
) -> None:
    """Export results as tables for other programs: runs, one line per run, and summary, one line
    per case and peer."""
    from hyphos.lab.export import export as write  # noqa: PLC0415

    for path in write(folder, output or folder, parquet=parquet):
        typer.echo(path)
