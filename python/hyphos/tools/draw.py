"""Drawing with Graphviz."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from hyphos._errors import Error


def draw_svg(dot_text: str, path: Path) -> None:
    """Runs `dot -Tsvg`. Error if it is not installed or refuses the text."""
    program = shutil.which("dot")
    if program is None:
        raise Error(
            "unsupported",
            "drawing needs Graphviz's `dot`, which is not installed",
            advice="apt install graphviz, or use --dot and draw elsewhere",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [program, "-Tsvg", "-o", str(path)],
        input=dot_text.encode(),
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        raise Error("io", f"dot failed: {done.stderr.decode(errors='replace').strip()}", str(path))
