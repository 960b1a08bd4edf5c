"""hyphos node ..."""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.complete import node_names
from hyphos.cli.options import AsJson, Domain

app = typer.Typer(no_args_is_help=True, help="Nodes that run on this machine.")


@app.command("list")
def list_nodes(domain: Domain = "0", as_json: AsJson = False) -> None:
    """List all nodes: process, pid, host, number of channels."""
    from hyphos.tools import tables  # noqa: PLC0415

    tables.node_list(domain, as_json)


@app.command("info")
def info(
    name: Annotated[str, typer.Argument(help="Node, e.g. mapper.", autocompletion=node_names)],
    domain: Domain = "0",
    as_json: AsJson = False,
) -> None:
    """Show one node: its publishers and subscriptions, with their counters."""
    from hyphos.tools import tables  # noqa: PLC0415

    tables.node_info(domain, name, as_json)
