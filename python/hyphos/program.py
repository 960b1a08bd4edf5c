"""The entry points of the programs `hyphos` and `hyphos-host`."""

import os
import sys
from pathlib import Path

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


def host() -> None:
    """The program `hyphos-host` of the wheel, which has the binary inside the package."""
    from hyphos._errors import Error  # noqa: PLC0415
    from hyphos.supervise.commands import find_host_program  # noqa: PLC0415

    try:
        program = find_host_program()
        if Path(program).resolve() == Path(sys.argv[0]).resolve():
            raise Error("not_found", "the package has no hyphos-host", str(Path(__file__).parent))
    except Error as error:
        sys.exit(f"error: {error}\n  → {error.advice}")
    os.execv(program, [program, *sys.argv[1:]])
