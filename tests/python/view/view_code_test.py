"""node.view(): its messages are recorded, and the viewer draws them."""

from __future__ import annotations

from pathlib import Path

import hyphos
import numpy as np
import pytest
from helpers import Start
from pictures import VIEWER, center, near, picture
from recordings import everything, record_each

pytestmark = pytest.mark.skipif(not VIEWER.exists(), reason="the viewer is not built")

LAYOUT = """hyphos_view: 1
fixed_frame: map
camera: {kind: top_down, target: [0, 0, 0], distance: 10, yaw: 0}
displays:
  - {show: points, channel: cloud, size: 4}
  - {show: marker_array, channel: ball}
  - {show: marker_array, channel: edge}
  - {show: path, channel: way, color: "#00ffff", width: 4}
panels:
  columns:
    - {panel: scene}
    - {panel: image, channel: camera}
"""
MAGENTA, YELLOW, BLUE = (255, 0, 255), (255, 255, 0), (0, 0, 255)


def show(node: hyphos.Node) -> None:
    view = node.view()
    spread = np.linspace(-1, 1, 60)
    x, y = np.meshgrid(spread, spread)
    view.points("cloud", np.column_stack([x.ravel() - 2.5, y.ravel() + 2.5]), colors=MAGENTA)
    view.sphere("ball", (2.5, 2.5, 0), 0.8, color=YELLOW)
    view.line("edge", [(-3, -3), (3, -3)], color=BLUE, width=0.4)
    view.path("way", [(-3, 0), (3, 0)])
    view.image("camera", np.full((40, 40, 3), (10, 200, 90), np.uint8))
    view.scalar("error", 0.5)


@pytest.fixture
def recording(domain: str, tmp_path: Path, hyphos_start: Start) -> Path:
    """A recording of the messages, which were shown before it began."""
    file = tmp_path / "shown.mcap"
    with hyphos.Node.open("shower", domain=domain) as node:
        show(node)
        names = ("cloud", "ball", "edge", "way", "camera", "error")
        record_each(hyphos_start, domain, file, names)
    return file


def test_arrays_are_recorded_and_drawn(recording: Path, tmp_path: Path) -> None:
    found = everything(recording)
    assert {"cloud", "ball", "edge", "way", "camera", "error"} <= set(found)
    assert all(len(found[name]) == 1 for name in ("cloud", "ball", "error"))
    layout = tmp_path / "l.yaml"
    layout.write_text(LAYOUT)
    words = ("--layout", layout, "--size", "900x500", "--at", "100")
    drawn = picture(tmp_path / "out.png", recording, *words)
    cloud, path = near(drawn, MAGENTA), near(drawn, (0, 255, 255))
    line, camera = near(drawn, BLUE), near(drawn, (10, 200, 90), 4)
    # A lit sphere is yellow in several shades.
    ball = (drawn[..., 0] > 120) & (drawn[..., 1] > 120) & (drawn[..., 2] < 60)
    assert cloud.sum() > 1000 and ball.sum() > 1000 and line.sum() > 1000 and path.sum() > 500
    assert camera.sum() > 10_000
    assert center(camera)[0] > 0.6, "the image is in the right panel"
    # Top down: x to the right and y upwards, or turned as a whole.
    ends = {name: np.array(center(mask)) for name, mask in
            (("cloud", cloud), ("ball", ball), ("line", line), ("path", path))}  # fmt: skip
    across, along = ends["ball"] - ends["cloud"], ends["line"] - ends["path"]
    assert abs(float(np.dot(across, along))) < 0.02, ends
    assert np.linalg.norm(across) > 0.1 and np.linalg.norm(along) > 0.1, ends


def test_a_default_layout_shows_what_code_shows(recording: Path, tmp_path: Path) -> None:
    layout = tmp_path / "made.yaml"
    words = ("--size", "1200x700", "--at", "100", "--save-layout", layout)
    drawn = picture(tmp_path / "out.png", recording, *words)
    for color in (MAGENTA, BLUE):
        assert near(drawn, color).sum() > 50, color
    assert near(drawn, (10, 200, 90), 4).sum() > 1000


def test_a_viewer_that_starts_later_shows_the_last_message(domain: str, tmp_path: Path) -> None:
    with hyphos.Node.open("shower", domain=domain) as node:
        show(node)
        drawn = picture(tmp_path / "out.png", "--domain", domain, "--size", "1200x700")
    assert near(drawn, MAGENTA).sum() > 50
