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
_MOST_HELD = 1_000  # lines of one traceback
_TRACEBACK = b"Traceback (most recent call last):"
_LAST_S = 2.0  # for the remaining lines at the end


class Interrupted:
    """Holds back the traceback of a program that Ctrl-C interrupted before it could end cleanly.

    A stop was requested, so the traceback has no news, and it would hide the reason of the stop.
    The log of the process has it.
    """

    def __init__(self) -> None:
        self._held: dict[str, list[bytes]] = {}

    def take(self, process: str, line: bytes) -> list[bytes]:
        """Returns the lines to print now."""
        held = self._held.get(process)
        if held is None:
            if not line.startswith(_TRACEBACK):
                return [line]
            self._held[process] = [line]
            return []
        held.append(line)
        if line[:1].isspace() and len(held) < _MOST_HELD:
            return []
        del self._held[process]
        return [] if line.startswith(b"KeyboardInterrupt") else held

    def rest(self, process: str) -> list[bytes]:
        return self._held.pop(process, [])


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
        self._interrupted = Interrupted()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def line(self, process: str, line: bytes, stopping: bool = False) -> None:
        """Prints a line of a process. `stopping`: the launcher has asked all processes to end."""
        lines = self._interrupted.take(process, line) if stopping else [line]
        for one in lines:
            self._print(process, one)

    def ended(self, process: str) -> None:
        """The process prints no more lines."""
        for line in self._interrupted.rest(process):
            self._print(process, line)

    def _print(self, process: str, line: bytes) -> None:
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
