"""hyphos param ..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.complete import node_names, param_names
from hyphos.cli.options import AsJson, Domain
from hyphos.cli.values import ValueCommand

app = typer.Typer(
    no_args_is_help=True, help="Parameters of running nodes: list, change, save to a file."
)

Node = Annotated[
    str, typer.Argument(help="Node, e.g. mapper.", metavar="NODE", autocompletion=node_names)
]
Nodes = Annotated[
    list[str] | None,
    typer.Argument(
        help="Nodes. Default: all nodes of this machine.",
        metavar="[NODE]...",
        autocompletion=node_names,
    ),
]
Name = Annotated[
    str,
    typer.Argument(
        help="Parameter, e.g. laser.rate_hz.", metavar="NAME", autocompletion=param_names
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.01,
        help="Longest wait for a node. Default: 5 s if it runs, else no wait.",
    ),
]


@app.command("list")
def list_params(
    nodes: Nodes = None, domain: Domain = "0", as_json: AsJson = False, timeout: Timeout = None
) -> None:
    """List all parameters: value, unit, allowed values, and origin of the value."""
    from hyphos.tools import params  # noqa: PLC0415

    params.show(domain, nodes or [], as_json, timeout)


@app.command("get")
def get(
    node: Node, name: Name, domain: Domain = "0", as_json: AsJson = False, timeout: Timeout = None
) -> None:
    """Print one value."""
    from hyphos.tools import params  # noqa: PLC0415

    params.get(domain, node, name, as_json, timeout)


@app.command("set", cls=ValueCommand)
def set_params(
    node: Node,
    words: Annotated[
        list[str],
        typer.Argument(
            help="NAME VALUE, or one or more NAME=VALUE.",
            metavar="NAME=VALUE...",
            autocompletion=param_names,
        ),
    ],
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Also write the values to a file for a plan to include.",
        ),
    ] = None,
    domain: Domain = "0",
    timeout: Timeout = None,
) -> None:
    """Change values while the node runs: all of them, or none and exit code 1.

    A value stays until the node ends or the value is set again. Write it as in robot.yaml.

    hyphos param set planner max_speed 0.3

    hyphos param set planner max_speed=0.3 mode=careful --save tuned.yaml

    hyphos param set mapper 'laser.angles=[-1.5, 1.5]'
    """
    from hyphos.tools import params  # noqa: PLC0415

    params.assign(domain, node, words, save, timeout)


@app.command("describe")
def describe(
    node: Node,
    name: Annotated[
        str | None, typer.Argument(help="Parameter. Default: all.", metavar="[NAME]")
    ] = None,
    domain: Domain = "0",
    as_json: AsJson = False,
    timeout: Timeout = None,
) -> None:
    """Show the declaration of a node's parameters: type, unit, range, description."""
    from hyphos.tools import params  # noqa: PLC0415

    params.describe(domain, node, name, as_json, timeout)


@app.command("dump")
def dump(
    nodes: Nodes = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write. Default: standard output.")
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only values that were set while the nodes ran.")
    ] = False,
    domain: Domain = "0",
    timeout: Timeout = None,
) -> None:
    """Write the values as YAML, which `load` reads and a plan can include.

    hyphos param dump -o tuned.yaml, then in robot.yaml: include: [tuned.yaml]
    """
    from hyphos.tools import params  # noqa: PLC0415

    params.dump(domain, nodes or [], output, changed, timeout)


@app.command("load")
def load(
    file: Annotated[Path, typer.Argument(help="File of `dump`, or a plan.", metavar="FILE")],
    nodes: Annotated[
        list[str] | None,
        typer.Option("--node", "-n", help="Only this node. Repeatable."),
    ] = None,
    domain: Domain = "0",
    timeout: Timeout = None,
) -> None:
    """Set the values of a file, for each node all or none. Exit code 1 if any was refused."""
    from hyphos.tools import params  # noqa: PLC0415

    raise typer.Exit(params.load(domain, file, nodes or [], timeout))


@app.command("watch")
def watch(
    nodes: Nodes = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after this many changes.")
    ] = None,
    domain: Domain = "0",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
    timeout: Timeout = None,
) -> None:
    """Print changes as they happen, until Ctrl-C."""
    from hyphos.tools import params  # noqa: PLC0415

    params.watch(domain, nodes or [], count, as_json, timeout)
