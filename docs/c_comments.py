"""Turns the comments of the C header into comments for Doxygen: a filter of docs/Doxyfile.

A comment before a declaration documents each declaration up to the next empty line or comment. A
comment behind a declaration documents this declaration."""

from __future__ import annotations

import re
import sys
from pathlib import Path

FUNCTION = "HYPHOS_API "


def converted(text: str) -> str:
    lines: list[str] = []
    comment: list[str] = []  # the comment of the present declarations
    inside = fresh = False  # within a comment, and before its first declaration
    for source in text.splitlines():
        line = source
        if re.match(r"/\* -{3,}", line):
            continue
        if inside or re.match(r"\s*/\*", line):
            comment = [*comment, line] if inside else [line.replace("/*", "/**", 1)]
            inside, fresh = "*/" not in line, True
            lines.append(comment[-1])
            continue
        if not line.strip():
            comment = []
        if line.startswith(FUNCTION):
            if comment and not fresh:
                lines += comment
            fresh = False
        # `struct x {...};` alone, because one name for a struct and a type is a duplicate.
        line = re.sub(r"^typedef (struct \w+ \{)", r"\1", line)
        line = re.sub(r"^\} hyphos_\w+;", "};", line)
        lines.append(re.sub(r"(\S\s+)/\*(?![*])", r"\1/**<", line))
    # The first comment is about the file.
    return "\n".join(lines).replace("/**", "/** \\file\n *", 1) + "\n"


print(converted(Path(sys.argv[1]).read_text()), end="")
