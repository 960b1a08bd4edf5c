"""Every parameter, experiment key and option of the laboratory has an effect, or is refused before
anything starts. The same holds for values that cannot work."""

from __future__ import annotations

import os
import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
from helpers import Cli
from hyphos import Error
from hyphos.lab import commands, experiment, outputs, series
from hyphos.lab.case import GRAPH, OWN, WORKLOADS, Case, means_something
from hyphos.lab.commands import RunOptions
from hyphos.lab.media import MEDIA, RANGES, medium_of
from hyphos.lab.peers import find_peers
from hyphos.lab.reader import _INTEGERS, _RANGES, _TEXTS, _WORDS, PARAMETERS

# For each parameter a working value other than the default.
GOOD = {
    **{"size": "2048", "rate_hz": "50", "processes": "4", "subscribers": "2", "publishers": "2"},
    **{"pairs": "2", "queue": "7", "work_us": "3", "stall_ms": "5", "stall_every_ms": "400"},
    **{"speed": "2", "seconds": "1", "messages": "50", "warmup": "9", "cores": "0.5"},
    **{"shm_mb": "64", "scale": "2", "hosts": "1", "clock": "0.5", "relay": "beside"},
    **{"reliability": "reliable", "faults": "'{loss: 0.1}'", "link": "cable"},
    **{"recording": "x.mcap", "channel": "scan", "plan": "robot.yaml", "placement": "pub=0"},
}
# Parameters that change the program's environment, not its arguments.
AROUND = ("cores", "shm_mb", "link", "hosts", "recording", "channel", "clock", "plan", "seconds")


def text(workload: str, *lines: str) -> str:
    links = "links: {cable: {kind: tun, rate_mbit: 100}}"
    return "\n".join(["lab: 1", f"workload: {workload}", links, *lines]) + "\n"


def wrong_values() -> list[tuple[str, str]]:
    found = [(name, "[1, 2]") for name in PARAMETERS if name != "placement"]
    for name, (low, high) in _RANGES.items():
        for value in ("nan", ".inf", "-.inf", "x", "''", f"{low - 1:g}", f"{high * 2:g}", "1e400"):
            found.append((name, value))
        if name in _INTEGERS and name != "size":
            found.append((name, f"{max(low, 1) + 0.5:g}"))
    found += [(name, "sometimes") for name in _WORDS]
    found += [("placement", "pub"), ("placement", "pub=x"), ("placement", "pub=3-1")]
    found += [("faults", "'{lose: 1}'"), ("faults", "'{loss: 7}'"), ("faults", "loss")]
    return found


def test_every_parameter_has_a_value_that_works_here() -> None:
    assert set(GOOD) == set(PARAMETERS)
    assert set(_TEXTS) <= set(GOOD)


@pytest.mark.parametrize(("name", "value"), wrong_values())
@pytest.mark.parametrize("how", ["fixed", "grid", "set"])
def test_a_value_that_cannot_work_is_refused(name: str, value: str, how: str) -> None:
    workload = OWN.get(name, "pair")
    if value == "[1, 2]" and (how == "grid" or name in _TEXTS):
        return  # two values there, or the name of a file
    lines = {"fixed": [f"{name}: {value}"], "grid": [f"grid: {{{name}: [{value}]}}"], "set": []}
    changes = [f"{name}={value.strip(chr(39))}"] if how == "set" else []
    with pytest.raises(Error) as caught:
        experiment.parse(text(workload, *lines[how]), "my.yaml", changes=changes)
    assert name in str(caught.value) or value in str(caught.value)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_has_an_effect_or_is_refused(name: str, workload: str) -> None:
    lines = [f"{name}: {GOOD[name]}"]
    lines += ["recording: x.mcap"] if name in ("speed", "channel") else []
    lines += ["stall_ms: 5"] if name == "stall_every_ms" else []
    lines += ["link: cable"] if name in ("hosts", "relay") else []
    if not means_something(name, workload):
        with pytest.raises(Error, match="means nothing to the workload"):
            experiment.parse(text(workload, *lines), "my.yaml")
        return
    [case] = experiment.parse(text(workload, *lines), "my.yaml").cases
    others = [line for line in lines if not line.startswith(f"{name}:")]
    [plain] = experiment.parse(text(workload, *others), "my.yaml").cases
    if name == "hosts":
        return  # more than one is another test's
    assert case != plain
    if name not in AROUND:
        assert case.arguments() != plain.arguments()


WRONG_KEYS = [
    ("workload: pear", "no workload 'pear'"),
    ("peers: [hyphos/smoke]", "no peer 'hyphos/smoke'"),
    ("peers: []", "empty list"),
    ("base: smoke", "no peer 'smoke'"),
    ("repeats: 0", "from 1 to 1000"),
    ("repeats: many", "from 1 to 1000"),
    ("figures: [p51_us]", "no figure 'p51_us'"),
    ("assert: p50", "no criterion"),
    ("assert: 'zmq/tcp: lost == 0'", "'zmq/tcp' takes no part"),
    ("assert: 'size=9 KB: lost == 0'", "'KB' takes no part"),
    ("assert: 'size=9KB: lost == 0'", "no case has these values"),
    ("assert: 'p50_us from size=64 to 9 < 2'", "no case has size=64"),
    ("assert: 'p95_queue_us < 9'", "lab profile"),
    ("assert: 'knee_hz > 9'", "lab saturate"),
    ("assert: 'p50_us ~ 0.5'", "a factor of 1 or more"),
    ("assert: 'p50_us < nan'", "is no"),
    ("links: {cable: {kind: rope}}", "rope"),
    ("links: {cable: {kind: tun, rate_mbit: -1}}", "rate_mbit"),
    ("links: {cable: 3}", "mapping with a kind"),
    ("link: rope", "no link 'rope'"),
    ("findings: [{says: a, holds: b}]", "is no criterion"),
    ("unlike: 3", "is a mapping of peers"),
    ("full: {colour: 1}", "has no 'colour'"),
    ("full: 3", "is a mapping of parameters"),
    ("grid: {colour: 1}", "has no 'colour'"),
    ("grid: 3", "is a mapping of parameters"),
    ("parts: 3", "is a list of"),
    ("relay: own", "on a link, and none is named"),
    ("stall_ms: 2000", "less than stall_every_ms"),
    ("hosts: 4", "means nothing to the workload pair"),
    ("speed: 2", "none is named"),
    ("recording: nowhere.mcap", "nowhere.mcap"),
    ("placement: pub=4095", "4095"),
    ("colour: red", "has no 'colour'"),
]


@pytest.mark.parametrize(("line", "message"), WRONG_KEYS)
def test_a_key_that_cannot_work_stops_a_run_before_it_begins(
    line: str, message: str, hyphos_cli: Cli, tmp_path: Path
) -> None:
    key = line.partition(":")[0]
    lines = ["lab: 1", "workload: pair", "peers: [futex]", line]
    lines = [one for one in lines if one is line or not one.startswith(f"{key}:")]
    (tmp_path / "x.yaml").write_text("\n".join(lines) + "\n")
    code, shown, err = hyphos_cli("lab", "run", "x.yaml", "-o", "out")
    assert code != 0
    assert message in " ".join(err.split()), err
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()
    assert "[1/" not in shown + err


RUN = ("lab", "run", "latency", "-o", "out")
PROFILE = ("lab", "profile", "--experiment", "paper_003_layers", "--out", "out")
WRONG_OPTIONS = [
    (("lab", "run", "latencey", "-o", "out"), "did you mean 'latency'"),
    ((*RUN, "--seconds", "nan"), "--seconds"),
    ((*RUN, "--seconds", "inf"), "--seconds"),
    ((*RUN, "--seconds", "0"), "--seconds"),
    ((*RUN, "--wait-quiet", "nan"), "--wait-quiet"),
    ((*RUN, "--retries", "-1"), "--retries"),
    ((*RUN, "--repeats", "0"), "--repeats"),
    ((*RUN, "--peer", "smoke"), "no peer 'smoke'"),
    ((*RUN, "--programs", "nowhere"), "nowhere"),
    ((*RUN, "--assert", "p50"), "no criterion"),
    ((*RUN, "--assert", "ros1: lost == 0"), "'ros1' takes no part"),
    ((*RUN, "--set", "size"), "is no NAME=VALUE"),
    ((*RUN, "--set", "colour=red"), "no 'colour'"),
    ((*RUN, "--set", "messages=5"), "means nothing to the workload pair"),
    ((*RUN, "--set", "size=7"), "is not from 32"),
    ((*RUN, "--resume", "--overwrite"), "either --resume or --overwrite"),
    (("lab", "run", "latency", "-o", "file/out"), "is no folder"),
    (("lab", "run", "paper_004_recorded", "-o", "out"), "no recording is named"),
    (("lab", "saturate", "latency", "-o", "out", "-p", "tbb"), "can take part"),
    (("lab", "saturate", "paper_001_throughput", "-o", "out"), "no rate to look for"),
    (("lab", "paper", "007", "-o", "out"), "'007' is none of"),
    (("lab", "paper", "004", "-o", "out", "--set", "recording=typo.bag"), "typo.bag"),
    (("lab", "paper", "004", "-o", "out", "--set", "subscribers=3"), "means nothing to any"),
    (("lab", "unity", "-o", "out", "--set", "processes=3"), "means nothing to any"),
    (("lab", "compare", "pear", "-o", "out"), "pear"),
    (("lab", "compare", "flood", "--rate", "10", "-o", "out"), "a flood has no rate"),
    (("lab", "compare", "a", "b", "--size", "1KB"), "goes with a measurement"),
    (("lab", "compare", "a", "b", "--peer", "zmq"), "goes with a measurement"),
    ((*PROFILE, "-p", "smoke"), "no peer 'smoke'"),
    ((*PROFILE, "-p", "zmq/tcp"), "keeps no flight recorder"),
    ((*PROFILE, "-p", "hyphos/shm", "-p", "zmq/tcp"), "'zmq/tcp': it keeps no flight recorder"),
    ((*PROFILE, "-p", "hyphos/serial"), "it does not do pipeline"),
    ((*PROFILE, "--programs", "nowhere"), "nowhere"),
    ((*PROFILE, "--rate", "51"), "no case of the experiment has 51 Hz"),
    ((*PROFILE, "--for", "nan"), "--for"),
    ((*PROFILE, "--html", "file/x.html"), "is no folder"),
    (("lab", "profile", "-p", "hyphos/shm"), "for --experiment only"),
    (("lab", "profile", "--programs", "x"), "for --experiment only"),
    (("lab", "calibrate", "-o", "."), "is a folder"),
    (("lab", "calibrate", "-o", "file/c.json"), "is no folder"),
    (("lab", "calibrate", "--way", "smoke"), "'smoke' is none of"),
    (("lab", "calibrate", "--link", "cable"), "is no link"),
    (("lab", "calibrate", "--link", "c=veth,rate_mbit=x"), "is no KEY=NUMBER"),
    (("lab", "calibrate", "--max-size", "1"), "--max-size"),
    (("lab", "calibrate", "--wait-quiet", "inf"), "--wait-quiet"),
    (("lab", "verify", "nowhere.yaml"), "nowhere.yaml"),
    (("lab", "verify", "--held-out", "--report", "file/x.html"), "is no folder"),
    (("lab", "loads", "--for", "nan"), "--for"),
]


@pytest.mark.parametrize(("words", "message"), WRONG_OPTIONS)
def test_an_option_that_cannot_work_stops_a_command_before_it_begins(
    words: tuple[str, ...], message: str, hyphos_cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    code, shown, err = hyphos_cli(*words)
    told = " ".join((shown + err).replace("│", " ").split())
    assert code != 0
    assert message in told
    assert "Traceback" not in told
    assert "[1/" not in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_every_absent_peer_is_refused_by_the_profiler_in_words(hyphos_cli: Cli) -> None:
    for name, remedy in list(find_peers().absent.items())[:3]:
        code, _, err = hyphos_cli(*PROFILE, "-p", name)
        assert code == 1
        assert "Traceback" not in err
        assert f"'{name}': absent: {remedy}" in " ".join(err.split())


# Links.

LINK_OPTIONS = Path(__file__).parents[2] / "lab" / "link" / "options.cpp"


def test_a_link_takes_the_numbers_that_its_program_takes() -> None:
    found = re.findall(
        r'Number\{"--([a-z-]+)", ([\d.e-]+), (kHour|[\d.e]+), (true|false)',
        LINK_OPTIONS.read_text(),
    )
    told = {
        name.replace("-", "_"): (
            float(least),
            3.6e6 if most == "kHour" else float(most),
            whole == "true",
        )
        for name, least, most, whole in found
    }
    assert len(told) > 15
    assert {name: RANGES[name] for name in told} == told
    of_media = {field.name for medium in MEDIA.values() for field in fields(medium)}
    assert set(RANGES) == of_media


@pytest.mark.parametrize("kind", MEDIA)
def test_a_link_that_cannot_be_is_refused(kind: str) -> None:
    for field in fields(MEDIA[kind]):
        least, most, whole = RANGES[field.name]
        wrong = [float("nan"), float("inf"), least - 1, most * 2, "x", [], True]
        for value in [*wrong, *([least + 0.5] if whole else [])]:
            with pytest.raises(Error, match=field.name):
                medium_of(kind, {field.name: value}, "my.yaml:3")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("tun", {"jitter_ms": 3}, "at most delay_ms"),
        ("wifi", {"rate_mbit": 11}, "rates are of 6, 9"),
        ("wifi", {"cw_min": 63, "cw_max": 31}, "cw_max is at least"),
        ("tun", {"loss_in_burst": 0.5}, "go with loss_burst"),
    ],
)
def test_what_cannot_be_together_is_refused(
    kind: str, options: dict[str, float], message: str
) -> None:
    with pytest.raises(Error, match=message):
        medium_of(kind, options)


# One that fails does not stop the others.


def test_an_experiment_that_fails_takes_none_of_a_series_along(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def fails(name: str, _options: RunOptions) -> int:
        asked.append(name)
        if name == "latency":
            raise Error("io", "the disk is full")
        return 0

    steps = [(fails, "latency"), (fails, "hosts"), (fails, "unity_viewers")]
    assert series.run(steps, "three", RunOptions(output=tmp_path / "out")) == 1
    assert asked == ["latency", "hosts", "unity_viewers"]
    err = " ".join(capsys.readouterr().err.split())
    assert "latency: the disk is full" in err
    assert "not measured: latency" in err


def test_a_series_looks_at_all_of_its_files_first(tmp_path: Path) -> None:
    asked: list[str] = []

    def note(name: str, _options: RunOptions) -> int:
        asked.append(name)
        return 0

    steps = [(note, "latency"), (note, "paper_004_recorded")]
    options = RunOptions(output=tmp_path / "out", changes=["recording=typo.bag", "channel=scan"])
    with pytest.raises(Error, match=r"typo\.bag"):
        series.run(steps, "two", options)
    assert asked == []


def test_a_change_is_for_the_experiments_in_which_it_has_an_effect(tmp_path: Path) -> None:
    told: dict[str, list[str]] = {}

    def note(name: str, options: RunOptions) -> int:
        told[name] = list(options.changes or [])
        return 0

    steps = [(note, "latency"), (note, "unity_viewers")]
    changes = ["subscribers=2", "size=64"]
    assert series.run(steps, "two", RunOptions(output=tmp_path, changes=changes)) == 0
    assert told == {"latency": ["size=64"], "unity_viewers": changes}


def test_the_law_is_searched_for_with_the_other_experiments_of_paper_004() -> None:
    steps = {name: command for command, name in series.of_paper("004")}
    assert steps["paper_004_cslv"] is commands.saturate
    assert steps["paper_004_pairs"] is commands.run


# Places.


def test_a_place_that_may_not_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(Error, match="nothing can be written"):
        outputs.expect_folder(tmp_path / "new", "--output")


def test_a_look_at_a_place_makes_nothing(tmp_path: Path) -> None:
    outputs.expect_folder(tmp_path / "a" / "b", "--output")
    outputs.expect_file(tmp_path / "a" / "b.json", "--output")
    assert list(tmp_path.iterdir()) == []


def test_a_gateway_has_a_host_of_its_own_only_where_it_can() -> None:
    case = Case("pair", link="cable", relay="own")
    for peer in find_peers().present:
        if peer.middleware == "gateway":
            assert not peer.cannot(case)
        elif peer.middleware.startswith("gateway_"):
            assert peer.cannot(case) == "its gateway has no host of its own"
        assert not peer.cannot(replace(case, relay="beside", link="")) or "pair" not in (
            peer.workloads
        )


def test_graphs_take_what_a_graph_has() -> None:
    assert {name for name in PARAMETERS if means_something(name, GRAPH)} == {
        *("plan", "scale", "seconds", "link", "cores", "clock", "shm_mb", "placement")
    }
