"""hyphos group ..."""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.complete import group_names
from hyphos.cli.options import AsJson, Domain

app = typer.Typer(
    no_args_is_help=True, help="Groups of nodes: start, stop, move, open and close as one."
)

Name = Annotated[
    str, typer.Argument(help="Group of the plan, e.g. vision.", autocompletion=group_names)
]
Places = Annotated[
    str,
    typer.Option(
        "--where",
        metavar="inside|outside|both",
        help="Inside each process, outside (between processes), or both.",
    ),
]
Patience = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.01, help="Longest wait.")
]


def _make(
    name: str, action: str, domain: str, timeout: float, process: str = "", where: str = "both"
) -> None:
    from hyphos._errors import Error  # noqa: PLC0415
    from hyphos.tools.groups import Change, make  # noqa: PLC0415

    if where not in ("inside", "outside", "both"):
        raise Error(
            "invalid_config", f"unknown --where '{where}': give one of inside, outside, both"
        )
    make(domain, Change(name, action, process, where), timeout)


@app.command("list")
def list_groups(
    name: Annotated[str, typer.Argument(help="Only this group.", autocompletion=group_names)] = "",
    domain: Domain = "0",
    as_json: AsJson = False,
    timeout: Patience = 10.0,
) -> None:
    """List the groups of a running robot: nodes, and the process in which each one runs."""
    from hyphos.tools.groups import show  # noqa: PLC0415

    show(domain, name, as_json, timeout)


@app.command("start")
def start(name: Name, domain: Domain = "0", timeout: Patience = 30.0) -> None:
    """Start the nodes of a group, each in its process. Nodes that run already continue."""
    _make(name, "start", domain, timeout)


@app.command("stop")
def stop(name: Name, domain: Domain = "0", timeout: Patience = 30.0) -> None:
    """End the nodes of a group. Their processes continue."""
    _make(name, "stop", domain, timeout)


@app.command("move")
def move(
    name: Name,
    process: Annotated[str, typer.Argument(help="Process of the group, or one of its moves_to.")],
    domain: Domain = "0",
    timeout: Patience = 30.0,
) -> None:
    """Stop a group where it runs, and start it in another process, on any machine of the plan.

    hyphos group move vision spare
    """
    _make(name, "move", domain, timeout, process)


@app.command("open")
def open_group(
    name: Name, where: Places = "both", domain: Domain = "0", timeout: Patience = 5.0
) -> None:
    """Open the channels at which nodes of a group have endpoints, in the processes of the nodes."""
    _make(name, "open", domain, timeout, where=where)


@app.command("close")
def close_group(
    name: Name, where: Places = "both", domain: Domain = "0", timeout: Patience = 5.0
) -> None:
    """Close the channels at which nodes of a group have endpoints, in the processes of the nodes.

    hyphos group close vision --where outside keeps its messages inside its processes.
    """
    _make(name, "close", domain, timeout, where=where)
