"""Starts the viewer, a native program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from hyphos._errors import Error
from hyphos.tools import native

_NAME = "hyphos-view"
# The first ones of section [view] of packages.txt.
_PACKAGES = "libimgui-dev, libglfw3-dev, libegl-dev"


def program() -> Path | None:
    """The viewer of this installation, or on PATH. None if it was not built."""
    for place in native.folders("view"):
        if os.access(place / _NAME, os.X_OK):
            return place / _NAME
    found = shutil.which(_NAME)
    return None if found is None else Path(found)


def _missing() -> Error:
    if native.is_debian():
        return Error(
            "not_found", "the viewer is a package of its own", "", "apt install hyphos-view"
        )
    if native.is_build():
        return Error(
            "not_found",
            f"this installation has no viewer: the build found no {_PACKAGES}",
            "",
            "in a clone of Hyphos: scripts/setup core view, then make build",
        )
    return Error(
        "not_found",
        "this package has no viewer, which needs the OpenGL and window libraries of the system",
        "",
        "install the Debian package hyphos-view of the same version, or build a clone of Hyphos",
    )


# The profile of `hyphos lab calibrate` in the present folder, as `hyphos plan check` reads it.
_PROFILE = Path("capacity.json")


def prediction(plan: Path) -> list[str]:
    """The words that show the predicted load of a plan. Empty without a profile of this machine.

    `hyphos plan check` runs beside the viewer, so that the window does not wait for it. The viewer
    reads the answer from a pipe, and errors go to the terminal.
    """
    if plan.suffix not in (".yaml", ".yml") or not _PROFILE.exists():
        return []
    answer, output = os.pipe()
    command = [sys.executable, "-m", "hyphos", "plan", "check", str(plan), "--json"]
    # The shell ends at once, so the viewer has no child to wait for.
    subprocess.run(["/bin/sh", "-c", '"$@" &', "sh", *command], stdout=output, check=False)
    os.close(output)
    os.set_inheritable(answer, True)
    return ["--check", f"/dev/fd/{answer}"]


def serve(words: Sequence[str]) -> NoReturn:
    """Replaces this process by the viewer. Raises an error if that fails."""
    found = program()
    if found is None:
        raise _missing()
    os.execv(found, [str(found), *words])
