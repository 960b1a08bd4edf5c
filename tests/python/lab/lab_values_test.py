"""Every parameter, experiment key and option of the laboratory has an effect, or is refused before
the first run. Impossible values are refused too."""

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

# A working value other than the default for each parameter.
GOOD = {
    **{"size": "2048", "rate_hz": "50", "processes": "4", "subscribers": "2", "publishers": "2"},
    **{"pairs": "2", "queue": "7", "work_us": "3", "stall_ms": "5", "stall_every_ms": "400"},
    **{"speed": "2", "seconds": "1", "messages": "50", "warmup": "9", "cores": "0.5"},
    **{"shm_mb": "64", "scale": "2", "hosts": "1", "clock": "0.5", "relay": "beside"},
    **{"reliability": "reliable", "faults": "'{loss: 0.1}'", "link": "cable"},
    **{"recording": "x.mcap", "channel": "scan", "plan": "robot.yaml", "placement": "pub=0"},
}
# Parameters that change the environment of the program, not its arguments.
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


def test_every_parameter_has_a_working_value() -> None:
    assert set(GOOD) == set(PARAMETERS)
    assert set(_TEXTS) <= set(GOOD)


@pytest.mark.parametrize(("name", "value"), wrong_values())
@pytest.mark.parametrize("how", ["fixed", "grid", "set"])
def test_an_impossible_value_is_refused(name: str, value: str, how: str) -> None:
    workload = OWN.get(name, "pair")
    if value == "[1, 2]" and (how == "grid" or name in _TEXTS):
        return  # two values in a list, or the name of a file
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
        with pytest.raises(Error, match="has no effect in the workload"):
            experiment.parse(text(workload, *lines), "my.yaml")
        return
    [case] = experiment.parse(text(workload, *lines), "my.yaml").cases
    others = [line for line in lines if not line.startswith(f"{name}:")]
    [plain] = experiment.parse(text(workload, *others), "my.yaml").cases
    if name == "hosts":
        return  # another test covers more than one
    assert case != plain
    if name not in AROUND:
        assert case.arguments() != plain.arguments()


WRONG_KEYS = [
    ("workload: pear", "unknown workload 'pear'"),
    ("peers: [hyphos/smoke]", "unknown peer 'hyphos/smoke'"),
    ("peers: []", "empty list"),
    ("base: smoke", "unknown peer 'smoke'"),
    ("repeats: 0", "from 1 to 1000"),
    ("repeats: many", "from 1 to 1000"),
    ("figures: [p51_us]", "unknown metric 'p51_us'"),
    ("assert: p50", "not a criterion"),
    ("assert: 'zmq/tcp: lost == 0'", "'zmq/tcp' is not measured"),
    ("assert: 'size=9 KB: lost == 0'", "'KB' is not measured"),
    ("assert: 'size=9KB: lost == 0'", "no case has these values"),
    ("assert: 'p50_us from size=64 to 9 < 2'", "no case has size=64"),
    ("assert: 'p95_queue_us < 9'", "lab profile"),
    ("assert: 'knee_hz > 9'", "lab saturate"),
    ("assert: 'p50_us ~ 0.5'", "a factor of 1 or more"),
    ("assert: 'p50_us < nan'", "is not"),
    ("links: {cable: {kind: rope}}", "rope"),
    ("links: {cable: {kind: tun, rate_mbit: -1}}", "rate_mbit"),
    ("links: {cable: 3}", "mapping with a kind"),
    ("link: rope", "unknown link 'rope'"),
    ("findings: [{says: a, holds: b}]", "is not a criterion"),
    ("unlike: 3", "must be a mapping of peers"),
    ("full: {colour: 1}", "has no 'colour'"),
    ("full: 3", "must be a mapping of parameters"),
    ("grid: {colour: 1}", "has no 'colour'"),
    ("grid: 3", "must be a mapping of parameters"),
    ("parts: 3", "must be a list of"),
    ("relay: own", "needs a link with a host"),
    ("stall_ms: 2000", "less than stall_every_ms"),
    ("hosts: 4", "has no effect in the workload pair"),
    ("speed: 2", "'speed' needs a recording"),
    ("recording: nowhere.mcap", "nowhere.mcap"),
    ("placement: pub=4095", "4095"),
    ("colour: red", "has no 'colour'"),
]


@pytest.mark.parametrize(("line", "message"), WRONG_KEYS)
def test_an_impossible_key_stops_a_run_before_it_begins(
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
    ((*RUN, "--peer", "smoke"), "unknown peer 'smoke'"),
    ((*RUN, "--programs", "nowhere"), "nowhere"),
    ((*RUN, "--assert", "p50"), "not a criterion"),
    ((*RUN, "--assert", "ros1: lost == 0"), "'ros1' is not measured"),
    ((*RUN, "--set", "size"), "is not NAME=VALUE"),
    ((*RUN, "--set", "colour=red"), "no 'colour'"),
    ((*RUN, "--set", "messages=5"), "has no effect in the workload pair"),
    ((*RUN, "--set", "size=7"), "is not from 32"),
    ((*RUN, "--resume", "--overwrite"), "either --resume or --overwrite"),
    (("lab", "run", "latency", "-o", "file/out"), "is not a folder"),
    (("lab", "run", "paper_004_recorded", "-o", "out"), "no recording is given"),
    (("lab", "saturate", "latency", "-o", "out", "-p", "tbb"), "can run this experiment"),
    (("lab", "saturate", "paper_001_throughput", "-o", "out"), "no rate to search"),
    (("lab", "paper", "007", "-o", "out"), "'007' is none of"),
    (("lab", "paper", "004", "-o", "out", "--set", "recording=typo.bag"), "typo.bag"),
    (("lab", "paper", "004", "-o", "out", "--set", "subscribers=3"), "has no effect in any"),
    (("lab", "unity", "-o", "out", "--set", "processes=3"), "has no effect in any"),
    (("lab", "compare", "pear", "-o", "out"), "pear"),
    (("lab", "compare", "flood", "--rate", "10", "-o", "out"), "a flood has no rate"),
    (("lab", "compare", "a", "b", "--size", "1KB"), "only valid with a measurement"),
    (("lab", "compare", "a", "b", "--peer", "zmq"), "only valid with a measurement"),
    ((*PROFILE, "-p", "smoke"), "unknown peer 'smoke'"),
    ((*PROFILE, "-p", "zmq/tcp"), "has no flight recorder"),
    ((*PROFILE, "-p", "hyphos/shm", "-p", "zmq/tcp"), "'zmq/tcp': it has no flight recorder"),
    ((*PROFILE, "-p", "hyphos/serial"), "it does not support pipeline"),
    ((*PROFILE, "--programs", "nowhere"), "nowhere"),
    ((*PROFILE, "--rate", "51"), "no case of the experiment has 51 Hz"),
    ((*PROFILE, "--for", "nan"), "--for"),
    ((*PROFILE, "--html", "file/x.html"), "is not a folder"),
    (("lab", "profile", "-p", "hyphos/shm"), "for --experiment only"),
    (("lab", "profile", "--programs", "x"), "for --experiment only"),
    (("lab", "calibrate", "-o", "."), "is a folder"),
    (("lab", "calibrate", "-o", "file/c.json"), "is not a folder"),
    (("lab", "calibrate", "--transport", "smoke"), "'smoke' is none of"),
    (("lab", "calibrate", "--link", "cable"), "is not a link"),
    (("lab", "calibrate", "--link", "c=veth,rate_mbit=x"), "is not KEY=NUMBER"),
    (("lab", "calibrate", "--max-size", "1"), "--max-size"),
    (("lab", "calibrate", "--wait-quiet", "inf"), "--wait-quiet"),
    (("lab", "verify", "nowhere.yaml"), "nowhere.yaml"),
    (("lab", "verify", "--test-set", "--report", "file/x.html"), "is not a folder"),
    (("lab", "loads", "--for", "nan"), "--for"),
]


@pytest.mark.parametrize(("words", "message"), WRONG_OPTIONS)
def test_an_impossible_option_stops_a_command_early(
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


def test_the_profiler_refuses_every_absent_peer(hyphos_cli: Cli) -> None:
    for name, remedy in list(find_peers().absent.items())[:3]:
        code, _, err = hyphos_cli(*PROFILE, "-p", name)
        assert code == 1
        assert "Traceback" not in err
        assert f"'{name}': absent: {remedy}" in " ".join(err.split())


# Links.

LINK_OPTIONS = Path(__file__).parents[3] / "netem" / "options.cpp"


def test_a_link_accepts_the_numbers_of_its_program() -> None:
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
def test_an_impossible_link_is_refused(kind: str) -> None:
    for field in fields(MEDIA[kind]):
        least, most, whole = RANGES[field.name]
        wrong = [float("nan"), float("inf"), least - 1, most * 2, "x", [], True]
        for value in [*wrong, *([least + 0.5] if whole else [])]:
            with pytest.raises(Error, match=field.name):
                medium_of(kind, {field.name: value}, "my.yaml:3")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("tun", {"jitter_ms": 3}, "must be at most delay_ms"),
        ("wifi", {"rate_mbit": 11}, "rates must be 6, 9"),
        ("wifi", {"cw_min": 63, "cw_max": 31}, "cw_max must be at least"),
        ("tun", {"loss_in_burst": 0.5}, "need loss_burst"),
    ],
)
def test_contradicting_settings_are_refused(
    kind: str, options: dict[str, float], message: str
) -> None:
    with pytest.raises(Error, match=message):
        medium_of(kind, options)


# A failed experiment does not stop the others.


def test_a_failed_experiment_does_not_stop_its_series(
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


def test_a_series_checks_all_of_its_files_first(tmp_path: Path) -> None:
    asked: list[str] = []

    def note(name: str, _options: RunOptions) -> int:
        asked.append(name)
        return 0

    steps = [(note, "latency"), (note, "paper_004_recorded")]
    options = RunOptions(output=tmp_path / "out", changes=["recording=typo.bag", "channel=scan"])
    with pytest.raises(Error, match=r"typo\.bag"):
        series.run(steps, "two", options)
    assert asked == []


def test_a_change_applies_where_it_has_an_effect(tmp_path: Path) -> None:
    told: dict[str, list[str]] = {}

    def note(name: str, options: RunOptions) -> int:
        told[name] = list(options.changes or [])
        return 0

    steps = [(note, "latency"), (note, "unity_viewers")]
    changes = ["subscribers=2", "size=64"]
    assert series.run(steps, "two", RunOptions(output=tmp_path, changes=changes)) == 0
    assert told == {"latency": ["size=64"], "unity_viewers": changes}


def test_paper_004_includes_the_search_for_its_law() -> None:
    steps = {name: command for command, name in series.of_paper("004")}
    assert steps["paper_004_cslv"] is commands.saturate
    assert steps["paper_004_pairs"] is commands.run


# Destinations.


def test_an_unwritable_destination_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(Error, match="cannot write"):
        outputs.expect_folder(tmp_path / "new", "--output")


def test_checking_a_destination_creates_nothing(tmp_path: Path) -> None:
    outputs.expect_folder(tmp_path / "a" / "b", "--output")
    outputs.expect_file(tmp_path / "a" / "b.json", "--output")
    assert list(tmp_path.iterdir()) == []


def test_a_separate_gateway_needs_a_link_and_a_peer() -> None:
    case = Case("pair", link="cable", relay="own")
    for peer in find_peers().present:
        if peer.middleware == "gateway":
            assert not peer.cannot(case)
        elif peer.middleware.startswith("gateway_"):
            assert peer.cannot(case) == "its gateway cannot run on its own host"
        assert not peer.cannot(replace(case, relay="beside", link="")) or "pair" not in (
            peer.workloads
        )


def test_graphs_accept_only_parameters_of_graphs() -> None:
    assert {name for name in PARAMETERS if means_something(name, GRAPH)} == {
        *("plan", "scale", "seconds", "link", "cores", "clock", "shm_mb", "placement")
    }
