"""Experiments of the co-simulator: cells, each a scenario, run with several seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hyphos.cosim.cell import Cell, Parameters
from hyphos.cosim.results import Results


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
    plots: Callable[[Results], list[Any]] = lambda _results: []  # further pictures
    paper: Callable[[Parameters, str], float | None] = lambda _parameters, _metric: None
