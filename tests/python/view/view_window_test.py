"""The window of the viewer, on a virtual X server with real keys and clicks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import hyphos
import pytest
from helpers import PATIENCE_S, Cli, Inbox, repeating, wait_until
from hyphos import _hyphos
from hyphos.msgs import Odometry, PoseStamped

ROOT = Path(__file__).resolve().parents[3]
VIEWER = ROOT / "build/release/view/hyphos-view"
KEPT = ROOT / "tests/compat/0.1.0/recordings/zstd.mcap"

pytestmark = pytest.mark.skipif(not VIEWER.exists(), reason="the viewer is not built")


@dataclass
class Screen:
    """An X server without a screen."""

    name: str
    settings: Path  # of the user

    @property
    def environment(self) -> dict[str, str]:
        found = {key: value for key, value in os.environ.items() if key != "WAYLAND_DISPLAY"}
        own = {"DISPLAY": self.name, "XDG_CONFIG_HOME": str(self.settings)}
        return found | own | {"LIBGL_ALWAYS_SOFTWARE": "1"}

    def tool(self, *words: str) -> str:
        done = subprocess.run(
            ["xdotool", *words], env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    for program in ("Xvfb", "xdotool"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-noreset"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        with os.fdopen(read) as numbers:
            number = numbers.readline().strip()
        assert number, "Xvfb did not start"
        yield Screen(f":{number}", tmp_path / "config")
        server.terminate()


@dataclass
class Window:
    """A running viewer."""

    program: subprocess.Popen[str]
    screen: Screen
    id: str = ""

    def key(self, *names: str) -> None:
        """Presses keys of the keyboard, which go to the window with the focus."""
        for name in names:
            self.screen.tool("key", name)

    def quit(self) -> tuple[int, str]:
        """Presses Ctrl+Q until the viewer ends, because a busy X server can lose a key."""

        def ended() -> bool:
            self.screen.tool("key", "ctrl+q")
            return self.program.poll() is not None

        wait_until(ended, "the end of the viewer")
        return self.end()

    def end(self) -> tuple[int, str]:
        _, error = self.program.communicate(timeout=PATIENCE_S)
        return self.program.returncode, error


def opened(screen: Screen, *words: str) -> Window:
    program = subprocess.Popen(
        [VIEWER, "--size", "1000x600", *words],
        env=screen.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    window = Window(program, screen)

    def there() -> bool:
        assert program.poll() is None, program.communicate()[1]
        window.id = screen.tool("search", "--class", "hyphos-view").split("\n")[0]
        name = screen.tool("getwindowname", window.id) if window.id else ""
        return name.endswith(" - Hyphos")

    def focused() -> bool:
        screen.tool("windowfocus", window.id)
        return screen.tool("getwindowfocus") == window.id

    wait_until(there, "a window with a title")
    wait_until(focused, "the focus of the window")
    return window


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
        "hyphos_view: 1\ncamera: {kind: top_down, distance: 10}\n"
        "displays: [{show: grid}]\npanels: {panel: scene}\n"
    )
    with hyphos.Node.open("robot", domain=domain) as node:
        inbox: Inbox = Inbox()
        node.subscribe("goal_pose", PoseStamped, inbox)
        window = opened(screen, "--domain", domain, "--layout", str(layout))
        # The fourth tool of the bar at the upper left of the panel.
        tool = ("mousemove", "--window", window.id, str(17 + 3 * 30 + 14), "90", "click", "1")
        listening = ("goal_pose", 1)

        def chosen() -> bool:
            screen.tool(*tool)
            ends = [
                end
                for process in _hyphos.inspect(domain)
                for end in process.endpoints
                if end.channel == listening[0] and end.is_publisher
            ]
            return len(ends) == listening[1]

        wait_until(chosen, "a publisher of goals")
        screen.tool("mousemove", "--window", window.id, "500", "330")
        screen.tool("mousedown", "1")
        screen.tool("mousemove", "--window", window.id, "600", "330")
        screen.tool("mouseup", "1")
        [message] = inbox.wait(1)
        assert abs(message.pose.orientation.z) < 0.05
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
        (["a.mcap", "b.mcap"], "one recording or plan at a time"),
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
