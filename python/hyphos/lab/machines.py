"""The machines of the runs in a folder: machine.json, by the machine name that each run records."""

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
# Properties that may change between runs. A change is printed, and each run records its versions.
_VERSIONS = ("python", "hyphos", "peers")


def name_of(machine: Machine) -> str:
    lasting = {name: value for name, value in machine.items() if name not in PASSING}
    return hashlib.sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest()[:12]


def load(folder: Path) -> dict[str, Machine]:
    """The machines by name, in order of their first run. Empty if nothing was measured there."""
    path = folder / FILE
    try:
        told: Any = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _corrupt(path, error) from None
    if not isinstance(told, dict):
        raise _corrupt(path, "not a mapping")
    if not all(isinstance(value, dict) for value in told.values()):
        return {name_of(told): told}  # the old format of a folder with one machine
    return told


def _corrupt(path: Path, problem: object) -> Error:
    return Error(
        "corrupt",
        f"invalid list of machines: {problem}",
        str(path),
        "choose another folder with -o",
    )


def enter(folder: Path, here: Machine) -> tuple[str, list[str]]:
    """Records this machine for new runs. Returns its name, and the versions that differ from those
    of earlier runs, in words. Raises Error if the earlier runs are of another machine, because
    figures of two machines must not count as repeats of each other."""
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
                    "measure into another folder with -o. `hyphos lab compare` compares two "
                    "folders",
                )
            differ.append(told)
    (folder / FILE).write_text(json.dumps({**known, name: here}, indent=1))
    return name, differ
