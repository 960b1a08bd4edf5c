"""Rules for every built-in finding. It names paper, location and sentence. The figures of the paper
meet its condition, and results can confirm or refute it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hyphos import Error
from hyphos.lab import asserts, experiment, findings
from hyphos.lab.asserts import Criterion
from hyphos.lab.case import Case
from hyphos.lab.experiment import MAX_QUOTE, PAPERS, Experiment, Finding
from hyphos.lab.profile.layers import METRICS as LAYER_METRICS
from hyphos.lab.results import (
    COUNTS,
    KNEE_METRICS,
    LATENCY_THROUGHPUT,
    PERCENTILES,
    Row,
    Run,
)

load = functools.cache(experiment.load)  # reading takes longer than the rules

ALL = [
    pytest.param(name, number, id=f"{name}-{number}")
    for name in experiment.built_in()
    for number in range(len(load(name).findings))
]
# Also with --full, except for grids that would take minutes.
EITHER_WAY = [
    pytest.param(*one.values, full, id=f"{one.id}{'-full' * full}")
    for one in ALL
    for full in (False, True)
    if len(load(str(one.values[0]), full=full).cases) < 60
]
# Words of an excuse: a finding gives differences, never a reason for its outcome.
EXCUSES = ("which is why", "so it is no wonder", "of course", "must be", "probably")


def one(name: str, number: int, *, full: bool = False) -> tuple[Experiment, Finding, Criterion]:
    wanted = load(name, full=full)
    finding = wanted.findings[number]
    return wanted, finding, asserts.parse(finding.holds)


@pytest.mark.parametrize(("name", "number"), ALL)
def test_a_finding_names_paper_location_and_sentence(
    name: str, number: int, papers: Path | None
) -> None:
    _, finding, _ = one(name, number)
    assert finding.paper in PAPERS
    assert name.startswith(f"paper_{finding.paper}_")
    assert re.search(r"(Fig\.|[Tt]ables?|Sec\.) |abstract", finding.where), finding.where
    assert 10 <= len(finding.quote) <= MAX_QUOTE
    assert len(finding.quote.split()) <= 40  # a quotation, not a chapter
    assert finding.differs or finding.unlike, "no difference from the paper is named"
    for text in (finding.differs, *finding.unlike.values()):
        assert not any(word in text for word in EXCUSES), text
    if papers is not None:  # the texts are not in the repository: --papers FOLDER
        [text] = [file.read_text() for file in papers.glob(f"{finding.paper}_*.txt")]
        assert plain(finding.quote) in plain(text)


@pytest.mark.parametrize(("name", "number"), ALL)
def test_the_figures_of_the_paper_meet_the_condition(name: str, number: int) -> None:
    _, finding, criterion = one(name, number)
    for of, value in finding.theirs.items():
        assert asserts.meets(criterion, value), f"{of}: {value} is not {criterion.text}"


def plain(text: str) -> str:
    """Removes layout marks, and replaces line ends by spaces."""
    text = re.sub(r"[*_$\\]", "", text.replace("’", "'").replace("‘", "'"))
    return re.sub(r"\s+", " ", text)


# Synthetic results.


def row(peer: str, case: Case, metric: str, value: float) -> Row:
    """A result in which `metric` has this value, and every other metric some value."""
    mean_us = case.size / value if metric == LATENCY_THROUGHPUT else value * 1e3
    scaled = max(1, round(mean_us * 1e3))
    histogram = [[scaled, 40]]
    told = {
        **{"planned": 100, "sent": 100, "received": 100, **dict.fromkeys(COUNTS, 0)},
        **{name: histogram for name, _ in PERCENTILES.values()},
        **dict.fromkeys((*LAYER_METRICS, *KNEE_METRICS), value),
        "publishing_rates_hz": [value],
        metric: value,
    }
    return Row(case, peer, [Run(case, peer, 0, told)])


def made_up(wanted: Experiment, criterion: Criterion, value: Callable[[int], float]) -> list[Row]:
    """Rows of all cases and peers of an experiment, for which the criterion has `value(n)` in its
    n-th verdict."""
    rows = []
    numbers: dict[Case, int] = {}
    for case in wanted.cases:
        shared = case.without(criterion.by, "seconds") if criterion.by else case
        found = value(numbers.setdefault(shared, len(numbers)))
        rows += [
            row(peer, case, criterion.metric, figure(criterion, case, peer, found))
            for peer in wanted.peers
        ]
    return rows


def figure(criterion: Criterion, case: Case, peer: str, value: float) -> float:
    """The figure of a row for which a criterion has `value`."""
    base = 10.0
    if criterion.spread:
        # By size: the largest case has `value` times the figure of the smallest.
        largest = 32768
        return base * (value if case.size == largest else 1.0)
    if criterion.base and peer == criterion.base:
        return base
    if criterion.ends[1]:
        at_end = asserts._same(case, criterion.by, criterion.ends[1])
        return base * (value if at_end else 1.0)
    if criterion.by:
        value = float(getattr(case, criterion.by)) ** value
    return base * value if criterion.by or criterion.base else value


def outcomes(criterion: Criterion) -> tuple[float, float]:
    """A value that meets the criterion, and one that does not."""
    limit = criterion.limit
    step = max(abs(limit) * 0.5, 0.2)
    if criterion.sign == "~":
        return 1.0, limit * 1.5
    if criterion.sign in ("<", "<="):
        return limit - step / 2, limit + step
    if criterion.sign in (">", ">="):
        return limit + step, limit - step / 2
    return limit, limit + step


@pytest.mark.parametrize(("name", "number", "full"), EITHER_WAY)
def test_a_finding_can_be_confirmed_and_refuted(name: str, number: int, full: bool) -> None:
    wanted, finding, criterion = one(name, number, full=full)
    good, bad = outcomes(criterion)

    def told(value: Callable[[int], float]) -> findings.Beside:
        [found] = findings.beside([finding], made_up(wanted, criterion, value))
        assert found.verdicts
        return found

    if finding.mixed:
        both = told(lambda n: good if n % 2 else bad)
        assert both.whole, both.answer()
        for value in (good, bad):
            same = told(lambda _n, value=value: value)  # type: ignore[misc]
            assert not same.whole
            assert same.answer().startswith("not confirmed")
        return
    true, false = told(lambda _n: good), told(lambda _n: bad)
    assert (true.whole, true.answer()) == (True, "confirmed")
    assert (false.met, false.answer()) == (0, "not confirmed")
    # Both verdicts show the differences.
    assert true.differs() == false.differs() != ""
    assert true.source().startswith(PAPERS[finding.paper])


@pytest.mark.parametrize("name", experiment.built_in())
def test_no_finding_uses_a_mode_that_the_paper_lacks(name: str) -> None:
    """Excludes modes of Hyphos that the papers' systems lack, and DDS by memory instead of UDP."""
    wanted = load(name, full=True)
    for finding in wanted.findings:
        criterion = asserts.parse(finding.holds)
        assert criterion.peer != "hyphos/inline"
        if finding.paper == "003":
            assert criterion.peer != "fastdds"
            assert criterion.base != "fastdds"
    if name.startswith("paper_003_"):
        assert "fastdds" not in wanted.peers
        assert "fastdds/udp" in wanted.peers or "cyclonedds" not in wanted.peers


@pytest.mark.parametrize("name", [n for n in experiment.built_in() if n.startswith("paper_000_")])
def test_peers_without_serialization_are_not_in_paper_000(name: str) -> None:
    for full in (False, True):
        wanted = load(name, full=full)
        assert not [peer for peer in wanted.peers if peer.startswith("csharp")]


def test_the_law_of_paper_004_is_judged_at_saturation() -> None:
    wanted = load("paper_004_cslv")
    criteria = findings.parse(wanted.findings)
    assert {one.metric for one in criteria} == {"knee_mb_per_s"}
    assert any(one.spread for one in criteria)
    assert {case.size for case in wanted.cases} == {64, 4096, 32768}
    assert len({case.pairs for case in wanted.cases}) > 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{says: a, holds: 'p50_us < 1', otherwise: It waits.}", "excuses one outcome"),
        ("{says: a, holds: 'p50_us < 1', paper: '003'}", "lacks 'where', 'quote'"),
        ("{says: a, holds: 'p50_us < 1', paper: '9', where: b, quote: c}", "unknown paper '9'"),
        ("{says: a, holds: 'p50_us < 1', theirs: {x: y}}", "'y' is not a number"),
        ("{says: a, holds: 'p50_us < 1', theirs: 3}", "must be a mapping of cases"),
        ("{says: a, holds: 'p50_us < 1', mixed: often}", "yes or no"),
        (
            f"{{says: a, holds: 'p50_us < 1', paper: '003', where: b, quote: {'x' * 300}}}",
            "at most 240 characters",
        ),
    ],
)
def test_an_invalid_source_of_a_finding_is_refused(text: str, message: str) -> None:
    with pytest.raises(Error, match=message) as caught:
        experiment.parse(f"lab: 1\nworkload: pair\nfindings: [{text}]\n", "my.yaml")
    assert "my.yaml:3" in str(caught.value)


# The HyperGraph ROS paper measures serial nodes, and ZeroMQ with protobuf.
PAPER_001 = {
    "paper_001_inside": ("hyphos/serial", "tbb"),
    "paper_001_paced": ("hyphos/serial", "tbb"),
    "paper_001_between": ("zmq/ipc_protobuf", "hyphos/ipc_protobuf"),
    "paper_001_machines": ("zmq/tcp_protobuf", "hyphos/tcp_protobuf"),
}


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", PAPER_001)
def test_findings_of_hypergraph_ros_judge_its_own_mode(name: str, full: bool) -> None:
    wanted = load(name, full=full)
    judged = {asserts.parse(finding.holds).peer for finding in wanted.findings}
    assert judged == set(PAPER_001[name])
    assert judged <= set(wanted.peers)
    # Its other modes and transports stand beside them.
    assert len([peer for peer in wanted.peers if peer.startswith("hyphos/")]) >= 2
    assert {case.count for case in wanted.cases} == {100}  # messages of a run, as in the paper


def test_fig_11_is_judged_in_megabytes_per_second() -> None:
    wanted = load("paper_001_paced")
    assert wanted.figures[0] == LATENCY_THROUGHPUT
    criteria = [asserts.parse(finding.holds) for finding in wanted.findings]
    assert {one.metric for one in criteria} == {LATENCY_THROUGHPUT}
