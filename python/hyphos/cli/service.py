"""hyphos service ..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.complete import service_names
from hyphos.cli.options import AsJson, Descriptor, Domain, ProtoPath
from hyphos.cli.values import ValueCommand

app = typer.Typer(no_args_is_help=True, help="Services: list, inspect, call.")

Name = Annotated[str, typer.Argument(help="Service, e.g. map/save.", autocompletion=service_names)]
Value = Annotated[str, typer.Argument(help="YAML or JSON. '-' reads standard input.")]
Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0, help="Time limit for the reply.")
]
Buffers = Annotated[
    list[Path] | None,
    typer.Option(
        "--buffer",
        "-b",
        exists=True,
        dir_okay=False,
        help="File to attach as a buffer. Repeatable.",
    ),
]
Hex = Annotated[bool, typer.Option("--hex", help="VALUE is hexadecimal (structs, bytes).")]
Full = Annotated[bool, typer.Option("--full", help="Do not shorten long arrays.")]


@app.command("list")
def list_services(domain: Domain = "0", as_json: AsJson = False) -> None:
    """List all services: types, server, clients, requests, drops."""
    from hyphos.tools import services  # noqa: PLC0415

    services.list_calls("service", domain, as_json)


@app.command("info")
def info(name: Name, domain: Domain = "0", as_json: AsJson = False) -> None:
    """Show one service: its server and clients, with their counters."""
    from hyphos.tools import services  # noqa: PLC0415

    services.info("service", domain, name, as_json)


@app.command("call", cls=ValueCommand)
def call(
    name: Name,
    value: Value = "{}",
    seconds: Timeout = 5.0,
    buffers: Buffers = None,
    hex_value: Hex = False,
    full: Full = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the reply as one JSON object.")
    ] = False,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
    descriptor: Descriptor = None,
) -> None:
    """Call a service and print the reply. The exit code is 0 if a reply arrived.

    hyphos service call map/save '{data: /tmp/map}'

    hyphos service call square 0300000000000000 --hex
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
    raise typer.Exit(services.call(options))
