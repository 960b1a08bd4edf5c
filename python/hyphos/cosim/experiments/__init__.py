"""The built-in experiments. To add one, write a file here and one line below."""

from __future__ import annotations

import difflib

from hyphos._errors import Error
from hyphos.cosim.experiment import Experiment
from hyphos.cosim.experiments.ablation import ABLATION
from hyphos.cosim.experiments.file import FILE
from hyphos.cosim.experiments.mesh import MESH
from hyphos.cosim.experiments.tables import TABLES

ALL = (TABLES, FILE, MESH, ABLATION)


def find(name: str) -> Experiment:
    found = next((one for one in ALL if one.name == name), None)
    if found is not None:
        return found
    names = [one.name for one in ALL]
    near = difflib.get_close_matches(name, names, 1)
    said = f"; did you mean '{near[0]}'?" if near else ""
    raise Error(
        "not_found", f"unknown experiment '{name}'{said}", advice="one of " + ", ".join(names)
    )
