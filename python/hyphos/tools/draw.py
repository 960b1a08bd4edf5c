"""Drawing with Graphviz."""

from __future__ import annotations

from pathlib import Path

from hyphos._errors import Error
from hyphos.run_program import run_program


def draw_svg(dot_text: str, path: Path) -> None:
    """Writes a drawing to an SVG file. Errors as for svg_of(), or for another suffix."""
    if path.suffix.lower() != ".svg":
        raise Error(
            "invalid_config",
            f"--svg writes SVG, but the file name is {path}",
            advice=f"--svg {path.with_suffix('.svg')}, or --dot | dot -Tpng > FILE.png",
        )
    drawing = svg_of(dot_text)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawing, encoding="utf-8")


def svg_of(dot_text: str) -> str:
    """The `<svg>` element of `dot -Tsvg`. Raises an error if dot is absent or refuses the text."""
    missing = Error(
        "unsupported",
        "drawing needs Graphviz's `dot`, which is not installed",
        advice="apt install graphviz, or use --dot and draw on another machine",
    )
    drawing = run_program("dot", ["-Tsvg"], missing=missing, stdin=dot_text.encode()).decode()
    return drawing[drawing.index("<svg") :]
