"""The viewer on an X server without a screen, and a robot that it shows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
from hyphos import _hyphos
from hyphos.convert import numpy_to_cloud
from hyphos.msgs import PointCloud

VIEWER = Path(__file__).resolve().parents[2] / "build/release/view/hyphos-view"
PATIENCE_S = 120.0
POINTS = 2_000  # of a message


def wait_until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"no {what} in {PATIENCE_S:.0f} s")
        time.sleep(0.01)


@contextmanager
def virtual_screen(size: str = "1280x720") -> Iterator[str]:
    """The name of a display."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size}x24", "-noreset"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        with os.fdopen(read) as numbers:
            name = numbers.readline().strip()
        try:
            yield ":" + name
        finally:
            server.terminate()


class Robot:
    """Publishes clouds of POINTS points: pieces of a pipe."""

    def __init__(self, domain: str) -> None:
        self.domain = domain
        self.node = hyphos.Node.open("robot", domain=domain)
        self.cloud = self.node.publisher("cloud", hyphos.Attached[PointCloud])
        self.sent = 0
        angle = np.linspace(0, 2 * np.pi, POINTS, dtype=np.float32)
        self.points = np.stack(
            [np.zeros_like(angle), 4 * np.cos(angle), 2 * np.sin(angle), angle], axis=1
        )

    def publish(self) -> None:
        self.points[:, 0] = self.sent * 0.02 % 50 - 25
        self.cloud.publish(numpy_to_cloud(self.points.copy(), frame_id="map"))
        self.sent += 1

    def received(self) -> int:
        """Messages that the viewer has received."""
        return sum(
            end.counter("received")
            for process in _hyphos.inspect(self.domain)
            for end in process.endpoints
            if end.channel == "cloud" and not end.is_publisher
        )

    def listeners(self) -> int:
        return int(self.cloud.listeners)

    def close(self) -> None:
        self.node.close()


@dataclass
class Viewer:
    """A running viewer."""

    program: subprocess.Popen[str]
    folder: Path

    def held_kb(self) -> float:
        """Resident memory without pages of files, which leave when other programs need room."""
        found = [
            float(line.split()[1])
            for line in Path(f"/proc/{self.program.pid}/status").read_text().splitlines()
            if line.startswith(("RssAnon:", "RssShmem:"))
        ]
        if not found:
            raise RuntimeError(f"the viewer ended: {self.program.communicate()[1]}")
        return sum(found)

    def cpu_s(self) -> float:
        text = Path(f"/proc/{self.program.pid}/stat").read_text()
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> dict[str, Any]:
        """Ends the viewer. Returns its report."""
        self.program.send_signal(signal.SIGTERM)
        _, errors = self.program.communicate(timeout=PATIENCE_S)
        if self.program.returncode != 0 or errors:
            raise RuntimeError(f"the viewer ended with {self.program.returncode}: {errors}")
        report: dict[str, Any] = json.loads((self.folder / "report.json").read_text())
        return report


@contextmanager
def viewer(display: str, folder: Path, domain: str, layout: str, *words: str) -> Iterator[Viewer]:
    file = folder / "layout.yaml"
    file.write_text(layout)
    found = {key: value for key, value in os.environ.items() if key != "WAYLAND_DISPLAY"}
    own = {"DISPLAY": display, "XDG_CONFIG_HOME": str(folder), "LIBGL_ALWAYS_SOFTWARE": "1"}
    command = [str(VIEWER), "--domain", domain, "--layout", str(file), "--size", "1280x720"]
    command += ["--report", str(folder / "report.json"), *words]
    with subprocess.Popen(
        command, env=found | own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as program:
        try:
            yield Viewer(program, folder)
        finally:
            if program.poll() is None:
                program.kill()
