"""Lines for people: on stderr, and on the channel `log`, where `hyphos log` shows those of all
nodes."""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback

from hyphos import _hyphos

DEBUG, INFO, WARN, ERROR, FATAL = range(5)
LEVELS = ("debug", "info", "warn", "error", "fatal")
_WORDS = {**{word: number for number, word in enumerate(LEVELS)}, "warning": WARN}
_MAX_PLACES = 1024


def level_number(level: str) -> int:
    """The number of a level's word. ValueError names what there is."""
    number = _WORDS.get(level.lower())
    if number is None:
        raise ValueError(f"a level is one of {', '.join(LEVELS)}, not '{level}'")
    return number


class Log:
    """The logger of a node. Thread-safe; below the level a line costs one call and no formatting.

    `node.log.info("at %s, %.1f V", place, volts)`: as in the module `logging`, arguments go into
    the text only if the line is written. The text is cut at 4096 bytes. No listener can hold a line
    up; what is lost is counted.
    """

    def __init__(self, core: _hyphos.Node, every_s: float | None = None) -> None:
        self._core = core
        self._every_s = every_s
        self._places: dict[tuple[str, int], tuple[float, int]] = {}
        self._lock = threading.Lock()
        self._slow: dict[float, Log] = {}

    def debug(self, text: object, *args: object) -> None:
        self._write(DEBUG, text, args)

    def info(self, text: object, *args: object) -> None:
        self._write(INFO, text, args)

    def warn(self, text: object, *args: object) -> None:
        self._write(WARN, text, args)

    warning = warn

    def error(self, text: object, *args: object) -> None:
        self._write(ERROR, text, args)

    def fatal(self, text: object, *args: object) -> None:
        """Ends nothing: says why the program is about to."""
        self._write(FATAL, text, args)

    def exception(self, text: object, *args: object) -> None:
        """An error, with the traceback of the exception that is being handled."""
        self._write(ERROR, text, args, trace=True)

    def enabled(self, level: str) -> bool:
        return self._core.log_enabled(level_number(level))

    def set_level(self, level: str | None) -> None:
        """Of this node alone, from now on. Until then, and with None: `log_level` of its process in
        the plan; "info" without a plan."""
        self._core.set_log_level(None if level is None else level_number(level))

    def every(self, seconds: float) -> Log:
        """For what happens too often: a logger that writes, at each place of the source, at most
        one line in so many seconds of real time, and says how many it left out."""
        if self._every_s is not None:
            raise TypeError("every() of every(): one period for a line")
        with self._lock:
            if len(self._slow) >= _MAX_PLACES:
                self._slow.clear()
            return self._slow.setdefault(seconds, Log(self._core, seconds))

    def _write(
        self, level: int, text: object, args: tuple[object, ...], *, trace: bool = False
    ) -> None:
        if not self._core.log_enabled(level):
            return
        frame = sys._getframe(2)
        code = frame.f_code
        left_out = self._left_out((code.co_filename, frame.f_lineno))
        if left_out is None:
            return
        line = str(text) % args if args else str(text)
        if left_out:
            line += f" ({left_out} left out)"
        if trace:
            line += "\n" + traceback.format_exc().rstrip()
        self._core.log_line(
            level, _valid(line), "", code.co_filename, code.co_name, frame.f_lineno, True
        )

    def _left_out(self, place: tuple[str, int]) -> int | None:
        """How many lines at this place were not written; None: nor is this."""
        if self._every_s is None:
            return 0
        now = time.monotonic()
        with self._lock:
            if len(self._places) >= _MAX_PLACES and place not in self._places:
                return 0
            next_s, left_out = self._places.get(place, (now, 0))
            if now < next_s:
                self._places[place] = (next_s, left_out + 1)
                return None
            self._places[place] = (now + self._every_s, 0)
            return left_out


def _valid(text: str) -> str:
    """Without halves of surrogate pairs, which have no UTF-8."""
    return text.encode("utf-8", "replace").decode()


class LogHandler(logging.Handler):
    """Brings the lines of Python's `logging` to a node's log:

        logging.getLogger().addHandler(hyphos.LogHandler(node))

    Their name is "NODE.LOGGER". With `stderr=False` they go to the channel alone, for programs
    whose other handlers write to stderr already. The level of the node holds besides that of the
    loggers.
    """

    def __init__(self, node: object, *, stderr: bool = True, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        core: _hyphos.Node = node._core  # type: ignore[attr-defined]
        self._core = core
        self._stderr = stderr

    def emit(self, record: logging.LogRecord) -> None:
        try:
            at = min(max(record.levelno // 10 - 1, DEBUG), FATAL)
            if not self._core.log_enabled(at):
                return
            name = "" if record.name == "root" else f"{self._core.name}.{record.name}"
            self._core.log_line(
                at,
                _valid(self.format(record)),
                _valid(name),
                _valid(record.pathname),
                record.funcName or "",
                record.lineno,
                self._stderr,
            )
        except Exception:  # noqa: BLE001 - as every handler of the standard library does
            self.handleError(record)
