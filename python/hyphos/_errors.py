"""The error type of the API, and the report of exceptions that leave a callback."""

from __future__ import annotations

import logging
import traceback

logger = logging.getLogger("hyphos")


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


def report_callback_error(error: BaseException) -> None:
    """Logs the traceback of an exception that left a callback. The runtime counts the exception."""
    text = "".join(traceback.format_exception(error)).rstrip()
    logger.error("an exception left a callback. The node continues\n%s", text)
