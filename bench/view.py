#!/usr/bin/env python3
"""Measures the viewer beside RViz and rerun, on an X server without a screen and without a graphics
card, and prints a table. `make bench-view` builds and installs what it needs. A viewer that this
machine cannot run is left out, with the reason.

    bench/view.py --programs build/bench --out tables.md
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from hyphos.lab.machine import describe_machine
from view_peers import (
    HEIGHT,
    WIDTH,
    AbsentError,
    Partner,
    Screen,
    Viewer,
    end,
    hyphos,
    partner,
    rerun,
    rviz,
    screen,
    usage,
)
from view_table import markdown

ROOT = Path(__file__).resolve().parent.parent
MARKS = (200_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000)
WINDOW_S = 10.0
RATE = 20_000


@dataclass
class Mark:
    """A window of WINDOW_S in which points arrive and the camera is still."""

    points: int
    cpu_percent: float
    x_percent: float  # of the X server
    rss_mb: float
    own_mb: float
    frames: int


@dataclass
class Growth:
    """One viewer, while its cloud grows."""

    name: str
    version: str
    start_s: list[float] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    after_percent: float = 0
    after_frames: int = 0
    moving_p50_ms: float = 0
    moving_p95_ms: float = 0
    moving_cpu_ms: float = 0
    complete_s: float | None = None
    report: dict[str, Any] = field(default_factory=dict)
    absent: str = ""


def load() -> float:
    return os.getloadavg()[0]


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


@contextmanager
def others(viewer: Viewer, on: Screen) -> Iterator[None]:
    """The programs that a viewer needs."""
    with contextlib.ExitStack() as stack:
        for command in viewer.before:
            program = stack.enter_context(
                subprocess.Popen(
                    command, env=on.environment | viewer.environment, stdout=subprocess.DEVNULL
                )
            )
            stack.callback(program.terminate)
            time.sleep(1)
        yield


def started(viewer: Viewer, on: Screen) -> tuple[subprocess.Popen[bytes], float]:
    """The viewer, and the seconds until half of the screen had a picture of it."""
    on.ask("quiet 0.2")
    begun = time.monotonic()
    program = viewer.start(on)
    first = on.ask(f"first 60 {WIDTH * HEIGHT // 2}")["first"]
    if first is None or program.poll() is not None:
        log = (on.folder / f"{viewer.name}.log").read_text(errors="replace")
        end(program)
        raise AbsentError(f"no picture appeared. Its last lines: {log[-600:].strip()}")
    return program, first - begun


def window(viewer: int, on: Screen, points: int, source: Partner | None) -> Mark:
    """Measures WINDOW_S, at the end of which there are so many points."""
    before, x_before = usage(viewer), usage(on.server.pid)
    on.ask("quiet 0")
    begun = time.monotonic()
    if source is not None:
        source.tell(f"{RATE} {points}")
    frames = on.ask(f"quiet {WINDOW_S}")["frames"]
    seconds = time.monotonic() - begun
    after, x_after = usage(viewer), usage(on.server.pid)
    if source is not None:
        source.reply()
    return Mark(
        points,
        (after.cpu_s - before.cpu_s) / seconds * 100,
        (x_after.cpu_s - x_before.cpu_s) / seconds * 100,
        after.rss_mb,
        after.own_mb,
        len(frames),
    )


def move(made: Growth, viewer: Viewer, session: int, on: Screen) -> None:
    """Drags the camera, and waits until the picture is complete."""
    before = usage(session).cpu_s
    moved = on.ask("drag 6")
    used = usage(session).cpu_s - before
    frames = moved["frames"]
    gaps = [(b - a) * 1e3 for a, b in pairwise(frames)]
    made.moving_p50_ms, made.moving_p95_ms = percentile(gaps, 0.5), percentile(gaps, 0.95)
    made.moving_cpu_ms = used * 1e3 / max(len(frames), 1)
    if viewer.always_draws:
        made.complete_s = made.moving_p95_ms / 1e3
        return
    last = moved["last"]
    later = [at for at in on.ask("quiet 8")["frames"] if at > last]
    made.complete_s = later[-1] - last if later else 0.0


def grow(viewer: Viewer, options: argparse.Namespace, folder: Path) -> Growth:
    made = Growth(viewer.name, viewer.version)
    with screen(folder / viewer.name) as on, others(viewer, on):
        for _ in range(options.starts):
            program, seconds = started(viewer, on)
            made.start_s.append(seconds)
            time.sleep(0.5)
            end(program)
            on.ask("quiet 0.5")
        program, _ = started(viewer, on)
        source = viewer.feed(on)
        for mark in options.marks:
            source.ask(f"{options.fill} {max(mark - round(RATE * WINDOW_S), 0)}", 900)
            made.marks.append(window(program.pid, on, mark, source))
            print(f"{viewer.name}: {made.marks[-1]}, load {load():.1f}", flush=True)
        on.ask(f"picture {on.folder / 'filled.ppm'}")
        time.sleep(10)
        still = window(program.pid, on, made.marks[-1].points, None)
        made.after_percent, made.after_frames = still.cpu_percent, still.frames
        move(made, viewer, program.pid, on)
        on.ask(f"picture {on.folder / 'moved.ppm'}")
        source.end()
        end(program)
        report = folder / "report.json"
        if viewer.name == "hyphos" and report.exists():
            made.report = json.loads(report.read_text())
    return made


def start_times(program: Path, recording: Path, folder: Path, starts: int) -> dict[str, Any]:
    """Seconds from the start to the first picture of a recording, and to the end of --png."""
    made: dict[str, Any] = {"window_s": [], "png_s": [], "png_cpu_s": []}
    command = [str(program), str(recording), "--size", f"{WIDTH}x{HEIGHT}"]
    with screen(folder / "start") as on:
        viewer = Viewer("recording", "", command, [])
        for _ in range(starts):
            window_, seconds = started(viewer, on)
            made["window_s"].append(seconds)
            end(window_)
            on.ask("quiet 0.3")
    for _ in range(starts):
        begun = time.monotonic()
        picture = subprocess.Popen([*command, "--png", str(folder / "shot.png")])
        _, status, used = os.wait4(picture.pid, 0)
        picture.returncode = os.waitstatus_to_exitcode(status)
        if picture.returncode != 0:
            sys.exit(f"{command} --png ended with {picture.returncode}")
        made["png_s"].append(time.monotonic() - begun)
        made["png_cpu_s"].append(used.ru_utime + used.ru_stime)
    return made


ROBOT_LAYOUT = """\
hyphos_view: 1
camera: {target: [0, 0, 2], distance: 40}
displays:
  - {show: points, channel: lidar, color: field}
  - {show: odometry, channel: odom}
panels: {columns: [{panel: scene, size: 3}, {panel: channels}]}
"""


def robot(programs: Path, folder: Path, rounds: int, seconds: float) -> dict[str, Any]:
    """Latencies of a robot alone, beside a second subscriber, beside the viewer, and beside a
    stopped viewer, in turns. The second subscriber shows the cost of any guest.
    """
    domain = f"benchview{os.getpid()}"
    layout = folder / "robot.yaml"
    layout.write_text(ROBOT_LAYOUT)
    report = folder / "robot.json"
    command = [str(programs / "view/hyphos-view"), "--domain", domain, "--layout", str(layout)]
    command += ["--size", f"{WIDTH}x{HEIGHT}", "--report", str(report)]
    viewer = Viewer("robot", "", command, [])
    own = str(programs / "bench/bench_view_robot")
    kinds = ("alone", "subscriber", "beside", "stopped")
    rows: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
    drops: dict[str, int] = {}
    shown: list[dict[str, Any]] = []
    mind = partner([own, "listen", "--domain", domain])
    body = partner([own, "body", "--domain", domain])

    def block(name: str) -> None:
        mind.ask("reset")
        time.sleep(seconds)
        rows[name].append(json.loads(mind.ask("take")))

    with screen(folder / "robot") as on:
        time.sleep(1)
        for number in range(rounds):
            if number % 2 == 0:
                block("alone")
            second = partner([own, "listen", "--domain", domain])
            second.ask("reset")
            time.sleep(0.5)
            block("subscriber")
            second.end()
            program, _ = started(viewer, on)
            on.ask("quiet 1.5")
            block("beside")
            program.send_signal(signal.SIGSTOP)
            time.sleep(0.2)
            block("stopped")
            program.send_signal(signal.SIGCONT)
            on.ask("quiet 1")
            for name, count in json.loads(mind.ask("counters")).items():
                if " drop." in name:
                    drops[name] = max(drops.get(name, 0), count)
            end(program)
            shown.append(json.loads(report.read_text()))
            if number % 2 == 1:
                time.sleep(0.5)
                block("alone")
            print(f"robot: round {number + 1} of {rounds}, load {load():.1f}", flush=True)
    body.end()
    mind.end()
    return {"rows": rows, "drops": drops, "shown": shown, "seconds": seconds}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=Path, default=ROOT / "build/bench")
    parser.add_argument("--rerun", type=Path, default=ROOT / "build/bench/rerun/bin/python",
                        help="Python of an environment with rerun-sdk")  # fmt: skip
    parser.add_argument("--recording", type=Path,
                        default=ROOT / "tests/compat/0.1.0/recordings/zstd.mcap")  # fmt: skip
    parser.add_argument("--only", default="points,picture,start,robot", help="parts")
    parser.add_argument("--viewers", default="rviz,rerun,hyphos")
    parser.add_argument("--points", type=int, default=MARKS[-1], help="largest number of points")
    parser.add_argument(
        "--fill", type=int, default=RATE, help="points a second between the windows"
    )
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=20, help="of the robot")
    parser.add_argument("--seconds", type=float, default=3, help="of each part of a round")
    parser.add_argument("--port", type=int, default=29_876, help="of rosmaster and rerun, two")
    parser.add_argument("--folder", type=Path, help="keep logs and pictures here")
    parser.add_argument("--out", type=Path, help="also write the tables to this file")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    options = parser.parse_args()
    options.marks = [mark for mark in MARKS if mark <= options.points]
    return options


def growths(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    made = []
    for name in options.viewers.split(","):
        try:
            if name == "hyphos":
                viewer = hyphos(options.programs, folder, f"benchcloud{os.getpid()}")
            elif name == "rviz":
                viewer = rviz(folder, options.port)
            else:
                viewer = rerun(folder, options.port + 1, options.rerun)
            made.append(grow(viewer, options, folder))
        except (AbsentError, RuntimeError, TimeoutError) as why:
            print(f"{name}: left out: {why}", flush=True)
            made.append(Growth(name, "", absent=str(why)))
    return [asdict(each) for each in made]


def main() -> None:
    options = arguments()
    parts = set(options.only.split(","))
    found: dict[str, Any] = {"machine": describe_machine(), "load": [load()]}
    with contextlib.ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        if "picture" in parts:
            program = options.programs / "bench/bench_view"
            command = [program, "--points", str(options.points), "--json"]
            runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout
                    for _ in range(min(options.starts, 3))]  # fmt: skip
            found["picture"] = [json.loads(text) for text in runs]
        if "start" in parts:
            viewer = options.programs / "view/hyphos-view"
            found["start"] = start_times(viewer, options.recording, folder, options.starts)
        if "robot" in parts:
            found["robot"] = robot(options.programs, folder, options.rounds, options.seconds)
        if "points" in parts:
            found["points"] = growths(options, folder)
    found["load"].append(load())
    text = markdown(found)
    print(text)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    if options.out:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
