"""The combinations of parameters of an experiment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

Parameters = Mapping[str, str | float]


@dataclass(frozen=True)
class Cell:
    """One combination of parameters."""

    parameters: Parameters
    scenario: Mapping[str, Any]  # in the format of cosim.yaml
    flow: str  # the flow whose delay and loss count
    method: str = ""  # replaces the method of the scenario
    fates: bool = False  # runs keep the fate of every copy of every packet

    @property
    def key(self) -> str:
        return key_of(self.parameters)

    @property
    def name(self) -> str:
        """The name used in file names."""
        return "-".join(str(value).replace(" ", "_") for value in self.parameters.values())

    def text(self) -> str:
        listed = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"# {listed}\n" + yaml.safe_dump(dict(self.scenario), sort_keys=False, width=100)

    def digest(self) -> str:
        return hashlib.sha256(f"{self.method}\n{self.text()}".encode()).hexdigest()[:16]


def key_of(parameters: Parameters) -> str:
    return json.dumps(dict(parameters), sort_keys=True)
