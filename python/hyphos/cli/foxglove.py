"""hyphos foxglove"""

from __future__ import annotations

from typing import Annotated

import typer

from hyphos.cli.complete import channel_names
from hyphos.cli.options import Descriptor, Domain, ProtoPath
from hyphos.cli.schemas import require_foxglove


def foxglove(
    channels: Annotated[
        list[str] | None,
        typer.Argument(
            help="Channels, or patterns like 'camera/*'. Default: all.",
            autocompletion=channel_names,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", "-x", help="Pattern of channels to exclude. Repeatable."),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="TCP port. 0: any free port.")
    ] = 8765,
    host: Annotated[
        str,
        typer.Option("--host", help="Listening address. Default: only this machine."),
    ] = "127.0.0.1",
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Send all types unchanged, without conversion to Foxglove's."),
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Let clients set parameters of nodes.")
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", help="Stop after this many seconds."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")] = False,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
    descriptor: Descriptor = None,
) -> None:
    """Show a running robot live in Foxglove (https://foxglove.dev), until Ctrl-C. Subscribes to a
    channel only while a client displays it, and never blocks the robot. Needs foxglove-sdk.

    hyphos foxglove

    hyphos foxglove scan map tf 'camera/*' --port 9000
    """
    require_foxglove()
    from hyphos.foxglove.serve import Options, serve  # noqa: PLC0415

    options = Options(
        patterns=channels or ["*"],
        exclude=exclude or [],
        host=host,
        port=port,
        raw=raw,
        write=write,
        seconds=seconds,
        quiet=quiet,
        domain=domain,
        proto_path=proto_path or [],
        descriptors=descriptor or [],
    )
    raise typer.Exit(serve(options))
