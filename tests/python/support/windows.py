"""The window of the viewer on a virtual X server, with real keys and clicks."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers import PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[3]
VIEWER = ROOT / "build/release/view/hyphos-view"


@dataclass
class Screen:
    """An X server without a screen."""

    name: str
    settings: Path  # of the user
    pid: int = 0

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


@contextmanager
def virtual_screen(settings: Path) -> Iterator[Screen]:
    """Runs an X server. Skips the test without one."""
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
        yield Screen(f":{number}", settings, server.pid)
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
