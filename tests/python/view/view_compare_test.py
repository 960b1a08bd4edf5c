"""`hyphos view` with several recordings, or a robot and a recording."""

from __future__ import annotations

import subprocess
from pathlib import Path

import hyphos
import pytest
from helpers import PATIENCE_S, Cli, repeating
from hyphos.msgs import Odometry
from view_recordings import RobotWriter, odom, tf
from windows import VIEWER

pytestmark = pytest.mark.skipif(not VIEWER.exists(), reason="the viewer is not built")

LAYOUT = """hyphos_view: 1
camera: {kind: top_down, distance: 12}
displays: [{show: grid}, {show: odometry, channel: odom, shape: arrow, length: 3}]
panels: {panel: scene}
"""


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    file = tmp_path / "l.yaml"
    file.write_text(LAYOUT)
    return file


def recording(path: Path, *, speed: float, begin_s: float = 0.0) -> Path:
    """Three seconds of a robot that drives along x."""
    to = RobotWriter(path)
    for i in range(31):
        at = begin_s + i / 10
        to.put("tf", at, tf(speed * i / 10, at))
        to.put("odom", at, odom(speed * i / 10, at))
    to.close()
    return path


def _view(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [VIEWER, "--size", "500x300", *map(str, words)],
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip


def _same(picture: Path, golden: Path, *words: object) -> bool:
    done = _view(*words, "--png", picture, "--compare", golden, "--tolerance", "0.05")
    assert done.returncode in (0, 1), done.stderr
    return done.returncode == 0


def test_two_recordings_are_drawn_together(layout: Path, tmp_path: Path) -> None:
    slow = recording(tmp_path / "slow.mcap", speed=0.5)
    fast = recording(tmp_path / "fast.mcap", speed=1.5, begin_s=3600)
    with_layout = ("--layout", layout, "--at", "2")
    done = _view(slow, fast, *with_layout, "--png", tmp_path / "ghost.png")
    assert (done.returncode, done.stderr) == (0, "")
    picture, ghost = tmp_path / "out.png", tmp_path / "ghost.png"
    assert _same(picture, ghost, slow, fast, *with_layout)
    assert _same(picture, ghost, slow, "--against", fast, *with_layout)
    for other in (
        [slow],
        [fast],
        [slow, fast, "--arrange", "columns"],
        [slow, fast, "--shift", "1"],
        [slow, fast, "--align", "time"],
        [fast, slow],
    ):
        assert not _same(picture, ghost, *other, *with_layout), other


def test_the_command_compares_recordings(hyphos_cli: Cli, tmp_path: Path) -> None:
    one = recording(tmp_path / "one.mcap", speed=1)
    two = recording(tmp_path / "two.mcap", speed=2)
    picture = tmp_path / "out.png"
    code, _, err = hyphos_cli(
        "view", str(one), str(two), "--arrange", "columns", "--size", "400x300",
        "--png", str(picture),
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_robot_is_drawn_with_a_recording(layout: Path, domain: str, tmp_path: Path) -> None:
    reference = recording(tmp_path / "reference.mcap", speed=1)
    picture = tmp_path / "live.png"
    with hyphos.Node.open("robot", domain=domain) as node:
        publisher = node.publisher("odom", Odometry)
        with repeating(lambda: publisher.publish(odom(0, 0))):
            done = _view("--domain", domain, "--against", reference, "--layout", layout,
                         "--png", picture)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_first_picture_has_all_channels(layout: Path, tmp_path: Path) -> None:
    """Without --at, it is the first instant at which each shown channel has a value."""
    path = tmp_path / "late.mcap"
    to = RobotWriter(path)
    for i in range(60):
        to.put("tf", i / 10, tf(1, i / 10))
        if i >= 20:
            to.put("odom", i / 10, odom(1, i / 10))
    to.close()
    picture, usual = tmp_path / "out.png", tmp_path / "usual.png"
    assert _view(path, "--layout", layout, "--png", usual).returncode == 0
    assert _same(picture, usual, path, "--layout", layout, "--at", "2")
    assert not _same(picture, usual, path, "--layout", layout, "--at", "0")
