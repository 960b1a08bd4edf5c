"""Output of the processes on the terminal. Each line has the coloured name of its process."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.text import Text

_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_red")
_MOST_WAITING = 10_000  # lines, so that a stopped terminal (Ctrl-S) does not stop a robot
_LAST_S = 2.0  # for the remaining lines at the end


class Printer:
    """Prints in its own thread. Lines beyond the queue are counted and reported, and are in the
    logs."""

    def __init__(self, console: Console, names: Sequence[str], quiet: bool) -> None:
        self._console = console
        self._quiet = quiet
        self._width = max(map(len, names), default=0)
        self._colours = dict(zip(names, itertools.cycle(_COLOURS), strict=False))
        self._lines: queue.Queue[RenderableType | None] = queue.Queue(_MOST_WAITING)
        self._lost = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def line(self, process: str, line: bytes) -> None:
        if self._quiet:
            return
        text = Text(f"{process:<{self._width}} │ ", self._colours.get(process, "white"))
        text.append_text(Text.from_ansi(line.rstrip(b"\r\n").decode(errors="replace")))
        try:
            self._lines.put_nowait(text)
        except queue.Full:
            self._lost += 1

    def tell(self, words: str, style: str = "dim") -> None:
        """Prints words of the launcher. Waits a limited time for room in the queue."""
        self.show(Text(words, style))

    def show(self, what: RenderableType) -> None:
        """Like tell(), for a table."""
        try:
            self._lines.put(what, timeout=_LAST_S)
        except queue.Full:
            self._lost += 1

    def _run(self) -> None:
        while (text := self._lines.get()) is not None:
            try:
                self._console.print(text, soft_wrap=True)
                if self._lost and self._lines.empty():
                    lost, self._lost = self._lost, 0
                    words = f"{lost} lines were not shown, the logs have them"
                    self._console.print(Text(words, "yellow"))
            except OSError:  # the terminal or pipe is gone, the robot continues
                self._quiet = True

    def close(self) -> None:
        """Prints the queued lines, without waiting for a blocked terminal."""
        try:
            self._lines.put(None, timeout=_LAST_S)
        except queue.Full:
            return
        self._thread.join(_LAST_S)
