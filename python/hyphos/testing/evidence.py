"""The files that explain a failure: logs, the last messages, and a drawing of the robot."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from shutil import copytree, rmtree

from hyphos._errors import Error
from hyphos.testing import golden
from hyphos.testing.inbox import Inbox
from hyphos.testing.stage import Stage
from hyphos.tools.draw import draw as draw_file

DRAWING, MESSAGES = "graph.svg", "messages.mcap"


def draw(stage: Stage, folder: Path) -> None:
    """Draws the robot as it is now. Without Graphviz the drawing is a .dot file."""
    if (folder / DRAWING).exists() or (folder / "graph.dot").exists():
        return
    text = stage.graph().as_dot()
    try:
        draw_file(text, folder / DRAWING)
    except Error:
        (folder / "graph.dot").write_text(text)


def keep(folder: Path, failures: Path, name: str, inboxes: Iterable[Inbox]) -> Path:
    """Copies the folder of a run below `failures`, with a recording of the messages."""
    golden.write(folder / MESSAGES, list(inboxes))
    kept = failures / name
    rmtree(kept, ignore_errors=True)  # of an earlier run
    copytree(folder, kept)
    return kept
