"""What an experiment of the co-simulator is: cells, each a scenario, run with several seeds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from hyphos.cosim.results import Results

Parameters = Mapping[str, str | float]


@dataclass(frozen=True)
class Cell:
    """One combination of parameters."""

    parameters: Parameters
    scenario: Mapping[str, Any]  # as cosim.yaml has it
    flow: str  # whose delay and loss count
    method: str = ""  # instead of the scenario's

    @property
    def key(self) -> str:
        return key_of(self.parameters)

    @property
    def name(self) -> str:
        """Of files."""
        return "-".join(str(value).replace(" ", "_") for value in self.parameters.values())

    def text(self) -> str:
        told = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"# {told}\n" + yaml.safe_dump(dict(self.scenario), sort_keys=False, width=100)

    def digest(self) -> str:
        return hashlib.sha256(f"{self.method}\n{self.text()}".encode()).hexdigest()[:16]


def key_of(parameters: Parameters) -> str:
    return json.dumps(dict(parameters), sort_keys=True)


@dataclass(frozen=True)
class Figure:
    """A cell of a table: what was measured, and in small its interval."""

    text: str
    small: str = ""
    span: int = 1  # columns, of words in the place of figures


@dataclass(frozen=True)
class Table:
    """For people, on a terminal or in a page."""

    name: str
    title: str
    heads: list[str]
    lines: list[list[Figure]]
    notes: list[str] = field(default_factory=list)
    left: int = 1  # columns of words


@dataclass(frozen=True)
class Experiment:
    name: str
    about: str
    # By the radio, `analytic` or `ns3`.
    cells: Callable[[str], list[Cell]]
    tables: Callable[[Results], list[Table]]
    metrics: tuple[str, ...]  # that its pictures show, by distance
    seeds: int = 3
    full_seeds: int = 20
    network: str = ""  # the radio it runs with unless told; empty: ns3 if it is here
    lines_by: str = ""  # the parameter that has a line each in pictures
    paper: Callable[[Parameters, str], float | None] = lambda _parameters, _metric: None
