"""The destinations of results: checked before any measurement, not after hours of them."""

from __future__ import annotations

import math
import os
from pathlib import Path

from hyphos._errors import Error


def expect_file(path: Path | None, option: str) -> None:
    """Error if a file cannot be written there. Makes nothing."""
    if path is None:
        return
    if path.is_dir():
        raise Error("invalid_config", f"{path} is a folder", option, "name a file")
    if path.exists() and not os.access(path, os.W_OK):
        raise Error("permission", f"{path} cannot be written", option)
    expect_folder(path.absolute().parent, option)


def expect_folder(path: Path | None, option: str) -> None:
    """Error if no file can be written below it, or it cannot be made."""
    if path is None:
        return
    there = path.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise Error("invalid_config", f"{there} is no folder", option, "name another folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise Error("permission", f"nothing can be written in {there}", option)


def expect_seconds(value: float | None, option: str, most: float = 86_400.0) -> None:
    """Error if it is not a valid waiting time."""
    if value is not None and not (math.isfinite(value) and 0 <= value <= most):
        raise Error("invalid_config", f"{value:g} s: from 0 to {most:,.0f}", option)
