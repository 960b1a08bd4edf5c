"""Errors of the world, and what happens to exceptions that leave a callback."""

from __future__ import annotations

import logging
import traceback

logger = logging.getLogger("hyphos")


class Error(RuntimeError):
    """Something outside the program is wrong: a file, a peer, the disk, the plan.

    `code` is the word that C++ uses too ("type_mismatch"), `where` names the place if there is one,
    and `advice` says what to do.
    """

    def __init__(self, code: str, message: str, where: str = "", advice: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.code = code
        self.message = message
        self.where = where
        self.advice = advice


def report_callback_error(error: BaseException) -> None:
    """Writes the traceback of what left a callback. The node goes on; the runtime counts it."""
    text = "".join(traceback.format_exception(error)).rstrip()
    logger.error("an exception left a callback; the node goes on\n%s", text)
