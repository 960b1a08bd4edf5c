"""Compares the pages of counters with the code: no counter is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/reference/counters.md").read_text()


def array_of(name: str) -> list[str]:
    text = (ROOT / "trace/read_area.cpp").read_text()
    found = re.search(rf"\b{name} = \{{(.*?)\}}", text, re.DOTALL)
    assert found, f"trace/read_area.cpp has no {name}"
    return re.findall(r'"([\w.]+)"', found[1])


def reasons_of_gateways() -> set[str]:
    """The literal reasons in calls of `count`. Other reasons are codes of errors."""
    found: set[str] = set()
    for path in sorted((ROOT / "gateway").rglob("*.cpp")):
        calls = re.findall(r'\bcount\([^;"]{0,120}?"([a-z_]+)"', path.read_text())
        found |= set(calls)
    return found


@pytest.mark.parametrize("name", [*array_of("kCounterNames"), *array_of("kDropNames")])
def test_each_counter_of_a_channel_is_on_the_page(name: str) -> None:
    reason = name.removeprefix("unmatched.")
    if reason != name:  # the page links the table of these
        assert "| `unmatched.<reason>` |" in PAGE
        page = (ROOT / "docs/how-to/synchronize.md").read_text()
        assert re.search(rf"^\| [^|]*`{reason}`[^|]* \|", page, re.MULTILINE)
        return
    assert f"| `{name}` |" in PAGE


def test_each_reason_of_a_gateway_is_on_the_page() -> None:
    section = (ROOT / "docs/reference/counters_gateways.md").read_text()
    reasons = reasons_of_gateways()
    assert len(reasons) > 20
    assert {reason for reason in reasons if f"`{reason}`" not in section} == set()
