"""The tables of `make conformance`: a test with the mark `cell(table, row, column)` is a cell.

A cell is `ok` if all of its tests passed. Each test exchanges real values between real programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

# Rows and columns in this order. Others follow in the order of their names.
ORDER = (
    "Hyphos C++", "Hyphos Python", "Hyphos C", "Hyphos C#", "rospy", "roscpp", "Cyclone DDS",
    "Fast DDS", "rosbridge JSON", "rosbridge CBOR", "rosbridge BSON", "ros_tcp for ROS 1",
    "ros_tcp for ROS 2", "topic", "latched", "service", "action", "parameters", "unknown type",
)  # fmt: skip
_STATES = ("failed", "error", "skipped", "passed")


def add_cells(items: Iterable[pytest.Item]) -> None:
    """Passes the marks to the reports, which also come from other processes."""
    for item in items:
        for mark in item.iter_markers("cell"):
            item.user_properties.append(("cell", tuple(mark.args)))


def lines_of(stats: dict[str, list[Any]]) -> Iterator[str]:
    """The tables of a run, from the reports by outcome."""
    tables: dict[str, dict[tuple[str, str], str]] = {}
    for state in reversed(_STATES):  # the worst outcome of a cell counts
        for report in stats.get(state, []):
            for name, value in getattr(report, "user_properties", []):
                if name == "cell":
                    table, row, column = value
                    tables.setdefault(table, {})[row, column] = state
    for table, cells in sorted(tables.items()):
        yield from _table(table, cells)


def _place(word: str) -> tuple[int, str]:
    return (ORDER.index(word) if word in ORDER else len(ORDER), word)


def _table(name: str, cells: dict[tuple[str, str], str]) -> Iterator[str]:
    rows = sorted({row for row, _ in cells}, key=_place)
    columns = sorted({column for _, column in cells}, key=_place)
    head = max(len(word) for word in (*rows, name))
    yield ""
    yield name.ljust(head) + "".join(f"  {column}" for column in columns)
    for row in rows:
        shown = (_word(cells.get((row, column))).ljust(len(column)) for column in columns)
        yield (row.ljust(head) + "".join(f"  {word}" for word in shown)).rstrip()
    good = sum(state == "passed" for state in cells.values())
    yield f"{good} of {len(rows) * len(columns)} cells ok"


def _word(state: str | None) -> str:
    if state is None:
        return "-"
    return "ok" if state == "passed" else state.upper()
