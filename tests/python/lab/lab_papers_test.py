"""The experiments of the papers: a small version of each runs, and writes a report."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from helpers import Cli
from hyphos import Error
from hyphos.lab import experiment
from hyphos.lab.case import means_something
from hyphos.lab.experiment import Experiment
from hyphos.lab.limits import cgroup_folders
from hyphos.lab.links import why_not
from hyphos.lab.peers import find_peers
from hyphos.lab.report import write_report
from hyphos.lab.results import Results
from hyphos.recording.mcap_file import McapRecording
from hyphos.ros.typebook import TypeBook
from lab_runs import slowing

PAPERS = [name for name in experiment.built_in() if name.startswith("paper_")]


def missing(wanted: Experiment) -> str:
    """The requirement of the first case that this machine lacks. Empty if there is none."""
    case = wanted.cases[0]
    if case.link and (error := why_not(wanted.links[case.link])):
        return str(error)
    return "there is no CPU controller" if case.cores and not cgroup_folders() else ""


def own_peer(wanted: Experiment) -> str:
    """A peer that is built everywhere."""
    for peer in find_peers().choose(wanted.peers):
        if peer.middleware in ("hyphos", "gateway") and not peer.cannot(wanted.cases[0]):
            return peer.name
    raise AssertionError(f"{wanted.name} is without a peer of ours")


def scans(path: Path) -> Path:
    recording = McapRecording(path, TypeBook())
    channel = recording.add_channel("scan", "test.Blob", "bytes", 7, {})
    for number in range(5):
        at = 1_000_000_000 + number * 50_000_000
        recording.write(channel, at, at, number, bytes(4096))
    recording.close({})
    return path


@pytest.mark.parametrize("name", PAPERS)
def test_an_experiment_of_the_papers_runs(
    name: str, hyphos_cli: Cli, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Runs its first case once, for a moment."""
    wanted = experiment.load(name)
    if why := missing(wanted):
        pytest.skip(why)
    case = wanted.cases[0]
    changes = [f"{parameter}={getattr(case, parameter)}" for parameter in wanted.varied()]
    changes += ["warmup=2"]
    changes += ["messages=1000"] if means_something("messages", case.workload) else []
    if wanted.needs:
        changes += [f"recording={scans(tmp_path / 'scans.mcap')}", "channel=scan"]
    out = tmp_path / "out"
    # An uncapped source sends until the time is over. A stall must not take all of it.
    seconds = "1" if case.uncapped else "0.2"
    words = ["--peer", own_peer(wanted), "--seconds", seconds, "--repeats", "1", "-o", str(out)]
    for change in changes:
        words += ["--set", change]
    with slowing(tmp_path_factory.getbasetemp()) if case.clock < 1 else nullcontext():
        code, shown, err = hyphos_cli("lab", "run", name, *words)
    assert code == 0, shown + err
    [run] = Results(out).runs
    assert run.result is not None
    assert run.result["received"] > 0
    assert (run.case.workload, run.case.link) == (case.workload, case.link)
    page = write_report(out, None).read_text()
    assert name in page
    assert "Published findings" in page


@pytest.mark.parametrize("name", PAPERS)
def test_full_gives_an_experiment_its_whole_grid(name: str) -> None:
    """The full grid is complete, and includes the reduced grid."""
    reduced, whole = experiment.load(name), experiment.load(name, full=True)
    assert len(whole.cases) >= len(reduced.cases)
    for parameter in reduced.varied():
        some = {getattr(case, parameter) for case in reduced.cases}
        assert some <= {getattr(case, parameter) for case in whole.cases}, parameter
    assert set(reduced.peers) <= set(whole.peers)


def test_the_whole_grid_may_have_fewer_repeats() -> None:
    assert experiment.load("paper_003_table").repeats == 3
    assert experiment.load("paper_003_table", full=True).repeats == 1
    for text in ("{repeats: 0}", "{repeats: [1, 2]}"):
        with pytest.raises(Error, match="repeats"):
            experiment.parse(f"lab: 1\nworkload: pair\nfull: {text}\n", "my.yaml", full=True)


def test_the_whole_grid_may_have_more_peers() -> None:
    reduced = experiment.load("paper_004_wifi")
    whole = experiment.load("paper_004_wifi", full=True)
    assert reduced.peers == ["hyphos/tcp", "ros1", "rospy"]
    assert {"zmq/tcp", "rospy/nagle", *reduced.peers} <= set(whole.peers)
    with pytest.raises(Error, match="peers"):
        text = "lab: 1\nworkload: pair\nfull: {peers: []}\n"
        experiment.parse(text, "my.yaml", full=True)


def test_the_table_of_paper_003_is_covered() -> None:
    cases = experiment.load("paper_003_table", full=True).cases
    assert {(c.processes, c.rate_hz, c.size, c.reliability) for c in cases} == {
        (processes, rate_hz, size, reliability)
        for processes in range(3, 24, 2)
        for rate_hz in (1, *range(10, 101, 10))
        for size in (128, 1000, 10_000, 100_000, 500_000)
        for reliability in ("best_effort", "reliable")
    }
