"""hyphos bag ..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import AsJson

app = typer.Typer(
    no_args_is_help=True, help="Recordings: what they hold, parts, repair, other formats."
)

File = Annotated[Path, typer.Argument(help="A recording.", show_default=False)]
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
    """Channels, counts, times, drops, attachments and metadata of recordings.

    Ends with 3 if something of a recording cannot be read.
    """
    from hyphos.recording.bag import show_info  # noqa: PLC0415

    raise typer.Exit(show_info(files, as_json))


@app.command("check")
def check(
    file: File,
    repair: Annotated[
        Path | None, typer.Option("--repair", help="Write what is readable to this file.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Read every record of an MCAP file, test every checksum, and name each fault with its place.

    Ends with 3 if something cannot be read, with 1 if only an index is wrong. A file that was cut
    off by a kill or a full disk, or damaged in the middle, gives back every complete chunk with
    --repair.
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
        float | None, typer.Option("--start", "-s", metavar="SECONDS", help="From so far in.")
    ] = None,
    end: Annotated[
        float | None, typer.Option("--end", "-e", metavar="SECONDS", help="Up to so far in.")
    ] = None,
    channels: Annotated[
        list[str] | None,
        typer.Option("--channels", "-c", help="Channel or pattern; may be given again."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", "-x", help="Channel or pattern to leave out.")
    ] = None,
    compression: Compression = "zstd",
    overwrite: Overwrite = False,
) -> None:
    """Copy a span of time, or some channels, of an MCAP file.

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
        bool, typer.Option("--prefix", help="Put the name of its file before each channel.")
    ] = False,
    compression: Compression = "zstd",
    overwrite: Overwrite = False,
) -> None:
    """Make one MCAP file of several, in order of time: parts of a split one, or of two robots."""
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
            help="mcap, ros1, ros2 or ros2-db3. Default: by the output's name: .mcap, .bag, "
            "a folder for ros2.",
        ),
    ] = None,
    compression: Compression = "zstd",
    overwrite: Overwrite = False,
) -> None:
    """Turn a recording of Hyphos, ROS 1 or ROS 2 into one of another.

    What has no counterpart is named and counted.

    hyphos bag convert robot.bag -o robot.mcap

    hyphos bag convert run.mcap -o run.bag
    """
    from hyphos.recording.bag import WriteOptions  # noqa: PLC0415
    from hyphos.recording.bag_convert import convert as run  # noqa: PLC0415

    raise typer.Exit(run(file, to, WriteOptions(output, overwrite, compression)))
