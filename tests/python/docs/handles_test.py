"""The table of the goal handle in docs/reference/services.md is complete, for both languages."""

from __future__ import annotations

import re
from pathlib import Path

import hyphos

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/reference/services.md"
HEADER = ROOT / "include/hyphos/action.hpp"


def rows() -> list[tuple[str, str]]:
    """The cells of C++ and Python of each row."""
    section = PAGE.read_text().split("### Goal handle")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [(cells[1], cells[2]) for cells in (line.split("|") for line in lines)]


def names(cells: list[str]) -> set[str]:
    spans = [span for cell in cells for span in re.findall(r"`([^`]*)`", cell)]
    return {re.sub(r"^goal\.", "", span).partition("(")[0] for span in spans}


def test_the_table_has_every_member_of_python() -> None:
    members = {name for name in dir(hyphos.GoalHandle) if not name.startswith("_")} | {"value"}
    assert names([python for _, python in rows()]) == members


def test_the_table_has_every_function_of_cpp() -> None:
    body = HEADER.read_text().split("\nclass GoalHandle {")[1].split("\n private:")[0]
    members = set(re.findall(r"\b(\w+)\((?:[^()]|\(\))*\) const", body))
    assert "wait_for" in members
    assert names([cpp for cpp, _ in rows()]) == members | {"*goal", "goal->metres"}
