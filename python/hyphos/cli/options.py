"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.values import checked_domain

Domain = Annotated[
    str,
    typer.Option(
        "--domain",
        "-d",
        help="Which robot on this machine: the plan's `domain`.",
        callback=checked_domain,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
ProtoPath = Annotated[
    list[Path] | None,
    typer.Option(
        "--proto-path",
        "-I",
        help="Folder with your own .proto files (needs protoc); may be given again.",
        file_okay=False,
        exists=True,
    ),
]
Ros = Annotated[
    list[Path] | None,
    typer.Option(
        "--ros",
        metavar="PATH",
        help="Package, or folder of packages, with more types of ROS; may be given again. "
        "Installed ones and the common ones are known.",
    ),
]
Descriptor = Annotated[
    list[Path] | None,
    typer.Option(
        "--descriptor",
        help="FileDescriptorSet with your own types (protoc -o FILE --include_imports).",
        dir_okay=False,
        exists=True,
    ),
]
