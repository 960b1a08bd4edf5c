"""hyphos new"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def new(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder to write. Its last part is the name of the robot.", metavar="NAME"
        ),
    ],
    python: Annotated[bool, typer.Option("--python", help="Write the nodes in Python.")] = False,
    cpp: Annotated[bool, typer.Option("--cpp", help="Write the nodes in C++.")] = False,
    both: Annotated[
        bool, typer.Option("--both", help="Write one node in each language. The default.")
    ] = False,
) -> None:
    """Write a small complete robot: two nodes, a message, a plan, tests, build files, a CI file.

    The robot drives along a simulated corridor, in two processes. The last lines of the output are
    the three commands that build, run and test it. An existing folder with files is never changed.

    hyphos new my_robot

    hyphos new ~/robots/rover --python
    """
    from hyphos.new.project import Languages, create  # noqa: PLC0415

    if python + cpp + both > 1:
        raise typer.BadParameter("give one of --python, --cpp and --both")
    languages = Languages.PYTHON if python else Languages.CPP if cpp else Languages.BOTH
    project = create(folder, languages)
    print(f"wrote {project.folder}:", *project.files, sep="\n  ")
    print("next:", f"cd {folder}", *project.commands, sep="\n  ")
