"""Drawing with Graphviz."""

from __future__ import annotations

from pathlib import Path

from hyphos._errors import Error
from hyphos.run_program import run_program

PICTURES = ("svg", "png", "pdf")  # formats of `dot -T`


def draw(dot_text: str, path: Path) -> None:
    """Writes a drawing in the format of the file's suffix. Errors as for drawing_of(), or for
    another suffix."""
    kind = path.suffix.lower().lstrip(".")
    if kind not in PICTURES:
        raise Error(
            "invalid_config",
            f"a drawing cannot be written to {path}: its suffix selects the format, one of "
            + ", ".join(f".{one}" for one in PICTURES),
            advice=f"{path.with_suffix('.svg')}, or --dot | dot -Tjpg > FILE.jpg for other formats",
        )
    drawing = svg_of(dot_text).encode() if kind == "svg" else drawing_of(dot_text, kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(drawing)


def drawing_of(dot_text: str, kind: str) -> bytes:
    """The output of `dot -T<kind>`. Raises an error if dot is absent or refuses the text."""
    missing = Error(
        "unsupported",
        "drawing needs Graphviz's `dot`, which is not installed",
        advice="apt install graphviz, or use --dot and draw on another machine",
    )
    return run_program("dot", [f"-T{kind}"], missing=missing, stdin=dot_text.encode())


def svg_of(dot_text: str) -> str:
    """The `<svg>` element of a drawing, which is a complete SVG file too."""
    drawing = drawing_of(dot_text, "svg").decode()
    return drawing[drawing.index("<svg") :]
