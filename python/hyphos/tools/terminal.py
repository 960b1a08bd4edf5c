"""Key presses of a terminal."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def key_presses() -> Iterator[int | None]:
    """A descriptor that delivers each key at once, without an echo. None without a terminal."""
    if not sys.stdin.isatty():
        yield None
        return
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)  # Ctrl-C stays a signal
    try:
        yield number
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def read_keys(keys: int | None, seconds: float, most: int) -> bytes:
    """At most `most` bytes that arrive within `seconds`. Empty if none do."""
    try:
        ready, _, _ = select.select([keys] if keys is not None else [], [], [], seconds)
    except InterruptedError:
        return b""
    return os.read(ready[0], most) if ready else b""
