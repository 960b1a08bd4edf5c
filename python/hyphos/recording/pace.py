"""The pace of a replay: in its own time, faster, slower, or one message at a time."""

from __future__ import annotations

import os
import select
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable
from types import TracebackType
from typing import IO

from hyphos.tools.waiting import Stop

_LOOK_S = 0.05  # between checks of the keys during a long wait


class Pace:
    """Decides when the next message may go. Keys (in any thread) pause it or step by one message.

    Time spent in a pause is not caught up.
    """

    def __init__(self, rate: float, *, stepping: bool = False) -> None:
        self.rate = rate
        self.latest_s = 0.0
        self._changed = threading.Condition()
        self._paused = stepping
        self._steps = 0
        self._started: float | None = None
        self._ended = False
        self._deaf = False

    @property
    def paused(self) -> bool:
        return self._paused

    def toggle(self) -> None:
        """Pauses or continues."""
        with self._changed:
            self._paused = not self._paused
            self._started = None
            self._changed.notify_all()

    def step(self) -> None:
        """Releases one message. Pauses first if the replay was running."""
        with self._changed:
            if not self._paused:
                self._paused = True
            else:
                self._steps += 1
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def no_more_keys(self) -> None:
        """Ends the input of keys. Requested steps still happen. A later pause would never end."""
        with self._changed:
            self._deaf = True
            self._changed.notify_all()

    def begin(self) -> None:
        """Restarts the time with the next message."""
        with self._changed:
            self._started = None

    def wait(self, position_ns: int, stop: Stop) -> bool:
        """Waits until the message at this position is due. Returns False on a stop request."""
        with self._changed:
            while True:
                if self._ended or stop.now:
                    return False
                if self._paused:
                    if self._steps > 0:
                        self._steps -= 1
                        return True
                    if self._deaf:
                        return False
                    self._changed.wait(_LOOK_S)  # a signal sets `stop`, and cannot notify
                    continue
                if self.rate <= 0:
                    return True
                now = time.monotonic()
                if self._started is None:
                    self._started = now - position_ns / 1e9 / self.rate
                early = self._started + position_ns / 1e9 / self.rate - now
                if early <= 0:
                    self.latest_s = max(self.latest_s, -early)
                    return True
                self._changed.wait(min(early, _LOOK_S))


class Keys:
    """Reads keys in a thread. Space pauses and continues, Enter or `s` is one message, `q` ends.

    On a terminal each key acts at once. A pipe is read by lines, and an empty line is Enter.
    """

    HELP = "space: pause and continue · Enter: one message · q: end"

    def __init__(self, pace: Pace, source: IO[str] | None = None) -> None:
        self._source = source or sys.stdin
        self._pace = pace
        self._actions: dict[str, Callable[[], None]] = {
            " ": pace.toggle,
            "\n": pace.step,
            "\r": pace.step,
            "s": pace.step,
            "q": pace.end,
        }
        self._closing = threading.Event()
        self._terminal = self._source.isatty()
        self._old: list[object] | None = None
        self._thread = threading.Thread(target=self._read, name="replay-keys", daemon=True)

    def __enter__(self) -> Keys:
        if self._terminal:
            self._old = list(termios.tcgetattr(self._source.fileno()))
            tty.setcbreak(self._source.fileno())
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        if self._old is not None:
            termios.tcsetattr(self._source.fileno(), termios.TCSADRAIN, self._old)  # type: ignore[arg-type]

    def _read(self) -> None:
        while not self._closing.is_set():
            key = self._terminal_key() if self._terminal else self._line_key()
            if key is None:
                self._pace.no_more_keys()
                return
            if key in self._actions:
                self._actions[key]()

    def _terminal_key(self) -> str | None:
        ready, _, _ = select.select([self._source], [], [], 0.2)
        if not ready:
            return ""
        return os.read(self._source.fileno(), 1).decode(errors="replace") or None

    def _line_key(self) -> str | None:
        line = self._source.readline()
        return (line.rstrip("\n")[:1] or "\n") if line else None
