"""Starts the native program of the co-simulator."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import NoReturn

from hyphos.tools.native import program


def become(words: Sequence[str]) -> NoReturn:
    """Replaces this process by the native program. Raises Error if the program is missing."""
    path = program("cosim", "hyphos-cosim")
    os.execv(path, [str(path), *words])


def output(*words: str) -> str:
    """Returns the output of the native program. Raises Error if it is missing or fails."""
    path = program("cosim", "hyphos-cosim")
    return subprocess.run([path, *words], capture_output=True, text=True, check=True).stdout
