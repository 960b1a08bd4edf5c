"""The error type of the API, and the report of exceptions that leave a callback."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
import traceback
from pathlib import Path

logger = logging.getLogger("hyphos")

_PACKAGE = str(Path(__file__).absolute().parent) + os.sep


class Error(RuntimeError):
    """An error outside the program: a file, a peer, the disk, the plan.

    `code` is the error code of the C++ API, such as "type_mismatch". `where` is the file, line or
    name that the error is about, or "". `advice` is the remedy, or "".
    """

    def __init__(self, code: str, message: str, where: str = "", advice: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.code = code
        self.message = message
        self.where = where
        self.advice = advice


class _Failures:
    """Logs the failures of callbacks that the runtime does not see: at most one per second and
    callback. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[str, tuple[float, int]] = {}  # time of the last line, omitted since then

    def report(self, who: str, error: BaseException) -> None:
        now = time.monotonic()
        with self._lock:
            last_s, more = self._last.get(who, (-math.inf, 0))
            if now - last_s < 1.0:
                self._last[who] = (last_s, more + 1)
                return
            self._last[who] = (now, 0)
        text, _ = describe_failure(error)
        first, _, rest = text.partition("\n")
        logger.error("%s raised: %s (%d more before)\n%s", who, first, more, rest)


_failures = _Failures()


def report_callback_error(who: str, error: BaseException) -> None:
    """Logs an exception that left a callback, with its traceback. `who` names the callback."""
    _failures.report(who, error)


def own_frames(error: BaseException) -> str:
    """The traceback without the frames of this package, if any frame remains."""
    shown = traceback.TracebackException.from_exception(error)
    part: traceback.TracebackException | None = shown
    while part is not None:
        own = [frame for frame in part.stack if not frame.filename.startswith(_PACKAGE)]
        if own:
            part.stack = traceback.StackSummary.from_list(own)
        part = part.__cause__ or part.__context__
    return "".join(shown.format()).rstrip()


def describe_failure(error: BaseException) -> tuple[str, bool]:
    """The last line of a traceback and then the traceback, and True for `disconnected`."""
    last = traceback.format_exception_only(error)[-1].strip().partition("\n")[0]
    gone = isinstance(error, Error) and error.code == "disconnected"
    return f"{last}\n{own_frames(error)}", gone
