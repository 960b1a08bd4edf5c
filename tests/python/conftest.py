"""Fixtures: a separate domain for every test, programs that end with the test, and the command
line.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import conformance
import hyphos
import numpy as np
import pytest
import schedule
from browser import Page, browser, chromium
from cli_server import CliServer
from doc_terminals import Terminals, in_domain, plain_environment
from helpers import PATIENCE_S, Cli, Inbox, OnTerminal, OnTerminalStart, Program, Start
from hyphos import Attached, _hyphos
from hyphos.msgs import Image, LaserScan
from page_pictures import SOFTWARE_GL
from recordings import POSE

ROOT = Path(__file__).resolve().parents[2]
_numbers = itertools.count()

# A shell that starts pytest in the background makes it ignore Ctrl-C, and all its children too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Likewise `nohup`: its children would ignore a hangup.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a test that is skipped is a failure")
    parser.addoption("--quick", action="store_true", help="leave out slow tests: test-quick")
    parser.addoption("--tables", action="store_true", help="print the tables of conformance")
    parser.addoption("--papers", type=Path, help="folder with the texts of the papers, NNN_*.txt")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cell(table, row, column): a cell of a table of conformance")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    conformance.add_cells(items)
    if config.getoption("--quick"):
        slow = schedule.left_out(items)
        config.hook.pytest_deselected(items=slow)
        keep = set(map(id, items)) - set(map(id, slow))
        items[:] = [item for item in items if id(item) in keep]
        config.stash[_LEFT_OUT] = len(slow)
        if hasattr(config, "workeroutput"):
            config.workeroutput["left_out"] = len(slow)
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        items[:] = schedule.spread(items, workers)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Idle workers take tests of busy ones, also with the default of --dist."""
    from xdist.scheduler import WorkStealingScheduling  # noqa: PLC0415 - not needed without -n

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[_LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


_LEFT_OUT = pytest.StashKey[int]()
_seconds: dict[str, float] = {}
_skipped: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        _skipped.add(report.nodeid)
    elif report.nodeid not in _skipped:
        _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration


@pytest.fixture
def papers(request: pytest.FixtureRequest) -> Path | None:
    """The texts of the papers, which are not in the repository. None without --papers."""
    folder: Path | None = request.config.getoption("--papers")
    return folder


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    cache = getattr(config, "cache", None)
    if cache is not None and not hasattr(config, "workerinput"):  # for scripts/test_times
        cache.set("hyphos/seconds", cache.get("hyphos/seconds", {}) | _seconds)
    told = config.pluginmanager.get_plugin("terminalreporter")
    if config.getoption("--no-skips") and told and told.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last lines of the output: the tests that were left out or skipped, counted by reason."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or hasattr(config, "workerinput"):
        return
    if config.getoption("--tables"):
        for line in conformance.lines_of(terminal.stats):
            terminal.write_line(line)
    reasons = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for report in terminal.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    if config.getoption("--quick"):
        slow = config.stash.get(_LEFT_OUT, 0)
        terminal.write_line(
            f"{slow} left out: they start programs, or take {schedule.SLOW_S:g} s or more"
        )
    text = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common())
    terminal.write_line(f"{reasons.total()} skipped" + (f": {text}" if text else ""))


@pytest.fixture
def domain() -> Iterator[str]:
    """A separate domain, so that tests can run side by side."""
    name = f"py{os.getpid()}-{next(_numbers)}"
    yield name
    _hyphos.shm_clean(name)  # of the processes that the test killed


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prefix of an installed package, which the first worker of a run makes for all."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    prefix = folder / "prefix"
    with (folder / "prefix.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "prefix.made").exists():
            subprocess.run([sys.executable, ROOT / "scripts/install", prefix], check=True)
            (folder / "prefix.made").touch()
    return prefix


@pytest.fixture
def terminals(installed: Path, tmp_path: Path, domain: str) -> Iterator[Terminals]:
    """Terminals in an empty folder, with the installed package on the path."""
    folder = tmp_path / "page"
    folder.mkdir()
    environment = plain_environment(ROOT, tmp_path, {"CMAKE_BUILD_PARALLEL_LEVEL": "1"})
    environment["PATH"] = f"{installed}/bin:{environment['PATH']}"
    opened = Terminals(
        folder, environment, patience_s=PATIENCE_S,
        change=lambda line: in_domain(line, domain, PATIENCE_S),
    )  # fmt: skip
    yield opened
    opened.kill()


@pytest.fixture
def node(domain: str) -> Iterator[hyphos.Node]:
    with hyphos.Node.open("tester", domain=domain) as opened:
        yield opened


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def start(tmp_path: Path, domain: str) -> Iterator[Start]:  # noqa: ARG001
    """`start(*words)` runs a program. At the end of the test it is killed if it still runs, before
    its `domain` is cleaned.
    """
    programs: list[Program] = []

    def make(*words: str, keys: bool = False) -> Program:
        programs.append(Program(list(words), tmp_path, keys=keys))
        return programs[-1]

    yield make
    for program in programs:
        if program.popen.poll() is None:
            program.popen.kill()
        program.popen.communicate()


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """An empty page in a browser."""
    if chromium() is None:
        pytest.skip("no Chromium: apt-get install chromium (packages.txt, [browser])")
    with browser(tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture(scope="module")
def drawing_tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The same in a browser that draws 3-D scenes."""
    if chromium() is None:
        pytest.skip("no Chromium: apt-get install chromium (packages.txt, [browser])")
    with browser(tmp_path_factory.mktemp("chromium"), *SOFTWARE_GL) as page:
        yield page


@pytest.fixture
def python(start: Start) -> Start:
    """`python(source, *arguments)` runs a Python program."""

    def make(source: str, *arguments: str) -> Program:
        return start(sys.executable, "-c", source, *arguments)

    return make


@pytest.fixture
def hyphos_start(start: Start) -> Start:
    """`hyphos_start("record", ...)` starts a command."""

    def make(*words: str, keys: bool = False) -> Program:
        return start(sys.executable, "-m", "hyphos", *words, keys=keys)

    return make


@pytest.fixture
def hyphos_terminal(tmp_path: Path, domain: str) -> Iterator[OnTerminalStart]:  # noqa: ARG001
    """`hyphos_terminal("top", ...)` starts a command in a separate terminal."""
    programs: list[OnTerminal] = []

    def make(*words: str) -> OnTerminal:
        programs.append(OnTerminal([sys.executable, "-m", "hyphos", *words], tmp_path))
        return programs[-1]

    yield make
    for program in programs:
        if program.popen.poll() is None:
            program.popen.kill()
            program.end()


@pytest.fixture(scope="session")
def cli_server() -> Iterator[CliServer]:
    server = CliServer()
    yield server
    server.close()


@pytest.fixture
def hyphos_cli(cli_server: CliServer, tmp_path: Path, domain: str) -> Cli:  # noqa: ARG001
    """`hyphos_cli("plan", ...)` runs a command to its end and returns (code, output, errors)."""

    def run(*words: str) -> tuple[int, str, str]:
        return cli_server.run(words, tmp_path)

    return run


@pytest.fixture
def numbers_robot(domain: str) -> Iterator[hyphos.Node]:
    """A robot that publishes numbered messages of four kinds of types, a hundred times a second."""
    with hyphos.Node.open("robot", domain=domain) as node:
        scan = node.publisher("scan", LaserScan)
        camera = node.publisher("camera", Attached[Image])
        pose = node.publisher("pose", POSE)
        raw = node.publisher("raw", bytes)
        number = 0

        def tick() -> None:
            nonlocal number
            number += 1
            scan.publish(LaserScan(ranges=[number] * 5))
            camera.publish(Image(width=number), np.full(2000, number % 256, np.uint8), b"second")
            pose.publish(POSE(x=number / 2, n=number))
            raw.publish(b"%d" % number)

        node.every(tick, rate_hz=100)
        yield node
