"""Experiments of the co-simulator: cells, each a scenario, run with several seeds."""

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
    scenario: Mapping[str, Any]  # in the format of cosim.yaml
    flow: str  # the flow whose delay and loss count
    method: str = ""  # replaces the method of the scenario

    @property
    def key(self) -> str:
        return key_of(self.parameters)

    @property
    def name(self) -> str:
        """The name used in file names."""
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
    """A cell of a table: the measured value, and its interval in small print."""

    text: str
    small: str = ""
    span: int = 1  # number of columns, for text in place of figures


@dataclass(frozen=True)
class Table:
    """A table for display on a terminal or a page."""

    name: str
    title: str
    heads: list[str]
    lines: list[list[Figure]]
    notes: list[str] = field(default_factory=list)
    left: int = 1  # number of text columns


@dataclass(frozen=True)
class Experiment:
    name: str
    about: str
    # The argument is the radio: `analytic` or `ns3`.
    cells: Callable[[str], list[Cell]]
    tables: Callable[[Results], list[Table]]
    metrics: tuple[str, ...]  # shown in pictures, by distance
    seeds: int = 3
    full_seeds: int = 20
    network: str = ""  # the default radio. Empty: ns3 if available
    lines_by: str = ""  # the parameter with one line per value in pictures
    paper: Callable[[Parameters, str], float | None] = lambda _parameters, _metric: None
