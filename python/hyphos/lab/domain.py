"""The Hyphos domains of laboratory programs: a new one for each run."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hyphos import _hyphos
from hyphos._errors import Error
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
    """Removes the domains whose processes are all dead, also those of other programs. A process
    that lives holds a lock, which is visible in other containers and before it maps anything."""
    for folder in _FOLDERS.glob("lab*"):
        if not folder.name.removeprefix("lab").isdigit():
            continue
        with suppress(Error):  # of another version, or removed meanwhile
            if not any(one.alive for one in _hyphos.shm_list(folder.name).participants):
                _hyphos.shm_clean(folder.name)
