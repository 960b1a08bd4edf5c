"""The window of the viewer, on a virtual X server with real keys and clicks."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import hyphos
import pytest
from helpers import PATIENCE_S, Cli, Inbox, repeating, wait_until
from hyphos import _hyphos
from hyphos.msgs import Odometry, PoseStamped
from windows import ROOT, VIEWER, Screen, opened, virtual_screen

KEPT = ROOT / "tests/compat/0.1.0/recordings/zstd.mcap"

pytestmark = pytest.mark.skipif(not VIEWER.exists(), reason="the viewer is not built")


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with virtual_screen(tmp_path / "config") as made:
        yield made


def test_a_window_shows_a_recording_and_ends_by_a_key(screen: Screen) -> None:
    window = opened(screen, str(KEPT))
    assert "zstd.mcap" in screen.tool("getwindowname", window.id)
    assert window.quit() == (0, "")
    settings = (screen.settings / "hyphos/view.yaml").read_text()
    assert str(KEPT) in settings
    assert "width: 1000" in settings


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(screen: Screen, domain: str, number: signal.Signals) -> None:
    window = opened(screen, "--domain", domain)
    window.program.send_signal(number)
    assert window.end() == (0, "")
    assert not any(domain in path.name for path in Path("/dev/shm").iterdir())


def test_keys_change_and_save_the_layout(screen: Screen, tmp_path: Path) -> None:
    file = tmp_path / "l.yaml"
    window = opened(screen, str(KEPT), "--save-layout", str(file))
    window.key("ctrl+k")
    screen.tool("type", "a")
    window.key("Escape")
    assert window.quit() == (0, "")
    assert file.read_text().startswith("hyphos_view: 1\n")


def test_a_goal_that_is_dragged_in_the_window_is_published(
    screen: Screen, domain: str, tmp_path: Path
) -> None:
    layout = tmp_path / "l.yaml"
    layout.write_text(
        "hyphos_view: 1\ncamera: {kind: top_down, distance: 10, yaw: -1.5708}\n"
        "displays: [{show: grid}]\npanels: {panel: scene}\n"
    )
    with hyphos.Node.open("robot", domain=domain) as node:
        inbox: Inbox = Inbox()
        node.subscribe("goal_pose", PoseStamped, inbox)
        window = opened(screen, "--domain", domain, "--layout", str(layout))
        # The fourth tool of the bar at the upper left of the panel.
        tool = ("mousemove", "--window", window.id, str(17 + 3 * 30 + 14), "90", "click", "1")

        def chosen() -> bool:
            """The publisher is connected. Both are listed a moment earlier."""
            screen.tool(*tool)
            return any(
                end.channel == "goal_pose" and end.is_publisher and "shm" in end.transports
                for process in _hyphos.inspect(domain)
                for end in process.endpoints
            )

        wait_until(chosen, "a publisher of goals with a subscriber")
        # As fast as the X server takes it: the drag may be over before the next frame.
        screen.tool(
            *("mousemove", "--window", window.id, "500", "330", "mousedown", "1"),
            *("mousemove", "--window", window.id, "500", "230", "mouseup", "1"),
        )
        [message] = inbox.wait(1)
        assert abs(message.pose.orientation.z - 0.5**0.5) < 0.05
        assert window.quit() == (0, "")


def test_without_a_display_the_error_names_the_remedy(domain: str) -> None:
    environment = {
        key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    done = subprocess.run(
        [VIEWER, "--domain", domain], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no display" in done.stderr
    assert "--png FILE" in done.stderr


def test_wrong_options_are_refused_with_their_reason(tmp_path: Path) -> None:
    layout = tmp_path / "l.yaml"
    layout.write_text("hyphos_view: 1\ndisplays: [{show: pionts}]\n")
    for words, reason in (
        (["--size", "1x1"], "WIDTHxHEIGHT"),
        (["--unknown", "1"], "unknown option '--unknown'"),
        (["--at"], "needs a value"),
        (["missing.mcap", "--png", "x.png"], "no such file"),
        (["a.mcap", "b.mcap", "c.mcap", "d.mcap", "e.mcap"], "at most 4 sources"),
        ([str(KEPT), "--arrange", "rows"], "expected ghost or columns"),
        ([str(KEPT), "--align", "end"], "expected start or time"),
        ([str(KEPT), "--shift", "far"], "expected seconds"),
        ([str(KEPT), "--past", "x.bag"], "expected FILE.mcap"),
        ([str(KEPT), "--past", str(tmp_path / "x.mcap"), "--png", "x.png"], "has its past already"),
        ([str(KEPT), "--layout", str(layout), "--png", "x.png"], "did you mean 'points'?"),
    ):
        done = subprocess.run([VIEWER, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 1, words
        assert reason in done.stderr, done.stderr


def test_the_command_starts_the_viewer(hyphos_cli: Cli, tmp_path: Path) -> None:
    code, out, _ = hyphos_cli("view", "--help")
    assert code == 0
    assert "--save-layout" in out
    picture = tmp_path / "out.png"
    code, _, err = hyphos_cli("view", str(KEPT), "--size", "400x300", "--png", str(picture))
    assert (code, err) == (0, "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_robot_is_seen_while_it_runs(domain: str, tmp_path: Path) -> None:
    picture = tmp_path / "live.png"
    stop = threading.Event()
    with hyphos.Node.open("robot", domain=domain) as node:
        odom = node.publisher("odom", Odometry)
        with repeating(lambda: odom.publish(Odometry())):
            done = subprocess.run(
                [VIEWER, "--domain", domain, "--size", "400x300", "--png", picture],
                capture_output=True, text=True, check=False, timeout=PATIENCE_S,
            )  # fmt: skip
    stop.set()
    assert (done.returncode, done.stderr) == (0, "")
    assert picture.read_bytes().startswith(b"\x89PNG")
