"""hyphos param ..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.complete import node_names, param_names
from hyphos.cli.options import AsJson, Domain
from hyphos.cli.values import ValueCommand

app = typer.Typer(
    no_args_is_help=True,
    help="Parameters of running nodes, and the tree that all nodes share (--shared): list, change, "
    "save to a file.",
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
Shared = Annotated[
    bool, typer.Option("--shared", help="The tree that all nodes share. A name is a path in it.")
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
    nodes: Nodes = None,
    shared: Shared = False,
    domain: Domain = "0",
    as_json: AsJson = False,
    timeout: Timeout = None,
) -> None:
    """List all parameters: value, unit, allowed values, and origin of the value.

    hyphos param list --shared, or only below a path: hyphos param list --shared profile
    """
    from hyphos.tools import params, shared_params  # noqa: PLC0415

    if shared:
        shared_params.show(domain, nodes or [], as_json, timeout)
        return
    params.show(domain, nodes or [], as_json, timeout)


@app.command("get")
def get(
    node: Node,
    name: Annotated[
        str | None,
        typer.Argument(
            help="Parameter, e.g. laser.rate_hz.", metavar="NAME", autocompletion=param_names
        ),
    ] = None,
    shared: Shared = False,
    domain: Domain = "0",
    as_json: AsJson = False,
    timeout: Timeout = None,
) -> None:
    """Print one value: hyphos param get NODE NAME, or hyphos param get --shared PATH."""
    from hyphos.tools import params, shared_params  # noqa: PLC0415

    if shared:
        if name is not None:
            raise typer.BadParameter("--shared takes one path, without a node")
        shared_params.get(domain, node, as_json, timeout)
        return
    if name is None:
        raise typer.BadParameter("NAME is missing: give a node and a parameter, or --shared PATH")
    params.get(domain, node, name, as_json, timeout)


@app.command("set", cls=ValueCommand)
def set_params(
    node: Node,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="NAME VALUE, or one or more NAME=VALUE.",
            metavar="NAME=VALUE...",
            autocompletion=param_names,
        ),
    ] = None,
    shared: Shared = False,
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

    hyphos param set --shared profile.name=rover 'grid=[[1, 2], [3, 4]]'
    """
    from hyphos.tools import params, shared_params  # noqa: PLC0415

    if shared:
        if save is not None:
            raise typer.BadParameter("--save is for nodes: use hyphos param dump --shared -o FILE")
        shared_params.assign(domain, [node, *(words or [])], timeout)
        return
    if not words:
        raise typer.BadParameter("NAME=VALUE is missing")
    params.assign(domain, node, words, save, timeout)


@app.command("remove")
def remove(
    path: Annotated[str, typer.Argument(help="Path, e.g. profile.name.", metavar="PATH")],
    domain: Domain = "0",
    timeout: Timeout = None,
) -> None:
    """Remove a path, and all below it, from the tree that all nodes share."""
    from hyphos.tools import shared_params  # noqa: PLC0415

    shared_params.remove(domain, path, timeout)


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
    shared: Shared = False,
    domain: Domain = "0",
    timeout: Timeout = None,
) -> None:
    """Write the values as YAML, which `load` reads and a plan can include.

    hyphos param dump -o tuned.yaml, then in robot.yaml: include: [tuned.yaml]

    hyphos param dump --shared -o shared.yaml, then in robot.yaml: shared_params: shared.yaml
    """
    from hyphos.tools import params, shared_params  # noqa: PLC0415

    if shared:
        if changed or nodes:
            raise typer.BadParameter("--shared writes the whole tree, without nodes or --changed")
        shared_params.dump(domain, output, timeout)
        return
    params.dump(domain, nodes or [], output, changed, timeout)


@app.command("load")
def load(
    file: Annotated[
        Path, typer.Argument(help="File of `dump`, a plan, or a plain map.", metavar="FILE")
    ],
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--node", "-n", help="Only this node, which a plain map then belongs to. Repeatable."
        ),
    ] = None,
    shared: Shared = False,
    domain: Domain = "0",
    timeout: Timeout = None,
) -> None:
    """Set the values of a file, for each node all or none. Exit code 1 if any was refused.

    hyphos param load --shared param_file.yaml sets every value of a plain file, declared or not.
    """
    from hyphos.tools import params, shared_params  # noqa: PLC0415

    if shared:
        if nodes:
            raise typer.BadParameter("--shared sets the tree of all nodes, without --node")
        shared_params.load(domain, file, timeout)
        return
    raise typer.Exit(params.load(domain, file, nodes or [], timeout))


@app.command("watch")
def watch(
    nodes: Nodes = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after this many changes.")
    ] = None,
    shared: Shared = False,
    domain: Domain = "0",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
    timeout: Timeout = None,
) -> None:
    """Print changes as they happen, until Ctrl-C."""
    from hyphos.tools import params, shared_params  # noqa: PLC0415

    if shared:
        shared_params.watch(domain, nodes or [], count, as_json, timeout)
        return
    params.watch(domain, nodes or [], count, as_json, timeout)
