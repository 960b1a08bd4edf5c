"""hyphos node ..."""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.complete import node_names
from hyphos.cli.options import AsJson, Domain, Ssh

app = typer.Typer(no_args_is_help=True, help="Nodes that run on this machine, or by ssh.")


@app.command("list")
def list_nodes(domain: Domain = "0", as_json: AsJson = False, ssh: Ssh = "") -> None:
    """List all nodes: process, pid, host, number of channels.

    hyphos node list

    hyphos node list --ssh pi@10.0.0.2
    """
    if ssh:
        _there(ssh, ["list"], domain, as_json)
    from hyphos.tools import tables  # noqa: PLC0415

    tables.node_list(domain, as_json)


@app.command("info")
def info(
    name: Annotated[str, typer.Argument(help="Node, e.g. mapper.", autocompletion=node_names)],
    domain: Domain = "0",
    as_json: AsJson = False,
    ssh: Ssh = "",
) -> None:
    """Show one node: its publishers and subscriptions, with their counters.

    hyphos node info mapper

    hyphos node info mapper --ssh pi@10.0.0.2
    """
    if ssh:
        _there(ssh, ["info", name], domain, as_json)
    from hyphos.tools import tables  # noqa: PLC0415

    tables.node_info(domain, name, as_json)


def _there(host: str, words: list[str], domain: str, as_json: bool) -> None:
    """Runs the command on the other machine and ends this one."""
    from hyphos.tools.elsewhere import run_there  # noqa: PLC0415

    json = ["--json"] if as_json else []
    raise typer.Exit(run_there(host, ["node", *words, "--domain", domain, *json]))
