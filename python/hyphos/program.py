"""The entry point of the program `hyphos`."""

import sys

from hyphos._extras import missing_extra
from hyphos.tools.waiting import ctrl_c_kills


def main() -> None:
    try:
        with ctrl_c_kills():
            from hyphos.cli.main import main as command_line  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        error = missing_extra(problem)
        if error is None:
            raise
        sys.exit(f"error: {error}\n  → {error.advice}")
    command_line()
