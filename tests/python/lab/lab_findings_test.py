"""Figures along a parameter, and published findings beside measurements."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Cli
from hyphos import Error
from hyphos.lab import asserts, experiment, findings
from hyphos.lab.case import Case
from hyphos.lab.experiment import Finding
from hyphos.lab.profile.layers import METRICS as LAYER_METRICS
from hyphos.lab.results import KNEE_METRICS, Row, Run


def row(peer: str, case: Case, value_us: float) -> Row:
    result = {
        "histogram_ns": [[round(value_us * 1000), 10]],
        "mb_per_s": 1.0,
        "lost": 0,
        "received": 10,
        **dict.fromkeys((*LAYER_METRICS, *KNEE_METRICS), value_us),
    }
    return Row(case, peer, [Run(case, peer, i, result) for i in range(3)])


def falling(peer: str, steep: float) -> list[Row]:
    """Latency as a power of the rate, for two sizes. Slow rates have longer runs."""
    return [
        row(peer, Case("pair", size, rate, seconds=5.0 if rate < 10 else 2.0), size * rate**steep)
        for size in (1000, 4000)
        for rate in (1.0, 10.0, 100.0)
    ]


def test_a_criterion_judges_the_growth_of_a_figure() -> None:
    judged = asserts.judge([asserts.parse("p95_us by rate_hz < 0")], falling("zmq", -0.5))
    assert [round(one.value, 2) for one in judged] == [-0.5, -0.5]
    assert [one.row.case.size for one in judged] == [1000, 4000]
    assert all(one.met for one in judged)
    (steeper,) = asserts.judge(
        [asserts.parse("size=4000: p95_us by rate_hz > 0.1")], falling("zmq", 0.05)
    )
    assert not steeper.met


def test_a_criterion_compares_two_values_of_a_parameter() -> None:
    rows = [*falling("zmq", -0.5), row("zmq", Case("pair", 1000, 100.0, link="air"), 700.0)]
    text = "p50_us from rate_hz=1 to rate_hz=100 < 0.2"
    with pytest.raises(Error, match="is not a criterion"):
        asserts.parse(text)  # the parameter must be named once
    judged = asserts.judge([asserts.parse("p50_us from rate_hz=1 to 100 < 0.2")], rows)
    assert [round(one.value, 2) for one in judged] == [0.1, 0.1]
    between = asserts.parse("size=1000: p50_us from link= to air > 1")
    assert between.ends == ("", "air")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p95_us by reliability < 0", "'reliability' is not a numeric"),
        ("lost by rate_hz < 0", "is a count"),
        ("p95_us from colour=red to blue < 0", "'colour' is not a numeric"),
    ],
)
def test_a_criterion_along_a_wrong_parameter_is_refused(text: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        asserts.parse(text)


def test_a_criterion_along_a_constant_parameter_is_an_error() -> None:
    with pytest.raises(Error, match="no measured row fits"):
        asserts.judge([asserts.parse("p95_us by processes > 0")], falling("zmq", -0.5))


def test_findings_are_judged_on_measured_rows() -> None:
    told = [
        Finding("faster at higher rates", "p95_us by rate_hz < 0", "deep sleep"),
        Finding("slower with size", "rate_hz=1: p95_us from size=1000 to 4000 > 3.9"),
        Finding("faster than futex", "zmq: p95_us / futex < 1"),
        Finding("slower through the air", "p95_us from link=cable to air > 1"),
    ]
    found = findings.beside(told, falling("zmq", -0.5) + falling("futex", 0.25))
    assert [one.answer() for one in found] == [
        "confirmed in 2 of 4",
        "confirmed",
        "confirmed in 4 of 6",
        "not measured",
    ]
    assert found[0].figures() == "zmq -0.50; futex 0.25"
    assert found[0].measure() == "x of p95_us ~ rate_hzˣ"
    assert found[1].measure() == "p95_us at size 4000 ÷ at 1000"
    assert found[2].measure() == "p95_us ÷ that of futex"


def test_a_finding_may_judge_a_difference_of_peers() -> None:
    one = Finding("a little more than futex", "zmq: p95_us - futex < 100")
    case = Case("pair", 1000)
    [found] = findings.beside([one], [row("zmq", case, 75.0), row("futex", case, 5.0)])
    assert found.whole
    assert found.figures() == "zmq 70.0"
    assert found.measure() == "p95_us − that of futex"


def test_a_finding_judges_its_peers_and_shows_differences() -> None:
    text = (
        "lab: 1\nworkload: pair\nfindings:\n"
        "  - says: fast\n    holds: p95_us < 10\n    peers: [ros1, zmq/tcp]\n"
        "    differs: {ros1/nagle: It waits., others: It is slow.}\n"
    )
    [told] = experiment.parse(text, "my.yaml").findings
    case = Case("pair", 1000)
    latencies = {"ros1": 20.0, "ros1/nagle": 40.0, "zmq/tcp": 5.0, "zmq/ipc": 50.0, "futex": 60.0}
    [found] = findings.beside([told], [row(peer, case, us) for peer, us in latencies.items()])
    assert found.answer() == "confirmed in 1 of 3"
    assert found.figures() == "ros1 20.0; ros1/nagle 40.0; zmq/tcp 5.00"
    # Shown also for the peers for which it holds, so it is no excuse for one outcome.
    assert found.differs() == "ros1, zmq/tcp: It is slow. ros1/nagle: It waits."
    [one] = findings.beside([told], [row("zmq/tcp", case, 5.0)])
    assert one.whole
    assert one.differs() == "zmq/tcp: It is slow."
    [none] = findings.beside([told], [row("futex", case, 5.0)])
    assert none.answer() == "not measured"


def test_differences_are_shown_beside_every_verdict() -> None:
    told = Finding("fast", "p95_us < 10", "It is slow.")
    for value in (5.0, 20.0):
        rows = [row(peer, Case("pair", 1000), value) for peer in ("futex", "zmq/tcp")]
        [found] = findings.beside([told], rows)
        assert found.differs() == "It is slow."
        assert found.as_dict()["differs"] == "It is slow."


@pytest.mark.parametrize("name", experiment.built_in())
def test_findings_of_the_papers_fit_measured_rows(name: str) -> None:
    for full in (False, True):
        wanted = experiment.load(name, full=full)
        for criterion in findings.parse(wanted.findings):
            # The reduced grid may have only one value of a criterion's parameter.
            named = {criterion.by, *(criterion.where if full else ())} - {""}
            assert named <= set(wanted.varied()) | {"link", "relay"}, criterion.text
            if not full:
                rows = [row(peer, case, 1.0) for case in wanted.cases for peer in wanted.peers]
                assert asserts.judge([criterion], rows)
    assert wanted.findings or not name.startswith("paper")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("findings: yes", "must be a list of"),
        ("findings: [no]", "a finding must be"),
        ("findings: [{says: so}]", "needs 'says' .words. and 'holds'"),
        ("findings: [{says: so, hold: 'lost == 0'}]", "did you mean 'holds'"),
    ],
)
def test_an_invalid_finding_is_refused(text: str, message: str) -> None:
    with pytest.raises(Error, match=message) as caught:
        experiment.parse(f"lab: 1\nworkload: pair\n{text}\n", "my.yaml")
    assert "my.yaml:3" in str(caught.value)


def test_a_report_shows_the_verdict_on_findings(hyphos_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "lab: 1\nworkload: pair\npeers: [hyphos/shm]\nseconds: 0.2\nwarmup: 3\nrepeats: 2\n"
        "grid: {size: [64, 4096]}\n"
        "findings:\n"
        "  - {says: It takes a minute <long>, holds: p50_us > 6e7, differs: Ours is on a wire.}\n"
    )
    code, shown, err = hyphos_cli("lab", "run", str(file), "-o", str(tmp_path / "out"))
    assert code == 0, err
    assert "“It takes a minute <long>”: not confirmed" in " ".join(shown.split())
    code, _, err = hyphos_cli("lab", "report", str(tmp_path / "out"))
    assert code == 0, err
    page = (tmp_path / "out" / "report.html").read_text()
    assert "It takes a minute &lt;long&gt;" in page
    assert "Ours is on a wire." in page
