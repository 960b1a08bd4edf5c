"""The location of the package's native programs."""

from __future__ import annotations

import os
from pathlib import Path

from hyphos import _hyphos
from hyphos._errors import Error


def program(room: str, name: str) -> Path:
    """The path of a program of a room such as `gateway`, in a wheel or in the build tree.

    Raises an error if it is in neither.
    """
    package, build = (
        Path(__file__).resolve().parents[1],
        Path(_hyphos.__file__).resolve().parents[2],
    )
    for place in (package / room / "programs", build / room):
        if os.access(place / name, os.X_OK):
            return place / name
    raise Error("not_found", f"program {name} not found", advice="make build")
