"""The public interfaces that have goldens, and the promise of each."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import behaviour
import c_interface
import kept_recordings
import listings
import make_wire
from goldens import (
    FOLDER,
    ROOT,
    Difference,
    Listing,
    UpdateError,
    compare,
    current_version,
    flat,
    read,
    same_line,
    write,
)

HEADER = ROOT / "clients/c/include/hyphos_c.h"
LIBRARY = ROOT / "build/release/clients/c/libhyphos_c.so"


class Promise(Enum):
    """When a kept listing must still hold."""

    ALWAYS = "in every later version. Parts may be added"
    LINE = "in the same minor version, or the same major version from 1.0.0 on. Parts may be added"
    NUMBER = "while the number of the interface is the same. Parts may be added"
    EXACT = "while the number of the interface is the same. Nothing may be added"
    PRESENT = "in the present version alone"


@dataclass(frozen=True)
class Surface:
    """An interface. `today(folder)` lists its parts as this build has them. `folder` is the one of
    the kept version, which has the input of some listings. A numbered listing begins with
    "number"."""

    name: str
    promise: Promise
    today: Callable[[Path], Listing]
    number: str = ""  # the constant that a change must raise
    save: Callable[[Path, Listing], None] = write

    def file(self, version: str) -> Path:
        return FOLDER / version / f"{self.name}.json"

    def difference(self, version: str) -> Difference:
        return compare(flat(read(self.file(version))), flat(self.today(FOLDER / version)))

    def broken(self, version: str) -> list[str]:
        """The broken promises to users of `version`."""
        if version == current_version():
            return self._changes(self.difference(version))
        line = same_line(version, current_version())
        if self.promise is Promise.PRESENT or (self.promise is Promise.LINE and not line):
            return []
        found = self.difference(version)
        other_number = self.number and any(map(_is_number, found.broken))
        return [] if other_number else self._changes(found)

    def _changes(self, found: Difference) -> list[str]:
        return found.broken + (found.new if self.promise is Promise.EXACT else [])

    def update(self, version: str) -> Difference:
        """Writes the listing of today. Refuses to change a numbered interface with the same
        number."""
        path = self.file(version)
        today = self.today(path.parent)
        kept = flat(read(path)) if path.exists() else {}
        found = compare(kept, flat(today))
        if kept and self.number and self._changes(found) and not any(map(_is_number, found.broken)):
            changes = "\n  ".join(self._changes(found))
            raise UpdateError(
                f"{self.name} changed, and its number did not: raise {self.number}, or undo\n"
                f"  {changes}"
            )
        if found or not path.exists():
            self.save(path, today)
        return found


def _is_number(line: str) -> bool:
    return line.startswith("changed: number: ")


# --- Today --------------------------------------------------------------------------------------


def memory(part: str) -> Listing:
    """The layout of shared memory in this build, as the program compat_layout prints it."""
    program = ROOT / "build/release/tests/compat/compat_layout"
    if not program.exists():
        raise UpdateError(f"{program} is missing: run `make build`")
    out = subprocess.run([program, part], check=True, capture_output=True, text=True).stdout
    layout: Listing = json.loads(out)
    if part == "metrics":
        return {"number": listings.numbers()["trace/area.hpp kVersion"]} | layout
    return layout


def c_interface_today() -> Listing:
    listing = c_interface.listing(HEADER, "HYPHOS_ABI")
    return listing | {f"exported {name}": "function" for name in c_interface.exported(LIBRARY)}


def adapter_today() -> Listing:
    return c_interface.listing(ROOT / "cosim/adapter/cosim_adapter.h", "HYPHOS_COSIM_ABI")


def _save_recordings(path: Path, _today: Listing) -> None:
    write(path, kept_recordings.by_mcap(path.parent / "recordings"))


def _save_vectors(path: Path, _today: Listing) -> None:
    make_wire.write(path)


SURFACES = (
    Surface("wire", Promise.PRESENT, lambda _: make_wire.vectors(), save=_save_vectors),
    Surface("messages", Promise.ALWAYS, lambda _: listings.messages()),
    Surface("plans", Promise.ALWAYS, lambda folder: listings.plans(folder / "plans")),
    Surface(
        "recordings",
        Promise.ALWAYS,
        lambda folder: kept_recordings.by_hyphos(folder / "recordings"),
        save=_save_recordings,
    ),
    Surface("recording_format", Promise.ALWAYS, lambda _: kept_recordings.shape_of_today()),
    Surface("bag_info", Promise.LINE, lambda folder: listings.bag_info(folder / "recordings")),
    Surface("c", Promise.NUMBER, lambda _: c_interface_today(), "HYPHOS_ABI in hyphos_c.h"),
    Surface("cosim", Promise.EXACT, lambda _: adapter_today(), "HYPHOS_COSIM_ABI"),
    Surface("shm", Promise.EXACT, lambda _: memory("shm"), "kLayoutVersion in shm/layout.hpp"),
    Surface("metrics", Promise.EXACT, lambda _: memory("metrics"), "kVersion in trace/area.hpp"),
    Surface("numbers", Promise.PRESENT, lambda _: listings.numbers()),
    Surface("cli", Promise.LINE, lambda _: listings.command_line()),
    Surface("exit_codes", Promise.LINE, behaviour.exit_codes),
    Surface("environment", Promise.LINE, behaviour.environment),
    Surface("python", Promise.LINE, lambda _: listings.python_api()),
)
