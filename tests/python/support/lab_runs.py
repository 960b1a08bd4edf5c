"""Common parts of the tests of the laboratory's runs: small experiments, measured once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hyphos.lab import commands, experiment
from hyphos.lab.case import Case
from hyphos.lab.peers import Peer, find_peers
from hyphos.lab.results import Results, Row
from hyphos.lab.runner import Runner, Wish, side_by_side
from hyphos.lab.stage import Stage

SMALL = "lab: 1\nworkload: pair\npeers: [futex, hyphos/shm]\nseconds: 0.2\nwarmup: 3\nrepeats: 2\n"

RESOLUTION = 0.999  # of histograms: 20 ms may be reported as 19.98


def programs_of(pid: int, name: str = "hyphos-lab") -> list[int]:
    """The laboratory programs that process `pid` has started, by the beginning of their names."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            its, _, rest = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if its.startswith(name) and int(rest.split()[1]) == pid:
            found.append(int(stat.parent.name))
    return found


@contextmanager
def slowing(base: Path) -> Iterator[None]:
    """The only test of this run that slows the processors. Two at once would stop all other
    programs, because their real-time threads together take all the time. `base` is the folder for
    temporary files of this worker."""
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (folder / "slowing.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def at_low_priority() -> Iterator[None]:
    """For runs of so many processes that they would stop the tests beside them for seconds. Their
    number gives them enough time together. Without root, the priority could not rise again."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    if os.geteuid() == 0:
        os.setpriority(os.PRIO_PROCESS, 0, 10)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


def least_us(one: Row) -> float:
    """The latency of the fastest message, which a stall of the machine does not increase."""
    return min(float(run.histogram("histogram_ns").values[0]) for run in one.used) / 1e3


def measured_row(case: Case, peer: Peer, folder: Path) -> Row:
    """The row of one run, in its own folder."""
    own = folder / f"again{len(list(folder.glob('again*')))}"
    own.mkdir()
    results = Results(own)
    Runner(results).measure([Wish(case, peer, 0)])
    [row] = results.rows()
    return row


def rows_of(text: str, peers: list[str], folder: Path) -> list[Row]:
    """Measures once. Skips the test without links."""
    found = commands.resolved(experiment.parse(text, "x.yaml"))
    stage = Stage(found.links)
    if lack := stage.why_not(found.cases[0]):
        pytest.skip(lack)
    results = Results(folder)
    chosen = find_peers().choose(peers)
    todo = [wish for case in found.cases for wish in side_by_side(case, chosen, 0)]
    Runner(results, stage=stage).measure(todo)
    return results.rows()
