"""hyphos shm ..."""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.options import AsJson

app = typer.Typer(no_args_is_help=True, help="Shared memory of Hyphos on this machine.")

AnyDomain = Annotated[
    str, typer.Option("--domain", "-d", help="Only this domain; empty: all domains of this user.")
]


@app.command("list")
def list_segments(domain: AnyDomain = "", as_json: AsJson = False) -> None:
    """Participants, their segments and lanes, and what dead processes have left."""
    from hyphos.tools import shm_tools  # noqa: PLC0415

    shm_tools.list_all(domain, as_json)


@app.command("clean")
def clean(domain: AnyDomain = "") -> None:
    """Remove what belongs to dead processes. Never touches the living."""
    from hyphos.tools import shm_tools  # noqa: PLC0415

    shm_tools.clean(domain)
