"""The domains of Hyphos in which programs of the laboratory run: a new one for each run."""

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
    run: int  # the programs derive names and ports from it

    @property
    def name(self) -> str:
        return f"lab{self.run}"

    @property
    def folder(self) -> Path:
        return _FOLDERS / self.name


def domains() -> Iterator[Domain]:
    """One for each run that this process makes."""
    first = os.getpid() % 20_000 * 100_000
    return (Domain(first + number) for number in itertools.count(1))


def sweep_domains() -> None:
    """Removes those whose processes are gone: they are of no use, whoever's they were."""
    for folder in _FOLDERS.glob("lab*"):
        if folder.name.removeprefix("lab").isdigit() and not _is_held(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_held(folder: Path) -> bool:
    """Whether a living process has files of it mapped."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder) in (process / "maps").read_text():
                return True
        except OSError:
            continue
    return False
