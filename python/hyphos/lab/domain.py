"""The Hyphos domains of laboratory programs: a new one for each run."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hyphos.lab.reaper import SHM

_FOLDERS = SHM / f"hyphos-{os.getuid()}"


@dataclass(frozen=True)
class Domain:
    run: int  # programs derive names and ports from this number

    @property
    def name(self) -> str:
        return f"lab{self.run}"

    @property
    def folder(self) -> Path:
        return _FOLDERS / self.name


def domains() -> Iterator[Domain]:
    """A new domain for each run of this process."""
    first = os.getpid() % 20_000 * 100_000
    return (Domain(first + number) for number in itertools.count(1))


def sweep_domains() -> None:
    """Removes the domains of dead processes, also those of other programs."""
    for folder in _FOLDERS.glob("lab*"):
        if folder.name.removeprefix("lab").isdigit() and not _is_held(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_held(folder: Path) -> bool:
    """Whether a living process maps files of this domain."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder) in (process / "maps").read_text():
                return True
        except OSError:
            continue
    return False
