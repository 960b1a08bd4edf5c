"""The map of a run over the true walls, with the estimated and the true track."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyphos.demo.drive import Array, Drive, Grid
from hyphos.demo.lettering import HEIGHT, dots, text_width
from hyphos.demo.png import Pixels
from hyphos.demo.verdict import PoseError, compose, length

_PX_PER_M = 50
_MARGIN_M = 0.4
_SCALE = 2  # pixels of a dot of a letter
_PAD = 12  # px
_ROW = HEIGHT * _SCALE + 10  # px of a line of text
_LEAST_WIDTH = 800  # px, for the title and the legend

Color = tuple[int, int, int]
_PAPER: Color = (255, 255, 255)
_INK: Color = (40, 40, 40)
_UNKNOWN: Color = (205, 205, 205)
_MAPPED: Color = (0, 0, 0)
_WALL: Color = (255, 165, 60)
_TRUE_TRACK: Color = (40, 160, 70)
_ESTIMATE: Color = (30, 70, 230)
_WALL_SHARE = 0.75  # of the colour of a true wall, over the map


@dataclass(frozen=True)
class _View:
    """The part of the world that the picture shows."""

    left_m: float
    top_m: float
    width: int  # px
    height: int

    def pixels(self, x_m: Array, y_m: Array) -> tuple[Array, Array]:
        return (x_m - self.left_m) * _PX_PER_M, (self.top_m - y_m) * _PX_PER_M

    def centers(self) -> tuple[Array, Array]:
        """x and y of the centre of each pixel, m."""
        columns = self.left_m + (np.arange(self.width) + 0.5) / _PX_PER_M
        rows = self.top_m - (np.arange(self.height) + 0.5) / _PX_PER_M
        x_m, y_m = np.meshgrid(columns, rows)
        return x_m, y_m


def draw(drive: Drive, error: PoseError) -> Pixels:
    """Draws in the frame "world". `error` places the map there. Cost: under a second."""
    view = _view(drive, error)
    image = _base(drive, error, view)
    if drive.truth is not None:
        _draw_track(image, view, drive.truth.poses, _TRUE_TRACK, 7)
    if drive.pose is not None:
        _draw_track(image, view, compose(error.map_in_world, drive.pose.poses), _ESTIMATE, 3)
    title = (
        f"{drive.seconds:.0f} s of driving: pose error {length(error.rms_m)} RMS, "
        f"{length(error.most_m)} at most"
    )
    return np.vstack([_title(title, view.width), image, _legend(view.width)])


def _corners(grid: Grid, frame: tuple[float, float, float]) -> Array:
    """The corners of the known part of a grid, in the frame "world"."""
    known = grid.known()
    if known is None:
        return np.empty((0, 2))
    left, low, right, high = known
    flat = [(left, low, 0.0), (right, low, 0.0), (left, high, 0.0), (right, high, 0.0)]
    return compose(frame, np.array(flat))[:, :2]


def _view(drive: Drive, error: PoseError) -> _View:
    shown = [np.zeros((0, 2))]
    if drive.walls is not None:
        shown.append(_corners(drive.walls, (0.0, 0.0, 0.0)))
    if drive.map is not None:
        shown.append(_corners(drive.map, error.map_in_world))
    points = np.vstack(shown)
    if not points.size:
        points = np.zeros((1, 2))
    low, high = points.min(axis=0) - _MARGIN_M, points.max(axis=0) + _MARGIN_M
    width, height = np.ceil((high - low) * _PX_PER_M).astype(int)
    more = max(0, _LEAST_WIDTH - int(width))
    return _View(
        float(low[0]) - more / 2 / _PX_PER_M, float(high[1]), int(width) + more, int(height)
    )


def _base(drive: Drive, error: PoseError, view: _View) -> Pixels:
    """Free cells are white, occupied cells black, and unknown cells gray. True walls are orange
    wherever the map has no wall."""
    x_m, y_m = view.centers()
    image = np.empty((view.height, view.width, 3))
    image[:] = _UNKNOWN
    mapped = np.zeros((view.height, view.width))
    if drive.map is not None:
        cells = drive.map.at(*_to_map(x_m, y_m, error.map_in_world)).astype(float)
        known = cells >= 0
        mapped[known] = cells[known] / 100
        share = mapped[known][:, None]
        image[known] = np.array(_PAPER) * (1 - share) + np.array(_MAPPED) * share
    if drive.walls is not None:
        wall = drive.walls.at(x_m, y_m) > 50
        share = (_WALL_SHARE * (1 - mapped[wall]))[:, None]
        image[wall] = image[wall] * (1 - share) + np.array(_WALL) * share
    return np.rint(image).astype(np.uint8)


def _to_map(x_m: Array, y_m: Array, frame: tuple[float, float, float]) -> tuple[Array, Array]:
    """Points of the frame "world" in the frame "map"."""
    x, y, yaw = frame
    cos, sin = np.cos(yaw), np.sin(yaw)
    return cos * (x_m - x) + sin * (y_m - y), cos * (y_m - y) - sin * (x_m - x)


def _draw_track(image: Pixels, view: _View, poses: Array, color: Color, width: int) -> None:
    """Draws the track, with a disc at its end."""
    columns, rows = view.pixels(poses[:, 0], poses[:, 1])
    steps = np.hypot(np.diff(columns), np.diff(rows))
    along = np.concatenate([[0.0], np.cumsum(steps)])
    dense = np.linspace(0.0, along[-1], 2 + int(min(along[-1], 1e6) * 2))
    _stamp(image, np.interp(dense, along, columns), np.interp(dense, along, rows), width, color)
    _stamp(image, columns[-1:], rows[-1:], 2 * width + 3, color)


def _disc(width: int) -> npt.NDArray[np.int64]:
    """The offsets of the pixels of a disc: rows of (column, row)."""
    half = width // 2
    columns, rows = np.meshgrid(np.arange(-half, half + 1), np.arange(-half, half + 1))
    inside = columns**2 + rows**2 <= (half + 0.4) ** 2
    return np.stack([columns[inside], rows[inside]], axis=1)


def _stamp(image: Pixels, columns: Array, rows: Array, width: int, color: Color) -> None:
    """Draws a disc at each point. Parts outside the image are left out."""
    at = np.unique(np.rint(np.stack([columns, rows], axis=1)), axis=0).astype(np.int64)
    for offset in _disc(width):
        x, y = (at + offset).T
        inside = (x >= 0) & (x < image.shape[1]) & (y >= 0) & (y < image.shape[0])
        image[y[inside], x[inside]] = color


def _write(image: Pixels, left: int, top: int, text: str) -> None:
    shape = dots(text, _SCALE)
    part = image[top : top + shape.shape[0], left : left + shape.shape[1]]
    part[shape[: part.shape[0], : part.shape[1]]] = _INK


def _strip(width: int, lines: int) -> Pixels:
    strip = np.empty((lines * _ROW + _PAD, width, 3), np.uint8)
    strip[:] = _PAPER
    return strip


def _title(text: str, width: int) -> Pixels:
    strip = _strip(width, 1)
    _write(strip, _PAD, _PAD, text)
    return strip


def _legend(width: int) -> Pixels:
    """A sample of each colour with its meaning, and a metre as the scale."""
    lines = [
        [(_MAPPED, 12, "wall in the map"), (_WALL, 12, "true wall"), (_UNKNOWN, 12, "unknown")],
        [(_ESTIMATE, 3, "estimated track"), (_TRUE_TRACK, 7, "true track"), (_INK, 2, "1 m")],
    ]
    widths = [
        max(_sample_width(text) + text_width(text, _SCALE) for *_, text in column)
        for column in zip(*lines, strict=True)
    ]
    strip = _strip(width, len(lines))
    for number, line in enumerate(lines):
        left, top = _PAD, _PAD + number * _ROW
        for (color, thick, text), wide in zip(line, widths, strict=True):
            sample = _sample_width(text)
            middle = top + HEIGHT * _SCALE // 2
            first = middle - thick // 2
            strip[first : first + thick, left : left + sample - 10] = color
            _write(strip, left + sample, top, text)
            left += wide + 3 * _PAD
    return strip


def _sample_width(text: str) -> int:
    """The scale is as long as a metre of the map."""
    return (_PX_PER_M if text == "1 m" else 30) + 10
