"""The viewers of bench/view.py: how each is started, and which program feeds it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

BENCH = Path(__file__).resolve().parent
WIDTH, HEIGHT = 1280, 720
PATIENCE_S = 120.0
SYSTEM_PYTHON = "/usr/bin/python3"
TICKS = os.sysconf("SC_CLK_TCK")


class AbsentError(Exception):
    """A viewer that this machine cannot run, with the reason."""


@dataclass
class Partner:
    """A program that answers lines of its stdin."""

    program: subprocess.Popen[str]

    def tell(self, line: str) -> None:
        assert self.program.stdin is not None
        self.program.stdin.write(line + "\n")
        self.program.stdin.flush()

    def reply(self, patience_s: float = PATIENCE_S) -> str:
        pipe: IO[str] | None = self.program.stdout
        assert pipe is not None
        if not select.select([pipe], [], [], patience_s)[0]:
            raise TimeoutError(f"{self.program.args!r} gives no reply in {patience_s:.0f} s")
        line = pipe.readline()
        if not line:
            raise RuntimeError(f"{self.program.args!r} ended with {self.program.wait()}")
        return line.strip()

    def ask(self, line: str, patience_s: float = PATIENCE_S) -> str:
        self.tell(line)
        return self.reply(patience_s)

    def end(self) -> None:
        if self.program.stdin is not None:
            self.program.stdin.close()
        try:
            self.program.wait(10)
        except subprocess.TimeoutExpired:
            self.program.kill()
            self.program.wait()


def partner(command: list[str], environment: dict[str, str] | None = None) -> Partner:
    return Partner(
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
    )


@dataclass
class Screen:
    """An X server without a screen, and the program that watches it."""

    server: subprocess.Popen[bytes]
    name: str
    folder: Path
    watch: Partner

    @property
    def environment(self) -> dict[str, str]:
        found = {key: value for key, value in os.environ.items() if key != "WAYLAND_DISPLAY"}
        return found | {
            "DISPLAY": self.name,
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_RUNTIME_DIR": str(self.folder),
            "LIBGL_ALWAYS_SOFTWARE": "1",
        }

    def ask(self, command: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.watch.ask(command))
        return answer


@contextmanager
def screen(folder: Path) -> Iterator[Screen]:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)  # Qt requires it of XDG_RUNTIME_DIR
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{WIDTH}x{HEIGHT}x24"]
    # With the extension, rerun chooses a window with transparency, in which the software driver of
    # Vulkan (Mesa 22.3) shows nothing.
    command += ["-noreset", "-nolisten", "tcp", "-extension", "Composite"]
    with subprocess.Popen(
        command,
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as server:
        os.close(write)
        with os.fdopen(read) as numbers:
            name = ":" + numbers.readline().strip()
        watch = partner(
            [SYSTEM_PYTHON, str(BENCH / "view_watch.py")], dict(os.environ) | {"DISPLAY": name}
        )
        try:
            watch.reply()
            yield Screen(server, name, folder, watch)
        finally:
            watch.end()
            server.terminate()


@dataclass
class Usage:
    """Processor time and resident memory of a session of processes. `own_mb`: without pages of
    files, such as libraries.
    """

    cpu_s: float = 0
    rss_mb: float = 0
    own_mb: float = 0


def usage(session: int) -> Usage:
    sum_ = Usage()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            status = (folder / "status").read_text()
        except OSError:
            continue
        if int(fields[3]) == session:
            sum_.cpu_s += (int(fields[11]) + int(fields[12])) / TICKS
            sum_.rss_mb += int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6
            own = re.findall(r"Rss(?:Anon|Shmem):\s+(\d+) kB", status)
            sum_.own_mb += sum(int(kb) for kb in own) * 1024 / 1e6
    return sum_


@dataclass
class Viewer:
    """One viewer. `always_draws`: it draws each picture completely, again and again."""

    name: str
    version: str
    command: list[str]
    source: list[str]
    always_draws: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    before: list[list[str]] = field(default_factory=list)

    def start(self, on: Screen) -> subprocess.Popen[bytes]:
        with (on.folder / f"{self.name}.log").open("ab") as log:
            return subprocess.Popen(
                self.command,
                env=on.environment | self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def feed(self, on: Screen) -> Partner:
        return partner(self.source, on.environment | self.environment)


def end(viewer: subprocess.Popen[bytes]) -> None:
    """Ends the program and the programs that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(viewer.pid, number)
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            viewer.poll()
            if usage(viewer.pid).rss_mb == 0:
                return
            time.sleep(0.02)
    raise RuntimeError(f"{viewer.args!r} does not end")


LAYOUT = """\
hyphos_view: 1
camera: {target: [0, 0, 2], distance: 40}
displays:
  - {show: points, channel: cloud, color: field, history_s: -1, auto_range: false, high: 255}
  - {show: odometry, channel: odom}
panels: {panel: scene}
"""


def hyphos(programs: Path, folder: Path, domain: str) -> Viewer:
    program = programs / "view/hyphos-view"
    if not program.exists():
        raise AbsentError("the viewer is not built")
    layout = folder / "layout.yaml"
    layout.write_text(LAYOUT)
    size = f"{WIDTH}x{HEIGHT}"
    command = f"{program} --domain {domain} --layout {layout} --size {size}"
    command += f" --report {folder / 'report.json'}"
    robot = [str(programs / "bench/bench_view_robot"), "cloud", "--domain", domain]
    return Viewer("hyphos", "0.1.0", command.split(), robot)


RVIZ = f"""\
Visualization Manager:
  Class: ""
  Displays:
    - {{Class: rviz/PointCloud2, Enabled: true, Name: cloud, Topic: /cloud, Style: Points,
       Size (Pixels): 2, Decay Time: 100000, Queue Size: 1000, Color Transformer: Intensity,
       Channel Name: intensity, Autocompute Intensity Bounds: false, Min Intensity: 0,
       Max Intensity: 255, Unreliable: false, Selectable: false}}
    - {{Class: rviz/Odometry, Enabled: true, Name: odom, Topic: /odom, Keep: 1,
       Shape: {{Value: Axes}}}}
  Enabled: true
  Global Options: {{Fixed Frame: map, Frame Rate: 30, Background Color: 24; 26; 31}}
  Name: root
  Tools:
    - {{Class: rviz/MoveCamera}}
  Value: true
  Views:
    Current: {{Class: rviz/Orbit, Name: Current View, Distance: 40, Pitch: 0.6, Yaw: 0.8,
      Focal Point: {{X: 0, Y: 0, Z: 2}}, Target Frame: map, Near Clip Distance: 0.01}}
    Saved: ~
Window Geometry:
  {{Height: {HEIGHT}, Width: {WIDTH}, X: 0, Y: 0, Hide Left Dock: true, Hide Right Dock: true}}
"""


def rviz(folder: Path, port: int) -> Viewer:
    if not Path("/usr/bin/rviz").exists():
        raise AbsentError("not installed (apt: rviz, python3-rospy, python3-sensor-msgs)")
    version = subprocess.run(
        ["dpkg-query", "-W", "-f=${Version}", "rviz"], capture_output=True, text=True, check=True
    ).stdout
    config = folder / "bench.rviz"
    config.write_text(RVIZ)
    return Viewer(
        "rviz",
        version.partition("+")[0],
        ["/usr/bin/rviz", "-d", str(config)],
        [SYSTEM_PYTHON, str(BENCH / "view_cloud.py"), "ros"],
        always_draws=True,
        environment={"ROS_MASTER_URI": f"http://127.0.0.1:{port}", "ROS_IP": "127.0.0.1"},
        before=[["rosmaster", "--core", "-p", str(port)]],
    )


def rerun(folder: Path, port: int, python: Path) -> Viewer:
    if not python.exists():
        raise AbsentError("not installed (make bench-view installs rerun-sdk)")
    program = python.parent / "rerun"
    found = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"rerun-cli (\S+)", found.stdout)
    if version is None:
        raise AbsentError(f"rerun --version: {found.stderr.strip() or found.stdout.strip()}")
    subprocess.run(
        [program, "analytics", "disable"],
        env=dict(os.environ) | {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")},
        capture_output=True,
        check=False,
    )
    command = f"{program} --port {port} --hide-welcome-screen --expect-data-soon"
    command += f" --window-size {WIDTH}x{HEIGHT} --memory-limit 8GB --renderer vulkan"
    url = f"rerun+http://127.0.0.1:{port}/proxy"
    return Viewer(
        "rerun",
        version[1],
        command.split(),
        [str(python), str(BENCH / "view_cloud.py"), "rerun", url],
    )
