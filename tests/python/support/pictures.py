"""Pictures of the viewer as arrays."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from helpers import PATIENCE_S
from PIL import Image

ROOT = Path(__file__).resolve().parents[3]
VIEWER = ROOT / "build/release/view/hyphos-view"
VIDEO_LIBRARY = VIEWER.parent / "libhyphos_view_video.so"

Pixels = npt.NDArray[np.uint8]


def viewed(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs the viewer, which must end by itself."""
    command = [str(VIEWER), *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_S * 2, **options
    )


def picture(file: Path, *words: str | Path) -> Pixels:
    """The picture that the viewer writes to `file`: (height, width, 3)."""
    done = viewed(*words, "--png", file)
    assert (done.returncode, done.stderr) == (0, "")
    return pixels(file)


def pixels(file: Path) -> Pixels:
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB"))


def near(pixels: Pixels, color: tuple[int, int, int], within: int = 24) -> npt.NDArray[np.bool_]:
    """The pixels of this colour."""
    distance = np.abs(pixels.astype(int) - np.array(color)).max(axis=2)
    return np.asarray(distance <= within)


def center(mask: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """x and y of the middle of the pixels, as shares of the picture."""
    rows, columns = np.nonzero(mask)
    return columns.mean() / mask.shape[1], rows.mean() / mask.shape[0]
