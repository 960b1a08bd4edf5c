"""Finds the fenced blocks of the documents."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("reports/**/*.md")),
    ROOT / "examples/README.md",
    ROOT / "proto/README.md",
    *sorted(ROOT.glob("clients/*/README.md")),
]
# A marker on the line before a block selects its check:
#   <!-- block: file NAME -->                a file that the commands of the page use
#   <!-- block: quoted from PATH -->         each line is a line of that file, which a test runs
#   <!-- block: not run: REASON -->          a test checks the syntax only
_MARKER = re.compile(r"<!-- block: ((?:(?!-->).)*?) -->\n+$", re.DOTALL)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Blocks of the project of `hyphos new`, which other tests build and run.
TEMPLATES = "quoted from python/hyphos/new/templates/"


@dataclass(frozen=True)
class Block:
    page: str
    line: int  # of the opening fence
    language: str
    text: str
    marker: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def why_not_run(self) -> str:
        return self.marker.removeprefix("not run: ") if self.marker.startswith("not run: ") else ""

    @property
    def first(self) -> str:
        return next(line.strip() for line in self.text.splitlines() if line.strip())

    @property
    def file(self) -> str:
        return self.marker.removeprefix("file ") if self.marker.startswith("file ") else ""


def blocks_of(text: str, page: str) -> Iterator[Block]:
    for found in _FENCE.finditer(text):
        marker = _MARKER.search(text[: found.start()])
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, found[1], found[2], " ".join(marker[1].split()) if marker else "")


@cache
def all_blocks() -> list[Block]:
    return [
        block
        for page in PAGES
        for block in blocks_of(page.read_text(), str(page.relative_to(ROOT)))
    ]


def blocks(*languages: str) -> list[Block]:
    return [block for block in all_blocks() if block.language in languages]


def runs_in_its_page(block: Block) -> bool:
    """True for a file of a page, which runs with the commands of the page (tutorials_test.py)."""
    return bool(block.file) or block.marker.startswith(TEMPLATES)


def is_console(block: Block) -> bool:
    """A block without a language that shows commands, with or without their output."""
    if block.language or block.why_not_run:
        return False
    known = r"(robot@\w+)?\$ |hyphos |PYTHONPATH="
    return any(re.match(known, line) for line in block.text.splitlines())


def commands_of(block: Block) -> list[str]:
    """The lines that a user types, without the prompt. Continued lines are joined."""
    text = block.text.replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip()]
    if block.language == "sh":
        return lines
    prompted = [
        re.sub(r"^(robot@\w+)?\$ +", "", line)
        for line in lines
        if re.match(r"(robot@\w+)?\$ ", line)
    ]
    return prompted or [line for line in lines if line.startswith(("hyphos ", "PYTHONPATH="))]


def simple_commands(line: str) -> list[list[str]]:
    """The words of each command of a shell line.

    Comments, redirection targets and leading assignments are left out.
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;<>()")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    parts: list[list[str]] = [[]]
    skip = False
    for word in lexer:
        if skip:
            skip = False
        elif re.fullmatch(r"[&|;()]+", word):
            parts.append([])
        elif re.fullmatch(r"[<>]+", word):
            skip = True
        else:
            parts[-1].append(word)
    for words in parts:
        while words and re.match(r"[A-Z_]+=", words[0]):
            del words[0]
    return [words for words in parts if words]
