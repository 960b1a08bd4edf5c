"""The pytest plug-in: the fixture `robot`, the marker `robot`, and two options.

    @pytest.mark.robot("robot.yaml", lockstep=True)
    def test_greets(robot):
        robot.expect("greeting", within=1)

pytest loads it by its entry point. It imports the rest of Hyphos only for a test with a robot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hyphos.testing import session

if TYPE_CHECKING:
    from hyphos.testing.robot import Robot

_ROBOT = pytest.StashKey["Robot"]()
_FAILED = pytest.StashKey[bool]()
_UPDATE = "--hyphos-update-golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hyphos", "robots of Hyphos")
    group.addoption(
        "--hyphos-failures",
        metavar="FOLDER",
        default="hyphos-failures",
        help="folder for logs, messages and drawings of failed tests. Default: hyphos-failures",
    )
    group.addoption(
        _UPDATE, action="store_true", help="write the golden recordings instead of comparing them"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "robot(plan, **options): the plan and the options of hyphos.testing.Robot for the fixture "
        "`robot`. Paths are relative to the file of the test, else to pytest's root.",
    )
    session.OPTIONS.failures = Path(config.getoption("--hyphos-failures"))
    session.OPTIONS.update_golden = bool(config.getoption(_UPDATE))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    session.OPTIONS.test = item.nodeid


@pytest.fixture
def robot(request: pytest.FixtureRequest) -> Iterator[Robot]:
    """The robot of the marker `robot`. The test fails if the robot had a fault."""
    marker = request.node.get_closest_marker("robot")
    if marker is None:
        pytest.fail('the fixture `robot` needs @pytest.mark.robot("robot.yaml")', pytrace=False)
    from hyphos.testing.robot import Robot  # noqa: PLC0415 - for tests with a robot only

    options: dict[str, Any] = {"base": _base(request, marker.args), **marker.kwargs}
    made = Robot(*marker.args, **options)
    made.__enter__()
    request.node.stash[_ROBOT] = made
    try:
        yield made
    finally:
        if request.node.stash.get(_FAILED, False):
            made.keep_and_close()
        else:
            made.close()


def _base(request: pytest.FixtureRequest, plans: Sequence[Any]) -> Path:
    """The folder of the test, unless only pytest's root has the plan."""
    folder, root = request.path.parent, request.config.rootpath
    beside = not plans or (folder / plans[0]).exists()
    return root if not beside and (root / plans[0]).exists() else folder


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """After the test function: a fault of the robot is a failure of the test."""
    made = item.stash.get(_ROBOT, None)
    if made is not None:
        made.check()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    report: pytest.TestReport = outcome.get_result()
    if report.when == "call":
        item.stash[_FAILED] = report.failed
