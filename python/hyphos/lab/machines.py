"""The machines that the runs in a folder were made on: machine.json, by the name that each run has
of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.lab.machine import PASSING

FILE = "machine.json"
Machine = Mapping[str, str]
# What may be another later: that is told, and the runs keep apart what they were made with.
_VERSIONS = ("python", "hyphos", "peers")


def name_of(machine: Machine) -> str:
    lasting = {name: value for name, value in machine.items() if name not in PASSING}
    return hashlib.sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest()[:12]


def load(folder: Path) -> dict[str, Machine]:
    """By name, in the order in which they came; none if nothing was measured there."""
    path = folder / FILE
    try:
        told: Any = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _corrupt(path, error) from None
    if not isinstance(told, dict):
        raise _corrupt(path, "it is no mapping")
    if not all(isinstance(value, dict) for value in told.values()):
        return {name_of(told): told}  # as it was when a folder had one machine
    return told


def _corrupt(path: Path, problem: object) -> Error:
    return Error("corrupt", f"these are no machines: {problem}", str(path), "-o another folder")


def enter(folder: Path, here: Machine) -> tuple[str, list[str]]:
    """Writes down that runs are made on this machine, too. Its name, and which versions differ from
    those of earlier runs, in words. Error if those were made on another machine: figures of two
    would be taken for repeats of each other."""
    known = load(folder)
    name = name_of(here)
    differ: list[str] = []
    for other in known.values() if name not in known else ():
        for what in sorted(other.keys() & here.keys() - set(PASSING)):
            if other[what] == here[what]:
                continue
            told = f"{what}: {other[what]}, now {here[what]}"
            if what not in _VERSIONS:
                raise Error(
                    "unsupported",
                    f"the runs in this folder are of another machine ({told})",
                    str(folder / FILE),
                    "measure into another folder, with -o; `hyphos lab compare` sets two beside "
                    "each other",
                )
            differ.append(told)
    (folder / FILE).write_text(json.dumps({**known, name: here}, indent=1))
    return name, differ
