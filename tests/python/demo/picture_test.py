"""The picture of `hyphos demo` shows the map over the truth, and names its colours."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib.image
import numpy as np
import numpy.typing as npt
import pytest
from drives import Recorded, grid
from hyphos.demo import picture
from hyphos.demo.drive import Drive, read_drive
from hyphos.demo.lettering import dots, text_width
from hyphos.demo.png import encode_png, write_png
from hyphos.demo.verdict import PoseError, pose_error

START = (4.0, 3.0)  # of the robot in the world, so the origin of the frame of the map
TITLE = picture._ROW + picture._PAD  # rows above the map

Pixels = npt.NDArray[np.uint8]


@pytest.fixture
def drive(tmp_path: Path) -> Drive:
    """A room of 10 × 8 m. The robot drives 4 m to the right, 0.3 m above its true track. The map
    lacks the upper half."""
    truth = [(START[0] + 0.04 * i, START[1], 0.0) for i in range(101)]
    pose = [(0.04 * i, 0.3 if i else 0.0, 0.0) for i in range(101)]
    lower = grid(200, 80, 0.05, (-START[0], -START[1]))
    made = Recorded(truth, pose, lower, grid(500, 400, 0.02, (0.0, 0.0)))
    return read_drive(made.write(tmp_path / "run.mcap"))


def error_of(drive: Drive) -> PoseError:
    error = pose_error(drive.truth, drive.pose)
    assert error is not None
    return error


def drawn(drive: Drive) -> Pixels:
    """The picture after a round trip through the file format, read by another library."""
    file = encode_png(picture.draw(drive, error_of(drive)))
    read = matplotlib.image.imread(io.BytesIO(file), format="png")
    return np.asarray(np.rint(read[:, :, :3] * 255), np.uint8)


def pixel(image: Pixels, drive: Drive, x_m: float, y_m: float) -> tuple[int, ...]:
    view = picture._view(drive, error_of(drive))
    column, row = view.pixels(np.array([x_m]), np.array([y_m]))
    return tuple(int(value) for value in image[TITLE + int(row[0]), int(column[0])])


def test_walls_and_cells_have_their_colours(drive: Drive) -> None:
    image = drawn(drive)
    assert pixel(image, drive, 3.0, 0.03) == picture._MAPPED  # the map hides the true wall
    assert pixel(image, drive, 9.99, 2.0) == picture._MAPPED
    assert pixel(image, drive, 3.0, 1.0) == picture._PAPER
    assert pixel(image, drive, 3.0, 6.0) == picture._UNKNOWN
    red, green, blue = pixel(image, drive, 3.0, 7.99)  # a true wall that the map lacks
    assert red > 230
    assert 150 < green < 200
    assert blue < 130


def test_both_tracks_are_drawn_where_the_robot_was(drive: Drive) -> None:
    image = drawn(drive)
    assert pixel(image, drive, 6.0, 3.0) == picture._TRUE_TRACK
    assert pixel(image, drive, 6.0, 3.3) == picture._ESTIMATE
    assert pixel(image, drive, 6.0, 3.15) == picture._PAPER
    assert pixel(image, drive, 8.0, 3.0) == picture._TRUE_TRACK


def test_the_title_names_the_error_and_the_legend_the_colours(drive: Drive) -> None:
    image = drawn(drive)
    [strip] = [
        picture._title("5 s of driving: pose error 30 cm RMS, 30 cm at most", image.shape[1])
    ]
    assert (image[:TITLE] == strip).all()
    legend = image[-(2 * picture._ROW + picture._PAD) :].reshape(-1, 3)
    there = {tuple(int(value) for value in color) for color in np.unique(legend, axis=0)}
    colors = {picture._MAPPED, picture._WALL, picture._UNKNOWN, picture._ESTIMATE}
    assert colors | {picture._TRUE_TRACK, picture._INK} <= there
    assert text_width("estimated track", 2) < image.shape[1] / 3


def test_a_turned_map_lies_on_the_walls(tmp_path: Path) -> None:
    """The robot starts towards y, so the frame of the map has a quarter turn."""
    quarter = np.pi / 2
    truth = [(8.0, 1.0 + 0.04 * i, quarter) for i in range(101)]
    pose = [(0.04 * i, 0.0, 0.0) for i in range(101)]
    made = Recorded(truth, pose, grid(160, 200, 0.05, (-1.0, -2.0)), None)
    drive = read_drive(made.write(tmp_path / "run.mcap"))
    image = drawn(drive)
    # The room of 8 × 10 m is 10 m along x and 8 m along y in the frame "world".
    assert pixel(image, drive, 9.97, 4.0) == picture._MAPPED
    assert pixel(image, drive, 0.03, 4.0) == picture._MAPPED
    assert pixel(image, drive, 5.0, 7.97) == picture._MAPPED
    assert pixel(image, drive, 8.0, 3.0) == picture._ESTIMATE


def test_a_picture_needs_neither_walls_nor_a_map(tmp_path: Path) -> None:
    track = [(0.1 * i, 0.0, 0.0) for i in range(20)]
    drive = read_drive(Recorded(track, track).write(tmp_path / "run.mcap"))
    write_png(tmp_path / "map.png", picture.draw(drive, error_of(drive)))
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_png_keeps_every_pixel() -> None:
    image = np.random.default_rng(1).integers(0, 256, (37, 53, 3), np.uint8)
    read = matplotlib.image.imread(io.BytesIO(encode_png(image)), format="png")
    assert (np.rint(read[:, :, :3] * 255) == image).all()
    with pytest.raises(ValueError, match="height, width, 3"):
        encode_png(np.zeros((4, 4, 4), np.uint8))


def test_letters_are_distinct() -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:-×"
    shapes = {dots(letter, 1).tobytes() for letter in letters}
    assert len(shapes) == len(letters)
    assert dots("ab", 3).shape == (21, text_width("ab", 3))
    with pytest.raises(KeyError):
        dots("é", 1)
