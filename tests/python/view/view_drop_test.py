"""Files that are dropped on the window of the viewer, by the protocol of file managers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import wait_until
from view_recordings import RobotWriter, odom, tf
from windows import ROOT, VIEWER, Screen, Window, opened, virtual_screen

PYTHON = "/usr/bin/python3"  # of the distribution, for python3-xlib
DROP = ROOT / "tests/python/support/drop_files.py"
LAYOUT = """hyphos_view: 1
camera: {kind: top_down, distance: 12}
displays: [{show: grid}, {show: odometry, channel: odom, shape: arrow, length: 3}]
panels: {panel: scene}
"""


def has_xlib() -> bool:
    if shutil.which(PYTHON) is None:
        return False
    done = subprocess.run([PYTHON, "-c", "import Xlib"], capture_output=True, check=False)
    return done.returncode == 0


pytestmark = [
    pytest.mark.skipif(not VIEWER.exists(), reason="the viewer is not built"),
    pytest.mark.skipif(not has_xlib(), reason="no python3-xlib (packages.txt, [window])"),
]


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with virtual_screen(tmp_path / "config") as made:
        yield made


def recording(path: Path) -> Path:
    to = RobotWriter(path)
    for i in range(31):
        to.put("tf", i / 10, tf(i / 10, i / 10))
        to.put("odom", i / 10, odom(i / 10, i / 10))
    to.close()
    return path


def drop(window: Window, *files: Path) -> None:
    done = subprocess.run(
        [PYTHON, DROP, window.id, *files],
        env=window.screen.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "dropped\n"), done.stderr


def titled(window: Window, *names: str) -> None:
    def named() -> bool:
        title = window.screen.tool("getwindowname", window.id)
        return all(name in title for name in names)

    wait_until(named, f"a title with {names}")


def test_files_that_are_dropped_are_opened(screen: Screen, domain: str, tmp_path: Path) -> None:
    one = recording(tmp_path / "one day.mcap")
    two = recording(tmp_path / "zwölf 100%.mcap")
    layout, saved = tmp_path / "own.view.yaml", tmp_path / "saved.yaml"
    layout.write_text(LAYOUT)
    window = opened(screen, "--domain", domain, "--save-layout", str(saved))
    drop(window, one)
    titled(window, "one day.mcap")
    # Several are compared.
    drop(window, one, two)
    titled(window, "one day.mcap", "zwölf 100%.mcap")
    # A layout changes the displays, and not the recordings.
    drop(window, layout)
    assert window.quit() == (0, "")
    assert "kind: top_down" in saved.read_text()
    settings = (screen.settings / "hyphos/view.yaml").read_text()
    assert str(two) in settings


def test_a_file_that_cannot_be_opened_changes_nothing(screen: Screen, tmp_path: Path) -> None:
    good, bad = recording(tmp_path / "good.mcap"), tmp_path / "bad.mcap"
    bad.write_bytes(b"no recording")
    window = opened(screen, str(good))
    drop(window, bad, tmp_path / "absent.mcap", tmp_path)
    titled(window, "good.mcap")
    drop(window, recording(tmp_path / "next.mcap"))
    titled(window, "next.mcap")
    assert window.quit() == (0, "")
