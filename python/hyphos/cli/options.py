"""Options that several commands have in common."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.values import checked_domain, domain_of

DOMAIN_VARIABLE = "HYPHOS_DOMAIN"  # the runtime of a node reads it too

Domain = Annotated[
    str,
    typer.Option(
        "--domain",
        "-d",
        help="Domain of the robot on this machine, the `domain` of its plan.",
        envvar=DOMAIN_VARIABLE,
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
Ssh = Annotated[
    str,
    typer.Option(
        "--ssh",
        metavar="USER@HOST",
        help="Look at the robot's processes on another machine, which has Hyphos, by ssh.",
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


def with_domain(settings: Sequence[str] | None) -> list[str]:
    """The settings of a plan. HYPHOS_DOMAIN replaces the plan's domain, unless they name one."""
    given = list(settings or [])
    domain = os.environ.get(DOMAIN_VARIABLE, "")
    if domain and not any(one.startswith("domain=") for one in given):
        given.append(f"domain={domain_of(DOMAIN_VARIABLE, domain)}")
    return given
