"""hyphos shm ..."""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.options import AsJson

app = typer.Typer(no_args_is_help=True, help="Shared memory of Hyphos on this machine.")

AnyDomain = Annotated[
    str,
    typer.Option("--domain", "-d", help="Only this domain. Default: all domains of this user."),
]


@app.command("list")
def list_segments(domain: AnyDomain = "", as_json: AsJson = False) -> None:
    """List participants, their segments and descriptor rings, and remains of dead processes."""
    from hyphos.tools import shm_tools  # noqa: PLC0415

    shm_tools.list_all(domain, as_json)


@app.command("clean")
def clean(domain: AnyDomain = "") -> None:
    """Remove the files of dead processes. Live processes are not touched."""
    from hyphos.tools import shm_tools  # noqa: PLC0415

    shm_tools.clean(domain)
