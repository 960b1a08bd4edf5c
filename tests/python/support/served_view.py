"""`hyphos view --serve`, and its page in a browser."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from browser import Page
from helpers import Program, look_until

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "build/release/web/page.html"
needs_page = pytest.mark.skipif(not PAGE.exists(), reason="the page is not built: make web")


@dataclass
class Server:
    """A running command."""

    program: Program
    page: str  # address with the token, if there is one
    socket: str  # address of the protocol

    @property
    def port(self) -> int:
        match = re.search(r":(\d+)/", self.page)
        assert match is not None
        return int(match[1])


def served(program: Program) -> Server:
    """Reads the addresses that the command prints."""
    lines: list[str] = []
    while not lines or not lines[-1].startswith("Foxglove"):
        lines.append(program.line())
    page = re.search(r"open (http://\S+) \(Ctrl-C", "\n".join(lines))
    socket = re.search(r"Foxglove and Lichtblick: (ws://\S+)", "\n".join(lines))
    assert page is not None, lines
    assert socket is not None, lines
    return Server(program, page[1], socket[1])


def state(tab: Page) -> dict[str, Any]:
    """The state of the page, or {} while it loads."""
    try:
        found: dict[str, Any] = tab.ask("globalThis.hyphos ? hyphos.state() : {}")
    except AssertionError as problem:
        if not any(word in str(problem) for word in ("navigated", "context")):
            raise
        return {}
    return found


def until(tab: Page, fine: Any, what: str) -> dict[str, Any]:
    """Waits for a state of the page."""
    return look_until(lambda now: bool(now) and fine(now), lambda: state(tab), what)
