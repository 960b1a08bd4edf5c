"""Checks the destinations of results before a measurement, not after hours of it."""

from __future__ import annotations

import math
import os
from pathlib import Path

from hyphos._errors import Error


def expect_file(path: Path | None, option: str) -> None:
    """Raises Error if the file cannot be written. Creates nothing."""
    if path is None:
        return
    if path.is_dir():
        raise Error("invalid_config", f"{path} is a folder", option, "name a file")
    if path.exists() and not os.access(path, os.W_OK):
        raise Error("permission", f"cannot write {path}", option)
    expect_folder(path.absolute().parent, option)


def expect_folder(path: Path | None, option: str) -> None:
    """Raises Error if no file can be written below the folder, or it cannot be created."""
    if path is None:
        return
    there = path.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise Error("invalid_config", f"{there} is not a folder", option, "name another folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise Error("permission", f"cannot write in {there}", option)


def expect_seconds(value: float | None, option: str, most: float = 86_400.0) -> None:
    """Raises Error if the value is not a valid waiting time."""
    if value is not None and not (math.isfinite(value) and 0 <= value <= most):
        raise Error("invalid_config", f"{value:g} s is not from 0 to {most:,.0f} s", option)
