"""hyphos bag ..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import AsJson
from hyphos.cli.schemas import foxglove_schemas

app = typer.Typer(no_args_is_help=True, help="Recordings: inspect, check, cut, merge, convert.")

File = Annotated[Path, typer.Argument(help="The recording.", show_default=False)]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]
Compression = Annotated[str, typer.Option(help="zstd, lz4 or none.")]


@app.command("info")
def info(
    files: Annotated[
        list[Path], typer.Argument(help="MCAP files, ROS 1 .bag, ROS 2 .db3/.mcap or folders.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show channels, counts, times, drops, attachments and metadata of recordings.

    Exit code 3 if a part of a recording cannot be read.
    """
    from hyphos.recording.bag import show_info  # noqa: PLC0415

    raise typer.Exit(show_info(files, as_json))


@app.command("check")
def check(
    file: File,
    repair: Annotated[
        Path | None, typer.Option("--repair", help="Write the readable content to this file.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Read every record of an MCAP file, test every checksum, and list each fault with its offset.

    Exit code 3 if a part cannot be read, 1 if only an index is wrong. With --repair, every complete
    chunk is recovered from a file that a kill or a full disk cut off, or that is damaged in the
    middle.
    """
    from hyphos.recording.bag import WriteOptions  # noqa: PLC0415
    from hyphos.recording.bag import check as run  # noqa: PLC0415

    to = None if repair is None else WriteOptions(repair, overwrite)
    raise typer.Exit(run(file, to))


@app.command("cut")
def cut(
    file: File,
    output: Output,
    start: Annotated[
        float | None,
        typer.Option("--start", "-s", metavar="SECONDS", help="Start offset in seconds."),
    ] = None,
    end: Annotated[
        float | None, typer.Option("--end", "-e", metavar="SECONDS", help="End offset in seconds.")
    ] = None,
    channels: Annotated[
        list[str] | None,
        typer.Option("--channels", "-c", help="Channel or pattern. Repeatable. Default: all."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", "-x", help="Channel or pattern to exclude. Repeatable."),
    ] = None,
    compression: Compression = "zstd",
    overwrite: Overwrite = False,
) -> None:
    """Copy a time span, or some channels, of an MCAP file.

    hyphos bag cut run.mcap -o turn.mcap --start 10 --end 25 -c 'camera/*' -c odom
    """
    from hyphos.recording.bag import Selection, WriteOptions  # noqa: PLC0415
    from hyphos.recording.bag import cut as run  # noqa: PLC0415

    selection = Selection(start, end, channels or ["*"], exclude or [])
    raise typer.Exit(run(file, selection, WriteOptions(output, overwrite, compression)))


@app.command("merge")
def merge(
    files: Annotated[list[Path], typer.Argument(help="MCAP files.", show_default=False)],
    output: Output,
    prefix: Annotated[
        bool, typer.Option("--prefix", help="Prefix each channel with the name of its file.")
    ] = False,
    compression: Compression = "zstd",
    overwrite: Overwrite = False,
) -> None:
    """Merge MCAP files in order of time: the parts of a split recording, or two robots."""
    from hyphos.recording.bag import WriteOptions  # noqa: PLC0415
    from hyphos.recording.bag import merge as run  # noqa: PLC0415

    raise typer.Exit(run(files, WriteOptions(output, overwrite, compression), prefix=prefix))


@app.command("convert")
def convert(
    file: File,
    output: Output,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="mcap, foxglove (MCAP with the schemas that Foxglove draws), ros1, ros2 or "
            "ros2-db3. Default: from the name of the output: .mcap, .bag, or a folder for ros2.",
        ),
    ] = None,
    compression: Compression = "zstd",
    overwrite: Overwrite = False,
) -> None:
    """Convert a recording between the formats of Hyphos, ROS 1, ROS 2 and Foxglove.

    Prints and counts the messages that have no counterpart in the other format.

    hyphos bag convert robot.bag -o robot.mcap

    hyphos bag convert run.mcap -o run.bag

    hyphos bag convert run.mcap --to foxglove -o shown.mcap
    """
    from hyphos.recording.bag import WriteOptions  # noqa: PLC0415

    options = WriteOptions(output, overwrite, compression)
    if to == "foxglove":
        known = foxglove_schemas()
        from hyphos.recording.bag_schemas import convert_schemas  # noqa: PLC0415

        raise typer.Exit(convert_schemas(file, options, known))
    from hyphos.recording.bag_convert import convert as run  # noqa: PLC0415

    raise typer.Exit(run(file, to, options))
