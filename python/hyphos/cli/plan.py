"""hyphos plan"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def plan(
    files: Annotated[
        list[Path], typer.Argument(help="One or more robot.yaml.", metavar="ROBOT.YAML...")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Everything, as one JSON object per file.")
    ] = False,
    dot: Annotated[bool, typer.Option("--dot", help="The hypergraph for Graphviz.")] = False,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="PATH",
            help="Draw the hypergraph with Graphviz. A folder if there are several plans.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change the plan, e.g. channels.scan.depth=3."
        ),
    ] = None,
    check_files: Annotated[
        bool, typer.Option("--check-files", help="Also check that plug-ins and programs exist.")
    ] = False,
) -> None:
    """Check a robot.yaml and print the plan. Nothing is started.

    hyphos plan robot.yaml

    hyphos plan robot.yaml --dot | dot -Tpng > robot.png

    hyphos plan robot.yaml --set processes.mapper.host=laptop --svg robot.svg
    """
    from hyphos._hyphos import Plan  # noqa: PLC0415
    from hyphos.tools.draw import draw_svg  # noqa: PLC0415

    for file in files:
        loaded = Plan.load(str(file), settings or [], check_files)
        for warning in loaded.warnings:
            typer.echo(f"warning: {warning}", err=True)
        if as_json:
            typer.echo(loaded.json().rstrip())
        elif dot:
            typer.echo(loaded.dot().rstrip())
        elif svg is None:
            typer.echo(loaded.text().rstrip())
        if svg is not None:
            target = svg if len(files) == 1 else svg / f"{file.stem}.svg"
            draw_svg(loaded.dot(), target)
            typer.echo(f"wrote {target}", err=True)
