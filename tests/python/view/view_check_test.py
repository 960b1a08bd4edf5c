"""The predicted load of a plan in the viewer: `hyphos view robot.yaml` with a profile."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from capacity_samples import profile_of_all
from helpers import Cli
from hyphos._errors import Error
from hyphos.lab.capacity import profile
from hyphos.tools import native, view

ROBOT = """
hyphos: 1
processes: {eyes: {nodes: [camera]}, brain: {nodes: [mapper, planner]}}
nodes: {camera: {}, mapper: {load: {work_us: 2000}}, planner: {}}
channels:
  image: {publishers: [camera], subscribers: [mapper], load: {rate_hz: 30, size: 200 KB}}
  pose: {publishers: [mapper], subscribers: [planner], load: {after: image, size: 60}}
"""


@pytest.fixture
def robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = Path("robot.yaml")
    file.write_text(ROBOT)
    return file


def test_without_a_profile_there_is_no_prediction(robot: Path) -> None:
    assert view.prediction(robot) == []
    profile.save(profile_of_all(), Path("capacity.json"))
    assert view.prediction(Path("run.mcap")) == []


def test_the_check_runs_beside_the_viewer(robot: Path) -> None:
    profile.save(profile_of_all(), Path("capacity.json"))
    option, pipe = view.prediction(robot)
    assert option == "--check"
    told = json.loads(Path(pipe).read_text())
    assert told["verdict"] == "fits"
    assert told["channels"]["pose"] == {"rate_hz": 30, "bytes_per_s": 1800}
    shares = {(part["kind"], part.get("node")): part["share"] for part in told["parts"]}
    assert shares["callback", "mapper"] == pytest.approx(0.06, rel=0.01)
    assert {part["process"] for part in told["parts"] if part["kind"] == "process"} == {
        "eyes", "brain",
    }  # fmt: skip
    busiest = max(told["utilisation"].values())
    assert max(shares.values()) <= busiest * 1.001


@pytest.mark.skipif(view.program() is None, reason="the viewer is not built")
def test_the_viewer_reads_the_check(robot: Path, hyphos_cli: Cli, domain: str) -> None:
    """Two pictures of the same robot differ by the verdict alone."""
    program = str(view.program())
    profile.save(profile_of_all(), Path("capacity.json"))
    code, out, _ = hyphos_cli("plan", "check", str(robot), "--json")
    assert code == 0
    Path("answer.json").write_text(out)
    Path("graph.view.yaml").write_text("hyphos_view: 1\npanels: {panel: channels}\n")
    words = [program, "--domain", domain, "--layout", "graph.view.yaml", "--size", "400x300"]
    for file, problem in (("answer.json", ""), ("robot.yaml", "no JSON")):
        done = subprocess.run(
            [*words, "--check", file, "--png", f"{file}.png"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == (1 if problem else 0), done.stderr
        assert problem in done.stderr


def test_a_missing_viewer_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "program", lambda: None)
    for debian, build, remedy in (
        (True, False, "apt install hyphos-view"),
        (False, True, "scripts/setup core view"),
        (False, False, "the Debian package hyphos-view"),
    ):
        monkeypatch.setattr(native, "is_debian", lambda debian=debian: debian)
        monkeypatch.setattr(native, "is_build", lambda build=build: build)
        with pytest.raises(Error) as caught:
            view.serve([])
        assert remedy in caught.value.advice
