"""Drawing with Graphviz."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from hyphos._errors import Error


def draw_svg(dot_text: str, path: Path) -> None:
    """Writes a drawing to a file. Error as for svg_of()."""
    drawing = svg_of(dot_text)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawing, encoding="utf-8")


def svg_of(dot_text: str) -> str:
    """The `<svg>` element that `dot -Tsvg` makes. Error if dot is absent or refuses the text."""
    program = shutil.which("dot")
    if program is None:
        raise Error(
            "unsupported",
            "drawing needs Graphviz's `dot`, which is not installed",
            advice="apt install graphviz, or use --dot and draw elsewhere",
        )
    done = subprocess.run(
        [program, "-Tsvg"], input=dot_text.encode(), capture_output=True, check=False
    )
    if done.returncode != 0:
        raise Error("io", f"dot failed: {done.stderr.decode(errors='replace').strip()}", "dot")
    drawing = done.stdout.decode()
    return drawing[drawing.index("<svg") :]
