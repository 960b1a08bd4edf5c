"""hyphos action ..."""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.complete import action_names
from hyphos.cli.options import AsJson, Descriptor, Domain, ProtoPath
from hyphos.cli.service import Buffers, Full, Hex, Value
from hyphos.cli.values import ValueCommand

app = typer.Typer(no_args_is_help=True, help="Actions: list, inspect, send goals.")

Name = Annotated[str, typer.Argument(help="Action, e.g. drive_to.", autocompletion=action_names)]


@app.command("list")
def list_actions(domain: Domain = "0", as_json: AsJson = False) -> None:
    """List all actions: types, server, clients, goals, drops."""
    from hyphos.tools import services  # noqa: PLC0415

    services.list_calls("action", domain, as_json)


@app.command("info")
def info(name: Name, domain: Domain = "0", as_json: AsJson = False) -> None:
    """Show one action: its server and clients, with their counters."""
    from hyphos.tools import services  # noqa: PLC0415

    services.info("action", domain, name, as_json)


@app.command("send", cls=ValueCommand)
def send(
    name: Name,
    value: Value = "{}",
    seconds: Annotated[
        float,
        typer.Option(
            "--accept", metavar="SECONDS", min=0, help="Time limit for the server to accept."
        ),
    ] = 5.0,
    buffers: Buffers = None,
    hex_value: Hex = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not print feedback.")] = False,
    full: Full = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
    descriptor: Descriptor = None,
) -> None:
    """Send a goal, print its feedback and its result. Ctrl-C cancels the goal, a second one exits.

    The exit code is 0 if the goal succeeded.

    hyphos action send drive_to '{x: 1.0, y: 2.0}'
    """
    from hyphos.tools import services  # noqa: PLC0415

    options = services.CallOptions(
        name=name,
        value=value,
        timeout_s=seconds,
        buffers=buffers or [],
        hex_value=hex_value,
        full=full,
        as_json=as_json,
        domain=domain,
        proto_path=proto_path or [],
        descriptors=descriptor or [],
    )
    raise typer.Exit(services.send(options, quiet))
