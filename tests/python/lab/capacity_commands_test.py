"""The capacity model on the command line: `hyphos plan check`, `lab calibrate`, `lab verify`."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from capacity_samples import ROBOT, most_found, profile_of_all, robot_in
from helpers import Cli, Start
from hyphos.lab.capacity import profile
from hyphos.lab.capacity.graph import LINK, POINTER
from hyphos.lab.capacity.model import PACKET
from hyphos.lab.links import why_not
from hyphos.lab.media import Veth, Wifi


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    return robot_in(tmp_path)


def test_plan_check_prints_the_answer_and_its_exit_code(
    hyphos_cli: Cli, robot: Path, tmp_path: Path
) -> None:
    file = tmp_path / "capacity.json"
    profile.save(profile_of_all(), file)
    code, out, err = hyphos_cli("plan", "check", str(robot), "--profile", str(file))
    assert code == 0, err
    assert "fits" in out
    assert "first to break: callback of mapper on image" in out
    assert "not counted" in out and "debug" in out
    small = [f"--set=channels.{name}.load.size=64" for name in ("image", "map")]
    code, out, _ = hyphos_cli("plan", "check", str(robot), "--profile", str(file), *small)
    assert "all sizes × 64 or more (the search ends there)" in out
    busy = ["--set", "channels.image.load.rate_hz=900"]
    code, out, _ = hyphos_cli("plan", "check", str(robot), "--profile", str(file), *busy)
    assert code == 1
    assert "does not fit" in out
    code, out, _ = hyphos_cli("plan", "check", str(robot), "--profile", str(file), "--json")
    told = json.loads(out)
    assert told["verdict"] == "fits"
    assert told["knee_low"] < told["knee"] < told["knee_high"]


@pytest.fixture
def team(robot: Path) -> Path:
    text = ROBOT.replace("{eyes: {}, brain: {}}", "{eyes: {host: ugv}, brain: {host: base}}")
    hosts = "hosts: {ugv: {address: 10.0.0.1}, base: {address: 10.0.0.2}}\nprocesses"
    text = text.replace("processes", hosts, 1).replace("size: 200 KB", "size: 10 KB")
    robot.write_text(text)
    return robot


def test_plan_check_of_two_hosts_shows_the_use_of_the_link(
    hyphos_cli: Cli, team: Path, tmp_path: Path
) -> None:
    file = tmp_path / "capacity.json"
    made = profile_of_all(link=Veth(rate_mbit=1000))
    wifi = replace(made.links["cable"], medium=Wifi(rate_mbit=54))
    profile.save(replace(made, links={**made.links, "wifi": wifi}), file)
    words = ("plan", "check", str(team), "--profile", str(file))
    _, _, err = hyphos_cli(*words)
    assert "--link cable or --link wifi" in err
    code, out, err = hyphos_cli(*words, "--link", "cable")
    assert code == 0, err
    assert "link ugv → base" in out
    assert "robots on air" not in out  # cables are not shared
    told = json.loads(hyphos_cli(*words, "--link", "wifi", "--json")[1])
    assert told["ways"] == [LINK, POINTER]
    # 30 messages a second of 10 KB, at 1 µs a packet and 1 ns a byte.
    us = 30 * (10 * 1024 / PACKET + 10 * 1024 / 1e3)
    assert told["robots_that_fill_the_air"] == math.floor(1e6 / us)
    code, out, _ = hyphos_cli(*words, "--link", "wifi")
    assert f"at most {math.floor(1e6 / us)}, each on its own hosts" in " ".join(out.split())


@pytest.mark.skipif(why_not(Veth()) is not None, reason="needs root and network namespaces")
def test_two_hosts_are_measured_without_a_profile(hyphos_start: Start, team: Path) -> None:
    words = ["--measure-only", "--json", "--profile", str(team.with_name("none.json"))]
    # A callback of 2 ms limits it to 500 Hz, four times its rate, on every machine.
    team.write_text(team.read_text().replace("rate_hz: 30", "rate_hz: 125"))
    program = hyphos_start("lab", "verify", str(team), *words, "--link", "x=veth").popen
    out, err = program.communicate(timeout=600)
    assert 0 < json.loads(out)["knee"] < most_found(4), err


def test_python_nodes_without_work_us_are_named(
    hyphos_cli: Cli, robot: Path, tmp_path: Path
) -> None:
    file = tmp_path / "capacity.json"
    profile.save(profile_of_all(), file)
    text = robot.read_text().replace("{process: eyes}", "{process: eyes, python: eyes.camera}")
    text = text.replace("{process: brain}", "{process: brain, python: brain.planner}")
    text = text.replace("{process: brain, load", "{process: brain, python: brain.mapper, load")
    robot.write_text(text)
    words = ("plan", "check", str(robot), "--profile", str(file))
    code, out, err = hyphos_cli(*words)
    assert code == 0, err
    # The plan gives the mapper's callback 2 ms, in which it publishes the map.
    assert "counts only with a work_us: camera (image), planner (map)" in " ".join(out.split())
    told = json.loads(hyphos_cli(*words, "--json")[1])
    assert told["python_without_work"] == {"camera": ["image"], "planner": ["map"]}
    assert told["not_counted"] == ["debug"]
    said = ["--set=channels.image.load.work_us=300", "--set=nodes.planner.load.work_us=50"]
    assert "interpreter" not in hyphos_cli(*words, *said)[1]


def test_plan_show_may_be_left_out(hyphos_cli: Cli, robot: Path) -> None:
    assert hyphos_cli("plan", "show", str(robot)) == hyphos_cli("plan", str(robot))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--link", "cable"], "not a link"),
        (["--link", "cable=rope"], "unknown medium"),
        (["--link", "cable=veth,rate=fast"], "KEY=NUMBER"),
        (["--transport", "pigeon"], "pigeon"),
    ],
)
def test_a_calibration_with_a_typo_is_refused(
    hyphos_cli: Cli, tmp_path: Path, words: list[str], message: str
) -> None:
    code, _, err = hyphos_cli("lab", "calibrate", "-o", str(tmp_path / "c.json"), *words)
    assert code != 0
    assert message in err
    assert not (tmp_path / "c.json").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give either a robot.yaml"),
        (["--test-set", "robot.yaml"], "give either a robot.yaml"),
        (["--fresh", "robot.yaml"], "--fresh: only valid with --test-set"),
        (["--transport", "shm", "robot.yaml"], "--transport: only valid with --test-set"),
        (["-o", "x.json", "robot.yaml"], "--output: only valid with --test-set"),
        (["--test-set", "--json"], "--json: only valid with a robot.yaml"),
        (["--test-set", "--set", "a=b"], "--set: only valid with a robot.yaml"),
        (["--test-set", "--link", "cable"], "by --transport, and with --fresh give new ones"),
        (["--test-set", "--fresh", "--transport", "pigeon"], "pigeon"),
        (["--test-set", "--fresh", "--link", "a=veth", "--link", "b=rope"], "unknown medium"),
        (["--link", "a", "--link", "b", "robot.yaml"], "a plan takes one link"),
    ],
)
def test_contradicting_options_are_not_ignored(
    hyphos_cli: Cli, words: list[str], message: str
) -> None:
    code, _, err = hyphos_cli("lab", "verify", *words)
    assert code != 0
    assert message in " ".join(err.split())
