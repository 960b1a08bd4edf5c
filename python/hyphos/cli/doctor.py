"""hyphos doctor"""

from __future__ import annotations

import typer

from hyphos.cli.options import AsJson


def doctor(as_json: AsJson = False) -> None:
    """Check this machine and say what to do. Exit code 1 if something must be mended.

    Looks at shared memory, limits, multicast, socket buffers, the CPU governor, the kernel and the
    clock, and at what dead processes have left.
    """
    from hyphos.tools.doctor import examine  # noqa: PLC0415

    raise typer.Exit(examine(as_json))
