"""Detects recordings that are still being written."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

_UNFINISHED = "it is still being written"


def writer_of(path: Path) -> int | None:
    """A process of this user that has the file, or one in the folder, open for writing. None if
    there is none, or if the kernel does not show it."""
    files = [path, *path.iterdir()] if path.is_dir() else [path]
    wanted = {(one.st_dev, one.st_ino) for one in (file.stat() for file in files if file.is_file())}
    for folder in Path("/proc").glob("[0-9]*"):
        if int(folder.name) != os.getpid() and _writes(folder, wanted):
            return int(folder.name)
    return None


def _writes(process: Path, wanted: set[tuple[int, int]]) -> bool:
    try:
        for entry in (process / "fd").iterdir():
            found = entry.stat()
            if (found.st_dev, found.st_ino) not in wanted:
                continue
            told = (process / "fdinfo" / entry.name).read_text()
            flags = re.search(r"^flags:\s+(\d+)", told, re.MULTILINE)
            if flags and int(flags[1], 8) & os.O_ACCMODE != os.O_RDONLY:
                return True
    except OSError:
        pass  # the process has ended, or belongs to another user
    return False


def warnings_of(path: Path, warnings: Sequence[str]) -> list[str]:
    """The warnings of a recording. Those of a missing end name the process that still writes."""
    writer = writer_of(path) if any("cut off" in text for text in warnings) else None
    if writer is None:
        return list(warnings)
    kept = [text for text in warnings if "cut off" not in text]
    return [*kept, f"{_UNFINISHED} by process {writer}, complete messages are shown"]


def is_only_unfinished(warnings: Sequence[str]) -> bool:
    """True if the only problem of a recording is that its writer has not finished."""
    return len(warnings) == 1 and warnings[0].startswith(_UNFINISHED)
