"""An animation of a run, from its MCAP file: the robots with their names, headings and trails, the
links coloured by their ratio of signal to noise, and the packets that were lost.
"""

from __future__ import annotations

import bisect
import json
import math
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from hyphos._errors import Error
from hyphos.cosim.palette import robot_colours
from hyphos.lab.plots import COLOURS, STYLE
from hyphos.recording.mcap_scan import Scan
from hyphos.tools.native import program
from hyphos.tools.waiting import on_signals

FRAMES_PER_S = 12
MOST_FRAMES = 180
_TRAIL_S = 20.0
_LOST_S = 0.8  # of the animation, for a mark
_WEAK_DB, _STRONG_DB = 5.0, 30.0  # as in cosim/scenario/scene_lines.cpp
_MAP = "RdYlGn"
_LOST = "#c00000"
_NAMED = 20  # robots with a name beside them

Point = tuple[float, float]


@dataclass
class Recorded:
    """The parts of an MCAP file of `hyphos cosim run --mcap` that an animation shows."""

    times: list[float] = field(default_factory=list)  # s, of the poses
    poses: dict[str, list[tuple[float, float, float]]] = field(default_factory=dict)  # x, y, yaw
    links: list[list[tuple[str, str, float]]] = field(default_factory=list)  # by time
    lost: list[tuple[float, str, str]] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)
    boxes: list[tuple[Point, Point]] = field(default_factory=list)

    @staticmethod
    def read(path: Path) -> Recorded:
        scan = Scan(path)
        found = Recorded()
        for group in scan.messages():
            for message in group:
                topic = scan.channels[message.channel].topic
                found.add(topic, message.log_ns * 1e-9, message.data)
        if not found.poses or not found.links:
            raise Error(
                "corrupt",
                "the file does not contain a run with poses and links",
                str(path),
                "hyphos cosim run SCENARIO --mcap FILE",
            )
        return found

    def add(self, topic: str, at: float, data: bytes) -> None:
        if topic.endswith("/pose"):
            told = json.loads(data)["pose"]
            place, q = told["position"], told["orientation"]
            yaw = math.atan2(
                2 * (q["w"] * q["z"] + q["x"] * q["y"]), 1 - 2 * (q["y"] ** 2 + q["z"] ** 2)
            )
            self.poses.setdefault(topic.removesuffix("/pose"), []).append(
                (place["x"], place["y"], yaw)
            )
        elif topic == "cosim/links":
            self.times.append(at)
            self.links.append(
                [(one["from"], one["to"], one["snr_db"]) for one in json.loads(data)["links"]]
            )
        elif topic == "cosim/packets":
            told = json.loads(data)
            if told["event"] == "sent":
                self.sent.append(at)
            elif told["event"] == "dropped":
                self.lost.append((at, told["from"], told["to"]))
        elif topic == "cosim/scene" and not self.boxes:
            self._add_boxes(json.loads(data))

    def _add_boxes(self, told: dict[str, Any]) -> None:
        for entity in told["entities"]:
            if entity["id"] != "obstacles":
                continue
            for cube in entity["cubes"]:
                middle, size = cube["pose"]["position"], cube["size"]
                low = (middle["x"] - size["x"] / 2, middle["y"] - size["y"] / 2)
                high = (middle["x"] + size["x"] / 2, middle["y"] + size["y"] / 2)
                self.boxes.append((low, high))


class _Picture:
    """One figure. Each frame draws only the moving parts again, over the others."""

    def __init__(self, run: Recorded, title: str) -> None:
        self.run = run
        self.colours = robot_colours(list(run.poses))
        with mpl.rc_context(STYLE):
            self.figure = Figure(figsize=(7.2, 5.6), dpi=90, layout="constrained")
            self.ax = self.figure.subplots()
        self._frame(title)
        self.links = LineCollection([], linewidths=1.6, alpha=0.85, zorder=2)
        self.ax.add_collection(self.links)
        norm = Normalize(_WEAK_DB, _STRONG_DB)
        self.scale = ScalarMappable(norm, _MAP)
        self.figure.colorbar(
            self.scale, ax=self.ax, label="link: signal to noise (dB)", shrink=0.7, extend="both"
        )
        (self.lost,) = self.ax.plot([], [], "x", color=_LOST, markersize=7, zorder=4)
        self.trails, self.bodies, self.names = {}, {}, {}
        for i, (robot, colour) in enumerate(self.colours.items()):
            (self.trails[robot],) = self.ax.plot([], [], color=colour, linewidth=1, alpha=0.6)
            (self.bodies[robot],) = self.ax.plot([], [], "o", color=colour, markersize=11, zorder=3)
            if i < _NAMED:
                self.names[robot] = self.ax.text(0, 0, robot, fontsize=8, color=colour, zorder=5)
        self.state = self.figure.text(0.02, 0.02, "", va="bottom", fontsize=8)
        self.moving: list[Artist] = [self.links, self.lost, self.state]
        for parts in (self.trails, self.bodies, self.names):
            self.moving += parts.values()
        for part in self.moving:
            part.set_visible(False)
        self.canvas = cast(Any, FigureCanvasAgg(self.figure))  # without types in matplotlib
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(self.figure.bbox)
        for part in self.moving:
            part.set_visible(True)

    def _frame(self, title: str) -> None:
        ax: Axes = self.ax
        xs = [x for way in self.run.poses.values() for x, _, _ in way]
        ys = [y for way in self.run.poses.values() for _, y, _ in way]
        margin = max(2.0, 0.12 * max(max(xs) - min(xs), max(ys) - min(ys)))
        ax.set_xlim(min(xs) - margin, max(xs) + margin)
        ax.set_ylim(min(ys) - margin, max(ys) + margin)
        ax.set_aspect("equal", adjustable="box")
        ax.set_xlabel("x (m)")
        ax.set_ylabel("y (m)")
        ax.set_title(title, fontsize=9)
        for low, high in self.run.boxes:
            size = (max(high[0] - low[0], 0.1), max(high[1] - low[1], 0.1))
            ax.add_patch(Rectangle(low, *size, color="#888888", alpha=0.45, zorder=1))

    def draw(self, index: int, lost_since: float) -> None:
        """Shows the sample `index`. Marks packets that were lost after `lost_since`."""
        run, at = self.run, self.run.times[index]
        here = {robot: way[index] for robot, way in run.poses.items()}
        first = bisect.bisect_left(run.times, at - _TRAIL_S)
        for robot, (x, y, yaw) in here.items():
            trail = run.poses[robot][first : index + 1]
            self.trails[robot].set_data([p[0] for p in trail], [p[1] for p in trail])
            self.bodies[robot].set_data([x], [y])
            triangle: Any = (3, 0, math.degrees(yaw) - 90)
            self.bodies[robot].set_marker(triangle)
            if robot in self.names:
                self.names[robot].set_position((x, y))
                self.names[robot].set_text(f"  {robot}")
        links = run.links[index]
        self.links.set_segments([[here[a][:2], here[b][:2]] for a, b, _ in links])
        # The stubs of matplotlib know neither lists of numbers nor arrays of colours here.
        ratios: Any = [snr for _, _, snr in links]
        colours: Any = self.scale.to_rgba(ratios) if links else "none"
        self.links.set_color(colours)
        marks = self._lost(lost_since, at, here)
        self.lost.set_data([p[0] for p in marks], [p[1] for p in marks])
        count = bisect.bisect_right([t for t, _, _ in run.lost], at)
        sent = bisect.bisect_right(run.sent, at)
        self.state.set_text(f"at {at:.1f} s: {sent} packets sent, {count} copies lost (×)")

    def image(self) -> Image.Image:
        """The frame, after draw()."""
        self.canvas.restore_region(self.still)
        renderer = self.canvas.get_renderer()
        for part in sorted(self.moving, key=lambda part: part.get_zorder()):
            part.draw(renderer)
        return Image.frombuffer("RGBA", self.canvas.get_width_height(), self.canvas.buffer_rgba())

    def _lost(
        self, since: float, at: float, here: dict[str, tuple[float, float, float]]
    ) -> Sequence[Point]:
        marks = []
        for when, sender, receiver in self.run.lost:
            if since < when <= at:
                ax, ay, _ = here[sender]
                bx, by, _ = here.get(receiver, here[sender])
                marks.append((ax + 0.8 * (bx - ax), ay + 0.8 * (by - ay)))
        return marks


def check(output: Path) -> str:
    """Returns the kind of an animation. Raises Error if it cannot be written."""
    kind = output.suffix.lower()
    if kind not in (".gif", ".mp4"):
        raise Error(
            "unsupported", f"'{output.suffix}' is no animation", str(output), "use .gif or .mp4"
        )
    if kind == ".mp4" and shutil.which("ffmpeg") is None:
        raise Error(
            "unsupported", "MP4 needs ffmpeg", str(output), "scripts/setup animation, or .gif"
        )
    if not output.resolve().parent.is_dir():
        raise Error("not_found", "the folder does not exist", str(output.parent))
    return kind


def record_and_animate(words: list[str], mcap: Path | None, output: Path, title: str) -> int:
    """Runs the native program with `words`, and animates the run, also one that was stopped.
    Returns the exit code of the program.
    """
    with tempfile.TemporaryDirectory(prefix="hyphos-cosim-") as folder:
        recorded = mcap or Path(folder) / "run.mcap"
        command = [str(program("cosim", "hyphos-cosim")), *words]
        if mcap is None:
            command += ["--mcap", str(recorded)]
        running = subprocess.Popen(command)
        # Ctrl-C reaches both processes. The run then ends early and is animated.
        with on_signals(running.send_signal):
            code = running.wait()
        if code in (0, 130):
            animate(recorded, output, title)
            print(f"animation  {output}")
    return code


def animate(mcap: Path, output: Path, title: str | None = None) -> Path:
    """Writes a GIF or MP4. The animation is at most 15 s long, and faster than the run as needed.
    Errors: corrupt (no run), unsupported (the format, or MP4 without ffmpeg).
    """
    kind = check(output)
    run = Recorded.read(mcap)
    count = min(MOST_FRAMES, len(run.times))
    picked = [round(i * (len(run.times) - 1) / max(count - 1, 1)) for i in range(count)]
    seconds = run.times[-1] - run.times[0]
    speed = max(seconds / (count / FRAMES_PER_S), 1e-9)
    picture = _Picture(run, f"{title or mcap.stem}, {seconds:.0f} s at {speed:.1f} times real time")

    with mpl.rc_context(STYLE):
        frames = []
        for index in picked:
            picture.draw(index, run.times[index] - _LOST_S * speed)
            frames.append(picture.image().convert("RGB"))
    try:
        _write_gif(frames, output) if kind == ".gif" else _write_mp4(frames, output)
    except OSError as error:
        raise Error("io", f"the file cannot be written: {error.strerror}", str(output)) from error
    return output


def _write_gif(frames: list[Image.Image], output: Path) -> None:
    # One palette for all frames, so that colours do not flicker.
    palette = Image.new("P", (1, 1))
    palette.putpalette(_palette())
    first, *rest = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    first.save(output, save_all=True, append_images=rest, duration=1000 // FRAMES_PER_S, loop=0)


def _palette() -> list[int]:
    """At most 256 colours: robots, marks and links, as they are and mixed with white, and greys."""

    def mixed(colours: Sequence[Any], steps: int) -> list[Any]:
        shares = [(step + 1) / steps for step in range(steps)]
        return [[1 - share * (1 - x) for x in to_rgb(c)] for c in colours for share in shares]

    scale = mpl.colormaps[_MAP]
    links = [scale(i / 39)[:3] for i in range(40)]
    found = mixed([*COLOURS, _LOST], 5) + mixed(links, 3) + [[i / 63] * 3 for i in range(64)]
    return [round(255 * x) for colour in found[:256] for x in colour]


def _write_mp4(frames: list[Image.Image], output: Path) -> None:
    width, height = (side // 2 * 2 for side in frames[0].size)  # H.264 needs even sides
    words = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    words += ["-s", f"{width}x{height}", "-r", str(FRAMES_PER_S), "-i", "-"]
    words += ["-pix_fmt", "yuv420p", str(output)]
    data = b"".join(frame.crop((0, 0, width, height)).tobytes() for frame in frames)
    done = subprocess.run(words, input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise Error("io", f"ffmpeg failed: {done.stderr.decode().strip()}", str(output))
