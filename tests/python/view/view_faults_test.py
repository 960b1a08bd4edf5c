"""Faults that the viewer survives, or that end it with a reason."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers import PATIENCE_S, wait_until
from hyphos import msgs
from view_recordings import RobotWriter, odom, tf
from windows import VIEWER, Screen, opened, virtual_screen

pytestmark = pytest.mark.skipif(not VIEWER.exists(), reason="the viewer is not built")


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with virtual_screen(tmp_path / "config") as made:
        yield made


def _plain(to: RobotWriter) -> None:
    for i in range(30):
        to.put("tf", i / 10, tf(i / 10, i / 10))
        to.put("odom", i / 10, odom(i / 10, i / 10))


def _time_goes_back(to: RobotWriter) -> None:
    """The clock of the robot is set back by an hour, twice."""
    for i in range(30):
        stamp = i / 10 - 3600 * (i // 10)
        to.put("tf", i / 10, tf(i / 10, stamp))
        to.put("odom", i / 10, odom(i / 10, stamp))


def _log_time_goes_back(to: RobotWriter) -> None:
    for i in range(30):
        to.put("tf", 3 - i / 10, tf(i / 10, i / 10))
        to.put("odom", 3 - i / 10, odom(i / 10, i / 10))


def _frames_jump(to: RobotWriter) -> None:
    for i in range(30):
        x = 0.0 if i % 2 else 1e9
        to.put("tf", i / 10, tf(x, i / 10))
        to.put("odom", i / 10, odom(x, i / 10))


def _type_changes(to: RobotWriter) -> None:
    for i in range(30):
        to.put("odom", i / 10, odom(i / 10, i / 10) if i < 15 else msgs.String(data="x" * i))
    for i in range(30, 40):
        to.put("odom", i / 10, odom(i / 10, i / 10))


def _picture(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    picture = path.with_suffix(".png")
    return subprocess.run(
        [VIEWER, path, "--size", "500x300", "--png", picture, *words],
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip


@pytest.mark.parametrize(
    "write", [_plain, _time_goes_back, _log_time_goes_back, _frames_jump, _type_changes]
)
def test_an_odd_recording_is_shown_at_each_instant(
    write: Callable[[RobotWriter], None], tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    to = RobotWriter(path)
    write(to)
    to.close()
    for at in ("0", "1.2", "2.95", "60"):
        done = _picture(path, "--at", at)
        assert (done.returncode, done.stderr) == (0, ""), at
        assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_damaged_recordings_are_shown_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    to = RobotWriter(path)
    for i in range(2_000):
        to.put("odom", i / 100, odom(i / 100, i / 100))
    to.close()
    whole = path.read_bytes()
    garbage = bytes((i * 89 + 7) % 256 for i in range(len(whole) // 8))
    middle = len(whole) // 2
    for name, data in (
        ("cut", whole[: len(whole) * 2 // 3]),
        ("hole", whole[:middle] + garbage + whole[middle + len(garbage) :]),
        ("no index", whole[:-40]),
        ("longer", whole + garbage),
    ):
        path.write_bytes(data)
        done = _picture(path)
        assert done.returncode == 0, (name, done.stderr)
    path.write_bytes(garbage)
    done = _picture(path)
    assert done.returncode == 1
    assert "this is no MCAP file" in done.stderr
    assert "hyphos bag convert" in done.stderr


def test_without_opengl_33_the_error_names_the_remedy(screen: Screen, domain: str) -> None:
    old = screen.environment | {
        "MESA_GL_VERSION_OVERRIDE": "2.1",
        "MESA_GLSL_VERSION_OVERRIDE": "120",
    }
    for words in ([], ["--png", "/dev/null"]):
        done = subprocess.run(
            [VIEWER, "--domain", domain, *words],
            env=old, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 1, words
        assert "OpenGL 3.3" in done.stderr
        assert "LIBGL_ALWAYS_SOFTWARE=1" in done.stderr


def test_a_lost_x_server_ends_it_with_an_error(screen: Screen, domain: str, tmp_path: Path) -> None:
    past = tmp_path / "past.mcap"
    window = opened(screen, "--domain", domain, "--past", str(past))
    os.kill(screen.pid, 9)
    code, error = window.end()
    assert code == 1
    assert "the X server has gone" in error
    assert "--png FILE" in error
    wait_until(
        lambda: not any(domain in path.name for path in Path("/dev/shm").iterdir()),
        "the end of the guest",
    )
    # The past is a complete recording.
    assert past.read_bytes().endswith(b"\x89MCAP0\r\n")
