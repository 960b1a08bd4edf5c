"""Starts the viewer, a native program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NoReturn

from hyphos._errors import Error
from hyphos.tools import native

# Section [view] of packages.txt.
_PACKAGES = "libimgui-dev libglfw3-dev libegl-dev libgl-dev"


def built() -> bool:
    """True if this installation has the viewer."""
    try:
        native.program("view", "hyphos-view")
    except Error:
        return False
    return True


def serve(words: Sequence[str]) -> NoReturn:
    """Replaces this process by the viewer. Raises an error if that fails."""
    try:
        program = native.program("view", "hyphos-view")
    except Error as error:
        raise Error(
            "not_found",
            "this installation has no viewer: its packages were missing at the build",
            advice=f"install {_PACKAGES} (scripts/setup core view), then {native.remedy('view')}",
        ) from error
    os.execv(program, [str(program), *words])
