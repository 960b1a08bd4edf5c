"""Orders the tests by their recorded times, and selects the fast ones for `make test-quick`.

tests/times.txt has the mean time of a case of each slow test. scripts/test_times writes it from the
last `make test`. A test without a line is fast, unless it starts programs by a fixture.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

TIMES = Path(__file__).resolve().parents[2] / "times.txt"
# Tests from here on are spread over the workers, and begin first.
LONG_S = 1.0
# `make test-quick` leaves out tests from here on.
SLOW_S = 0.3
# A folder without another test keeps its fastest one up to here.
KEPT_S = 3.0
# The fixtures that start programs. A start takes longer than most tests.
STARTS = {"installed", "start", "hyphos_start", "hyphos_terminal", "listen", "python", "tab"}
# The fixture that builds a wheel, which takes as long as all fast tests.
WHEEL = "wheel"


def parse(text: str) -> dict[str, float]:
    """Lines of "SECONDS NAME"."""
    rows = (line.split(" ", 1) for line in text.splitlines() if line and line[0] != "#")
    return {name: float(seconds) for seconds, name in rows}


@cache
def recorded() -> dict[str, float]:
    return parse(TIMES.read_text())


def name_of(nodeid: str) -> str:
    """The name of a test without its parameters."""
    return nodeid.partition("[")[0]


def seconds_of(item: pytest.Item) -> float:
    return recorded().get(name_of(item.nodeid), 0.0)


def needs(item: pytest.Item, fixtures: set[str]) -> bool:
    return not fixtures.isdisjoint(getattr(item, "fixturenames", ()))


def is_slow(item: pytest.Item) -> bool:
    return needs(item, {*STARTS, WHEEL}) or seconds_of(item) >= SLOW_S


def left_out(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The slow tests. A folder without a fast test keeps its fastest one, if that takes seconds."""
    folders: dict[Path, list[pytest.Item]] = defaultdict(list)
    for item in items:
        folders[item.path.parent].append(item)
    slow = []
    for inside in folders.values():
        fastest = min(inside, key=lambda item: (is_slow(item), seconds_of(item)))
        long = needs(fastest, {WHEEL}) or seconds_of(fastest) > KEPT_S
        kept = None if long else fastest
        slow += [item for item in inside if is_slow(item) and item is not kept]
    return slow


def _shares_a_fixture(item: pytest.Item) -> bool:
    """True if a fixture of the test stays for other tests of the module."""
    found = getattr(item, "_fixtureinfo", None)
    definitions = found.name2fixturedefs.values() if found else ()
    return any(one[-1].scope in ("module", "class", "package") for one in definitions if one)


def units_of(items: Sequence[pytest.Item]) -> list[list[pytest.Item]]:
    """Tests that one worker runs in a row: all tests of a module that shares fixtures."""
    shared = {item.path for item in items if _shares_a_fixture(item)}
    modules: dict[Path, list[pytest.Item]] = {}
    units = []
    for item in items:
        if item.path in shared:
            if item.path not in modules:
                modules[item.path] = []
                units.append(modules[item.path])
            modules[item.path].append(item)
        else:
            units.append([item])
    return units


def spread(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """The tests in an order whose parts of equal length begin with equal amounts of long tests.

    Each worker starts with one part, and takes tests from the end of another part when its own part
    has ended. So no long test starts last.
    """
    units = units_of(items)
    times = {id(unit): sum(map(seconds_of, unit)) for unit in units}
    long = [unit for unit in units if times[id(unit)] >= LONG_S]
    short = iter([unit for unit in units if times[id(unit)] < LONG_S])
    parts: list[list[pytest.Item]] = [[] for _ in range(workers)]
    load = [0.0] * workers
    for unit in sorted(long, key=lambda unit: -times[id(unit)]):
        least = load.index(min(load))
        parts[least] += unit
        load[least] += times[id(unit)]
    for part in parts:
        while len(part) < len(items) // workers and (unit := next(short, [])):
            part.extend(unit)
    parts[-1] += [item for unit in short for item in unit]
    return [item for part in parts for item in part]
