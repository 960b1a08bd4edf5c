"""hyphos record"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import Descriptor, Domain, ProtoPath
from hyphos.cli.schemas import conversions


def _check(*rules: tuple[bool, str]) -> None:
    for broken, message in rules:
        if broken:
            raise typer.BadParameter(message)


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
        list[str] | None,
        typer.Option("--exclude", "-x", help="Pattern of channels to exclude. Repeatable."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", help="Stop after this many seconds."),
    ] = None,
    chunk_kb: Annotated[
        int, typer.Option("--chunk-kb", min=1, help="Size of a chunk before compression, in KB.")
    ] = 4096,
    compression: Annotated[str, typer.Option(help="zstd, lz4 or none.")] = "zstd",
    queue_mb: Annotated[
        int, typer.Option("--queue-mb", min=1, help="Largest queue to the disk, in MB.")
    ] = 256,
    split_mb: Annotated[
        int, typer.Option("--split-mb", min=0, help="Start a new file after this many MB.")
    ] = 0,
    split_s: Annotated[
        float, typer.Option("--split-s", min=0, help="Start a new file after this many seconds.")
    ] = 0.0,
    keep_files: Annotated[
        int, typer.Option("--keep-files", min=0, help="Keep the last N files of a split recording.")
    ] = 0,
    ring_s: Annotated[
        float,
        typer.Option("--ring-s", min=0, help="Keep the last seconds in memory and write no file."),
    ] = 0.0,
    ring_mb: Annotated[
        int, typer.Option("--ring-mb", min=0, help="Limit of that memory in MB. Default: 1024.")
    ] = 0,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Make a running --ring-s recorder write its file.")
    ] = False,
    split_now: Annotated[
        bool, typer.Option("--split-now", help="Make a running recorder start a new file.")
    ] = False,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", help="robot.yaml to store in the file.", dir_okay=False, exists=True
        ),
    ] = None,
    schemas: Annotated[
        str,
        typer.Option(
            help="hyphos, or foxglove: standard messages in the schemas that Foxglove draws. "
            "Needs foxglove-sdk."
        ),
    ] = "hyphos",
    sync: Annotated[
        bool, typer.Option("--sync", help="Exit only after the file is on the disk.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing file.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
    descriptor: Descriptor = None,
) -> None:
    """Record channels to an MCAP file until Ctrl-C. Channels that appear later are added.

    Files open in every MCAP tool. With --schemas foxglove the panels of Foxglove draw their scans,
    images, maps, poses and frames. After a crash all complete chunks are readable. Drops are
    counted and stored in the file.

    With --ring-s no file is written until `hyphos record --snapshot` or SIGUSR1 asks for one. A
    recorder of files starts a new file on SIGUSR1.

    hyphos record

    hyphos record scan odom -o run.mcap --for 60

    hyphos record -o logs --split-mb 1000 --keep-files 10

    hyphos record --schemas foxglove -o shown.mcap

    hyphos record --ring-s 30 -o crash.mcap & ... hyphos record --snapshot
    """
    from hyphos.tools.waiting import stoppable  # noqa: PLC0415

    _check(
        (bool(split_mb or split_s) and bool(ring_s or ring_mb), "a ring has no file to split"),
        (bool(keep_files) and not (split_mb or split_s), "--keep-files needs --split-mb/--split-s"),
        (snapshot and split_now, "give --snapshot or --split-now, not both"),
    )
    if snapshot or split_now:
        from hyphos.recording.recorder import control  # noqa: PLC0415

        wish = "snapshot" if snapshot else "split"
        raise typer.Exit(control(domain, wish, output, overwrite))

    # A stop request while the modules load still leaves a whole recording, without messages.
    with stoppable() as stop:
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
            plan=plan,
            sync=sync,
            split_bytes=split_mb * 1_000_000,
            split_s=split_s,
            keep_files=keep_files,
            # Bounds the memory for any amount of data.
            ring_bytes=(ring_mb or 1024) * 1_000_000 if ring_s or ring_mb else 0,
            ring_s=ring_s,
            conversions=conversions(schemas),
        )
        code = record_channels(options, stop)
    raise typer.Exit(code)
