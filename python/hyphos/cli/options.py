"""Options that several commands have in common."""

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
        help="Domain of the robot on this machine, the `domain` of its plan.",
        callback=checked_domain,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]
ProtoPath = Annotated[
    list[Path] | None,
    typer.Option(
        "--proto-path",
        "-I",
        help="Folder with your own .proto files (needs protoc). Repeatable.",
        file_okay=False,
        exists=True,
    ),
]
Ros = Annotated[
    list[Path] | None,
    typer.Option(
        "--ros",
        metavar="PATH",
        help="Package, or folder of packages, with more ROS types. Installed and common types are "
        "known. Repeatable.",
    ),
]
Descriptor = Annotated[
    list[Path] | None,
    typer.Option(
        "--descriptor",
        help="FileDescriptorSet with your own types (protoc -o FILE --include_imports). "
        "Repeatable.",
        dir_okay=False,
        exists=True,
    ),
]
