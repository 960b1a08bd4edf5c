"""The location of the package's native programs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hyphos import _hyphos
from hyphos._errors import Error

# The packages of Debian with the programs. They are in /usr/lib/hyphos or on PATH.
_DEBIAN = {
    "gateway": "hyphos-gateways",
    "cosim": "hyphos-tools",
    "lab": "hyphos-tools",
    "view": "hyphos-view",
}
_FROM_DEBIAN = "dist-packages" in Path(__file__).parts


def folders(room: str) -> tuple[Path, ...]:
    """The folders for programs of a room such as `gateway`: of the Debian packages, or those of a
    wheel and of the build tree."""
    if _FROM_DEBIAN:
        return (Path("/usr/lib/hyphos", room),)
    package, build = (
        Path(__file__).resolve().parents[1],
        Path(_hyphos.__file__).resolve().parents[2],
    )
    return package / room / "programs", build / room


def program(room: str, name: str) -> Path:
    """The path of a program of a room, which may be on PATH. Raises an error if it is missing."""
    for place in folders(room):
        if os.access(place / name, os.X_OK):
            return place / name
    if found := shutil.which(name):
        return Path(found)
    raise Error("not_found", f"program {name} not found", advice=remedy(room))


def is_debian() -> bool:
    """Whether this is the package of Debian."""
    return _FROM_DEBIAN


def is_build() -> bool:
    """Whether this is a build tree of a clone."""
    return (Path(_hyphos.__file__).resolve().parents[2] / "CMakeCache.txt").exists()


def remedy(room: str) -> str:
    """The command that installs the programs of a room."""
    if _FROM_DEBIAN:
        return f"apt install {_DEBIAN[room]}"
    return "make build"
