"""The lines that a terminal shows after some output, with the lines that have scrolled away."""

from __future__ import annotations

import re

_PART = re.compile(
    r"\x1b\[(?P<number>\d*)(?:;\d+)*(?P<end>[A-Za-z])|\x1b\[\?\d+[hl]|(?P<text>.)", re.DOTALL
)


def lines_of(output: str) -> list[str]:
    """Understands the moves and erasures of rich. Another one is an error."""
    lines, row, column = [""], 0, 0
    for part in _PART.finditer(output):
        text, end = part["text"], part["end"]
        if text == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif text == "\r":
            column = 0
        elif text is not None:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + 1 :]
            column += 1
        elif end == "A":
            row = max(0, row - int(part["number"] or 1))
        elif end == "K":
            assert part["number"] == "2", part[0]
            lines[row] = ""
        else:
            assert end in (None, "m"), part[0]
    return [line.rstrip() for line in lines]
