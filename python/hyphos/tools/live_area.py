"""Text that a terminal redraws in place."""

from __future__ import annotations

import os
import termios
from contextlib import suppress
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text


class LiveArea(Live):
    """A text that is redrawn in place, and vanishes at the end.

    At Ctrl-C a terminal discards the output that is not yet shown, and echoes "^C" at the cursor.
    Either one would leave rows of the text behind, so both are off until the end.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(console=console, auto_refresh=False, transient=True)
        self._modes: list[Any] | None = None

    def start(self, refresh: bool = False) -> None:
        self._modes = _modes_of(self.console)
        if self._modes is not None:
            _set_modes(self.console, _undisturbed(self._modes))
        super().start(refresh)

    def stop(self) -> None:
        if self.is_started:
            # rich does not crop the last text, so one taller than the terminal would stay there.
            self.update(Text(), refresh=True)
        super().stop()
        if self._modes is not None:
            _set_modes(self.console, self._modes)
            self._modes = None


def _modes_of(console: Console) -> list[Any] | None:
    """The modes of the terminal. None without one, and in the background, where a change would stop
    the process."""
    with suppress(OSError, ValueError, termios.error):
        number = console.file.fileno()
        if os.tcgetpgrp(number) == os.getpgrp():
            return termios.tcgetattr(number)
    return None


def _undisturbed(modes: list[Any]) -> list[Any]:
    changed = list(modes)
    changed[3] = (modes[3] | termios.NOFLSH) & ~termios.ECHO
    return changed


def _set_modes(console: Console, modes: list[Any]) -> None:
    with suppress(OSError, termios.error):  # the terminal may be gone
        termios.tcsetattr(console.file.fileno(), termios.TCSADRAIN, modes)
