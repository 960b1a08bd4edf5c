"""The map of a run: names, headings and losses, in the colours of all other pictures."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest
from helpers import Cli
from hyphos.cosim import draw, palette
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

SCENARIO = """
duration_s: 2
world: {boxes: [{low: [4, 20, 0], high: [9, 24, 2], loss_db: 12}]}
robots:
  east: {at: [0, 0, 1], velocity: [2, 0, 0]}
  north: {at: [0, 5, 1], velocity: [0, 2, 0]}
  still: {at: [0, -5, 1]}
"""


@pytest.fixture
def told(hyphos_cli: Cli, tmp_path: Path) -> Any:
    scenario, report = tmp_path / "s.yaml", tmp_path / "run.json"
    scenario.write_text(SCENARIO)
    code, _, err = hyphos_cli("cosim", "run", str(scenario), "--json", str(report))
    assert code == 0, err
    return json.loads(report.read_text())


def ends(lines: list[Line2D]) -> dict[str, Line2D]:
    """The marks of the final positions, by robot."""
    return {str(line.get_label()): line for line in lines if line.get_linestyle() == "None"}


def test_the_map_has_names_headings_and_losses(told: Any) -> None:
    [ax] = draw.field_map(told).figure.axes
    marks = ends(list(ax.get_lines()))
    assert set(marks) == {"east", "north", "still"}
    texts = {one.get_text(): one for one in ax.texts}
    assert {"east", "north", "still", "12 dB"} <= set(texts)
    for name, ahead in (("east", 0.0), ("north", math.pi / 2)):
        # The first corner of the triangle points ahead.
        mark: Any = marks[name]
        sides, _, turned = mark.get_marker()
        assert sides == 3
        assert math.radians(turned + 90) == pytest.approx(ahead, abs=1e-6)
        x, y = (float(one[-1]) for one in mark.get_data())
        assert [x, y] == pytest.approx(told["trajectories"][name][-1][1:3])
        assert texts[name].xy == (x, y)  # type: ignore[attr-defined]
    colours = palette.robot_colours(["east", "north", "still"])
    for name, line in marks.items():
        assert to_hex(line.get_color()) == to_hex(colours[name])
    for one, other in itertools.combinations(colours.values(), 2):
        assert to_hex(one) != to_hex(other)


def test_an_unknown_heading_is_a_dot(told: Any) -> None:
    del told["headings"]["north"]
    [ax] = draw.field_map(told).figure.axes
    assert ends(list(ax.get_lines()))["north"].get_marker() == "o"


def test_names_of_robots_at_one_place_do_not_overlap(told: Any) -> None:
    ways = told["trajectories"]
    for robot in ("east", "still"):
        ways[robot][-1] = ways["north"][-1]
    plot = draw.field_map(told)
    plot.figure.canvas.draw()  # places the texts
    [ax] = plot.figure.axes
    boxes = [one.get_window_extent() for one in ax.texts if one.get_text() in ways]
    assert len(boxes) == 3
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
