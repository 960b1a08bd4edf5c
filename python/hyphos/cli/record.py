"""hyphos record"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import Descriptor, Domain, ProtoPath


def record(
    channels: Annotated[
        list[str] | None,
        typer.Argument(help="Channels, or patterns like 'camera/*'. Default: all."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The .mcap file, or a folder. Default: ./<time>.mcap"),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", "-x", help="Pattern of channels to leave out.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--for", metavar="SECONDS", help="Stop after so long.")
    ] = None,
    chunk_kb: Annotated[
        int, typer.Option("--chunk-kb", min=1, help="Size of a compressed chunk.")
    ] = 1024,
    compression: Annotated[str, typer.Option(help="zstd, lz4 or none.")] = "zstd",
    queue_mb: Annotated[
        int, typer.Option("--queue-mb", min=1, help="What may wait for the disk before drops.")
    ] = 256,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing file.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
    descriptor: Descriptor = None,
) -> None:
    """Record channels to an MCAP file until Ctrl-C. Channels that appear later are added.

    Files open in Foxglove and in every MCAP tool. After a crash all complete chunks are readable.
    Drops are counted and stored in the file.

    hyphos record

    hyphos record scan odom -o run.mcap --for 60
    """
    from hyphos.recording.recorder import RecordOptions, record_channels  # noqa: PLC0415

    options = RecordOptions(
        patterns=channels or ["*"],
        exclude=exclude or [],
        output=output,
        seconds=seconds,
        chunk_bytes=chunk_kb * 1024,
        compression=compression,
        queue_bytes=queue_mb * 1024 * 1024,
        overwrite=overwrite,
        quiet=quiet,
        domain=domain,
        proto_path=proto_path or [],
        descriptors=descriptor or [],
    )
    raise typer.Exit(record_channels(options))
