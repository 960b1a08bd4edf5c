"""hyphos plan"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hyphos.cli.options import with_domain
from hyphos.cli.plain import PlainGroup


class _Plans(PlainGroup):
    """Makes `hyphos plan FILE …` short for `hyphos plan show FILE …`."""

    default = "show"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Plans,
    no_args_is_help=True,
    help="Check a robot.yaml, print its plan, predict whether it fits the machine.",
)

Plans = Annotated[
    list[Path], typer.Argument(help="One or more robot.yaml files.", metavar="ROBOT.YAML...")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a value of the plan, e.g. channels.scan.depth=3. Repeatable.",
    ),
]


@app.command("show")
def show(
    files: Plans,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as one JSON object per file.")
    ] = False,
    dot: Annotated[bool, typer.Option("--dot", help="Print the hypergraph for Graphviz.")] = False,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="PATH",
            help="Draw the hypergraph with Graphviz, as .svg, .png or .pdf. Give a folder for "
            "several plans.",
        ),
    ] = None,
    settings: Settings = None,
    check_files: Annotated[
        bool, typer.Option("--check-files", help="Also check that plug-ins and programs exist.")
    ] = False,
) -> None:
    """Check a robot.yaml and print the plan. You may omit `show`. No process is started.

    hyphos plan robot.yaml

    hyphos plan robot.yaml --dot | dot -Tpng > robot.png

    hyphos plan robot.yaml --set processes.mapper.host=laptop --svg robot.svg
    """
    from hyphos._hyphos import Plan  # noqa: PLC0415
    from hyphos.tools.draw import draw  # noqa: PLC0415

    for file in files:
        loaded = Plan.load(str(file), with_domain(settings), check_files)
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
            draw(loaded.dot(), target)
            typer.echo(f"wrote {target}", err=True)


@app.command("check")
def check(
    files: Plans,
    profile: Annotated[
        Path, typer.Option("--profile", help="Capacity profile, written by `hyphos lab calibrate`.")
    ] = Path("capacity.json"),
    link: Annotated[
        str, typer.Option("--link", help="Link of the profile that connects the hosts.")
    ] = "",
    shared: Annotated[
        bool,
        typer.Option("--shared", help="Treat all hosts as this machine, as in namespaces on it."),
    ] = False,
    settings: Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
) -> None:
    """Predict whether a robot fits its machines: load of each resource, bottleneck and margin.

    The prediction uses the `load:` of the plan's channels and nodes and the profile of a machine.
    Exit code 0: fits, 1: does not fit, 3: marginal.

    hyphos plan check robot.yaml

    hyphos plan check robot.yaml --set channels.image.load.rate_hz=60
    """
    from hyphos.lab.capacity.commands import check_plans  # noqa: PLC0415

    raise typer.Exit(check_plans(files, profile, link, with_domain(settings), shared, as_json))
