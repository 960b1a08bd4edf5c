"""Log lines for people: on stderr, and on the channel `log`. `hyphos log` shows the lines of all
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
    """The number of a log level. ValueError lists the levels."""
    number = _WORDS.get(level.lower())
    if number is None:
        raise ValueError(f"unknown level '{level}': give one of {', '.join(LEVELS)}")
    return number


class Log:
    """The logger of a node. Thread-safe. A line below the level costs one call and no formatting.

    `node.log.info("at %s, %.1f V", place, volts)`: as in the module `logging`, the arguments are
    formatted only if the line is written. The text is cut at 4096 bytes. No subscriber can block
    the logger. Lost lines are counted.
    """

    def __init__(self, core: _hyphos.Node, every_s: float | None = None) -> None:
        self._core = core
        self._every_s = every_s
        self._places: dict[tuple[str, int], tuple[float, int]] = {}
        self._lock = threading.Lock()
        self._slow: dict[float, Log] = {}

    def debug(self, text: object, *args: object) -> None:
        """Writes a line at level debug."""
        self._write(DEBUG, text, args)

    def info(self, text: object, *args: object) -> None:
        """Writes a line at level info."""
        self._write(INFO, text, args)

    def warn(self, text: object, *args: object) -> None:
        """Writes a line at level warn."""
        self._write(WARN, text, args)

    warning = warn

    def error(self, text: object, *args: object) -> None:
        """Writes a line at level error."""
        self._write(ERROR, text, args)

    def fatal(self, text: object, *args: object) -> None:
        """Writes the reason why the program is about to end. Does not end it."""
        self._write(FATAL, text, args)

    def exception(self, text: object, *args: object) -> None:
        """Writes an error with the traceback of the exception that is being handled."""
        self._write(ERROR, text, args, trace=True)

    def enabled(self, level: str) -> bool:
        """True if lines of this level are written."""
        return self._core.log_enabled(level_number(level))

    def set_level(self, level: str | None) -> None:
        """Sets the level of this node. None restores the default: `log_level` of the process in the
        plan, or "info" without a plan."""
        self._core.set_log_level(None if level is None else level_number(level))

    def every(self, seconds: float) -> Log:
        """A rate-limited logger for frequent events.

        At each source line it writes at most one log line per `seconds` of real time, with the
        number of lines that it left out.
        """
        if self._every_s is not None:
            raise TypeError("every() cannot be applied twice: give one period")
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
        """The number of lines left out at this place, or None to leave out this line too."""
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
    """The text without halves of surrogate pairs, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


class LogHandler(logging.Handler):
    """Forwards the lines of Python's `logging` to the log of a node:

        logging.getLogger().addHandler(hyphos.LogHandler(node))

    The name of such a line is "NODE.LOGGER". With `stderr=False` the lines go only to the channel,
    for programs whose other handlers already write to stderr. A line must pass both the level of
    the node and that of the logger.
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
        except Exception:  # noqa: BLE001 - like every handler of the standard library
            self.handleError(record)
