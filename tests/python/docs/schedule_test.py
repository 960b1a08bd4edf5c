"""The order of the tests, and the choice of `make test-quick`."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
import schedule

ROOT = Path(__file__).parents[3]


@dataclass
class Item:
    """A test with the fixtures that it uses, by scope."""

    nodeid: str
    scopes: tuple[str, ...] = ("function",)
    fixturenames: tuple[str, ...] = ()
    path: Path = field(init=False)

    def __post_init__(self) -> None:
        self.path = ROOT / self.nodeid.partition("::")[0]
        found = {str(i): (SimpleNamespace(scope=s),) for i, s in enumerate(self.scopes)}
        self._fixtureinfo = SimpleNamespace(name2fixturedefs=found)


def items_of(*made: Item) -> list[pytest.Item]:
    return cast("list[pytest.Item]", list(made))


def names(items: Iterable[pytest.Item]) -> list[str]:
    return [item.nodeid for item in items]


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    made: dict[str, float] = {}
    monkeypatch.setattr(schedule, "recorded", lambda: made)
    return made


def script(name: str) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts" / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("workers", [2, 3, 4, 7])
def test_every_test_runs_once_and_long_ones_are_spread(
    times: dict[str, float], workers: int
) -> None:
    made = [Item(f"a_test.py::test_{i}[{j}]") for i in range(40) for j in range(5)]
    times |= {f"a_test.py::test_{i}": 1.0 + i for i in range(10, 14)}
    order = schedule.spread(items_of(*made), workers)
    assert sorted(names(order)) == sorted(item.nodeid for item in made)
    size = len(made) // workers
    loads = [
        sum(map(schedule.seconds_of, order[part * size : (part + 1) * size]))
        for part in range(workers)
    ]
    assert max(loads) - min(loads) <= max(times.values())
    for part in range(workers):
        assert schedule.seconds_of(order[part * size]) >= schedule.LONG_S


def test_a_module_that_shares_a_fixture_stays_together(times: dict[str, float]) -> None:
    shared = [Item(f"shared_test.py::test_{i}", ("function", "module")) for i in range(6)]
    alone = [Item(f"alone_test.py::test_{i}") for i in range(30)]
    times |= {"shared_test.py::test_3": 20.0, "alone_test.py::test_7": 3.0}
    order = names(schedule.spread(items_of(*alone[:10], *shared, *alone[10:]), 4))
    first = order.index("shared_test.py::test_0")
    assert order[first : first + 6] == [item.nodeid for item in shared]
    assert first % 9 == 0


def test_quick_leaves_out_slow_tests_but_no_folder(times: dict[str, float]) -> None:
    made = [
        Item("tests/one/a_test.py::test_fast"),
        Item("tests/one/a_test.py::test_slow[1]"),
        Item("tests/one/a_test.py::test_slow[2]"),
        Item("tests/one/a_test.py::test_start", fixturenames=("domain", "start")),
        Item("tests/two/b_test.py::test_slower"),
        Item("tests/two/c_test.py::test_slow"),
        Item("tests/long/e_test.py::test_long"),
        Item("tests/install/d_test.py::test_wheel", fixturenames=("site", "wheel")),
    ]
    times |= {
        "tests/one/a_test.py::test_slow": 0.5,
        "tests/two/b_test.py::test_slower": 9.0,
        "tests/two/c_test.py::test_slow": 2.0,
        "tests/long/e_test.py::test_long": 3.1,
    }
    assert names(schedule.left_out(items_of(*made))) == [
        "tests/one/a_test.py::test_slow[1]",
        "tests/one/a_test.py::test_slow[2]",
        "tests/one/a_test.py::test_start",
        "tests/two/b_test.py::test_slower",
        "tests/long/e_test.py::test_long",
        "tests/install/d_test.py::test_wheel",
    ]


def test_quick_runs_the_fastest_program_of_each_room(times: dict[str, float]) -> None:
    times |= {"Shm.slow": 3.0, "soak": 100.0, "kills": 2.0, "crash": 9.0}
    programs = {"Shm.slow": "shm", "Shm.fast": "shm", "soak": "soak", "kills": "soak"}
    programs["crash"] = "crash"
    tests: list[dict[str, Any]] = [
        {"name": name, "command": [f"/build/tests/{room}/program"]}
        for name, room in programs.items()
    ]
    assert script("test_quick").fast_of(tests) == [2, 4]


def test_the_record_has_the_mean_time_of_a_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = script("test_times")
    for name in ("CTEST", "PYTEST", "TIMES"):
        monkeypatch.setattr(module, name, tmp_path / name)
    assert module.main() == 1
    cases = "".join(
        f'<testcase name="{name}" time="{seconds}"/>'
        for name, seconds in {
            "Room.fast": 0.1,
            "All/Room.slow/zmq  # GetParam() = zmq": 2,
            "All/Room.slow/zmq  # GetParam() = other": 4,
        }.items()
    )
    (tmp_path / "CTEST").write_text(f"<testsuite>{cases}</testsuite>")
    seconds = {"a_test.py::test_x[a b]": 0.2, "a_test.py::test_x[c]": 1.8, "a_test.py::test_y": 0.2}
    (tmp_path / "PYTEST").write_text(json.dumps(seconds))
    assert module.main() == 0
    assert schedule.parse((tmp_path / "TIMES").read_text()) == {
        "All/Room.slow/zmq": 3.0,
        "a_test.py::test_x": 1.0,
    }


def test_each_recorded_test_exists() -> None:
    for name in schedule.parse(schedule.TIMES.read_text()):
        file, is_python, function = name.partition(".py::")
        if is_python:
            text = (ROOT / f"{file}.py").read_text()
            assert f"def {function}(" in text, f"{name} is gone: remove its line, or run test_times"
