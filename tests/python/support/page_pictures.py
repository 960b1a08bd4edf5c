"""Pictures of a page in a browser, and their colours."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from browser import Page
from PIL import Image

# A browser draws 3-D scenes without a graphics card.
SOFTWARE_GL = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")


def pixels(tab: Page, path: Path) -> Any:
    tab.picture(path)
    return np.asarray(Image.open(io.BytesIO(path.read_bytes())).convert("RGB")).astype(int)


def has_colour(picture: Any, colour: tuple[int, int, int], tolerance: int = 40) -> int:
    """The number of pixels of about this colour."""
    return int((abs(picture - np.array(colour)).max(axis=2) < tolerance).sum())
