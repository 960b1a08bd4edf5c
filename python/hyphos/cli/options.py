"""Options that several commands share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from hyphos.cli.values import checked_domain

# No option begins so; a list in YAML may begin with "- ".
_NEGATIVE = re.compile(r"-(?:[0-9.\s]|(?:inf|Inf|INF|Infinity)$)")

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


class ValueCommand(typer.core.TyperCommand):
    """A command with a value among its arguments: -0.5 and -.inf are values, not options."""

    def make_parser(self, ctx: Any) -> Any:
        parser: Any = super().make_parser(ctx)
        options = parser._process_opts

        def process(word: str, state: Any) -> None:
            if _NEGATIVE.match(word):
                state.largs.append(word)
            else:
                options(word, state)

        parser._process_opts = process
        return parser
