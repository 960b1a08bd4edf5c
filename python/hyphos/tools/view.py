"""Starts the viewer, a native program."""

from __future__ import annotations

import os
import shutil
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


def serve(words: Sequence[str]) -> NoReturn:
    """Replaces this process by the viewer. Raises an error if that fails."""
    found = program()
    if found is None:
        raise Error(
            "not_found",
            f"this installation has no viewer: the build found no {_PACKAGES}",
            advice="in a clone of Hyphos: scripts/setup core view, then make build",
        )
    os.execv(found, [str(found), *words])
